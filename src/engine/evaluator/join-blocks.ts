import type * as RDF from "../../rdf/term.ts";
import type { Bindings } from "../../results/model.ts";
import { hasBlankNode } from "../../results/terms.ts";
import { type KeyBlock, hasOneSpelling, termsText } from "../clause-query.ts";
import { type Holding, keyBytes, rowBytes } from "../held-bytes.ts";

/** A variable shared by both sides of a join. */
export interface JoinVariable {
  readonly name: string;
  /** Every right solution binds it. */
  readonly certain: boolean;
  /**
   * Only terms that come back as they were sent can be keys: the right side may leave the variable unbound, and a key in
   * another spelling would look like a value of its own.
   */
  readonly oneSpelling?: boolean;
}

/** Left solutions that agree on which join variables they bind, gathered by the values of those variables. */
export interface JoinBlock {
  /** No right solution can be compatible with these rows; nothing needs to be asked. */
  readonly hasNoPartner: boolean;
  /** Keys of the request to the right side; undefined when the rows bind no join variable: all of its solutions. */
  readonly keys: KeyBlock | undefined;
  /** All left solutions of the block, in order of arrival. */
  readonly rows: readonly Bindings[];
  /** Bytes of the rows, as counted. */
  readonly bytes: number;
  /** Positions in `rows` of the left solutions that share their key with a right solution. */
  partners(right: Bindings): readonly number[];
}

/** How rows are gathered. */
interface BlockOptions {
  /** Keys of the next block. */
  readonly size: () => number;
  /** Blocks go out one after the other: none waits for rows behind an empty batch, which may cost another request. */
  readonly isInTurn: () => boolean;
  /** The right side knows blank nodes by their labels: they are keys like other terms. */
  readonly blankKeys: boolean;
  /** Rows are counted here until whoever takes their block takes them off. */
  readonly holding: Holding;
}

/**
 * Cuts a stream of left solutions into blocks of distinct join keys. Rows that leave a join variable unbound, or bind it
 * to what cannot be a key (a blank node has no name at another endpoint), form blocks of their own over the variables that
 * remain, so that every right solution belongs to exactly one key of its block and multiplicities are kept. A blank node
 * where the right side always has a term of its own can have no partner.
 */
export async function* joinBlocks(
  left: AsyncIterable<readonly Bindings[]>,
  variables: readonly JoinVariable[],
  { size, isInTurn, blankKeys, holding }: BlockOptions,
): AsyncIterable<JoinBlock> {
  const open = new Map<string, OpenBlock>();
  let isFirst = true;
  const closedBy = (row: Bindings): JoinBlock | undefined => {
    if (!blankKeys && variables.some(({ name, certain }) => certain && hasBlankNode(row.get(name)))) {
      return loneRow(row);
    }
    const bound = variables.filter((variable) => isKey(row, variable, blankKeys)).map(({ name }) => name);
    const signature = bound.join(" ");
    const block = open.get(signature) ?? openBlock(bound);
    open.set(signature, block);
    holding.add(block.add(row));
    // Rows without any key share one request for everything: they wait for the last of them.
    if (bound.length === 0 || block.keyCount() < size()) return undefined;
    open.delete(signature);
    isFirst = false;
    return block.close(false);
  };
  for await (const rows of left) {
    const isAtPause = rows.length === 0 && isInTurn();
    for (const [signature, block] of isAtPause ? [...open] : []) {
      if (signature === "" || !open.delete(signature)) continue;
      isFirst = false;
      yield block.close(false);
    }
    for (const row of rows) {
      const block = closedBy(row);
      if (block) yield block;
    }
  }
  const only = isFirst && open.size === 1;
  // The request for everything comes last: whoever is asked knows by then whether it is the only one.
  const [whole, ...rest] = [
    open.get(""),
    ...[...open].flatMap(([signature, block]) => (signature === "" ? [] : block)),
  ];
  for (const block of [...rest, whole]) if (block) yield block.close(only);
}

function isKey(row: Bindings, { name, oneSpelling }: JoinVariable, blankKeys: boolean): boolean {
  const term = row.get(name);
  if (term === undefined || term.termType === "Quad" || (oneSpelling && !hasOneSpelling(term))) return false;
  return blankKeys || term.termType !== "BlankNode";
}

function loneRow(row: Bindings): JoinBlock {
  return { hasNoPartner: true, keys: undefined, rows: [row], bytes: 0, partners: () => [] };
}

interface OpenBlock {
  /** Gives the bytes of the row. */
  add(row: Bindings): number;
  keyCount(): number;
  /** @param only the join has no other block */
  close(only: boolean): JoinBlock;
}

function openBlock(variables: readonly string[]): OpenBlock {
  const rows: Bindings[] = [];
  const keyTerms: RDF.Term[][] = [];
  const positions = new Map<string, number[]>();
  let bytes = 0;
  return {
    add(row) {
      const terms = variables.flatMap((name) => row.get(name) ?? []);
      const key = termsText(terms);
      const known = positions.get(key);
      if (known) known.push(rows.length);
      else {
        positions.set(key, [rows.length]);
        keyTerms.push(terms);
      }
      rows.push(row);
      const added = rowBytes(row) + (known ? 0 : keyBytes(key));
      bytes += added;
      return added;
    },
    keyCount: () => keyTerms.length,
    close: (only) => ({
      hasNoPartner: false,
      rows,
      bytes,
      keys: variables.length > 0 ? { variables, rows: keyTerms, only } : undefined,
      partners(right) {
        const terms = variables.flatMap((name) => right.get(name) ?? []);
        // Only the empty solution of a silenced clause lacks a key: it is compatible with every row.
        return terms.length < variables.length ? [...rows.keys()] : (positions.get(termsText(terms)) ?? []);
      },
    }),
  };
}
