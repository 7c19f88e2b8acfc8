import type { Bindings } from "../../results/model.ts";
import { hasOneSpelling, type KeyBlock, type KeyBlocks } from "../clause-query.ts";
import type { PushedCondition } from "../demand.ts";
import { type HeldBytes, type Holding, takenIn } from "../held-bytes.ts";
import { interleave } from "../interleave.ts";
import { accepted, type Condition } from "./buffered-join.ts";
import type { Rows } from "./execution.ts";
import { type JoinBlock, joinBlocks, type JoinVariable } from "./join-blocks.ts";
import { merged } from "./rows.ts";

// Blocks of one join under way at once; the outbound client bounds the endpoint as a whole.
const BLOCKS_IN_FLIGHT = 4;
const ROWS_PER_BATCH = 64;

/** The right side of a bound join: a clause that is asked again for every block of keys. */
export interface BoundSide {
  readonly blocks: KeyBlocks;
  /** Keys may be blank nodes. */
  readonly blankKeys: boolean;
  readonly variables: readonly JoinVariable[];
  /** Beyond this number of keys the side is read whole: it has about as many solutions. */
  readonly wholeFrom?: number | undefined;
  /** @param conditions other solutions are not needed */
  solutions(keys: KeyBlock | undefined, conditions?: readonly PushedCondition[]): AsyncIterable<readonly Bindings[]>;
}

/**
 * Treatment of a left solution (SPARQL 1.1 Query, section 18.5): `inner` merges it with each partner, `optional` too
 * but keeps it without any (LeftJoin), `minus` keeps it when it has none, or no variable in common with the right side.
 */
type JoinMode = "inner" | "optional" | "minus";

/** A join of solutions at hand with a clause. */
export interface BoundJoin {
  readonly left: AsyncIterable<readonly Bindings[]>;
  /** Variables that left solutions may bind. */
  readonly leftVariables: readonly string[];
  readonly right: BoundSide;
  /** Conditions on right solutions without which they have no partner among these left ones that is wanted. */
  readonly bounds?: ((rows: readonly Bindings[]) => readonly PushedCondition[]) | undefined;
  /** Number of solutions of the query that are enough; keys are then sent a few at a time. */
  readonly wanted?: number | undefined;
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
export async function* boundJoin(join: BoundJoin): AsyncIterable<readonly Bindings[]> {
  const { left, leftVariables, right } = join;
  const shared = right.variables.filter(({ name }) => leftVariables.includes(name));
  const holding = join.held.open();
  const pace = new Pace(join, holding);
  const isInTurn = (): boolean => join.wanted !== undefined && pace.isGrowing;
  const options = { blankKeys: right.blankKeys, holding, size: () => pace.size, isInTurn };
  const blocks = joinBlocks(left, shared, options)[Symbol.asyncIterator]();
  async function* joined(block: JoinBlock, side: BoundSide): AsyncIterable<Bindings[]> {
    yield* joinBlock(block, { ...join, right: side });
    holding.add(-block.bytes);
  }
  async function* others(): AsyncIterable<AsyncIterable<Bindings[]>> {
    for (let next = await blocks.next(); next.done !== true; next = await blocks.next()) {
      yield joined(next.value, await pace.rightFor(next.value));
    }
  }
  try {
    // The next block may be larger, or not be needed: nothing is asked before the reader wants more.
    while (pace.isGrowing) {
      const next = await blocks.next();
      if (next.done === true) return;
      yield* joined(next.value, await pace.rightFor(next.value));
      pace.grow();
    }
    yield* interleave(others(), BLOCKS_IN_FLIGHT);
  } finally {
    blocks.return?.().catch(() => {});
    holding.release();
  }
}

// Keys of the first block where few solutions are wanted, and how many times as many the next one has.
const FIRST_OF_FEW = 16;
const GROWTH = 4;
const KEYS_FOR_WHOLE = 16_384;

/**
 * How one join goes on: how many keys the next block has, whether blocks go out one after the other, and when the right side
 * is taken in whole, because more keys were sent than it has solutions.
 */
class Pace {
  readonly #join: BoundJoin;
  readonly #holding: Holding;
  #most: number;
  #isFirst = true;
  #sent = 0;
  #whole: readonly Bindings[] | undefined;

  constructor(join: BoundJoin, holding: Holding) {
    this.#join = join;
    this.#holding = holding;
    this.#most = join.wanted === undefined ? Number.POSITIVE_INFINITY : Math.max(FIRST_OF_FEW, join.wanted);
  }

  get size(): number {
    return this.#whole ? KEYS_FOR_WHOLE : Math.min(this.#most, this.#join.right.blocks.next());
  }

  /** Blocks go out one after the other: the next one may be larger, or not be needed. */
  get isGrowing(): boolean {
    const { blocks } = this.#join.right;
    const isUnknown = this.#isFirst && blocks.isGrowing?.() === true;
    return !this.#whole && (isUnknown || this.#most < blocks.next());
  }

  grow(): void {
    this.#isFirst = false;
    this.#most *= GROWTH;
  }

  async rightFor({ keys }: JoinBlock): Promise<BoundSide> {
    const { right } = this.#join;
    this.#sent += keys?.rows.length ?? 0;
    if (!this.#whole && right.wholeFrom !== undefined && this.#sent > right.wholeFrom) {
      this.#whole = await takenIn(right.solutions(undefined), this.#holding);
    }
    return this.#whole ? { ...right, solutions: solutionsBeside(right, this.#whole) } : right;
  }
}

/**
 * Solutions for keys, from all of a side. For keys that engines match in other spellings the side is asked all the same: what it
 * matches is for it to say, however many keys there are.
 */
function solutionsBeside(right: BoundSide, whole: readonly Bindings[]): BoundSide["solutions"] {
  return async function* solutions(keys, conditions) {
    const respelled = keys?.rows.filter((row) => !row.every(hasOneSpelling)) ?? [];
    // A silenced clause has one empty solution, for all keys.
    const isSilenced = keys === undefined || whole.some((row) => keys.variables.every((name) => !row.has(name)));
    if (respelled.length === 0 || isSilenced) {
      yield whole;
      return;
    }
    const { variables } = keys;
    yield whole.filter((row) => variables.flatMap((name) => row.get(name) ?? []).every(hasOneSpelling));
    for (let at = 0; at < respelled.length; ) {
      const rows = respelled.slice(at, at + right.blocks.next());
      at += rows.length;
      yield* right.solutions({ variables, rows }, conditions);
    }
  };
}

async function* joinBlock(block: JoinBlock, join: BoundJoin): AsyncIterable<Bindings[]> {
  const matched = new Set<number>();
  const { mode } = join;
  const disjoint = mode === "minus" && block.keys === undefined;
  const found = join.right.solutions(block.keys, join.bounds?.(block.rows));
  if (!block.hasNoPartner && !disjoint) yield* mergeBlock(block, join, found, matched);
  if (mode === "inner") return;
  yield block.rows.filter((_, position) => !matched.has(position));
}

/** Asks for a block's partners; notes which rows have one and yields the merged solutions where they are wanted. */
async function* mergeBlock(
  block: JoinBlock,
  { mode, condition }: BoundJoin,
  found: Rows,
  matched: Set<number>,
): AsyncIterable<Bindings[]> {
  const atOnce = Math.max(ROWS_PER_BATCH, condition?.atOnce ?? 0);
  let batch: Partner[] = [];
  for await (const solutions of found) {
    for (const solution of solutions) {
      for (const position of block.partners(solution)) {
        const row = block.rows[position];
        const partner = row && merged(row, solution);
        if (!partner) continue;
        if (mode === "minus") matched.add(position);
        else batch.push({ position, merged: partner });
      }
      if (mode === "minus" && matched.size === block.rows.length) return;
      if (batch.length < atOnce) continue;
      yield await judged(batch, matched, condition);
      batch = [];
    }
  }
  yield await judged(batch, matched, condition);
}

interface Partner {
  readonly position: number;
  readonly merged: Bindings;
}

async function judged(batch: readonly Partner[], matched: Set<number>, condition?: Condition): Promise<Bindings[]> {
  const kept = condition ? await accepted(batch, condition) : batch;
  for (const { position } of kept) matched.add(position);
  return kept.map((partner) => partner.merged);
}
