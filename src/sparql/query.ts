/** Queries as texts, tokens and parsed queries. The folder's other files are private to it. */

export { dialectEdits } from "./dialect/dialect-rules.ts";
export {
  answerKindOf,
  followsGrammar,
  type ParsedQuery,
  parseQuery,
  type QueryForm,
  type QueryTree,
  treeOfGroup,
} from "./parse/parse-query.ts";
export { rawLimit, scanRawQuery } from "./parse/raw-query.ts";
export { afterPrologue, resolveIri, writtenIri } from "./parse/resolve-iri.ts";
export { newerConstruct, type NewerConstruct } from "./parse/sparql-1-2.ts";
export {
  isWord,
  offsetAt,
  refuseLargeEvaluation,
  substituted,
  type SubstitutedText,
  type Token,
  tokenAt,
  tokenize,
  whereAt,
} from "./parse/tokens.ts";
export { undeclaredPrefixes } from "./parse/undeclared-prefixes.ts";
