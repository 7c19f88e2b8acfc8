import type { Bindings } from "../../results/model.ts";
import { type HeldBytes, rowBytes } from "../held-bytes.ts";
import { each, type Rows, type Solutions } from "./execution.ts";
import { boundTogether, expectedJoin, joinOrder, type Sized } from "./join-order.ts";
import { rowText } from "./rows.ts";

/** How the parts of a join are evaluated. */
export interface OrderedJoin<T extends Sized> {
  /** Memory account of the evaluation. */
  readonly held: HeldBytes;
  /** The order stays as it is: few solutions are wanted. */
  readonly isFixed: boolean;
  /** All solutions of a part, which may be asked for again. */
  open(part: T): Rows;
  /** The solutions joined with those of a part; `isEnd`: the last one. */
  step(left: Solutions, part: T, isEnd: boolean): Rows;
  /** Says that parts are asked for several blocks of keys. */
  askedInBlocks(parts: readonly T[]): void;
  /** Number of keys in the first block for a part; 0 where the part is taken in whole. */
  firstKeys(left: Solutions, part: T): number;
}

// Solutions of the first part that show whether it is much larger than expected.
const LOOKED_AT = 256;

/**
 * Joins parts one after the other in the given order. When the first part turns out to be more than four times as large as its
 * figures say, the join begins elsewhere. The first block of each other part is joined alone; when it brings more than four
 * times as much as expected, the solutions behind it are joined in another order. Figures are corrected once a part.
 * @param start what the parts are joined with; absent: the first of them
 */
export async function* orderedJoin<T extends Sized>(
  join: OrderedJoin<T>,
  parts: readonly T[],
  start?: Solutions,
): Rows {
  const [first, ...rest] = parts;
  if (start || !first) {
    yield* joinedInOrder(join, parts, start ?? { kind: "bindings", variables: [], size: 1, rows: each([[new Map()]]) });
    return;
  }
  const { variables, size } = first;
  const left: Solutions = { kind: "bindings", variables, size, rows: join.open(first) };
  if (join.isFixed || rest.length === 0 || first.isCorrected) {
    yield* joinedInOrder(join, rest, left);
    return;
  }
  const block = new FirstBlock(left.rows, join.held);
  try {
    await block.fill(LOOKED_AT);
    const isLarger = !block.isAll && block.rows.length > size && isOff(block.rows.length, size);
    const again = isLarger && reordered({ ...first, size: block.rows.length, isCorrected: true }, rest);
    if (again) yield* orderedJoin(join, again);
    else yield* joinedInOrder(join, rest, { ...left, rows: block.all() });
  } finally {
    block.leave();
  }
}

async function* joinedInOrder<T extends Sized>(join: OrderedJoin<T>, parts: readonly T[], left: Solutions): Rows {
  const [next, ...rest] = parts;
  if (!next) yield* left.rows;
  else if (join.isFixed || rest.length === 0 || next.isCorrected || join.firstKeys(left, next) === 0) {
    yield* joinedInOrder(join, rest, joinedWith(left, next, join.step(left, next, rest.length === 0)));
  } else {
    const block = new FirstBlock(left.rows, join.held);
    try {
      await block.fill(join.firstKeys(left, next), sharedNames(left, next));
      const size = block.isAll ? block.rows.length : Math.max(left.size, block.rows.length);
      const known = { ...left, size, rows: block.all() };
      const [first = next, ...others] = isOff(size, left.size) ? joinOrder(parts, known) : parts;
      if (block.isFull && first === next) yield* measuredJoin(join, [first, ...others], { left: known, block });
      else yield* joinedInOrder(join, others, joinedWith(known, first, join.step(known, first, others.length === 0)));
    } finally {
      block.leave();
    }
  }
}

/** Joins a block with the first part, and the solutions behind it in the same order or, if that brought too much, in another. */
async function* measuredJoin<T extends Sized>(
  join: OrderedJoin<T>,
  parts: readonly [T, ...T[]],
  { left, block }: { readonly left: Solutions; readonly block: FirstBlock },
): Rows {
  const [part, ...rest] = parts;
  // Another order has the rest asked a second time, too.
  join.askedInBlocks(parts);
  let other: readonly T[] | undefined;
  const others = { ...left, rows: block.others() };
  async function* joined(): Rows {
    let found = 0;
    for await (const rows of join.step({ ...left, rows: each([block.rows]) }, part, false)) {
      found += rows.length;
      yield rows;
    }
    const expected = (expectedJoin(left, part) * block.rows.length) / left.size;
    const figures = { size: (part.size * found) / expected, perSolution: found / block.rows.length };
    if (isOff(found, expected)) other = reordered({ ...part, ...figures, isCorrected: true }, rest, left);
    if (!other) yield* join.step(others, part, false);
  }
  yield* joinedInOrder(join, rest, joinedWith(left, part, joined()));
  if (other) yield* joinedInOrder(join, other, others);
}

/** The order of parts now that the figures of the first are corrected; undefined where it remains the first. */
function reordered<T extends Sized>(corrected: T, rest: readonly T[], left?: Sized): readonly T[] | undefined {
  const order = joinOrder([corrected, ...rest], left);
  return order[0] === corrected ? undefined : order;
}

// An estimate may be wrong by this factor either way, and small figures do not matter.
const TOLERANCE = 4;
const FEWEST = 16;

const isOff = (one: number, other: number): boolean =>
  Math.max(one, other) > TOLERANCE * Math.max(FEWEST, Math.min(one, other));

const joinedWith = (left: Sized, part: Sized, rows: Rows): Solutions => ({
  kind: "bindings",
  variables: boundTogether(left, part),
  size: expectedJoin(left, part),
  rows,
});

function sharedNames(left: Sized, part: Sized): readonly string[] {
  const names = new Set(left.variables.map(({ name }) => name));
  return part.variables.flatMap(({ name }) => (names.has(name) ? [name] : []));
}

// Where this many solutions have fewer keys than a block has, all of them are likely to have.
const MOST_ROWS = 4_096;

/** The first solutions of a stream, and those behind them. */
class FirstBlock {
  readonly rows: Bindings[] = [];
  /** It has as many keys as were wanted. */
  isFull = false;
  /** There are no others. */
  isAll = false;
  #behind: readonly Bindings[] = [];
  readonly #source;
  readonly #holding;

  constructor(rows: Rows, held: HeldBytes) {
    this.#source = rows[Symbol.asyncIterator]();
    this.#holding = held.open();
  }

  /** Reads solutions until there are `most`, or as many that differ in these variables. */
  async fill(most: number, names?: readonly string[]): Promise<void> {
    const seen = new Set<string | number>();
    while (!this.isFull && this.rows.length < MOST_ROWS) {
      const next = await this.#source.next();
      this.isAll = next.done === true;
      if (next.done === true) return;
      const last = next.value.findIndex((row) => {
        this.#holding.add(rowBytes(row));
        const count = this.rows.push(row);
        return seen.add(names ? rowText(row, names) : count).size >= most;
      });
      this.isFull = last >= 0;
      if (this.isFull) this.#behind = next.value.slice(last + 1);
    }
  }

  async *others(): Rows {
    const behind = this.#behind;
    yield behind;
    for (let next = await this.#source.next(); next.done !== true; next = await this.#source.next()) yield next.value;
  }

  async *all(): Rows {
    yield this.rows;
    yield* this.others();
  }

  leave(): void {
    this.#holding.release();
    this.#source.return?.().catch(() => {});
  }
}
