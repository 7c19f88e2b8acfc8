import { compareText } from "../../rdf/canonical.ts";
import type { LearnedCells } from "../load/cell-facts.ts";
import { claimantOf, keyOfClaim } from "../placement.ts";
import type { Precedence, Rule } from "../rule.ts";

/** What a shard will hold: at most, since triples that the inputs repeat are written once. */
export interface PredictedShard {
  readonly key: string;
  readonly triples: number;
  /** Without compression. */
  readonly lineBytes: number;
}

/** The shards that rules would give, by key, without writing anything. */
export function predictShards(
  { cells, bytes }: Pick<LearnedCells, "cells" | "bytes">,
  rules: readonly Rule[],
  precedence: Precedence,
): readonly PredictedShard[] {
  const claimOf = claimantOf(rules, precedence);
  const shards = new Map<string, { triples: number; lineBytes: number }>();
  cells.forEach(({ types, predicate, bucket, triples }, index) => {
    const key = keyOfClaim(claimOf(types, predicate), bucket);
    const shard = shards.get(key) ?? { triples: 0, lineBytes: 0 };
    shard.triples += triples;
    shard.lineBytes += bytes[index] ?? 0;
    shards.set(key, shard);
  });
  return [...shards]
    .toSorted(([left], [right]) => compareText(left, right))
    .map(([key, { triples, lineBytes }]) => ({ key, triples, lineBytes }));
}
