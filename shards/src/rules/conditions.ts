import { itemAt } from "../../../src/values.ts";
import { measures, type Places } from "./federation-instance.ts";

/**
 * Something is so when its claim is made, and none of a set of others. A place lies in the shard of a claim when no claim
 * before that one is made, and in the base shard (`claim` undefined) when none of its claims is.
 */
export interface Condition {
  readonly claim: number | undefined;
  readonly set: number;
}

type Share = Condition & { readonly triples: number };
type GrownSet = { readonly parent: number; readonly claim: number };

/**
 * Value of a choice of rules, without the places: as facts those would be as many as all queries have places. No
 * choice costs more or less than with the places.
 */
export interface Conditions extends QueryConditions, ShardSizes {
  /** For each shard, when a place lies in it; without conditions that hold only when another one does. `set` is one of `grown`. */
  readonly holds: readonly (readonly Condition[])[];
}

/** When the places of queries lie in one shard. */
interface QueryConditions {
  /** Sets of claims that part the places of queries. */
  readonly parting: readonly (readonly number[])[];
  /** For each query, when all its places lie in one shard; `set` is one of `parting`. */
  readonly stays: readonly (readonly Condition[])[];
  /** In balanced mode, of each query, when one shard has all the places of a set that may give its answer; `set` is one of `parting`. */
  readonly needs: readonly (readonly Condition[])[];
}

interface ShardSizes {
  /** Sets of claims that come before others, each another set and one more claim; 0 is empty, a parent has a lower number. */
  readonly grown: readonly (GrownSet | undefined)[];
  /** For each shard, how many triples (as `measures` scales them) lie in it when; `set` is one of `grown`. */
  readonly shares: readonly (readonly Share[])[];
}

/** The solver would not come to an end with more sizes to add up, or run out of memory. */
const mostShares = 10_000;

/** True if the solver can compare the sizes of shards. */
export const isMeasurable = ({ shares }: ShardSizes): boolean =>
  shares.reduce((sum, { length }) => sum + length, 0) <= mostShares;

/** Puts places into conditions. */
export function conditionsOf(numbered: Places): Conditions {
  const { grown, shares } = sharesOf(numbered);
  return { grown, shares, holds: shares.map((found) => weakest(found, grown)), ...staysOf(numbered) };
}

function sharesOf({ places, claims, shards }: Places): ShardSizes {
  const grown: (GrownSet | undefined)[] = [undefined];
  const numbers = new Map<number, number>();
  // The order of claims is the same at all places, so that the same set is always grown in the same order.
  const grow = (parent: number, claim: number): number => {
    const key = parent * claims.length + claim;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, grown.length);
    return grown.push({ parent, claim }) - 1;
  };
  const found = shards.map(() => new Map<number, { claim: number | undefined; triples: number }>());
  const put = (shard: number, { claim, set, triples }: Share): void => {
    const sets = itemAt(found, shard);
    const known = sets.get(set);
    if (known === undefined) sets.set(set, { claim, triples });
    else known.triples += triples;
  };
  const { scaled } = measures(places);
  for (const [place, { offers }] of places.entries()) {
    const triples = itemAt(scaled, place);
    let set = 0;
    for (const { claim, shard } of offers) {
      put(shard, { claim, set, triples });
      set = grow(set, claim);
    }
    put(0, { claim: undefined, set, triples });
  }
  return {
    grown,
    shares: found.map((sets) => [...sets].map(([set, rest]) => ({ set, claim: rest.claim, triples: rest.triples }))),
  };
}

/** How many of the weakest conditions each other one is compared with; superfluous ones cost only room. */
const mostCompared = 64;

/** A set that includes another one is parted when that is: it says nothing new. */
function weakest(shares: readonly Share[], grown: Conditions["grown"]): readonly Condition[] {
  const sized = shares.map(({ claim, set }) => ({ claim, set, claims: claimsOf(set, grown) }));
  const kept: typeof sized = [];
  for (const one of sized.toSorted((left, right) => left.claims.size - right.claims.size || left.set - right.set)) {
    if (!kept.slice(0, mostCompared).some(({ claims }) => claims.isSubsetOf(one.claims))) kept.push(one);
  }
  return kept.map(({ claim, set }) => ({ claim, set }));
}

function claimsOf(set: number, grown: Conditions["grown"]): ReadonlySet<number> {
  const claims = new Set<number>();
  for (let at = grown[set]; at !== undefined; at = grown[at.parent]) claims.add(at.claim);
  return claims;
}

function staysOf({ places, touches, needs }: Places): QueryConditions {
  const numbers = new Map<string, number>();
  const parting: (readonly number[])[] = [];
  const numberOf = (claims: ReadonlySet<number>): number => {
    const sorted = [...claims].toSorted((left, right) => left - right);
    const key = sorted.join();
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, parting.length);
    return parting.push(sorted) - 1;
  };
  const inOneShard = (found: readonly number[]): readonly Condition[] => {
    const { common, all } = commonShards(found, places);
    const inShards = [...common.values()].map(({ claim, before }) => ({ claim, set: numberOf(before) }));
    return [...inShards, { claim: undefined, set: numberOf(all) }];
  };
  return { parting, stays: touches.map(inOneShard), needs: needs.map((sets) => sets.flatMap(inOneShard)) };
}

/** A shard that all places of a query may lie in, and the claims that come before it at one of them or more. */
interface CommonShard {
  readonly claim: number;
  readonly before: Set<number>;
  /** How many of the places offer it. */
  places: number;
}

function commonShards(
  touched: readonly number[],
  places: Places["places"],
): { readonly common: ReadonlyMap<number, CommonShard>; readonly all: ReadonlySet<number> } {
  const common = new Map<number, CommonShard>();
  const all = new Set<number>();
  for (const [at, place] of touched.entries()) {
    const before: number[] = [];
    for (const { claim, shard } of itemAt(places, place).offers) {
      if (at === 0) common.set(shard, { claim, before: new Set(before), places: 1 });
      else note(common.get(shard), before);
      before.push(claim);
      all.add(claim);
    }
    for (const [shard, found] of common) if (found.places <= at) common.delete(shard);
  }
  return { common, all };
}

function note(shard: CommonShard | undefined, before: readonly number[]): void {
  if (shard === undefined) return;
  shard.places += 1;
  for (const claim of before) shard.before.add(claim);
}
