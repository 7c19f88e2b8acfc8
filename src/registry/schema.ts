/** Descriptions in few words: views within a token budget, prefixes, sentences. */
export { readableName, severalOf } from "./schema/names-in-words.ts";
export { oneSentence } from "./schema/one-sentence.ts";
export { partSentence } from "./schema/part-lines.ts";
export { PrefixTable } from "./schema/prefixes.ts";
export { type SchemaJson, schemaView, schemaViewInTurns } from "./schema/schema-view.ts";
export { partsOf, splitOver } from "./schema/split-classes.ts";
