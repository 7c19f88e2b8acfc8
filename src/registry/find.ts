/** Endpoints, terms, values and examples for a question, a name or a text. */
export type { EntryFilter, EntryPage } from "./find/answers.ts";
export { SearchAnswer } from "./find/answers.ts";
export { Finder } from "./find/finder.ts";
export type { LinkedEndpoint } from "./find/rank/linked-hit.ts";
export { readExamples } from "./find/read/example-files.ts";
export type { RawExample } from "./find/read/example.ts";
export { isLabel } from "./find/read/harvest-plan.ts";
export { likenessOfIris, termDifferences } from "./find/words/term-likeness.ts";
export { fold } from "./find/words/words.ts";
