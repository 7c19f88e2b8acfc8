/** The triple patterns, terms and constructs of a parsed query, and what its answer says if some data is missing. */

export { type Constraint, constraintsOf, type JoinedPattern } from "./patterns/joined-patterns.ts";
export { nonMonotoneParts } from "./patterns/monotone.ts";
export {
  type PatternTerm,
  type PlacedPattern,
  plainPatterns,
  termsOf,
  type UsedTerm,
} from "./patterns/query-patterns.ts";
export { type TripleText, tripleTexts } from "./patterns/triple-texts.ts";
export { unmatchedPatterns } from "./patterns/unmatched-patterns.ts";
export type { QueryConstruct } from "./patterns/used-constructs.ts";
