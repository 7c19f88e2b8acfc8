import type * as RDF from "@rdfjs/types";
import type { Bindings } from "../results/model.ts";
import { termToText } from "../results/terms.ts";
import type { KeyBlock } from "./clause-query.ts";

/** All solutions of a clause, to be joined with one block of keys after the other. */
export interface KeyedRows {
  readonly rows: readonly Bindings[];
  /** The solutions of the join with the keys' rows: each binds their variables. */
  joined(keys: KeyBlock): Iterable<Bindings>;
}

interface Index {
  readonly byKey: ReadonlyMap<string, readonly Bindings[]>;
  /** Solutions that leave one of the variables unbound: any key may be compatible. */
  readonly open: readonly Bindings[];
}

/** Indexes the rows once for every set of variables that keys come for. */
export function createKeyedRows(rows: readonly Bindings[]): KeyedRows {
  const indexes = new Map<string, Index>();
  const indexOf = (variables: readonly string[]): Index => {
    const known = indexes.get(variables.join(" ")) ?? createIndex(rows, variables);
    indexes.set(variables.join(" "), known);
    return known;
  };
  return {
    rows,
    *joined({ variables, rows: keys }) {
      const { byKey, open } = indexOf(variables);
      for (const key of keys) {
        yield* byKey.get(keyText(key)) ?? [];
        for (const row of open) {
          const merged = merge(row, variables, key);
          if (merged) yield merged;
        }
      }
    },
  };
}

const keyText = (terms: readonly RDF.Term[]): string => terms.map((term) => termToText(term)).join(" ");

function createIndex(rows: readonly Bindings[], variables: readonly string[]): Index {
  const byKey = new Map<string, Bindings[]>();
  const open: Bindings[] = [];
  for (const row of rows) {
    const terms = variables.flatMap((name) => row.get(name) ?? []);
    if (terms.length < variables.length) {
      open.push(row);
      continue;
    }
    const key = keyText(terms);
    const same = byKey.get(key);
    if (same) same.push(row);
    else byKey.set(key, [row]);
  }
  return { byKey, open };
}

/** The row with the key's terms; undefined when it binds one of them otherwise. */
function merge(row: Bindings, variables: readonly string[], key: readonly RDF.Term[]): Bindings | undefined {
  const merged = new Map(row);
  for (const [at, name] of variables.entries()) {
    const [own, wanted] = [row.get(name), key[at]];
    if (!wanted || (own && !own.equals(wanted))) return undefined;
    merged.set(name, wanted);
  }
  return merged;
}
