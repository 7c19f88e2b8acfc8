import type { Criterion } from "./problem.ts";
import { composeProgram, type Encoding, quote } from "./encodings.ts";
import type { Condition, Conditions } from "./conditions.ts";
import { type FederationInstance, leastSize, targetShares, tolerances, type Places } from "./federation-instance.ts";

type CriterionName = Criterion["name"];

/** The objectives of an instance in order (`shards/objectives.lp`): those of its mode, and its targets behind federation. */
export function criteriaOf({ mode, targets, leastCovered }: FederationInstance): readonly CriterionName[] {
  const hasShares = targetShares(targets).length > 0;
  const wanted: readonly CriterionName[] = [
    ...(targets.maxShards === undefined ? [] : (["fewest_surplus_shards"] as const)),
    ...(targets.minShardTriples === undefined ? [] : (["fewest_small_shards"] as const)),
    ...(hasShares ? (["nearest_shares"] as const) : []),
  ];
  if (mode === "guaranteed") {
    return ["fewest_unfederated", ...wanted, "fewest_rules", "fewest_shards", "most_kinds", "smallest_largest_shard"];
  }
  return [
    "fewest_unfederated",
    "fewest_answered_alone",
    ...wanted,
    ...(leastCovered > 0 ? ofGroups : ofTerms),
    ...(hasShares || leastCovered > 0 ? [] : (["most_kinds"] as const)),
    "fewest_rules",
    "smallest_largest_shard",
  ];
}

/** A rule over groups that leaves others without triples covers in name only. */
const ofGroups = ["fewest_one_sided", "most_kinds", "fewest_uncovered"] as const;
const ofTerms = ["fewest_uncovered", "fewest_one_sided"] as const;

/** Criteria that look at the shards, about which there are more facts than about all else. */
const looksAtShards = new Set<CriterionName>([
  "fewest_shards",
  "fewest_one_sided",
  "fewest_surplus_shards",
  "fewest_small_shards",
]);

/** Criteria that add up triples. */
export const looksAtSizes = new Set<CriterionName>(["fewest_small_shards", "smallest_largest_shard"]);

/** Facts of an instance, most of which only some criteria need. */
export function factsOf(instance: FederationInstance, conditions: Conditions) {
  const facts = [...federationFacts(instance, conditions), ...targetFacts(instance)];
  const shards = shardFacts(instance, conditions);
  const sizes = measureFacts(instance, conditions);
  return (names: readonly CriterionName[]): readonly string[] => [
    ...facts,
    ...(names.some((name) => looksAtShards.has(name)) ? shards : []),
    ...(names.some((name) => looksAtSizes.has(name)) ? sizes : []),
  ];
}

/** Facts for `shards/targets.lp`. */
function targetFacts({ targets, numbered, measured, leastCovered }: FederationInstance): readonly string[] {
  const { maxShards = numbered.shards.length, minShardTriples } = targets;
  const surplus = Array.from(
    { length: Math.max(0, numbered.shards.length - maxShards) },
    (_, at) => maxShards + at + 1,
  );
  const shares = targetShares(targets);
  return [
    ...(leastCovered === 0 ? [] : [`least_covered(${leastCovered}).`]),
    ...surplus.map((number) => `surplus(${number}).`),
    ...(minShardTriples === undefined ? [] : [`least(${leastSize(targets, measured.scale)}).`]),
    ...shares.map(([kind, share]) => `target(${kind},${share}).`),
    ...(shares.length === 0 ? [] : tolerances.map((most) => `tolerance(${most}).`)),
  ];
}

/** Objectives of one run of the solver. */
export interface Aims {
  readonly minimise?: CriterionName;
  /** May cost no more than this. */
  readonly atMost?: ReadonlyMap<CriterionName, number>;
  /** Below the criterion, the canonical choice counts. */
  readonly canonical?: boolean;
  /** Explain: this query alone must be federated. */
  readonly alone?: number;
}

/** Everything of a problem with placement but the aims and the shards, as facts. */
export function federationFacts(instance: FederationInstance, conditions: Conditions): readonly string[] {
  const { rules, covers, numbered } = instance;
  const { parting, stays, needs } = conditions;
  return [
    ...rules.map((rule, number) => `rule(${number}). kind(${number},${rule.kind}).`),
    ...numbered.makes.map((made, rule) => made.map((claim) => `makes(${rule},${claim}).`).join(" ")),
    ...covers.map((queries, rule) => queries.map((query) => `covers(${rule},${query}).`).join(" ")),
    ...parting.map((claims, set) => claims.map((claim) => `parts(${partingOf(set)},${claim}).`).join(" ")),
    ...stays.map((found, query) =>
      [
        `query(${query}).`,
        ...found.map(({ claim = "base", set }) => `stays(${query},${claim},${partingOf(set)}).`),
      ].join(" "),
    ),
    ...needs.map((found, query) =>
      found.map(({ claim = "base", set }) => `needs(${query},${claim},${partingOf(set)}).`).join(" "),
    ),
  ];
}

/** When shards have triples, as facts: needed where shards are counted. */
export const shardFacts = ({ mode, numbered }: FederationInstance, conditions: Conditions): readonly string[] => [
  ...grownFacts(conditions, conditions.holds),
  ...(mode === "guaranteed" ? [] : numbered.splits).map((shards, rule) =>
    shards.map((shard) => `splits(${rule},${shard}).`).join(" "),
  ),
  ...conditions.holds.map((found, shard) =>
    found.map(({ claim = "base", set }) => `holds(${shard},${claim},${set}).`).join(" "),
  ),
];

/** The sets are numbered apart: those of queries below 0. */
const partingOf = (set: number): number => -1 - set;

/** Sizes of shards as facts, and the steps in which the largest one is measured; some sets are those of `shardFacts` again. */
function measureFacts({ measured }: FederationInstance, conditions: Conditions): readonly string[] {
  const { shares } = conditions;
  return [
    ...grownFacts(conditions, shares),
    ...shares.map((found, shard) =>
      found.map(({ claim = "base", set, triples }) => `share(${shard},${claim},${set},${triples}).`).join(" "),
    ),
    ...measured.steps.map((step, at) => `step(${at + 1},${step}).`),
  ];
}

/** The sets of conditions, with all that they are grown from. */
function grownFacts({ grown }: Conditions, conditions: readonly (readonly Condition[])[]): readonly string[] {
  const wanted = new Map<number, string>();
  for (const { set } of conditions.flat()) {
    for (let at = set, from = grown[at]; from !== undefined && !wanted.has(at); from = grown[at]) {
      wanted.set(at, `grows(${at},${from.parent},${from.claim}).`);
      at = from.parent;
    }
  }
  return [...wanted.values()];
}

/** Meanings of the numbers, for readers of the program. */
export const nameFacts = (names: readonly string[], { claims, shards }: Places): readonly string[] => [
  ...names.map((name, number) => `name(rule,${number},${quote(name)}).`),
  ...claims.map((name, number) => `name(claim,${number},${quote(name)}).`),
  ...shards.map((name, number) => `name(shard,${number},${quote(name)}).`),
];

const encodings: readonly Encoding[] = [
  "domain",
  "choice",
  "precedence",
  "federation",
  "objectives",
  "targets",
  "canonical",
  "show",
];

/** The program for these facts and aims. */
export function federationProgram(facts: readonly string[], rules: number, aims: Aims): string {
  const { minimise, atMost, canonical, alone } = aims;
  const aimFacts = [
    ...(minimise === undefined ? [] : [`level(${minimise},${rules + 1}).`]),
    ...[...(atMost ?? [])].map(([name, most]) => `bound(${name},${most}).`),
    ...(canonical ? [`canonical(${rules}).`] : []),
    ...(alone === undefined ? [] : [`alone(${alone}).`]),
  ];
  const all: readonly Encoding[] = alone === undefined ? encodings : [...encodings, "impossible"];
  return composeProgram([...facts, ...aimFacts], all);
}
