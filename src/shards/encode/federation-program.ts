import type { Criterion } from "../problem.ts";
import type { Rule } from "../rule.ts";
import { composeProgram, type Encoding } from "./encodings.ts";
import { measures, type Place, type Places } from "./places.ts";
import { quote } from "./quote.ts";

/** The objectives of guaranteed mode in order (`shards/objectives.lp`). */
export const criteria: readonly CriterionName[] = [
  "fewest_unfederated",
  "fewest_rules",
  "fewest_shards",
  "most_kinds",
  "least_skew",
];

type CriterionName = Criterion["name"];

/** What one run of the solver is to do with the objectives. */
export interface Aims {
  readonly minimise?: CriterionName;
  /** May cost no more than this. */
  readonly atMost?: ReadonlyMap<CriterionName, number>;
  /** Below the criterion, the canonical choice counts. */
  readonly canonical?: boolean;
  /** Explain: this query alone must be federated. */
  readonly alone?: number;
}

/** Everything of a problem in guaranteed mode but the aims, as facts. */
export function federationFacts(rules: readonly Rule[], names: readonly string[], numbered: Places): readonly string[] {
  const { places, touches, makes, claims, shards } = numbered;
  return [
    ...rules.map((rule, number) => `rule(${number}). kind(${number},${rule.kind}).`),
    ...names.map((name, number) => `name(rule,${number},${quote(name)}).`),
    ...claims.map((name, number) => `name(claim,${number},${quote(name)}).`),
    ...shards.map((name, number) => `name(shard,${number},${quote(name)}).`),
    ...makes.map((made, rule) => made.map((claim) => `makes(${rule},${claim}).`).join(" ")),
    ...places.map(({ offers }, place) =>
      [
        `home(${place},0).`,
        ...offers.map(({ claim, shard }, at) => `asks(${place},${at + 1},${claim}). lies(${place},${claim},${shard}).`),
      ].join(" "),
    ),
    ...sizes(places),
    ...touches.map((found, query) =>
      [`query(${query}).`, ...found.map((place) => `touches(${query},${place}).`)].join(" "),
    ),
  ];
}

/** Sizes of places, and the steps in which the largest shard is measured. */
function sizes(places: readonly Place[]): readonly string[] {
  const { scaled, steps } = measures(places);
  return [
    ...scaled.map((size, place) => `size(${place},${size}).`),
    ...steps.map((step, at) => `step(${at + 1},${step}).`),
  ];
}

const encodings: readonly Encoding[] = [
  "domain",
  "choice",
  "precedence",
  "federation",
  "objectives",
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
