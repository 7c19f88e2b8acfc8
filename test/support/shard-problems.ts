import type {
  Candidate,
  Cell,
  Problem,
  Precedence,
  Rule,
  RuleKind,
  ShardTargets,
  Solution,
} from "../../shards/src/rules/problem.ts";
import type { AnswerSetSolver } from "../../shards/src/rules/answer-set-solver.ts";
import { chooseRules } from "../../shards/src/rules/choose-rules.ts";
import { literalInterpretation } from "../../shards/src/build-problem.ts";

/** Random numbers for tests: seeded, in [0, 1) (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** `n` queries of which only the number counts. */
export function blankQueries(n: number): Problem["queries"] {
  return Array.from({ length: n }, (_, at) => ({
    query: { id: `q${at}`, text: "", same: [`q${at}`] },
    predicates: [],
    classes: [],
    subjectVariables: 1,
    patterns: [],
  }));
}

/** Horizontal rules on classes in canonical order, each with the queries that it covers. */
export function coverProblem(covers: readonly (readonly number[])[], queries: number): Problem {
  const candidates = covers.map(
    (found, at): Candidate => ({
      rule: { kind: "horizontal", class: `c${String(at).padStart(4, "0")}`, buckets: 2 },
      covers: [...new Set(found)].toSorted((left, right) => left - right),
    }),
  );
  return { queries: blankQueries(queries), candidates };
}

/** Queries that each have `each` rules out of `rules`, drawn with a preference for some rules when `skewed`. */
export function randomCover(
  size: { readonly queries: number; readonly rules: number; readonly each: number },
  seed: number,
  skewed = false,
): Problem {
  const random = randomOf(seed);
  const covers: number[][] = Array.from({ length: size.rules }, () => []);
  for (let query = 0; query < size.queries; query += 1) {
    const drawn = new Set<number>();
    while (drawn.size < size.each) drawn.add(Math.floor(random() ** (skewed ? 3 : 1) * size.rules));
    for (const rule of drawn) covers[rule]?.push(query);
  }
  return coverProblem(covers, size.queries);
}

const precedences: readonly Precedence[] = [
  ["horizontal", "vertical", "class"],
  ["class", "horizontal", "vertical"],
  ["vertical", "class", "horizontal"],
];

/** A small problem in guaranteed mode: at most 12 candidates over 4 classes and 4 predicates. */
export function randomPlacement(seed: number): Problem & { readonly placement: NonNullable<Problem["placement"]> } {
  const random = randomOf(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] ?? (from[0] as T);
  const classes = ["urn:A", "urn:B", "urn:C", "urn:D"];
  const predicates = ["urn:p", "urn:q", "urn:r", "urn:s"];
  const rules = [
    ...pairs(predicates).map((pair): Rule => ({ kind: "vertical", predicates: pair })),
    ...pairs(classes).map((pair): Rule => ({ kind: "class", classes: pair })),
    ...classes.map((iri): Rule => ({ kind: "horizontal", class: iri, buckets: 2 })),
  ].filter(() => random() < (seed % 2 === 0 ? 0.6 : 0.15));
  const cells = new Map<string, Cell>();
  for (let at = 0; at < 12; at += 1) {
    const types = classes.filter(() => random() < 0.35);
    const cell = { types, predicate: pick(predicates), bucket: Math.floor(random() * 2) };
    cells.set(JSON.stringify(cell), { ...cell, triples: 1 + Math.floor(random() * 20) });
  }
  const count = 1 + Math.floor(random() * 6);
  const touches = Array.from({ length: count }, () =>
    [...cells.keys()].flatMap((_, at) => (random() < (seed % 3 === 0 ? 0.3 : 0.17) ? [at] : [])),
  );
  return {
    queries: blankQueries(count),
    candidates: rules.slice(0, 12).map((rule) => ({ rule, covers: [] })),
    placement: { precedence: pick(precedences), cells: [...cells.values()], touches },
  };
}

/** The same in balanced mode: what the queries need and what covers them is random, too. */
export function randomBalanced(seed: number): ReturnType<typeof randomPlacement> {
  const { queries, candidates, placement } = randomPlacement(seed);
  const random = randomOf(seed + 10_000);
  const needs = placement.touches.map((touched) => {
    const kept = touched.filter(() => random() < 0.7);
    return [kept.length < 2 ? touched : kept, ...(random() < 0.3 && touched.length > 1 ? [touched.slice(0, 2)] : [])];
  });
  const covering = candidates.map(({ rule }) => ({
    rule,
    covers: queries.flatMap((_, query) => (random() < 0.4 ? [query] : [])),
  }));
  return { queries, candidates: covering, placement: { ...placement, needs, targets: randomTargets(random) } };
}

/** Each target is there or not. */
export function randomTargets(random: () => number): ShardTargets {
  const share = Math.round(random() * 100) / 100;
  return {
    ...(random() < 0.7 && { maxShards: 2 + Math.floor(random() * 5) }),
    ...(random() < 0.7 && { minShardTriples: 1 + Math.floor(random() * 20) }),
    ...(random() < 0.7 && { shares: { vertical: share, horizontal: (1 - share) / 2, class: (1 - share) / 2 } }),
  };
}

const pairs = (of: readonly string[]): readonly (readonly string[])[] =>
  of.flatMap((first, at) => of.slice(at + 1).map((second) => [first, second]));

/** All subsets of the numbers below `n`, by bits. */
export function* subsets(n: number): Generator<readonly number[]> {
  for (let bits = 0; bits < 2 ** n; bits += 1) {
    yield Array.from({ length: n }, (_, at) => at).filter((at) => (bits & (1 << at)) !== 0);
  }
}

/** Kinds among these rules. */
export const kindsIn = (rules: readonly Rule[]): ReadonlySet<RuleKind> => new Set(rules.map(({ kind }) => kind));

/** Lists of numbers, compared place by place; a longer one is greater than its beginning. */
export function compareLists(left: readonly number[], right: readonly number[]): number {
  for (const [at, value] of left.entries()) {
    const other = right[at];
    if (other === undefined) return 1;
    if (value !== other) return value - other;
  }
  return left.length - right.length;
}

/** Chooses with a solver, in the paper's literal reading. */
export const chosenBy =
  (solver: AnswerSetSolver) =>
  (problem: Problem, timeoutMs = 20_000): Promise<Solution> =>
    chooseRules(problem, { reading: literalInterpretation, solver, timeoutMs });

/** Where rules stand among a problem's candidates. */
export const numbersOf = (problem: Problem, rules: readonly Rule[]): readonly number[] =>
  rules.map((rule) => problem.candidates.findIndex((candidate) => candidate.rule === rule));
