import type { CatalogEntry, Federation } from "./catalog.ts";

/** The federation of everything that is described; no file or change may have its id. */
export const describedFederation = Object.freeze({
  id: "catalog",
  title: "All described endpoints",
  description: "Every endpoint of the catalogue that has been described belongs to it, and no other.",
  members: [],
  memberKeywords: [],
  builtIn: true,
} as const satisfies Federation);

/**
 * The registry itself as an endpoint. It has an id and a URL, and is in no list: it is neither watched nor described, and belongs to
 * a federation only by its id. An entry of one's own with this id takes its place.
 */
export const registryEntry = (publicUrl: string): CatalogEntry =>
  Object.freeze({
    id: "registry",
    title: "The registry itself",
    description:
      "What this service knows of its endpoints: catalogue, descriptions, capabilities, availability, incidents.",
    url: `${publicUrl}/registry/sparql`,
    interface: "sparql",
    keywords: [],
    notes: [],
    blocksService: true,
    needsUserAgent: false,
    pseudoServices: [],
    rawQueries: false,
    neverKept: true,
    builtIn: true,
  });

/** The next step for an endpoint without a description. @param entry undefined: a member of a federation */
export function describeAdvice(entry: CatalogEntry | undefined): string {
  if (entry === undefined || entry.interface === "sparql")
    return `POST /api/endpoints/${entry?.id ?? "{id}"}/describe has ${entry ? "it" : "a member"} described.`;
  const query = "SELECT DISTINCT ?class { ?s a ?class }";
  return `Only SPARQL endpoints are described. ${query} at /endpoints/${entry.id}/sparql shows its classes.`;
}
