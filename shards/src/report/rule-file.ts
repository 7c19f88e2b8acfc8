import { itemAt, valueFor } from "../../../src/values.ts";
import { ruleKey } from "../rules/candidates.ts";
import { coverFacts, composeProgram, type Encoding, quote } from "../rules/encodings.ts";
import { conditionsOf, isMeasurable } from "../rules/conditions.ts";
import { federationInstance } from "../rules/federation-instance.ts";
import { factsOf, looksAtSizes, nameFacts } from "../rules/federation-program.ts";
import type { Criterion, Problem, Solution, Rule } from "../rules/problem.ts";
import type { ShardMode } from "../spec.ts";

/** Name of the rule file, beside the report. */
export const ruleFileName = "rules.lp";

/** Inputs of a rule file. */
interface RuleFileInput {
  readonly mode: ShardMode;
  /** With `placement`, which in paper mode is not looked at. */
  readonly problem: Problem;
  /** The choice for this problem in this mode. */
  readonly solution: Solution;
}

/** A problem as facts, its rules and queries by their numbers there. */
interface Numbered {
  readonly facts: readonly string[];
  readonly rules: readonly Rule[];
  /** Places in `Problem.queries`. */
  readonly queries: readonly number[];
  readonly encodings: readonly Encoding[];
  /** Minimised criteria, in order, with the value of the choice. */
  readonly criteria: readonly Criterion[];
}

/**
 * The problem, the chosen rules and the encodings as one program for clingo, so that anyone can check the choice.
 * The program has exactly one answer set, the chosen rules, if the claim holds: each query covered (paper) or as many
 * federated as reported (the other modes), at the reported costs; else none. With `-c check=0` clingo searches for a better
 * choice itself. Queries that nothing helps are left out and named. The same input gives the same bytes.
 */
export function ruleFileOf(input: RuleFileInput): string {
  const { problem, solution } = input;
  const numbered = input.mode === "paper" ? paperNumbers(problem, solution) : placedNumbers(problem, solution);
  const { facts, rules, queries, encodings, criteria } = numbered;
  const chosen = new Set(solution.rules.map(ruleKey));
  const nameOf = (query: number): string => quote(itemAt(problem.queries, query).query.id);
  return composeProgram(
    [
      ...heading(input, numbered),
      ...leftOut(solution, new Set(queries)).map(
        ({ query, reason }) => `% left out: query ${nameOf(query)}: ${quote(reason)}`,
      ),
      "",
      ...facts,
      ...queries.map((query, number) => `name(query,${number},${nameOf(query)}).`),
      "",
      ...rules.flatMap((rule, number) => (chosen.has(ruleKey(rule)) ? [answerFact(rule, number)] : [])),
      ...criteria.map(({ name, cost }, at) => `level(${name},${criteria.length - at}). bound(${name},${cost}).`),
      "",
    ],
    [...encodings, "objectives", "answer", "show"],
  );
}

const answerFact = (rule: Rule, number: number): string => `answer(${number}). % ${quote(ruleKey(rule))}`;

const leftOut = ({ impossible }: Solution, kept: ReadonlySet<number>): Solution["impossible"] =>
  impossible.filter(({ query }) => !kept.has(query));

function heading({ mode, solution }: RuleFileInput, { criteria }: Numbered): readonly string[] {
  const { cost, lowerBound, proven, reading } = solution;
  const costs = criteria.map((each) => `${each.name} ${each.cost}${each.proven ? "" : " (not proven)"}`);
  return [
    "%",
    "% The candidate rules, the queries and the chosen rules; the files named above are included.",
    `%   clingo ${ruleFileName}`,
    "%       checks the choice: satisfiable, with the costs below, if the claim holds, else unsatisfiable",
    `%   clingo ${ruleFileName} -c check=0 --opt-strategy=usc`,
    "%       searches for the best choice itself; there may be several that are equally good",
    `% Mode ${mode}, reading ${quote(reading.name)}: ${cost} rules, ${proven ? "proven to be the fewest" : `at least ${lowerBound}`}.`,
    `% Costs, the first counts most: ${costs.join(", ")}. clingo leaves out those that can only be 0.`,
  ];
}

function paperNumbers({ candidates, queries }: Problem, { cost, proven }: Solution): Numbered {
  const covered = new Set(candidates.flatMap(({ covers }) => covers));
  const kept = queries.flatMap((_, query) => (covered.has(query) ? [query] : []));
  const numbers = new Map(kept.map((query, number) => [query, number]));
  const rules = candidates.map(({ rule }) => rule);
  const covers = candidates.map((candidate) => candidate.covers.map((query) => valueFor(numbers, query)));
  return {
    facts: coverFacts({ rules: covers, queries: kept.length }, rules.map(ruleKey)),
    rules,
    queries: kept,
    encodings: ["domain", "choice", "coverage"],
    criteria: [{ name: "fewest_rules", cost, proven }],
  };
}

/** @throws TypeError without placement */
function placedNumbers(problem: Problem, solution: Solution): Numbered {
  const { placement } = problem;
  if (placement === undefined) throw new TypeError("a problem in this mode has its placement");
  const instance = federationInstance(problem, placement);
  const { rules, queries, numbered } = instance;
  const conditions = conditionsOf(numbered);
  const isMeasured = isMeasurable(conditions);
  const criteria = (solution.criteria ?? []).filter(({ name }) => isMeasured || !looksAtSizes.has(name));
  return {
    facts: [
      ...nameFacts(rules.map(ruleKey), numbered),
      ...factsOf(instance, conditions)(criteria.map(({ name }) => name)),
    ],
    rules,
    queries,
    encodings: ["domain", "choice", "precedence", "federation", "targets"],
    criteria,
  };
}
