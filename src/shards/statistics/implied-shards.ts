import { compareText } from "../../rdf/canonical.ts";
import { irisOfRule } from "../candidates.ts";
import type { Rule } from "../rule.ts";

/** Stands for the shards, whichever they are, that hold what a rule of a single class or predicate leaves. */
export const elsewhere = "elsewhere";

/** Keys of the shards that one rule makes; one of a single class or predicate parts it from `elsewhere`. */
function shardsOfRule(rule: Rule): readonly string[] {
  if (rule.kind === "horizontal") {
    return Array.from({ length: rule.buckets }, (_, bucket) => `h/${rule.class}/${bucket}`);
  }
  const letter = rule.kind === "class" ? "c" : "v";
  const keys = irisOfRule(rule).map((member) => `${letter}/${member}`);
  return keys.length === 1 ? [...keys, elsewhere] : keys;
}

/** Keys, each once, by code unit. */
export const sortedKeys = (keys: Iterable<string>): readonly string[] => [...new Set(keys)].toSorted(compareText);

/**
 * The shards that a query needs by the rules alone: those that the rules which cover it make, each counted once. Their
 * number is the *implied fan-out*. It knows nothing of the data: a rule may be shadowed by one that claims first, and a
 * shard may be empty.
 */
export const impliedShards = (covering: readonly Rule[]): readonly string[] =>
  sortedKeys(covering.flatMap(shardsOfRule));
