/** Descriptions in few words: views within a token budget, prefixes, sentences. */
export { estimateTokens } from "./schema/compose-view.ts";
export { readableName, severalOf } from "./schema/names-in-words.ts";
export { oneSentence } from "./schema/one-sentence.ts";
export { type Part, partSentence } from "./schema/part-lines.ts";
export { createPrefixTable, descriptionIris, type PrefixTable, prefixTableOf } from "./schema/prefixes.ts";
export {
  type CountValue,
  type SchemaClass,
  type SchemaDetail,
  type SchemaFact,
  type SchemaJson,
  schemaView,
  type SchemaView,
  schemaViewInTurns,
  type ValueExamples,
} from "./schema/schema-view.ts";
export { partsOf, type SplitClass, splitOver } from "./schema/split-classes.ts";
