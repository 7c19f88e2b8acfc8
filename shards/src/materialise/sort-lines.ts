/** Lines of one buffer, by number. */
interface Lines {
  readonly bytes: Buffer;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** Below this, comparing is quicker than sorting by key. */
const smallGroup = 32;

/**
 * Sorts numbers of lines by the lines' bytes, in place. Equal lines come next to each other.
 *
 * Lines of one dataset share long beginnings. So: skip what a group shares, sort by the next four bytes with the native
 * sort of numbers (key and line number in one 64-bit number), and go on within each group of equal keys.
 */
export function sortLines(lines: Lines, order: Uint32Array): void {
  const groups: Group[] = [{ from: 0, to: order.length, depth: 0 }];
  for (let group = groups.pop(); group !== undefined; group = groups.pop()) {
    if (group.to - group.from < 2) continue;
    const depth = sharedDepth(lines, order, group);
    const first = order[group.from]!;
    // The lines are equal when one of them is shared as a whole: they all end with a line feed, and only there.
    if (depth === lines.ends[first]! - lines.starts[first]!) continue;
    const { from, to } = group;
    const keys =
      to - from <= smallGroup
        ? sortSmall(lines, order, { from, to, depth })
        : sortLarge(lines, order, { from, to, depth });
    pushEqual(groups, keys, { from, to, depth });
  }
}

interface Group {
  readonly from: number;
  readonly to: number;
  /** Bytes that the lines are known to share. */
  readonly depth: number;
}

/** Adds the groups of lines that have the same key. */
function pushEqual(groups: Group[], { at, step }: Keys, { from, to, depth }: Group): void {
  let begin = from;
  for (let index = from + 1; index <= to; index += 1) {
    if (index < to && at[(index - from) * step] === at[(index - 1 - from) * step]) continue;
    if (index - begin > 1) groups.push({ from: begin, to: index, depth });
    begin = index;
  }
}

/** Keys of a group in their new order, each `step` numbers behind the one before. */
interface Keys {
  readonly at: Uint32Array;
  readonly step: number;
}

const smallKeys: Keys = { at: new Uint32Array(smallGroup), step: 1 };

/** Insertion sort by the four bytes behind `depth`. */
function sortSmall({ bytes, starts, ends }: Lines, order: Uint32Array, { from, to, depth }: Group): Keys {
  const keys = smallKeys.at;
  for (let next = from; next < to; next += 1) {
    const line = order[next]!;
    const key = keyAt(bytes, starts[line]! + depth, ends[line]!);
    let at = next;
    for (; at > from && keys[at - 1 - from]! > key; at -= 1) {
      order[at] = order[at - 1]!;
      keys[at - from] = keys[at - 1 - from]!;
    }
    order[at] = line;
    keys[at - from] = key;
  }
  return smallKeys;
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

/** The native sort by the four bytes behind `depth`. */
function sortLarge({ bytes, starts, ends }: Lines, order: Uint32Array, { from, to, depth }: Group): Keys {
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
  for (let index = from; index < to; index += 1) order[index] = halves[(index - from) * 2]!;
  return { at: halves.subarray(1), step: 2 };
}

/** Four bytes as a number that is ordered like them; a line that ends before has zeros there. */
function keyAt(bytes: Buffer, at: number, end: number): number {
  if (at + 4 <= end)
    return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
  let key = 0;
  for (let index = at; index < at + 4; index += 1) key = key * 256 + (index < end ? bytes[index]! : 0);
  return key;
}
