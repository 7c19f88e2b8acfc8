import { itemAt } from "../../../src/values.ts";
import type { Problem, Rule, RuleKind } from "./problem.ts";

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

type Placement = NonNullable<Problem["placement"]>;

/** Numbers the claims and shards of a problem with placement and merges the cells that every candidate treats alike. */
export function placesOf(rules: readonly Rule[], placement: Placement): Places {
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
