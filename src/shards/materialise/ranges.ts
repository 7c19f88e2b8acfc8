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
  return {
    count: splitters.length + 1,
    of(bytes, from, to) {
      let low = 0;
      let high = splitters.length;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (splitters[middle]!.compare(bytes, from, to) <= 0) low = middle + 1;
        else high = middle;
      }
      return low;
    },
  };
}
