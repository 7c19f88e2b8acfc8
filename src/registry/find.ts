/** Endpoints, terms, values and examples for a question, a name or a text. */
export { createLinker, type LinkedTerm, type Linker } from "./find/linker.ts";
export type { HitTerm, LinkedEndpoint } from "./find/rank/linked-hit.ts";
export { Match, SearchAnswer } from "./find/rank/search-answer.ts";
export { createEngineSearch } from "./find/read/engine-search.ts";
export { readExampleFile } from "./find/read/example-files.ts";
export { ExampleService } from "./find/read/example-service.ts";
export {
  createExampleStore,
  type Example,
  type ExampleOutcome,
  type RawExample,
  toExample,
} from "./find/read/example.ts";
export { isLabel } from "./find/read/harvest-plan.ts";
export { createHarvestStore } from "./find/read/harvest.ts";
export { createHarvester } from "./find/read/harvester.ts";
export { createValueService } from "./find/read/value-service.ts";
export {
  createSearchIndex,
  type EndpointStatus,
  type EntryFilter,
  type EntryPage,
  type SearchIndex,
  type TermCounts,
} from "./find/search-index.ts";
export type { KeyGroup } from "./find/tables/read-values.ts";
export type { ValueHit, ValueIndex } from "./find/tables/value-index.ts";
export { comparedIri, iriLikeness, termDifferences } from "./find/words/term-likeness.ts";
export { fold } from "./find/words/words.ts";
