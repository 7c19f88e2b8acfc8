import type { CatalogEntry } from "../../src/registry/catalog/catalog.ts";

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
