import type { CatalogEntry, PublishedFacts } from "../../src/registry/catalog.ts";
import { publishedFacts, withShapes } from "../../src/registry/catalog/published/published-facts.ts";
import { parseShapesFile, publishedShapes } from "../../src/registry/catalog/published/shapes-file.ts";

// Where tests have entries and published facts in memory: all else of a catalogue is behind its door.
export { createCatalog } from "../../src/registry/catalog/index-catalog.ts";
export { publishedFacts } from "../../src/registry/catalog/published/published-facts.ts";

/** Facts of an endpoint of which only a file of shapes says anything. @throws Error for fields that such a file cannot have */
export function shapedFacts(fields: object): PublishedFacts {
  const file = parseShapesFile(JSON.stringify({ format: 1, ...fields }));
  const { url, asOf, sources } = file;
  return withShapes(publishedFacts({ format: 1, url, asOf, sources }), publishedShapes(file), []);
}

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
