/** New texts from a parsed query, cut from its own text. */

export { absoluteIris, withAbsoluteIris } from "./rewrite/absolute-iris.ts";
export { type UnlikeKey, withAdaptedKeys } from "./rewrite/adapted-keys.ts";
export { colocateClauses } from "./rewrite/colocated-clauses.ts";
export { tripleCountQuery } from "./rewrite/count-triples.ts";
export {
  datasetEdits,
  editRange,
  editText,
  placeOf,
  termEdit,
  type TextEdit,
  textOf,
  withDefaultGraphs,
} from "./rewrite/edit-text.ts";
export { withoutEmptyClauses } from "./rewrite/empty-clauses.ts";
export { mendedQuery } from "./rewrite/mended-query.ts";
export { mergeClauses } from "./rewrite/merge-clauses.ts";
export { withServiceIds, withServiceUrls } from "./rewrite/service-ids.ts";
export { type ClauseText, splitClauses } from "./rewrite/split-clauses.ts";
export { foldedTokens } from "./rewrite/united-services.ts";
export { wrapOutside } from "./rewrite/wrap-outside.ts";
export {
  outermost,
  sameWithoutWrappers,
  withEmptyGraphs,
  withEmptySolutions,
  withExpandedTargets,
  withoutDatasets,
  withoutWrappers,
} from "./rewrite/wrappers.ts";
