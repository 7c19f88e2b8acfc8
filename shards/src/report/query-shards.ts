import { irisOfRule } from "../rules/candidates.ts";
import type { Cell, Pattern, QueryFeatures, Rule } from "../rules/problem.ts";
import { itemAt } from "../../../src/values.ts";
import { compareText } from "../../../src/rdf/canonical.ts";
import { rdf } from "../../../src/rdf/vocabularies.ts";

/**
 * For each query, the shards with a match, from the cells with a match.
 * @param keys of each cell that of its shard
 */
export const touchedShards = (
  touches: readonly (readonly number[])[],
  keys: readonly string[],
): readonly (readonly string[])[] => touches.map((cells) => sortedKeys(cells.map((cell) => itemAt(keys, cell))));

const iriOf = (term: string | undefined): string | undefined =>
  term?.startsWith("<") === true ? term.slice(1, -1) : term;

const put = (index: Map<string, Set<string>>, name: string, key: string): void => {
  index.set(name, (index.get(name) ?? new Set()).add(key));
};

/** Keys of shards by the predicates of their triples, and by the classes that triples with `rdf:type` give to subjects. */
function indexOf(cells: readonly Cell[], keys: readonly string[]) {
  const byPredicate = new Map<string, Set<string>>();
  const byClass = new Map<string, Set<string>>();
  for (const [at, { types, predicate }] of cells.entries()) {
    const key = itemAt(keys, at);
    put(byPredicate, predicate, key);
    if (predicate === rdf.type) for (const iri of types) put(byClass, iri, key);
  }
  return { byPredicate, byClass };
}

/** Groups of keys of the shards with the vocabulary of the pattern, whatever its other constants are. */
function shardsOfPattern(
  { byPredicate, byClass }: ReturnType<typeof indexOf>,
  pattern: Pattern,
): readonly ReadonlySet<string>[] {
  const predicate = iriOf(pattern.predicate);
  if (predicate === undefined) {
    const except = new Set(pattern.exceptPredicates);
    return [...byPredicate].flatMap(([iri, keys]) => (except.has(iri) ? [] : keys));
  }
  const named = predicate === rdf.type ? iriOf(pattern.object) : undefined;
  return [(named === undefined ? byPredicate.get(predicate) : byClass.get(named)) ?? new Set()];
}

/** For each query, the shards that hold one of its predicates, or instances of a class where it asks for the class. */
export function relevantShards(
  queries: readonly QueryFeatures[],
  cells: readonly Cell[],
  keys: readonly string[],
): readonly (readonly string[])[] {
  const index = indexOf(cells, keys);
  return queries.map(({ patterns }) => {
    const found = new Set<string>();
    for (const pattern of patterns) {
      for (const shards of shardsOfPattern(index, pattern)) for (const key of shards) found.add(key);
    }
    return sortedKeys(found);
  });
}

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

/** Each key once, by code unit. */
const sortedKeys = (keys: Iterable<string>): readonly string[] => [...new Set(keys)].toSorted(compareText);

/**
 * The shards that a query needs by the rules alone: those that the rules which cover it make, each counted once. Their
 * number is the *implied fan-out*. It knows nothing of the data: a rule may be shadowed by one that claims first, and a
 * shard may be empty.
 */
export const impliedShards = (covering: readonly Rule[]): readonly string[] =>
  sortedKeys(covering.flatMap(shardsOfRule));
