/** The groups, elements and SERVICE clauses of a parsed query, and the scopes of its variables. */

export {
  type Element,
  type Group,
  type SelectOutline,
  type ServiceElement,
  type TokenRange,
  type TriplesElement,
} from "./parse/outline.ts";
export {
  type AnalysedQuery,
  analyseQuery,
  haveService,
  type OutsidePattern,
  type ServiceClause,
} from "./structure/analyse-query.ts";
export { requiredTriples } from "./structure/certain-variables.ts";
export { isAggregated, isAggregateOfAll } from "./structure/expression-parts.ts";
export {
  columnsOf,
  elementsWithin,
  groupsOf,
  groupsOfSelect,
  groupsWithin,
  mentionedVariables,
  projectedVariables,
  projectsAll,
  selectsOf,
  shareName,
  union,
  visibleInElement,
  visibleInGroup,
} from "./structure/scope.ts";
