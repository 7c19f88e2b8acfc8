import type * as RDF from "@rdfjs/types";
import type { BlockSizes } from "../block-sizes.ts";
import type { KeyBlock } from "../clause-query.ts";
import { interleave } from "../interleave.ts";
import { type JoinBlock, type JoinVariable, joinBlocks } from "./join-blocks.ts";

// Blocks of one join under way at once; the transport's scheduler bounds the endpoint as a whole.
const BLOCKS_IN_FLIGHT = 4;
const ROWS_PER_BATCH = 64;

/** The right side of a bound join: a clause that is asked again for every block of keys. */
export interface BoundSide {
  readonly endpoint: string;
  readonly variables: readonly JoinVariable[];
  solutions(keys: KeyBlock | undefined): AsyncIterable<RDF.Bindings>;
}

/** A join of solutions at hand with a clause. */
export interface BoundJoin {
  readonly left: AsyncIterable<RDF.Bindings>;
  /** Variables that left solutions may bind. */
  readonly leftVariables: readonly string[];
  readonly right: BoundSide;
  readonly sizes: BlockSizes;
  /** LeftJoin instead of Join (SPARQL 1.1 Query, section 18.5): left solutions without a partner stay. */
  readonly optional: boolean;
  /** Condition on the merged solution, the expression of a LeftJoin. */
  readonly condition?: (merged: RDF.Bindings) => Promise<boolean>;
}

/**
 * Joins with one request a block of distinct join keys (the bind join of FedX and HeFQUIN), a few blocks at a time. The
 * multiset of solutions is that of Join or LeftJoin; their order is not defined.
 */
export async function* boundJoin(join: BoundJoin): AsyncIterable<RDF.Bindings> {
  const { left, leftVariables, right, sizes } = join;
  const shared = right.variables.filter(({ name }) => leftVariables.includes(name));
  const blocks = joinBlocks(left, shared, () => sizes.next(right.endpoint));
  for await (const batch of interleave(mapBlocks(blocks, join), BLOCKS_IN_FLIGHT)) yield* batch;
}

async function* mapBlocks(
  blocks: AsyncIterable<JoinBlock>,
  join: BoundJoin,
): AsyncIterable<AsyncIterable<RDF.Bindings[]>> {
  for await (const block of blocks) yield joinBlock(block, join);
}

async function* joinBlock(block: JoinBlock, { right, optional, condition }: BoundJoin): AsyncIterable<RDF.Bindings[]> {
  if (block.alone) {
    if (optional) yield [...block.rows];
    return;
  }
  const matched = new Set<number>();
  let batch: RDF.Bindings[] = [];
  for await (const solution of right.solutions(block.keys)) {
    for (const position of block.partners(solution)) {
      const merged = block.rows[position]?.merge(solution);
      if (!merged || (condition && !(await condition(merged)))) continue;
      matched.add(position);
      batch.push(merged);
    }
    if (batch.length >= ROWS_PER_BATCH) {
      yield batch;
      batch = [];
    }
  }
  if (optional) batch.push(...block.rows.filter((_, position) => !matched.has(position)));
  if (batch.length > 0) yield batch;
}
