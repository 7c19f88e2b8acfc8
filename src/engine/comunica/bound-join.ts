import type * as RDF from "@rdfjs/types";
import { type BlockSizes, type KeyBlock, hasOneSpelling, termsText } from "../clause-query.ts";
import { type HeldBytes, type Holding, keyBytes, rowBytes } from "../held-bytes.ts";
import { interleave } from "../interleave.ts";
import { accepted, type Condition } from "./buffered-join.ts";

// Blocks of one join under way at once; the outbound client bounds the endpoint as a whole.
const BLOCKS_IN_FLIGHT = 4;
const ROWS_PER_BATCH = 64;

/** The right side of a bound join: a clause that is asked again for every block of keys. */
export interface BoundSide {
  /** Key of the learned block sizes. */
  readonly endpoint: string;
  /** Keys may be blank nodes. */
  readonly blankKeys: boolean;
  readonly variables: readonly JoinVariable[];
  solutions(keys: KeyBlock | undefined): AsyncIterable<RDF.Bindings>;
}

/**
 * What becomes of a left solution (SPARQL 1.1 Query, section 18.5): `inner` merges it with each partner, `optional` too
 * but keeps it without any (LeftJoin), `minus` keeps it when it has none, or no variable in common with the right side.
 */
type JoinMode = "inner" | "optional" | "minus";

/** A join of solutions at hand with a clause. */
export interface BoundJoin {
  readonly left: AsyncIterable<RDF.Bindings>;
  /** Variables that left solutions may bind. */
  readonly leftVariables: readonly string[];
  readonly right: BoundSide;
  readonly sizes: BlockSizes;
  readonly mode: JoinMode;
  /** Condition on the merged solution, the expression of a LeftJoin. */
  readonly condition?: Condition | undefined;
  /** Memory account of the evaluation. */
  readonly held: HeldBytes;
}

/**
 * Joins with one request a block of distinct join keys (the bind join of FedX and HeFQUIN), a few blocks at a time. The
 * multiset of solutions is that of Join or LeftJoin; their order is not defined.
 */
export async function* boundJoin(join: BoundJoin): AsyncIterable<RDF.Bindings> {
  const { left, leftVariables, right, sizes } = join;
  const shared = right.variables.filter(({ name }) => leftVariables.includes(name));
  const { blankKeys, endpoint } = right;
  const holding = join.held.open();
  const blocks = joinBlocks(left, shared, { blankKeys, holding, size: () => sizes.next(endpoint) });
  try {
    for await (const batch of interleave(mapBlocks(blocks, join, holding), BLOCKS_IN_FLIGHT)) yield* batch;
  } finally {
    holding.release();
  }
}

async function* mapBlocks(
  blocks: AsyncIterable<JoinBlock>,
  join: BoundJoin,
  holding: Holding,
): AsyncIterable<AsyncIterable<RDF.Bindings[]>> {
  for await (const block of blocks) yield joinAndRelease(block, join, holding);
}

async function* joinAndRelease(block: JoinBlock, join: BoundJoin, holding: Holding): AsyncIterable<RDF.Bindings[]> {
  yield* joinBlock(block, join);
  holding.add(-block.bytes);
}

async function* joinBlock(block: JoinBlock, join: BoundJoin): AsyncIterable<RDF.Bindings[]> {
  const matched = new Set<number>();
  const { mode } = join;
  const disjoint = mode === "minus" && block.keys === undefined;
  if (!block.hasNoPartner && !disjoint) yield* mergeBlock(block, join, matched);
  if (mode === "inner") return;
  yield block.rows.filter((_, position) => !matched.has(position));
}

/** Asks for a block's partners; notes which rows have one and yields the merged solutions where they are wanted. */
async function* mergeBlock(
  block: JoinBlock,
  { right, mode, condition }: BoundJoin,
  matched: Set<number>,
): AsyncIterable<RDF.Bindings[]> {
  const atOnce = Math.max(ROWS_PER_BATCH, condition?.atOnce ?? 0);
  let batch: Partner[] = [];
  for await (const solution of right.solutions(block.keys)) {
    for (const position of block.partners(solution)) {
      const merged = block.rows[position]?.merge(solution);
      if (!merged) continue;
      if (mode === "minus") matched.add(position);
      else batch.push({ position, merged });
    }
    if (mode === "minus" && matched.size === block.rows.length) return;
    if (batch.length < atOnce) continue;
    yield await judged(batch, matched, condition);
    batch = [];
  }
  yield await judged(batch, matched, condition);
}

interface Partner {
  readonly position: number;
  readonly merged: RDF.Bindings;
}

async function judged(batch: readonly Partner[], matched: Set<number>, condition?: Condition): Promise<RDF.Bindings[]> {
  const kept = await accepted(batch, condition);
  for (const { position } of kept) matched.add(position);
  return kept.map(({ merged }) => merged);
}

/** A variable shared by both sides of a join. */
interface JoinVariable {
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
interface JoinBlock {
  /** No right solution can be compatible with these rows; nothing needs to be asked. */
  readonly hasNoPartner: boolean;
  /** What the right side is asked for; undefined when the rows bind no join variable: all of its solutions. */
  readonly keys: KeyBlock | undefined;
  /** All left solutions of the block, in order of arrival. */
  readonly rows: readonly RDF.Bindings[];
  /** Bytes of the rows, as counted. */
  readonly bytes: number;
  /** Positions in `rows` of the left solutions that share their key with a right solution. */
  partners(right: RDF.Bindings): readonly number[];
}

/** How rows are gathered. */
interface BlockOptions {
  /** Keys of the next block. */
  readonly size: () => number;
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
async function* joinBlocks(
  left: AsyncIterable<RDF.Bindings>,
  variables: readonly JoinVariable[],
  { size, blankKeys, holding }: BlockOptions,
): AsyncIterable<JoinBlock> {
  const open = new Map<string, OpenBlock>();
  let isFirst = true;
  for await (const row of left) {
    if (!blankKeys && variables.some(({ name, certain }) => certain && row.get(name)?.termType === "BlankNode")) {
      yield loneRow(row);
      continue;
    }
    const bound = variables.filter((variable) => isKey(row, variable, blankKeys)).map(({ name }) => name);
    const signature = bound.join(" ");
    const block = open.get(signature) ?? openBlock(bound);
    open.set(signature, block);
    holding.add(block.add(row));
    // Rows without any key share one request for everything: they wait for the last of them.
    if (bound.length > 0 && block.keyCount() >= size()) {
      open.delete(signature);
      isFirst = false;
      yield block.close(false);
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

function isKey(row: RDF.Bindings, { name, oneSpelling }: JoinVariable, blankKeys: boolean): boolean {
  const term = row.get(name);
  if (term === undefined || term.termType === "Quad" || (oneSpelling && !hasOneSpelling(term))) return false;
  return blankKeys || term.termType !== "BlankNode";
}

function loneRow(row: RDF.Bindings): JoinBlock {
  return { hasNoPartner: true, keys: undefined, rows: [row], bytes: 0, partners: () => [] };
}

interface OpenBlock {
  /** Gives the bytes of the row. */
  add(row: RDF.Bindings): number;
  keyCount(): number;
  /** @param only the join has no other block */
  close(only: boolean): JoinBlock;
}

function openBlock(variables: readonly string[]): OpenBlock {
  const rows: RDF.Bindings[] = [];
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
