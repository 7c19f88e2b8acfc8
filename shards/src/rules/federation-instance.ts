import { itemAt } from "../../../src/values.ts";
import { irisOfRule } from "./candidates.ts";
import {
  type Candidate,
  type Criterion,
  type Problem,
  type Rule,
  type RuleKind,
  ruleKinds,
  type Solution,
} from "./problem.ts";

type Placement = NonNullable<Problem["placement"]>;

/** A problem in guaranteed or balanced mode as the solver sees it. */
export interface FederationInstance {
  readonly mode: "guaranteed" | "balanced";
  /** Candidates that claim triples, in balanced mode for each of their shards, in canonical order; their places are their numbers. */
  readonly rules: readonly Rule[];
  /** In balanced mode, of each rule: the queries that it covers, by their numbers here. */
  readonly covers: readonly (readonly number[])[];
  /** The queries that are asked for, by their place in `Problem.queries`; their places here are their numbers. */
  readonly queries: readonly number[];
  readonly numbered: Places;
  readonly measured: ReturnType<typeof measures>;
  readonly targets: NonNullable<Placement["targets"]>;
  /** A kind whose chosen rules cover fewer queries is missing; 0 where it is there with any rule. */
  readonly leastCovered: number;
  /** Queries that are left out, as it needs no solver to tell that nothing helps them. */
  readonly unsatisfiable: Solution["impossible"];
  /** In balanced mode: queries that no rule covers, by their place in `Problem.queries`. */
  readonly uncovered: Solution["impossible"];
}

/** Numbers a problem with placement. */
export function federationInstance(problem: Problem, placement: Placement): FederationInstance {
  const { needs, targets = {}, leastCovered = 0, ...unbalanced } = placement;
  const candidates = needs === undefined ? claiming(problem, placement) : splitting(problem, placement);
  const rules = candidates.map(({ rule }) => rule);
  const unsatisfiable = directReasons(placement);
  const lost = new Set(unsatisfiable.map(({ query }) => query));
  const queries = placement.touches.flatMap((_, query) => (lost.has(query) ? [] : [query]));
  const kept = <Item>(of: readonly (readonly Item[])[]): typeof of => queries.map((query) => itemAt(of, query));
  const touches = kept(placement.touches);
  const numbered = placesOf(rules, { ...unbalanced, touches, needs: needs && kept(needs) });
  const instance = {
    rules,
    queries,
    unsatisfiable,
    numbered,
    measured: measures(numbered.places),
    targets,
    leastCovered,
  };
  if (needs === undefined) return { ...instance, mode: "guaranteed", covers: [], uncovered: [] };
  const numbers = new Map(queries.map((query, number) => [query, number]));
  const covers = candidates.map((candidate) => candidate.covers.flatMap((query) => numbers.get(query) ?? []));
  const covered = new Set(covers.flat());
  const uncovered = queries.flatMap((query, number) => (covered.has(number) ? [] : [{ query, reason: noCover }]));
  return { ...instance, mode: "balanced", covers, uncovered };
}

const noCover = "No candidate rule that puts triples into each of its shards covers it.";

/** The others can only add to the number of rules. */
function claiming({ candidates }: Problem, { cells }: Placement): readonly Candidate[] {
  const classes = new Set(cells.flatMap(({ types }) => types));
  const predicates = new Set(cells.map(({ predicate }) => predicate));
  return candidates.filter(({ rule }) =>
    irisOfRule(rule).some((iri) => (rule.kind === "vertical" ? predicates : classes).has(iri)),
  );
}

/** Rules with triples for each of their shards, as long as no other rule claims them first. */
function splitting({ candidates }: Problem, { cells }: Placement): readonly Candidate[] {
  const predicates = new Set(cells.map(({ predicate }) => predicate));
  const bucketsOf = new Map<string, Set<number>>();
  for (const { types, bucket } of cells) {
    for (const type of types) bucketsOf.set(type, (bucketsOf.get(type) ?? new Set()).add(bucket));
  }
  return candidates.filter(({ rule }) => {
    if (rule.kind === "vertical") return rule.predicates.every((iri) => predicates.has(iri));
    if (rule.kind === "class") return rule.classes.every((iri) => bucketsOf.has(iri));
    return bucketsOf.get(rule.class)?.size === rule.buckets;
  });
}

/** Queries that need no solver: with every choice they see one shard or none. */
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

/**
 * The costs of a choice by simulation of the placement: what the solver's model is checked against, and what stands in for
 * its costs (clingo leaves out levels that cost nothing). `unfederated`: queries that reach one shard at the most, ascending.
 */
export function evaluateChoice(
  instance: FederationInstance,
  chosen: readonly number[],
): { readonly costs: Readonly<Record<Criterion["name"], number>>; readonly unfederated: readonly number[] } {
  const { rules, numbered, covers, measured, targets, leastCovered } = instance;
  const { scaled, steps, scale } = measured;
  const chosenRules = chosen.map((rule) => itemAt(rules, rule));
  const made = new Set(chosen.flatMap((rule) => itemAt(numbered.makes, rule)));
  const shardOf = numbered.places.map(({ offers }) => offers.find(({ claim }) => made.has(claim))?.shard ?? 0);
  const inOneShard = (queries: readonly (readonly number[])[]): readonly number[] =>
    queries.flatMap((places, query) => {
      const first = places[0] === undefined ? undefined : shardOf[places[0]];
      return places.some((place) => shardOf[place] !== first) ? [] : [query];
    });
  const unfederated = inOneShard(numbered.touches);
  const sizes = new Map<number, number>();
  for (const [place, shard] of shardOf.entries()) sizes.set(shard, (sizes.get(shard) ?? 0) + itemAt(scaled, place));
  const largest = Math.max(0, ...sizes.values());
  const isMissing = (kind: RuleKind): boolean => {
    const own = chosen.filter((rule) => itemAt(rules, rule).kind === kind);
    return own.length === 0 || distinct(own.flatMap((rule) => covers[rule] ?? [])) < leastCovered;
  };
  const isOneSided = (rule: number): boolean => numbered.splits[rule]?.some((shard) => !sizes.has(shard)) ?? false;
  const costs = {
    fewest_unfederated: unfederated.length,
    fewest_answered_alone: numbered.needs.filter((sets) => inOneShard(sets).length > 0).length,
    fewest_surplus_shards: Math.max(0, sizes.size - (targets.maxShards ?? sizes.size)),
    fewest_small_shards: [...sizes.values()].filter((size) => size < leastSize(targets, scale)).length,
    nearest_shares: stepsOff(chosenRules, targets),
    fewest_one_sided: chosen.filter(isOneSided).length,
    fewest_uncovered: distinct(covers.flat()) - distinct(chosen.flatMap((rule) => covers[rule] ?? [])),
    most_kinds: ruleKinds.filter((kind) => kindsOf(rules).has(kind) && isMissing(kind)).length,
    fewest_rules: chosen.length,
    fewest_shards: sizes.size,
    smallest_largest_shard: steps.filter((step) => largest > step).length,
  };
  return { costs, unfederated };
}

const distinct = (numbers: readonly number[]): number => new Set(numbers).size;

const kindsOf = (rules: FederationInstance["rules"]): ReadonlySet<RuleKind> => new Set(rules.map(({ kind }) => kind));

/** Least size of a shard in the unit of the measured sizes. */
export const leastSize = ({ minShardTriples = 0 }: FederationInstance["targets"], scale: number): number =>
  Math.floor(minShardTriples / scale);

/** Targets in 10,000ths: the solver counts in whole numbers. */
export const targetShares = ({
  shares = {},
}: FederationInstance["targets"]): readonly (readonly [RuleKind, number])[] =>
  ruleKinds.flatMap((kind) => (shares[kind] === undefined ? [] : [[kind, Math.round(shares[kind] * 10_000)] as const]));

/** How far off its target a share is counts in steps of 5 points. */
export const tolerances: readonly number[] = Array.from({ length: 18 }, (_, at) => at * 500 + 1_500);

function stepsOff(rules: readonly Rule[], targets: FederationInstance["targets"]): number {
  const off = targetShares(targets).map(([kind, share]) =>
    Math.abs(rules.filter((rule) => rule.kind === kind).length * 10_000 - share * rules.length),
  );
  return tolerances.filter((most) => off.some((each) => each > most * rules.length)).length;
}

/** A claim that a place may be taken by, and the shard that it then lies in; both are numbers. */
interface Offer {
  readonly claim: number;
  readonly shard: number;
}

/** Cells that the candidates cannot tell apart. */
interface CellGroup {
  /** In the order in which the claims are asked. */
  readonly offers: readonly Offer[];
  readonly triples: number;
}

/** The placement of triples in numbers. */
export interface Places {
  readonly places: readonly CellGroup[];
  /** For each query its places, ascending. */
  readonly touches: readonly (readonly number[])[];
  /** In balanced mode, of each query the sets of places that may not all lie in one shard. */
  readonly needs: readonly (readonly (readonly number[])[])[];
  /** For each rule, by its number, the claims that it makes when it is chosen. */
  readonly makes: readonly (readonly number[])[];
  /** For each rule the shards that it is to part triples into: two of a pair, each bucket of a horizontal rule. */
  readonly splits: readonly (readonly number[])[];
  /** Keys of the claims: `h/<class>`, `c/<class>`, `v/<predicate>`. */
  readonly claims: readonly string[];
  /** Keys of the shards; 0 is `base`. */
  readonly shards: readonly string[];
}

/** Gives each text a number: the next one for a new text. */
function numbering(): { readonly names: string[]; of(name: string): number } {
  const names: string[] = [];
  const numbers = new Map<string, number>();
  return {
    names,
    of(name) {
      const known = numbers.get(name);
      if (known !== undefined) return known;
      numbers.set(name, names.length);
      names.push(name);
      return names.length - 1;
    },
  };
}

/** The claims that a rule makes, and over how many buckets. */
function claimKeysOf(rule: Rule): readonly (readonly [key: string, buckets: number])[] {
  if (rule.kind === "horizontal") return [[`h/${rule.class}`, rule.buckets]];
  if (rule.kind === "class") return rule.classes.map((iri) => [`c/${iri}`, 0]);
  return rule.predicates.map((iri) => [`v/${iri}`, 0]);
}

const shardKeysOf = (rule: Rule): readonly string[] =>
  claimKeysOf(rule).flatMap(([key, buckets]) =>
    buckets === 0 ? [key] : Array.from({ length: buckets }, (_, bucket) => `${key}/${bucket}`),
  );

/** Numbers the claims and shards of a problem with placement and merges the cells that every candidate treats alike. */
function placesOf(rules: readonly Rule[], placement: Placement): Places {
  const claims = numbering();
  const shards = numbering();
  shards.of("base");
  const buckets = new Map(rules.flatMap(claimKeysOf));
  const makes = rules.map((rule) => claimKeysOf(rule).map(([key]) => claims.of(key)));
  const offersOf = offering(buckets, placement.precedence);
  const signatures = numbering();
  const places: { offers: readonly Offer[]; triples: number }[] = [];
  const placeOfCell = placement.cells.map((cell) => {
    const keys = offersOf(cell.types, cell.predicate, cell.bucket);
    const place = signatures.of(keys.map(({ shard }) => shard).join("\n"));
    const known = places[place];
    if (known !== undefined) known.triples += cell.triples;
    else {
      const offers = keys.map(({ claim, shard }) => ({ claim: claims.of(claim), shard: shards.of(shard) }));
      places[place] = { offers, triples: cell.triples };
    }
    return place;
  });
  const placesOfQueries = (queries: readonly (readonly number[])[]): Places["touches"] =>
    queries.map((cells) => sortedSet(cells.map((cell) => itemAt(placeOfCell, cell))));
  return {
    places,
    touches: placesOfQueries(placement.touches),
    needs: (placement.needs ?? []).map(placesOfQueries),
    makes,
    splits: rules.map((rule) => shardKeysOf(rule).map((key) => shards.of(key))),
    claims: claims.names,
    shards: shards.names,
  };
}

function sortedSet(numbers: readonly number[]): readonly number[] {
  return [...new Set(numbers)].toSorted((left, right) => left - right);
}

type KeyedOffer = { readonly claim: string; readonly shard: string };

/**
 * The claims of a triple in order: kinds by precedence, within a kind by IRI. This is what `claimantOf` (`placement.ts`) decides by, spread
 * out over all choices of rules. A class has one horizontal candidate at most.
 */
function offering(bucketsOf: ReadonlyMap<string, number>, precedence: Placement["precedence"]) {
  const offer = (key: string, bucket: number): readonly KeyedOffer[] => {
    const buckets = bucketsOf.get(key);
    if (buckets === undefined) return [];
    return [{ claim: key, shard: buckets === 0 ? key : `${key}/${bucket % buckets}` }];
  };
  return (types: readonly string[], predicate: string, bucket: number): readonly KeyedOffer[] => {
    const sorted = types.toSorted();
    const keys: Readonly<Record<RuleKind, readonly string[]>> = {
      horizontal: sorted.map((iri) => `h/${iri}`),
      class: sorted.map((iri) => `c/${iri}`),
      vertical: [`v/${predicate}`],
    };
    return precedence.flatMap((kind) => keys[kind].flatMap((key) => offer(key, bucket)));
  };
}

/** clingo's integers have 32 bits. */
const largestSum = 1_000_000_000;
const skewSteps = 32;

/** Sizes of the places as the solver counts them, divided by `scale` when need be, and steps of 1/32 of their sum. */
export function measures(places: readonly CellGroup[]) {
  const total = places.reduce((sum, { triples }) => sum + triples, 0);
  const scale = Math.max(1, Math.ceil(total / largestSum));
  const scaled = places.map(({ triples }) => Math.floor(triples / scale));
  const sum = scaled.reduce((left, right) => left + right, 0);
  const steps = Array.from({ length: skewSteps - 1 }, (_, at) => Math.floor((sum * (at + 1)) / skewSteps));
  return { scale, scaled, steps: [...new Set(steps)] };
}
