import type { CatalogEntry } from "./catalog.ts";

/** The next step for an endpoint without a description. @param entry undefined: a member of a federation */
export function describeAdvice(entry: Pick<CatalogEntry, "id" | "interface"> | undefined): string {
  if (entry === undefined || entry.interface === "sparql")
    return `POST /api/endpoints/${entry?.id ?? "{id}"}/describe has ${entry ? "it" : "a member"} described.`;
  const query = "SELECT DISTINCT ?class { ?s a ?class }";
  return `Only SPARQL endpoints are described. ${query} at /endpoints/${entry.id}/sparql shows its classes.`;
}
