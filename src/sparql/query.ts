/** Queries: their texts and tokens, what is parsed of them, and new texts that are cut from theirs. */

export { dialectEdits } from "./dialect/dialect-rules.ts";
export type { Element, Group, SelectOutline, ServiceElement, TokenRange, TriplesElement } from "./parse/outline.ts";
export { followsGrammar, parsedIfLegal, parseQuery } from "./parse/parse-query.ts";
export type { Query, TextEdit } from "./parse/query.ts";
export type { QueryTree } from "./parse/query-tree.ts";
export { scanRawQuery } from "./parse/raw-query.ts";
export { Prologue, undeclaredPrefixes } from "./parse/prologue.ts";
export { newerConstruct, type NewerConstruct } from "./parse/sparql-1-2.ts";
export { substituted, type SubstitutedText } from "./parse/substituted-text.ts";
export { isWord, offsetAt, type Token, tokenize } from "./parse/tokens.ts";
export { withAbsoluteIris } from "./rewrite/absolute-iris.ts";
export { colocateClauses } from "./rewrite/colocated-clauses.ts";
export { tripleCountQuery } from "./rewrite/count-triples.ts";
export { mendedQuery } from "./rewrite/mended-query.ts";
export { mergeClauses } from "./rewrite/merge-clauses.ts";
export { withServiceIds, withServiceUrls } from "./rewrite/service-ids.ts";
export { type ClauseText, splitClauses } from "./rewrite/split-clauses.ts";
export { spelledQuery } from "./rewrite/spelled-query.ts";
export { wrapOutside } from "./rewrite/wrap-outside.ts";
export type { ServiceClause } from "./structure/analysis.ts";
export { requiredTriples } from "./structure/certain-variables.ts";
export { isAggregated } from "./structure/expression-parts.ts";
export { elementsWithin, groupsWithin } from "./structure/scope.ts";
