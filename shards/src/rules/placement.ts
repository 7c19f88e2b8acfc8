import { hash } from "node:crypto";
import { itemAt, valueFor } from "../../../src/values.ts";
import type { Cell, Precedence, Rule } from "./problem.ts";
import { standIns, type TermGroups } from "./term-groups.ts";

/** The order that leaves the fewest queries at one shard, of guaranteed and paper mode. */
export const defaultPrecedence: Precedence = ["horizontal", "vertical", "class"];

/** That of balanced mode: what a query asks of one subject is taken apart too, which lies in one bucket. */
export const balancedPrecedence: Precedence = ["vertical", "horizontal", "class"];

/**
 * Which rule takes a triple: a shard that is known already, or the instances of a class, spread over buckets.
 * `buckets` is 1 where the subject's hash has no say.
 */
interface Claim {
  /** The key of the shard; of a horizontal rule all of it but the bucket. */
  readonly key: string;
  readonly buckets: number;
}

/** Which claim takes the triples of subjects with these classes (sorted IRIs) and this predicate (IRI). */
type ClaimOf = (types: readonly string[], predicate: string) => Claim;

/**
 * The key of the one shard that holds a triple: `h/<class>/<bucket>`, `c/<class>`, `v/<predicate>` or `base`, with rules over groups
 * `base/<bucket>`; IRIs without angle brackets.
 * @param subjectBucket the subject's bucket among as many as the rules have, or its whole `hashOf`
 */
export type PlacementOf = (types: readonly string[], predicate: string, subjectBucket: number) => string;

const base: Claim = { key: "base", buckets: 1 };

/**
 * The kinds of rules are asked in the order of precedence. Of the rules of a kind that claim a triple, the one whose
 * class or predicate comes first by the bytes of its IRI takes it: for a subject with several types its first claimed class. A rule of a
 * pair claims both of its members, each for a shard of its own.
 */
function claimantOf(rules: readonly Rule[], precedence: Precedence): ClaimOf {
  const buckets = bucketsByClass(rules);
  const classes = new Set(rules.flatMap((rule) => (rule.kind === "class" ? rule.classes : [])));
  const predicates = new Set(rules.flatMap((rule) => (rule.kind === "vertical" ? rule.predicates : [])));
  const claims = {
    horizontal: (types: readonly string[]): Claim | undefined => {
      const found = first(types, buckets);
      return found === undefined ? undefined : { key: `h/${found}`, buckets: valueFor(buckets, found) };
    },
    class: (types: readonly string[]): Claim | undefined => {
      const found = first(types, classes);
      return found === undefined ? undefined : { key: `c/${found}`, buckets: 1 };
    },
    vertical: (_types: readonly string[], predicate: string): Claim | undefined =>
      predicates.has(predicate) ? { key: `v/${predicate}`, buckets: 1 } : undefined,
  };
  return (types, predicate) => {
    for (const kind of precedence) {
      const claim = claims[kind](types, predicate);
      if (claim !== undefined) return claim;
    }
    return base;
  };
}

/** Among several rules for one class, the one with the fewest buckets counts. */
function bucketsByClass(rules: readonly Rule[]): ReadonlyMap<string, number> {
  const buckets = new Map<string, number>();
  for (const rule of rules) {
    if (rule.kind !== "horizontal") continue;
    buckets.set(rule.class, Math.min(rule.buckets, buckets.get(rule.class) ?? rule.buckets));
  }
  return buckets;
}

function first(types: readonly string[], claimed: { has(type: string): boolean }): string | undefined {
  let found: string | undefined;
  for (const type of types)
    if (claimed.has(type) && (found === undefined || compareBytes(type, found) < 0)) found = type;
  return found;
}

/**
 * Order of UTF-8 bytes, as of the lines of shards: part of the contract of manifests. UTF-16 units have U+FFEE behind U+1F600.
 */
export const compareBytes = (left: string, right: string): number => Buffer.from(left).compare(Buffer.from(right));

/** Where the rules put triples. @param groups classes and predicates that the rules name by the first of their group */
export function placementOf(
  rules: readonly Rule[],
  precedence: Precedence = defaultPrecedence,
  groups?: TermGroups,
): PlacementOf {
  const claimOf = claimantOf(rules, precedence);
  const [classOf, predicateOf] = [standIns(groups?.classes), standIns(groups?.predicates)];
  return (types, predicate, subjectBucket) => {
    const { key, buckets } = claimOf(groups ? types.map(classOf) : types, predicateOf(predicate));
    const spread = key === base.key ? (groups?.baseBuckets ?? 1) : buckets;
    return key.startsWith("h/") || spread > 1 ? `${key}/${subjectBucket % spread}` : key;
  };
}

/** md5 of a subject's IRI (text, or its UTF-8 bytes), the first 8 hex digits as a number. */
export const hashOf = (subjectIri: string | Uint8Array): number =>
  // As text, which takes a third of the time of a buffer.
  Number.parseInt(hash("md5", subjectIri, "hex").slice(0, 8), 16);

/** For each cell the key of its shard. */
export const keysOfCells = (cells: readonly Cell[], placement: PlacementOf): readonly string[] =>
  cells.map(({ types, predicate, bucket }) => placement(types, predicate, bucket));

/**
 * The shards that rules would give, by key, without writing anything; of their triples those that the inputs repeat count
 * each time.
 * @param keys of each cell that of its shard
 */
export function predictShards(
  cells: readonly Cell[],
  keys: readonly string[],
): readonly { readonly key: string; readonly triples: number }[] {
  const shards = new Map<string, number>();
  for (const [at, { triples }] of cells.entries()) {
    const key = itemAt(keys, at);
    shards.set(key, (shards.get(key) ?? 0) + triples);
  }
  return [...shards]
    .toSorted(([left], [right]) => compareBytes(left, right))
    .map(([key, triples]) => ({ key, triples }));
}
