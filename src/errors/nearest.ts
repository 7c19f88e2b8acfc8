/**
 * Edit distance of two short strings, given up on and answered with `cap + 1` beyond `cap`. Neighbouring letters that changed
 * places are one edit (optimal string alignment).
 */
export function editDistance(left: string, right: string, cap: number): number {
  if (Math.abs(left.length - right.length) > cap) return cap + 1;
  let earlier: readonly number[] = [];
  let previous: readonly number[] = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const substitution = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      const swap = areSwapped(left, right, [row, column]) ? (earlier[column - 2] ?? 0) + 1 : substitution;
      current.push(Math.min(substitution, swap, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    if (current.every((distance) => distance > cap)) return cap + 1;
    [earlier, previous] = [previous, current];
  }
  return previous[right.length] ?? cap + 1;
}

/** True if the two letters before a position of one text stand in the other order before a position of another. */
const areSwapped = (left: string, right: string, [row, column]: readonly [number, number]): boolean =>
  row > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];

/**
 * The known names most like `wanted`, best first, for messages that suggest a correction: small edit distances, and
 * names that contain the wanted one. Work is bounded by the length of the names (128 characters are looked at).
 */
export function nearest(wanted: string, known: Iterable<string>, most = 3): readonly string[] {
  const target = wanted.slice(0, 128).toLowerCase();
  const cap = Math.max(2, Math.floor(target.length / 3));
  const scored: { name: string; score: number }[] = [];
  for (const name of known) {
    const candidate = name.slice(0, 128).toLowerCase();
    const contains = target.length >= 3 && candidate.includes(target);
    const score = contains ? 1 : editDistance(target, candidate, cap);
    if (score <= cap) scored.push({ name, score });
  }
  return scored
    .toSorted((left, right) => left.score - right.score || left.name.localeCompare(right.name, "en"))
    .slice(0, most)
    .map(({ name }) => name);
}
