/** The triple patterns, terms and constructs of a parsed query, and what its answer says if some data is missing. */

export {
  type Constraint,
  constraintsOf,
  isRequired,
  type JoinedPattern,
  joinOf,
  type PlacedTerm,
  type ValueConstant,
  valueConstants,
} from "./patterns/joined-patterns.ts";
export { isMonotone, isSummary, nonMonotoneParts } from "./patterns/monotone.ts";
export {
  isPath,
  patternTerm,
  type PatternTerm,
  type PlacedPattern,
  plainPatterns,
  queryPatterns,
  termsOf,
  type UsedTerm,
  usedTerms,
} from "./patterns/query-patterns.ts";
export { constantAt, type TripleTerm, type TripleText, tripleTexts } from "./patterns/triple-texts.ts";
export { unmatchedPatterns } from "./patterns/unmatched-patterns.ts";
export { constantPatterns, constructsOf, type QueryConstruct, unknownCall } from "./patterns/used-constructs.ts";
