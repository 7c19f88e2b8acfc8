/** Queries: their texts and tokens, what is parsed of them, and new texts that are cut from theirs. */

export { dialectEdits } from "./dialect/dialect-rules.ts";
export type { Element, Group, SelectOutline, ServiceElement, TokenRange, TriplesElement } from "./parse/outline.ts";
export { followsGrammar, parseQuery, treeOfGroup } from "./parse/parse-query.ts";
export { type Query, type QueryForm, type QueryTree, type TextEdit } from "./parse/query.ts";
export { scanRawQuery } from "./parse/raw-query.ts";
export { resolveIri, undeclaredPrefixes, writtenIri } from "./parse/resolve-iri.ts";
export { newerConstruct, type NewerConstruct } from "./parse/sparql-1-2.ts";
export {
  isWord,
  offsetAt,
  substituted,
  type SubstitutedText,
  type Token,
  tokenAt,
  tokenize,
} from "./parse/tokens.ts";
export { withAbsoluteIris } from "./rewrite/absolute-iris.ts";
export { colocateClauses } from "./rewrite/colocated-clauses.ts";
export { tripleCountQuery } from "./rewrite/count-triples.ts";
export { mendedQuery } from "./rewrite/mended-query.ts";
export { mergeClauses } from "./rewrite/merge-clauses.ts";
export { withServiceIds, withServiceUrls } from "./rewrite/service-ids.ts";
export { type ClauseText, splitClauses } from "./rewrite/split-clauses.ts";
export { wrapOutside } from "./rewrite/wrap-outside.ts";
export type { OutsidePattern, ServiceClause } from "./structure/analysis.ts";
export { requiredTriples } from "./structure/certain-variables.ts";
export { isAggregated, isAggregateOfAll } from "./structure/expression-parts.ts";
export { elementsWithin, groupsOf, groupsOfSelect, groupsWithin, projectsAll, selectsOf } from "./structure/scope.ts";
