import type { ClauseVariable, FederatedClause } from "../plan/query-plan.ts";
import type { UnitDemand } from "./demand.ts";
import type { PatternUnit } from "./sources/pattern-units.ts";

/** Patterns that members are asked as one, as a branch of a UNION. */
export interface UnitBranch {
  readonly unit: PatternUnit;
  readonly demand: UnitDemand;
}

/** The column that says of which branch of a UNION a row is. */
export const BRANCH = "fedway_branch";

/** Variables of the branches of a UNION, each of which always binds its own. */
export const certainInAll = (branches: readonly ReadonlySet<string>[]): readonly ClauseVariable[] =>
  [...new Set(branches.flatMap((names) => [...names]))].map((name) => ({
    name,
    certain: branches.every((names) => names.has(name)),
  }));

/** A clause for each branch of a UNION at one endpoint, by number, as one clause. */
export function unitedClause(branches: ReadonlyMap<number, FederatedClause>): FederatedClause | undefined {
  const [first] = branches.values();
  const groups = [...branches].map(([number, { pattern }]) => `{ ${pattern} BIND("${number}" AS ?${BRANCH}) }`);
  const shown = [...branches.values()].map(({ variables }) => new Set(variables.map(({ name }) => name)));
  return (
    first && {
      ...first,
      pattern: `{ ${groups.join(" UNION ")} }`,
      opening: undefined,
      variables: [...certainInAll(shown), { name: BRANCH, certain: true }],
      estimate: undefined,
    }
  );
}
