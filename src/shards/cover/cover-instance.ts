/** A set-cover problem in numbers. */
export interface CoverInstance {
  /** Of each rule in canonical order the queries that it covers, ascending. */
  readonly rules: readonly (readonly number[])[];
  readonly queries: number;
}

/** Of each query the rules that cover it, ascending. */
export function coverersOf({ rules, queries }: CoverInstance): readonly (readonly number[])[] {
  const coverers: number[][] = Array.from({ length: queries }, () => []);
  for (const [rule, covers] of rules.entries()) for (const query of covers) coverers[query]?.push(rule);
  return coverers;
}
