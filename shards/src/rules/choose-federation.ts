import { performance } from "node:perf_hooks";
import { itemAt } from "../../../src/values.ts";
import { processorMs } from "../processor-time.ts";
import { solverTrouble } from "./answer-set-solver.ts";
import { ruleKey } from "./candidates.ts";
import type { ChooseOptions } from "./choose-rules.ts";
import { type Condition, type Conditions, conditionsOf, isMeasurable } from "./conditions.ts";
import { numbersOf } from "./encodings.ts";
import { evaluateChoice, type FederationInstance, federationInstance } from "./federation-instance.ts";
import { type Aims, criteriaOf, factsOf, federationProgram, looksAtSizes } from "./federation-program.ts";
import type { Criterion, Problem, Solution } from "./problem.ts";

/** Conflicts that the search for smaller shards may take: counted, not timed, so that the same input gives the same rules. */
const sizeEffort = 20_000;
/** This number of queries is explained one by one; solving each of them again must not outlast the search itself. */
const maxExplained = 50;

/** A problem in numbers, and how to ask the solver about it. */
type Session = ReturnType<typeof openSession>;

interface Answer {
  readonly chosen: readonly number[] | undefined;
  readonly complete: boolean;
  readonly lower: number;
}

/** Guaranteed and balanced mode: the criteria one after the other, each kept at its value while the next ones are minimised. */
export async function chooseFederation(
  problem: Problem,
  placement: NonNullable<Problem["placement"]>,
  options: ChooseOptions,
): Promise<Solution> {
  const startMs = performance.now();
  const instance = federationInstance(problem, placement);
  const session = openSession(instance, options);
  const found = await minimiseAll(session);
  const { unfederated } = evaluateChoice(session, found.chosen);
  const explained = await explain(session, unfederated);
  const rules = found.criteria.find(({ name }) => name === "fewest_rules");
  const trouble = session.trouble();
  return {
    reading: options.reading,
    rules: found.chosen.map((rule) => itemAt(session.rules, rule)),
    cost: found.chosen.length,
    lowerBound: found.fewestRules,
    proven: rules?.proven ?? false,
    impossible: byQuery([...instance.uncovered, ...instance.unsatisfiable, ...explained]),
    seconds: (performance.now() - startMs) / 1000,
    criteria: found.criteria,
    trouble,
  };
}

/** The last reason of each query. */
const byQuery = (reasons: Solution["impossible"]): Solution["impossible"] =>
  [...new Map(reasons.map((each) => [each.query, each])).values()].toSorted((left, right) => left.query - right.query);

function openSession(instance: FederationInstance, options: ChooseOptions) {
  const { rules, numbered } = instance;
  const conditions = conditionsOf(numbered);
  const facts = factsOf(instance, conditions);
  const endMs = processorMs() + options.timeoutMs;
  let trouble: string | undefined;
  return {
    ...instance,
    conditions,
    from: options.from ?? [],
    /** The solver's words when it failed. */
    trouble: () => trouble,
    ask: async (aims: Aims, more: readonly string[] = ["--opt-strategy=usc"]): Promise<Answer> => {
      // Half of the remaining time: later questions get their share, too.
      const timeoutMs = Math.max(0, (endMs - processorMs()) / 2);
      const { signal, solver } = options;
      const settings = { timeoutMs, options: more, signal };
      const counted = [...(aims.atMost?.keys() ?? []), ...(aims.minimise === undefined ? [] : [aims.minimise])];
      const program = federationProgram(facts(counted), rules.length, aims);
      try {
        const { models, ended, lowerBound } = await solver.solve(program, settings);
        const model = models.at(-1);
        return {
          chosen: model && numbersOf(model.atoms, "choose"),
          complete: ended === "complete",
          lower: lowerBound?.[0] ?? 0,
        };
      } catch (error) {
        trouble ??= solverTrouble(error);
        return { chosen: undefined, complete: false, lower: 0 };
      }
    },
  };
}

/** `fewestRules`: a lower bound of the number of rules. */
async function minimiseAll(session: Session) {
  const { numbered, conditions, ask } = session;
  const atMost = new Map<Criterion["name"], number>();
  const results: Criterion[] = [];
  const { parting, stays, needs } = conditions;
  const known = new Set(session.from.map(ruleKey));
  const before = session.rules.flatMap((rule, number) => (known.has(ruleKey(rule)) ? [number] : []));
  const begin = before.length > 0 ? before : greedyChoice(numbered.makes, parting, [...stays, ...needs]);
  let chosen = improvedChoice(session, begin);
  let fewestRules = 0;
  // A bound holds for the choices that are as good in all the criteria before: it needs those to be proven.
  let allProven = true;
  for (const name of criteriaOf(session)) {
    const isTooLarge = looksAtSizes.has(name) && !isMeasurable(conditions);
    const found = isTooLarge ? { chosen, proven: false, lower: 0 } : await minimise(session, { name, atMost, chosen });
    chosen = found.chosen;
    const { [name]: cost } = evaluateChoice(session, chosen).costs;
    if (name === "fewest_rules" && allProven) fewestRules = found.proven ? cost : found.lower;
    allProven &&= found.proven;
    results.push({ name, cost, proven: allProven });
    if (!isTooLarge) atMost.set(name, cost);
  }
  const canonical = await ask({ atMost, canonical: true });
  return { chosen: canonical.complete ? (canonical.chosen ?? chosen) : chosen, criteria: results, fewestRules };
}

/** One criterion: core-guided first, which proves; when that takes too long, branch and bound, which finds. */
async function minimise(
  session: Session,
  {
    name,
    atMost,
    chosen,
  }: {
    name: Criterion["name"];
    atMost: Aims["atMost"] & {};
    chosen: readonly number[];
  },
): Promise<{ readonly chosen: readonly number[]; readonly proven: boolean; readonly lower: number }> {
  const { ask } = session;
  const costOf = (choice: readonly number[]): number => evaluateChoice(session, choice).costs[name];
  if (costOf(chosen) === 0) return { chosen, proven: true, lower: 0 };
  const limit = looksAtSizes.has(name) ? [`--solve-limit=${sizeEffort}`] : [];
  const proof = await ask({ minimise: name, atMost }, ["--opt-strategy=usc", ...limit]);
  if (proof.complete) return { chosen: proof.chosen ?? chosen, proven: true, lower: proof.lower };
  const search = await ask({ minimise: name, atMost }, ["--opt-strategy=bb", ...limit]);
  const choices = [chosen, proof.chosen, search.chosen].filter((choice) => choice !== undefined);
  const best = choices.reduce((left, right) => (costOf(right) < costOf(left) ? right : left));
  const lower = Math.max(proof.lower, search.lower);
  return { chosen: best, proven: search.complete || lower >= costOf(best), lower };
}

/** Why these queries are left with one shard; `unfederated` are numbers of the session. */
async function explain(session: Session, unfederated: readonly number[]): Promise<Solution["impossible"]> {
  const reasons: { query: number; reason: string }[] = [];
  for (const [at, query] of unfederated.entries()) {
    const alone = at < maxExplained ? await session.ask({ alone: query }) : undefined;
    reasons.push({ query: itemAt(session.queries, query), reason: reasonOf(alone) });
  }
  return reasons;
}

function reasonOf(alone: Answer | undefined): string {
  if (alone?.complete && alone.chosen === undefined) {
    return "At every choice of candidate rules all the triples that it matches lie in one shard.";
  }
  if (alone?.chosen !== undefined) {
    return "Rules that would separate the triples that it matches put those of other queries into one shard.";
  }
  return "No choice of rules was found that makes it federated together with the others.";
}

/** Looks at a query when a rule is tried: some twenty seconds at the most. */
const mostLooks = 50_000_000;

/**
 * A choice that leaves few queries with one shard: the rule that federates most of them, again and again. What the search
 * for the best choice begins with. The same input gives the same choice.
 */
function greedyChoice(
  makes: FederationInstance["numbered"]["makes"],
  parting: Conditions["parting"],
  stays: Conditions["stays"],
): readonly number[] {
  const state = openState(makes, parting, stays);
  const chosen: number[] = [];
  let looks = mostLooks;
  for (let left = state.unfederated(); left > 0 && looks > 0; left = state.unfederated()) {
    let best: { readonly rule: number; readonly left: number } | undefined;
    for (const rule of makes.keys()) {
      state.change(rule, 1);
      const after = state.unfederated();
      state.change(rule, -1);
      if (after < (best?.left ?? left)) best = { rule, left: after };
      looks -= stays.length;
    }
    if (best === undefined) break;
    state.change(best.rule, 1);
    chosen.push(best.rule);
  }
  return chosen.toSorted((first, second) => first - second);
}

/**
 * A choice nearby that costs less by the criteria in order, until there is none: one rule more, one less, or another one.
 * Fallback when the solver finds nothing in time. The same input gives the same choice.
 */
function improvedChoice(session: Session, from: readonly number[]): readonly number[] {
  const { rules, numbered } = session;
  const names = criteriaOf(session);
  const costsOf = (choice: readonly number[]): readonly number[] => {
    const { costs } = evaluateChoice(session, choice);
    return names.map((name) => costs[name]);
  };
  const looksEach = 1 + numbered.places.length + numbered.touches.reduce((sum, { length }) => sum + length, 0);
  let looks = mostLooks;
  let best = { choice: from, costs: costsOf(from) };
  for (let isBetter = true; isBetter; ) {
    isBetter = false;
    for (const choice of neighbours(best.choice, rules.length)) {
      looks -= looksEach;
      if (looks < 0) return best.choice;
      const costs = costsOf(choice);
      if (!isLess(costs, best.costs)) continue;
      best = { choice, costs };
      isBetter = true;
      break;
    }
  }
  return best.choice;
}

function* neighbours(choice: readonly number[], rules: number): Generator<readonly number[]> {
  const without = choice.map((rule) => choice.filter((other) => other !== rule));
  yield* without;
  for (const kept of [choice, ...without]) {
    for (let rule = 0; rule < rules; rule += 1) {
      if (!choice.includes(rule)) yield [...kept, rule].toSorted((first, second) => first - second);
    }
  }
}

/** Costs in order, the first counts most. */
export function isLess(left: readonly number[], right: readonly number[]): boolean {
  const at = left.findIndex((cost, index) => cost !== right[index]);
  return at !== -1 && itemAt(left, at) < itemAt(right, at);
}

function openState(
  makes: FederationInstance["numbered"]["makes"],
  parting: Conditions["parting"],
  stays: Conditions["stays"],
) {
  const setsOf = new Map<number, number[]>();
  for (const [set, claims] of parting.entries()) {
    for (const claim of claims) {
      const known = setsOf.get(claim);
      if (known === undefined) setsOf.set(claim, [set]);
      else known.push(set);
    }
  }
  const made = new Map<number, number>();
  const parted = new Int32Array(parting.length);
  const holds = ({ claim, set }: Condition): boolean =>
    parted[set] === 0 && (claim === undefined || (made.get(claim) ?? 0) > 0);
  return {
    /** Queries that are left with one shard. */
    unfederated: () => stays.reduce((sum, found) => sum + (found.some(holds) ? 1 : 0), 0),
    /** 1: the rule comes; -1: it goes. */
    change(rule: number, by: 1 | -1): void {
      for (const claim of itemAt(makes, rule)) {
        made.set(claim, (made.get(claim) ?? 0) + by);
        for (const set of setsOf.get(claim) ?? []) parted[set]! += by;
      }
    },
  };
}
