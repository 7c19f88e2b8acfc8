import type * as RDF from "@rdfjs/types";
import type { BlockSizes } from "../block-sizes.ts";
import type { KeyBlock } from "../clause-query.ts";
import type { HeldBytes, Holding } from "../held-bytes.ts";
import { interleave } from "../interleave.ts";
import type { Condition } from "./buffered-join.ts";
import { type JoinBlock, type JoinVariable, joinBlocks } from "./join-blocks.ts";

// Blocks of one join under way at once; the transport's scheduler bounds the endpoint as a whole.
const BLOCKS_IN_FLIGHT = 4;
const ROWS_PER_BATCH = 64;

/** The right side of a bound join: a clause that is asked again for every block of keys. */
export interface BoundSide {
  /** Under which it is learned how many keys are sent at once. */
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
export type JoinMode = "inner" | "optional" | "minus";

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
  /** Of the evaluation. */
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
  for await (const block of blocks) yield joinAndLetGo(block, join, holding);
}

async function* joinAndLetGo(block: JoinBlock, join: BoundJoin, holding: Holding): AsyncIterable<RDF.Bindings[]> {
  yield* joinBlock(block, join);
  holding.add(-block.bytes);
}

async function* joinBlock(block: JoinBlock, join: BoundJoin): AsyncIterable<RDF.Bindings[]> {
  const matched = new Set<number>();
  const { mode } = join;
  const disjoint = mode === "minus" && block.keys === undefined;
  if (!block.alone && !disjoint) yield* mergeBlock(block, join, matched);
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
  const verdicts = await condition?.holds(batch.map(({ merged }) => merged));
  const kept = verdicts ? batch.filter((_, index) => verdicts[index]) : batch;
  for (const { position } of kept) matched.add(position);
  return kept.map(({ merged }) => merged);
}
