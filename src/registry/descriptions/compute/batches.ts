/** Something that is asked for together with others, and how much work it is likely to be. */
export interface Weighed {
  readonly key: string;
  /** Solutions, as far as known; at least 1. */
  readonly weight: number;
}

/** Keys in ascending order of weight, then as strings. */
export function weighed(keys: Iterable<string>, weightOf: (key: string) => number): readonly Weighed[] {
  return [...keys]
    .map((key) => ({ key, weight: Math.max(1, weightOf(key)) }))
    .toSorted((one, other) => one.weight - other.weight || (one.key < other.key ? -1 : 1));
}

/** How `verificationParts` divides. */
interface PartLimits {
  /** Keys in one part. */
  readonly most: number;
  /** Characters of all keys in one part, unless it is a single one; absent: no bound. */
  readonly text?: number | undefined;
  /** A key to be asked for on its own, too, if that is light. */
  readonly doubtful?: string | undefined;
  /** How often the work is halved, the rest being one part; default 5. */
  readonly halvings?: number;
}

/**
 * Disjoint parts of `items` (ascending by weight) that cover all of them, of about half, a quarter, an eighth ... of the
 * whole work; behind them a light key and the doubtful one on their own once more. An engine that answers only up to some
 * amount of work gives different answers to at least one of these than to the whole, whatever that amount is.
 */
export function verificationParts(items: readonly Weighed[], limits: PartLimits): readonly (readonly string[])[] {
  const parts: string[][] = [];
  const all = workOf(items);
  let left = items.length;
  while (left > 0 && parts.length < (limits.halvings ?? 5)) {
    // At least two parts wherever there are two keys.
    const rest = items.slice(parts.length === 0 && left > 1 ? 1 : 0, left);
    const part = heaviest(rest, workOf(items.slice(0, left)) / 2);
    parts.push(part.map(({ key }) => key));
    left -= part.length;
  }
  if (left > 0) parts.push(items.slice(0, left).map(({ key }) => key));
  const pieces = parts.flatMap((part) => chunks(part, keysPerPart(items, limits)));
  const alone = new Set(pieces.flatMap((part) => (part.length === 1 ? part : [])));
  const doubtful = items.find(({ key, weight }) => key === limits.doubtful && weight <= all / 4);
  const singles = new Set([lightKey(items), doubtful?.key]);
  return [...pieces, ...[...singles].flatMap((key) => (key === undefined || alone.has(key) ? [] : [[key]]))];
}

function keysPerPart(items: readonly Weighed[], { most, text }: PartLimits): number {
  const longest = items.reduce((length, { key }) => Math.max(length, key.length), 1);
  return Math.max(1, Math.min(most, Math.floor((text ?? Number.POSITIVE_INFINITY) / longest)));
}

/** The last of `items`, until they are as much work as wanted; at least one. */
function heaviest(items: readonly Weighed[], wanted: number): readonly Weighed[] {
  let from = items.length;
  let work = 0;
  while (from > 0 && (from === items.length || work < wanted)) work += items[--from]?.weight ?? 0;
  return items.slice(from);
}

/** A key whose work is small but not so small that losing a part of it could not be seen. */
function lightKey(items: readonly Weighed[]): string | undefined {
  return (items.find(({ weight }) => weight >= 5) ?? items.at(-1))?.key;
}

/** Pieces of at most `most` items, as even as possible. */
export function chunks<T>(items: readonly T[], most: number): T[][] {
  const count = Math.ceil(items.length / Math.max(1, most));
  const size = Math.ceil(items.length / Math.max(1, count));
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size));
}

/** Bounds of a batch. */
interface BatchLimits {
  /** Keys in the first batch; level 2 starts at 10. */
  readonly first: number;
  /** Keys in any batch. */
  readonly most: number;
  /** Characters of all keys of a batch; absent: no bound. */
  readonly text?: number | undefined;
  /** Rows that an answer may have without being cut; absent: no known cap. */
  readonly rows?: number | undefined;
  /** Work above which answers are known to fail or to be incomplete. */
  readonly work?: number | undefined;
}

/**
 * Batches that adapt to how the endpoint takes them (level 2). Starts with `limits.first` keys, halves on failure and
 * doubles after every fast answer. While nothing has worked a failure takes it down to a tenth: halving would press an
 * endpoint that is at its limit with one failure after another.
 */
export class Batcher {
  readonly #items: readonly Weighed[];
  readonly #limits: BatchLimits;
  #at = 0;
  #size: number;
  #work: number;
  #rowsPerKey = 0;
  #batch: readonly Weighed[] = [];
  #succeeded = false;

  constructor(items: readonly Weighed[], limits: BatchLimits) {
    this.#items = items;
    this.#limits = limits;
    this.#size = Math.max(1, Math.min(limits.first, limits.most));
    this.#work = limits.work ?? Number.POSITIVE_INFINITY;
  }

  /** One batch after the other, lightest keys first; each is to be reported as answered or failed before the next. */
  *[Symbol.iterator](): Generator<readonly string[]> {
    while (this.#at < this.#items.length) {
      const next = this.#items.slice(this.#at, this.#at + this.#keysWanted());
      this.#batch = firstWithin(next, { work: this.#work, text: this.#limits.text ?? Number.POSITIVE_INFINITY });
      yield this.#batch.map(({ key }) => key);
    }
  }

  #keysWanted(): number {
    const { most, rows } = this.#limits;
    const byRows = rows === undefined || this.#rowsPerKey === 0 ? this.#size : (0.8 * rows) / this.#rowsPerKey;
    return Math.max(1, Math.min(this.#size, most, Math.floor(byRows)));
  }

  /** The last batch was answered with `rows` rows; `fast` ones make the next larger. */
  answered(rows: number, fast: boolean): void {
    const { length } = this.#batch;
    this.#succeeded = true;
    this.#rowsPerKey = Math.max(this.#rowsPerKey * 0.9, rows / Math.max(1, length));
    this.#at += length;
    if (!fast) return;
    const mostWork = this.#limits.work ?? Number.POSITIVE_INFINITY;
    if (workOf(this.#batch) >= this.#work / 2) this.#work = Math.min(mostWork, this.#work * 2);
    this.#size = Math.min(this.#limits.most, Math.max(this.#size, length) * 2);
  }

  /** The last batch was not answered, or cut: its keys come again in smaller batches. False when it was a single key. */
  failed(): boolean {
    const { length } = this.#batch;
    if (length <= 1) {
      this.#at += length;
      this.#size = 1;
      return false;
    }
    this.#work = Math.min(this.#work, workOf(this.#batch) / 2);
    this.#size = Math.max(1, Math.floor(length / (this.#succeeded ? 2 : 10)));
    return true;
  }
}

/** Work of some keys together. */
export const workOf = (items: readonly Weighed[]): number => items.reduce((sum, { weight }) => sum + weight, 0);

/** The first items, as many as stay within the bounds; at least one. */
function firstWithin(
  items: readonly Weighed[],
  most: { readonly work: number; readonly text: number },
): readonly Weighed[] {
  let work = 0;
  let text = 0;
  const end = items.findIndex(({ key, weight }, at) => {
    work += weight;
    text += key.length;
    return at > 0 && (work > most.work || text > most.text);
  });
  return end < 0 ? items : items.slice(0, end);
}
