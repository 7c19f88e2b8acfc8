/** Endpoints, terms, values and examples for a question, a name or a text. */
export type { EntryFilter, EntryPage } from "./find/answers.ts";
export { SearchAnswer } from "./find/answers.ts";
export { Finder } from "./find/finder.ts";
export type { LinkedEndpoint } from "./find/rank/question-endpoints.ts";
export { readExamples } from "./find/read/read-examples.ts";
export type { RawExample } from "./find/read/example.ts";
export { isLabel } from "./find/read/harvester.ts";
export { likenessOfIris, termDifferences } from "./find/rank/nearest-terms.ts";
export { fold } from "./find/words/words.ts";
export { shapeExample, shapeText } from "./find/read/shape-query.ts";
