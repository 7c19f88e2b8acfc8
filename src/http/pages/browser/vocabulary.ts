import { wellKnownNamespaces } from "../../../rdf/well-known-prefixes.ts";
import { ownUrl } from "./own-url.ts";
import type { SchemaClass, SchemaJson } from "../../../registry/schema/schema-view.ts";

/** A query to start from. */
export interface Example {
  readonly title: string;
  readonly query: string;
}

/** What is known of the chosen endpoint's terms; empty where nothing is. */
let schema: SchemaJson | undefined;

/** Tokens of schema that are read: some thousand terms, the most frequent first. */
const budget = 50_000;

/**
 * Reads the schema of an endpoint, for completion and examples; undefined forgets the last one.
 * @returns false when the endpoint has not been described
 */
export async function useVocabulary(endpoint: string | undefined, signal: AbortSignal): Promise<boolean> {
  schema = undefined;
  if (endpoint === undefined) return false;
  const path = `/api/endpoints/${encodeURIComponent(endpoint)}/schema?detail=lines&maxTokens=${budget}`;
  const response = await fetch(ownUrl(path), { signal });
  if (!response.ok) return false;
  const { json }: { readonly json: SchemaJson } = await response.json();
  schema = json;
  return true;
}

/** Prefixes of the chosen endpoint's description, the well-known ones beside them. */
export const knownPrefixes = (): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(wellKnownNamespaces),
  ...schema?.prefixes,
});

const general: readonly Example[] = [
  {
    title: "Classes",
    query: `SELECT ?class (COUNT(?thing) AS ?things) WHERE {
  ?thing a ?class .
}
GROUP BY ?class
ORDER BY DESC(?things)
LIMIT 50`,
  },
  { title: "Ten triples", query: "SELECT * WHERE {\n  ?subject ?property ?value .\n}\nLIMIT 10" },
];

const mostClasses = 4;
const mostProperties = 4;
const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/** Queries for an endpoint: general ones, and one for each of the largest classes that are known. */
export const describedExamples = (): readonly Example[] => [
  ...general,
  ...(schema?.classes ?? []).slice(0, mostClasses).map(classExample),
];

function classExample({ iri, properties = [] }: SchemaClass): Example {
  const used = new Set<string>();
  const short = (term: string): string => {
    const found = Object.entries(knownPrefixes()).find(([, namespace]) => term.startsWith(namespace));
    const local = term.slice(found?.[1].length);
    if (found === undefined || !/^[A-Za-z]\w*$/.test(local)) return `<${term}>`;
    used.add(`PREFIX ${found[0]}: <${found[1]}>`);
    return `${found[0]}:${local}`;
  };
  const shown = properties.filter((property) => property.iri !== rdfType).slice(0, mostProperties);
  const type = short(iri);
  const names = new Set(["thing"]);
  const lines = shown.map(
    (property) => `  OPTIONAL { ?thing ${short(property.iri)} ?${variableFor(property.iri, names)} . }\n`,
  );
  const body = `SELECT * WHERE {\n  ?thing a ${type} .\n${lines.join("")}}\nLIMIT 20`;
  return { title: type, query: used.size === 0 ? body : `${[...used].toSorted().join("\n")}\n\n${body}` };
}

function variableFor(iri: string, taken: Set<string>): string {
  const local = /([A-Za-z]\w*)\W*$/.exec(iri)?.[1] ?? "value";
  let name = local;
  for (let at = 2; taken.has(name); at++) name = `${local}${at}`;
  taken.add(name);
  return name;
}
