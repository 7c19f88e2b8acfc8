import type { FederatedClause, PlannedEndpoint } from "../plan/query-plan.ts";
import type { Bindings } from "../results/model.ts";
import type { TriplePattern } from "./sources/triple-pattern.ts";

/** What the rest of a query wants of the solutions of a clause or a group of patterns. */
export interface Demand {
  /** Solutions for which one of them does not hold come to nothing. */
  readonly conditions: readonly PushedCondition[];
  /** It does not matter how often a solution comes. */
  readonly distinct: boolean;
  /** More rows are not looked at. */
  readonly limit?: RowLimit | undefined;
}

/** The same, and the variables that something else looks at. */
export interface LeafDemand extends Demand {
  readonly variables: ReadonlySet<string>;
}

/** What is wanted of patterns that members are asked as one. */
export interface UnitDemand extends LeafDemand {
  /** Wanted is how many solutions there are of each kind by `variables`, under this name. */
  readonly count?: string | undefined;
  /** Further patterns, in OPTIONAL each, that have matches for a solution at its member alone. */
  readonly optionals?: readonly (readonly TriplePattern[])[] | undefined;
}

/** A FILTER whose verdict on a solution depends on nothing but these variables. */
export interface PushedCondition {
  readonly variables: readonly string[];
  /** False also where it has no value. */
  readonly holds: (row: Bindings) => boolean;
  /** The same or less in SPARQL, for endpoints; undefined where engines could differ. */
  readonly text: string | undefined;
}

/** Number of solutions that are enough; with DISTINCT, of those that differ in these variables. */
interface RowLimit {
  readonly rows: number;
  readonly distinctIn?: ReadonlySet<string> | undefined;
}

/** Whether each row is wanted once, and how many are enough, where these of all variables are asked for. */
function demandedRows({ distinct, limit }: Demand, shown: readonly string[], all: readonly string[]) {
  const isEnough = limit?.distinctIn === undefined || shown.every((name) => limit.distinctIn?.has(name));
  const enough = isEnough ? limit?.rows : undefined;
  const most = distinct && shown.length === 0 ? Math.min(1, enough ?? 1) : enough;
  // Where no variable is left out, few patterns have a solution twice.
  return { distinct: distinct && most !== 1 && (shown.length < all.length || most !== undefined), limit: most };
}

/** The conditions that can be sent with a pattern that binds these variables. */
const sendable = ({ conditions }: Demand, bound: readonly string[]): readonly string[] =>
  conditions.flatMap(({ text, variables }) =>
    text !== undefined && variables.length > 0 && variables.every((name) => bound.includes(name)) ? [text] : [],
  );

/** Without VALUES or EXISTS an endpoint speaks no SPARQL 1.1, and may not know the functions. */
const takesConditions = ({ keys, existence }: PlannedEndpoint): boolean =>
  keys === undefined && existence === undefined;

// As much as a constant in the place of an object.
const CONDITION_SELECTIVITY = 2;

/** The clause asked for no more than is wanted of it. */
export function demandedClause(clause: FederatedClause, demand: LeafDemand): FederatedClause {
  const { pattern, opening, substitution } = clause;
  const shown = clause.variables.filter(({ name }) => demand.variables.has(name));
  const certain = clause.variables.flatMap((variable) => (variable.certain ? [variable.name] : []));
  // What is written behind a subselect goes around it, where values that are substituted no longer have their places.
  const isFixed = opening === undefined && substitution !== undefined;
  const conditions = isFixed || !takesConditions(clause.endpoint) ? [] : sendable(demand, certain);
  const filters = conditions.map((condition) => ` FILTER(${condition})`).join("");
  const namesOf = (variables: FederatedClause["variables"]): readonly string[] => [
    ...variables.map(({ name }) => name),
    ...(substitution?.variables ?? []),
  ];
  const { distinct, limit } = demandedRows(demand, namesOf(shown), namesOf(clause.variables));
  const estimate =
    clause.estimate === undefined ? undefined : Math.min(clause.estimate, limit ?? Number.POSITIVE_INFINITY);
  return {
    ...clause,
    variables: shown,
    pattern: filters === "" ? pattern : `{${opening === undefined ? pattern : pattern.slice(1, -1)}${filters} }`,
    ...(distinct && { distinct }),
    limit,
    // How much a FILTER leaves is not known.
    estimate: conditions.length > 0 ? undefined : estimate,
    selectivity: clause.selectivity + conditions.length * CONDITION_SELECTIVITY,
  };
}

/** How solutions are counted: of each kind by these variables; `counts` names what is counted, `*` or a variable. */
export interface Counting {
  readonly by: readonly string[];
  readonly counts: ReadonlyMap<string, string>;
}

/** Whether an endpoint, and what stands in for it, counts solutions rightly in a subselect. */
export const countsFor = ({ mirror, ...endpoint }: PlannedEndpoint): boolean =>
  [endpoint, ...(mirror ? [mirror] : [])].every(
    (one) => one.interface === undefined && one.counting === undefined && takesConditions(one),
  );

/** A group that has the counts of the solutions of another one. */
function countingText(group: string, { by, counts }: Counting): string {
  const keys = by.map((name) => `?${name}`).join(" ");
  const counted = [...counts].map(([what, name]) => `(COUNT(${what === "*" ? what : `?${what}`}) AS ?${name})`);
  return `{ SELECT ${[keys, ...counted].join(" ").trim()} WHERE ${group}${keys && ` GROUP BY ${keys}`} }`;
}

/**
 * The clause that counts its solutions; undefined where its endpoint may not. Groups are by predicates: these are IRIs, which
 * everybody tells apart alike, while endpoints store literals of one value as one term, or group them as one; and there are few.
 */
export function countingClause(clause: FederatedClause, counting: Counting): FederatedClause | undefined {
  const { endpoint, silent, pattern, variables, targetVariable, substitution, evaluatedHere } = clause;
  const isFixed = silent || targetVariable !== undefined || substitution !== undefined || evaluatedHere === true;
  const { by, counts } = counting;
  const has = (name: string, isKey: boolean): boolean =>
    variables.some((variable) => variable.name === name && (!isKey || variable.predicate === true));
  if (isFixed || !countsFor(endpoint) || !by.every((name) => has(name, true))) return undefined;
  if (![...counts].every(([what, name]) => (what === "*" || has(what, false)) && !pattern.includes(name))) {
    return undefined;
  }
  return countedClause(clause, counting);
}

/** The clause that counts its solutions, as its endpoint may. */
export const countedClause = (clause: FederatedClause, counting: Counting): FederatedClause => ({
  ...clause,
  variables: [...counting.by, ...counting.counts.values()].map((name) => ({ name, certain: true })),
  pattern: countingText(clause.pattern, counting),
  opening: undefined,
  estimate: counting.by.length === 0 ? 1 : clause.estimate,
});
