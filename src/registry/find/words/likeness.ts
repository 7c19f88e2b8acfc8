const shortestPrefix = 3;
const shortestStem = 5;

/** How alike two stems are, 0 to 1: the same; one the beginning of the other; of one family (`departing`, `departure`). */
export function likeness(left: string, right: string): number {
  if (left === right) return 1;
  const [short, long] = left.length < right.length ? [left, right] : [right, left];
  if (short.length < shortestPrefix) return 0;
  if (long.startsWith(short)) return (0.6 * short.length) / long.length;
  let shared = 0;
  while (shared < short.length && short[shared] === long[shared]) shared++;
  return shared >= shortestStem && shared >= long.length * 0.7 ? (0.5 * shared) / long.length : 0;
}

const leastLetters = 5;

/** How many letters of a word may be mistaken; short words and codes are close to others without meaning the same. */
export function mistakesIn(word: string): 0 | 1 | 2 {
  if (word.length < leastLetters || /\d/.test(word)) return 0;
  return word.length < 7 ? 1 : 2;
}
