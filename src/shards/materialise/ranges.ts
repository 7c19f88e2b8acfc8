/** Parts of a dataset that follow each other in the order of lines' bytes, so that each can be sorted alone. */
export interface Ranges {
  readonly count: number;
  /** The range of a line, by the bytes of its subject, or of as much of the line as the splitters were made of. */
  of(bytes: Buffer, from: number, to: number): number;
}

/**
 * Where to part lines so that each range holds about as much of a sorted sample.
 * @param most how many ranges there may be
 */
export function splittersOf(sample: readonly Buffer[], most: number): readonly Buffer[] {
  const splitters: Buffer[] = [];
  for (let index = 1; index < most; index += 1) {
    const splitter = sample[Math.floor((index * sample.length) / most)];
    const last = splitters.at(-1);
    if (splitter !== undefined && (last === undefined || last.compare(splitter) < 0)) splitters.push(splitter);
  }
  return splitters;
}

/** The ranges in front of, between and behind sorted splitters. */
export function rangesBetween(splitters: readonly Buffer[]): Ranges {
  const shared = sharedLength(splitters);
  return {
    count: splitters.length + 1,
    of(bytes, from, to) {
      const line = { bytes, from, to };
      const [first] = splitters;
      if (first === undefined) return 0;
      const depth = sameUntil(first, line, { from: 0, to: shared });
      let low = 0;
      let high = splitters.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (isUpTo(splitters[middle]!, line, depth)) low = middle + 1;
        else high = middle;
      }
      return low;
    },
  };
}

interface Line {
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
}

/** How many bytes all splitters begin with. */
function sharedLength(splitters: readonly Buffer[]): number {
  const first = splitters[0] ?? Buffer.alloc(0);
  return splitters.reduce(
    (shared, bytes) => sameUntil(first, { bytes, from: 0, to: bytes.length }, { from: 0, to: shared }),
    first.length,
  );
}

/** Where a splitter and a line first differ, or the end of one of them, or `to`. */
function sameUntil(splitter: Buffer, { bytes, from, to }: Line, span: { readonly from: number; readonly to: number }) {
  const end = Math.min(span.to, to - from);
  let at = span.from;
  while (at < end && splitter[at] === bytes[from + at]) at += 1;
  return at;
}

/** Whether a splitter is not behind a line, of which the first bytes are known to be the same. */
function isUpTo(splitter: Buffer, line: Line, depth: number): boolean {
  const at = sameUntil(splitter, line, { from: depth, to: splitter.length });
  if (at === splitter.length) return true;
  return line.from + at < line.to && splitter[at]! < line.bytes[line.from + at]!;
}
