import type * as RDF from "@rdfjs/types";
import { termToText } from "../../results/terms.ts";

/** A join whose right side cannot be asked by key: it is taken in whole. */
export interface BufferedJoin {
  readonly left: AsyncIterable<RDF.Bindings>;
  readonly right: AsyncIterable<RDF.Bindings>;
  /** Shared variables that every solution of either side binds: the keys of the hash table. */
  readonly keys: readonly string[];
  /** All shared variables. */
  readonly shared: readonly string[];
}

/** A condition over merged solutions. */
export type Condition = (merged: RDF.Bindings) => Promise<boolean>;

/** LeftJoin (SPARQL 1.1 Query, section 18.5) with its condition. */
export async function* bufferedLeftJoin(join: BufferedJoin, condition: Condition): AsyncIterable<RDF.Bindings> {
  const candidates = await hashTable(join.right, join.keys);
  for await (const row of join.left) {
    let matched = false;
    for (const candidate of candidates(row)) {
      const merged = row.merge(candidate);
      if (!merged || !(await condition(merged))) continue;
      matched = true;
      yield merged;
    }
    if (!matched) yield row;
  }
}

/** Minus (SPARQL 1.1 Query, section 18.5): compatible solutions with no variable in common take nothing away. */
export async function* bufferedMinus(join: BufferedJoin): AsyncIterable<RDF.Bindings> {
  const candidates = await hashTable(join.right, join.keys);
  const takesAway = (row: RDF.Bindings) => (candidate: RDF.Bindings) =>
    join.shared.some((name) => row.has(name) && candidate.has(name)) && row.merge(candidate) !== undefined;
  for await (const row of join.left) {
    if (!candidates(row).some(takesAway(row))) yield row;
  }
}

async function hashTable(
  solutions: AsyncIterable<RDF.Bindings>,
  keys: readonly string[],
): Promise<(row: RDF.Bindings) => readonly RDF.Bindings[]> {
  const table = new Map<string, RDF.Bindings[]>();
  const keyOf = (row: RDF.Bindings) => keys.map((name) => termToText(row.get(name) as RDF.Term)).join(" ");
  for await (const solution of solutions) {
    const key = keyOf(solution);
    const known = table.get(key);
    if (known) known.push(solution);
    else table.set(key, [solution]);
  }
  return (row) => table.get(keyOf(row)) ?? [];
}
