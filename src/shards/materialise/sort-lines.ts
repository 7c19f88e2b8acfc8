/** Lines of one buffer, by number. */
export interface Lines {
  readonly bytes: Buffer;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** Below this, comparing is quicker than sorting by key. */
const smallGroup = 24;

/**
 * Sorts numbers of lines by the lines' bytes, in place. Equal lines come next to each other.
 *
 * Lines of one dataset share long beginnings. So: skip what a group shares, sort by the next four bytes with the native
 * sort of numbers (key and line number in one 64-bit number), and go on within each group of equal keys.
 */
export function sortLines(lines: Lines, order: Uint32Array): void {
  const groups: { readonly from: number; readonly to: number; readonly depth: number }[] = [];
  groups.push({ from: 0, to: order.length, depth: 0 });
  for (let group = groups.pop(); group !== undefined; group = groups.pop()) {
    const { from, to } = group;
    if (to - from < 2) continue;
    if (to - from <= smallGroup) {
      insertionSort(lines, order, group);
      continue;
    }
    const depth = sharedDepth(lines, order, group);
    // The lines are equal when the shortest of them is shared as a whole: they all end with a line feed, and only there.
    if (depth === lines.ends[order[from]!]! - lines.starts[order[from]!]!) continue;
    for (const next of sortByKey(lines, order, { from, to, depth })) groups.push(next);
  }
}

interface Group {
  readonly from: number;
  readonly to: number;
  /** Bytes that the lines are known to share. */
  readonly depth: number;
}

const smallKeys = new Uint32Array(smallGroup);

/** By the four bytes behind what the lines share; only lines that are equal there too are compared. */
function insertionSort(lines: Lines, order: Uint32Array, { from, to, depth }: Group): void {
  const { bytes, starts, ends } = lines;
  const shared = sharedDepth(lines, order, { from, to, depth });
  for (let next = from; next < to; next += 1) {
    const line = order[next]!;
    const start = starts[line]! + shared;
    const end = ends[line]!;
    const key = keyAt(bytes, start, end);
    let at = next;
    while (at > from) {
      const other = order[at - 1]!;
      const otherKey = smallKeys[at - 1 - from]!;
      if (otherKey < key) break;
      if (otherKey === key && bytes.compare(bytes, start, end, starts[other]! + shared, ends[other]) <= 0) break;
      order[at] = other;
      smallKeys[at - from] = otherKey;
      at -= 1;
    }
    order[at] = line;
    smallKeys[at - from] = key;
  }
}

/** How many bytes all lines of a group begin with. */
function sharedDepth({ bytes, starts, ends }: Lines, order: Uint32Array, { from, to, depth }: Group): number {
  const first = starts[order[from]!]!;
  let shared = ends[order[from]!]! - first;
  for (let index = from + 1; index < to && shared > depth; index += 1) {
    const start = starts[order[index]!]!;
    const most = Math.min(shared, ends[order[index]!]! - start);
    let same = depth;
    while (same < most && bytes[start + same] === bytes[first + same]) same += 1;
    shared = same;
  }
  return shared;
}

let scratch = new BigUint64Array(4096);

/** Sorts by the four bytes behind `depth`; returns the groups that share these. */
function sortByKey({ bytes, starts, ends }: Lines, order: Uint32Array, { from, to, depth }: Group): readonly Group[] {
  if (to - from > scratch.length) scratch = new BigUint64Array((to - from) * 2);
  const keys = scratch.subarray(0, to - from);
  // Little-endian: the line's number lies in the lower half, the key in the upper.
  const halves = new Uint32Array(keys.buffer, 0, keys.length * 2);
  for (let index = from; index < to; index += 1) {
    const line = order[index]!;
    halves[(index - from) * 2] = line;
    halves[(index - from) * 2 + 1] = keyAt(bytes, starts[line]! + depth, ends[line]!);
  }
  keys.sort();
  const groups: Group[] = [];
  let begin = from;
  for (let index = from; index < to; index += 1) {
    const at = (index - from) * 2;
    order[index] = halves[at]!;
    if (index > from && halves[at + 1] !== halves[at - 1]) {
      if (index - begin > 1) groups.push({ from: begin, to: index, depth });
      begin = index;
    }
  }
  if (to - begin > 1) groups.push({ from: begin, to, depth });
  return groups;
}

/** Four bytes as a number that is ordered like them; a line that ends before has zeros there. */
function keyAt(bytes: Buffer, at: number, end: number): number {
  if (at + 4 <= end)
    return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
  let key = 0;
  for (let index = at; index < at + 4; index += 1) key = key * 256 + (index < end ? bytes[index]! : 0);
  return key;
}
