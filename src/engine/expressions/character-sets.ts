import { compile } from "xspattern";
import { itemAt } from "../../values.ts";

/** Code points as sorted ranges that do not touch: first and last of the first range, of the second, and so on. */
export type CharacterSet = readonly number[];

const lastCodePoint = 0x10_ff_ff;

export const everything: CharacterSet = [0, lastCodePoint];

export function union(sets: readonly CharacterSet[]): CharacterSet {
  const merged: number[] = [];
  for (const [first, last] of sets.flatMap(rangesOf).toSorted(([a], [b]) => a - b)) {
    const end = merged.at(-1);
    if (end !== undefined && first <= end + 1) merged[merged.length - 1] = Math.max(end, last);
    else merged.push(first, last);
  }
  return merged;
}

export function complement(set: CharacterSet): CharacterSet {
  const rest: number[] = [];
  let next = 0;
  for (const [first, last] of rangesOf(set)) {
    if (next < first) rest.push(next, first - 1);
    next = last + 1;
  }
  return next <= lastCodePoint ? [...rest, next, lastCodePoint] : rest;
}

export const difference = (set: CharacterSet, without: CharacterSet): CharacterSet =>
  complement(union([complement(set), without]));

export function has(set: CharacterSet, codePoint: number): boolean {
  let [from, to] = [0, set.length / 2];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (itemAt(set, 2 * middle + 1) < codePoint) from = middle + 1;
    else to = middle;
  }
  return (set[2 * from] ?? Number.POSITIVE_INFINITY) <= codePoint;
}

/** The set and the other cases of its characters. */
export function inAllCases(set: CharacterSet): CharacterSet {
  return union([set, ...casePairs().flatMap(([one, other]) => (has(set, other) ? [[one, one]] : []))]);
}

let pairs: readonly (readonly [one: number, other: number])[] | undefined;

/** Characters of which one is the other in lower or upper case. */
function casePairs(): NonNullable<typeof pairs> {
  pairs ??= rangesOf(matchedBy(/\p{Changes_When_Casemapped}+/gu)).flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index).flatMap((one) => {
      const letter = String.fromCodePoint(one);
      const others = [letter.toLowerCase(), letter.toUpperCase()].map((text) => Array.from(text));
      // Some have a text of two characters as their other case, which no class matches.
      return others.flatMap(([other = letter, ...more]) => {
        const point = other.codePointAt(0) ?? one;
        return more.length > 0 || point === one ? [] : [[one, point] as const, [point, one] as const];
      });
    }),
  );
  return pairs;
}

/** As a character or class of RE2. */
export function toRe2Class(set: CharacterSet): string {
  const [first, last] = set;
  // RE2 has no class without characters.
  if (first === undefined) return String.raw`[^\x{0}-\x{10FFFF}]`;
  if (set.length === 2 && first === last) return escaped(first);
  return `[${rangesOf(set)
    .map((range) => range.map(escaped).join("-"))
    .join("")}]`;
}

const escaped = (codePoint: number): string => `\\x{${codePoint.toString(16)}}`;

function rangesOf(set: CharacterSet): readonly (readonly [first: number, last: number])[] {
  return Array.from(
    { length: set.length / 2 },
    (_, index) => [itemAt(set, 2 * index), itemAt(set, 2 * index + 1)] as const,
  );
}

const named = new Map<string, CharacterSet | undefined>();

/**
 * The set that a property names: a general category such as `L` or `Nd`, or a block such as `IsGreek` (XML Schema 1.1
 * Datatypes, sections G.4.2.2 and G.4.2.3). Undefined for an unknown name.
 */
export function namedSet(name: string): CharacterSet | undefined {
  if (named.has(name)) return named.get(name);
  const set = isCategory.test(name) ? matchedBy(new RegExp(String.raw`\p{gc=${name}}+`, "gu")) : block(name);
  // There are some 370 names; others are not kept.
  if (set !== undefined) named.set(name, set);
  return set;
}

/** True if there is such a set, which takes some 0.3 s to make. */
export const isNamedSet = (name: string): boolean =>
  named.has(name) || isCategory.test(name) || blockTest(name) !== undefined;

const isCategory = /^(?:L[ulmto]?|M[nce]?|N[dlo]?|P[cdseifo]?|Z[slp]?|S[mcko]?|C[cfon]?)$/u;

/** Blocks begin and end at multiples of 16 (The Unicode Standard, section 3.4). */
function block(name: string): CharacterSet | undefined {
  const isInside = blockTest(name);
  if (isInside === undefined) return undefined;
  const rows = Array.from({ length: (lastCodePoint + 1) / 16 }, (_, row) => 16 * row);
  return union(rows.flatMap((first) => (isInside(String.fromCodePoint(first)) ? [[first, first + 15]] : [])));
}

function blockTest(name: string): ((text: string) => boolean) | undefined {
  if (!/^Is[A-Za-z0-9-]{1,60}$/u.test(name)) return undefined;
  const isInside = compile(String.raw`\p{${name}}`);
  // Of a block that it does not know, XML Schema has all characters (section G.4.2.3).
  return isInside("\0") && isInside("\u{10FFFF}") ? undefined : isInside;
}

/** Characters that an expression of JavaScript, which matches runs of them, takes. */
function matchedBy(runs: RegExp): CharacterSet {
  const size = 0x8_00;
  const ranges: number[][] = [];
  for (let first = 0; first < lastCodePoint; first += size) {
    // Surrogates are no characters.
    if (first === 0xd8_00) continue;
    const text = String.fromCodePoint(...Array.from({ length: size }, (_, index) => first + index));
    const width = text.length / size;
    for (const { 0: run, index } of text.matchAll(runs)) {
      const from = first + index / width;
      ranges.push([from, from + run.length / width - 1]);
    }
  }
  return union(ranges);
}
