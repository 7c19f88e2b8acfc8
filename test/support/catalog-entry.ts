import type { CatalogEntry } from "../../src/registry/catalog.ts";

// Where tests have entries and published facts in memory: all else of a catalogue is behind its door.
export { createCatalog } from "../../src/registry/catalog/index-catalog.ts";
export { publishedFacts } from "../../src/registry/catalog/published/published-facts.ts";

/** A catalogue entry with the endpoint URL `http://{id}.example/sparql` and nothing else said of it. */
export const catalogEntry = (id: string, more: Partial<CatalogEntry> = {}): CatalogEntry => ({
  id,
  title: id,
  url: `http://${id}.example/sparql`,
  interface: "sparql",
  keywords: [],
  notes: [],
  blocksService: false,
  needsUserAgent: false,
  pseudoServices: [],
  rawQueries: false,
  ...more,
});
