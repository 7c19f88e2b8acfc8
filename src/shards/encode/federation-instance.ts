import { irisOfRule } from "../candidates.ts";
import type { Problem, Solution } from "../problem.ts";
import type { Rule } from "../rule.ts";
import { type Places, placesOf } from "./places.ts";

type Placement = NonNullable<Problem["placement"]>;

/** A problem in guaranteed mode as the solver sees it. */
export interface FederationInstance {
  /** Candidates that claim at least one triple, in canonical order; their places are their numbers. */
  readonly rules: readonly Rule[];
  /** The queries that are asked for, by their place in `Problem.queries`; their places here are their numbers. */
  readonly queries: readonly number[];
  readonly numbered: Places;
  /** Queries that are left out, as it needs no solver to tell that nothing helps them. */
  readonly hopeless: Solution["impossible"];
}

/** Numbers a problem in guaranteed mode. */
export function federationInstance(problem: Problem, placement: Placement): FederationInstance {
  const rules = claimingRules(problem, placement);
  const hopeless = directReasons(placement);
  const lost = new Set(hopeless.map(({ query }) => query));
  const queries = placement.touches.flatMap((_, query) => (lost.has(query) ? [] : [query]));
  const touches = queries.map((query) => placement.touches[query] ?? []);
  return { rules, queries, numbered: placesOf(rules, { ...placement, touches }), hopeless };
}

/** The others can only add to the number of rules. */
function claimingRules(problem: Problem, { cells }: Placement): readonly Rule[] {
  const classes = new Set(cells.flatMap(({ types }) => types));
  const predicates = new Set(cells.map(({ predicate }) => predicate));
  return problem.candidates
    .map(({ rule }) => rule)
    .filter((rule) => irisOfRule(rule).some((iri) => (rule.kind === "vertical" ? predicates : classes).has(iri)));
}

/** Queries that need no solver to be told apart: whatever is chosen, they see one shard or none. */
function directReasons({ touches, cells }: Placement): Solution["impossible"] {
  return touches.flatMap((found, query) => {
    const [only] = found;
    const cell = only === undefined ? undefined : cells[only];
    if (found.length > 1) return [];
    if (cell === undefined) return [{ query, reason: "No triple of the dataset matches any of its patterns." }];
    const subjects = cell.types.length === 0 ? "untyped subjects" : `instances of ${cell.types.join(" and ")}`;
    const reason = `All the triples that it matches have the predicate ${cell.predicate} and ${subjects} in one bucket: no rule separates them.`;
    return [{ query, reason }];
  });
}
