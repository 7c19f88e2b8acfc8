/** Edit distance (Levenshtein) of two short strings, given up on and answered with `cap + 1` beyond `cap`. */
export function editDistance(left: string, right: string, cap: number): number {
  if (Math.abs(left.length - right.length) > cap) return cap + 1;
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const substitution = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    if (current.every((distance) => distance > cap)) return cap + 1;
    previous = current;
  }
  return previous[right.length] ?? cap + 1;
}

/** The same, but two neighbouring letters that changed places are one mistake, not two. */
export const mistypedDistance = (left: string, right: string, cap: number): number =>
  areSwapped(left, right) ? 1 : editDistance(left, right, cap);

function areSwapped(one: string, other: string): boolean {
  if (one.length !== other.length || one === other) return false;
  let at = 0;
  while (one[at] === other[at]) at++;
  return one[at] === other[at + 1] && one[at + 1] === other[at] && one.slice(at + 2) === other.slice(at + 2);
}

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
