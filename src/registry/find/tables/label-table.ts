import { editDistance } from "../../../errors/nearest.ts";
import { foldedWords } from "../words/words.ts";
import { itemAt } from "../../../values.ts";

/** A row of the table that a text met. */
export interface LabelMatch {
  /** Position of the label in the list that the table was made of. */
  readonly at: number;
  /** 0 to 1: 1 is the same text. */
  readonly score: number;
  /**
   * The same text; the same but for case, accents, signs and number; it has all words, or one; nearly the same letters; a like
   * meaning.
   */
  readonly how: "exact" | "folded" | "words" | "spelling" | "meaning";
  /** The folded words of the text that it was found for. */
  readonly words?: readonly string[] | undefined;
}

/** Labels of one endpoint, found by equal text, by words and in spite of typing errors; fixed once made. */
export type LabelTable = ReturnType<typeof createLabelTable>;

const mostEqual = 50;
/** Candidates by common trigrams whose letters are compared one by one. */
const mostCompared = 150;
/** Similarity of nearly equal labels: this share of the letters at least. */
const leastAlike = 0.6;
/** Letters as written that may differ, beyond which their number does not matter. */
const mostAccents = 6;
const placeBits = 2 ** 20;

/**
 * A table over at most 1,048,576 labels. Beside the labels, which the caller keeps, it takes 8 bytes a label for equal texts
 * and 4 bytes for each distinct trigram of a label (about 20): for 200,000 labels 18 MB.
 */
export function createLabelTable(labels: readonly string[]) {
  const size = Math.min(labels.length, placeBits);
  // The hash of a folded label and its place in one number, so that one sorted array of numbers is the whole map.
  const hashes = Float64Array.from(
    { length: size },
    (_, at) => hashOf(foldedWords(itemAt(labels, at))) * placeBits + at,
  );
  const byHash = hashes.toSorted();
  const trigrams = indexTrigrams(labels, size);
  const equal = (folded: string): number[] => {
    const found: number[] = [];
    const hash = hashOf(folded);
    for (let at = lowerBound(byHash, hash * placeBits); at < size && found.length < mostEqual; at += 1) {
      const packed = byHash[at] ?? 0;
      if (Math.floor(packed / placeBits) !== hash) break;
      const place = packed % placeBits;
      if (foldedWords(itemAt(labels, place)) === folded) found.push(place);
    }
    return found;
  };
  return {
    size,
    /** Labels that are equal to a text but for case, accents and signs, else for umlauts written with an e; at most 50. */
    equal(text: string): readonly LabelMatch[] {
      const folded = foldedWords(text);
      if (folded === "") return [];
      const found = equal(folded).map((at) => (labels[at] === text ? sameText(at) : sameWords(at)));
      // Who has no umlauts at hand writes "Mueller" for "Müller".
      const short = folded.replaceAll(/(?<=[aou])e/g, "");
      return found.length > 0 || short === folded ? found : equal(short).map(sameWords);
    },
    /** Labels that are equal to a text, have all its words, or differ in a few letters; best first. */
    similar(text: string, limit: number): readonly LabelMatch[] {
      const folded = foldedWords(text);
      const words = folded.split(" ");
      return trigrams
        .candidates(folded, mostCompared)
        .flatMap((at) => compared({ at, label: itemAt(labels, at) }, { text, folded, words }) ?? [])
        .toSorted((left, right) => right.score - left.score || left.at - right.at)
        .slice(0, limit);
    },
  };
}

const sameText = (at: number): LabelMatch => ({ at, score: 1, how: "exact" });
const sameWords = (at: number): LabelMatch => ({ at, score: 0.98, how: "folded" });

interface Wanted {
  readonly text: string;
  readonly folded: string;
  readonly words: readonly string[];
}

function compared({ at, label }: { at: number; label: string }, wanted: Wanted): LabelMatch | undefined {
  const { text, folded, words } = wanted;
  if (label === text) return sameText(at);
  const own = foldedWords(label);
  if (own === folded) return sameWords(at);
  const longest = mayDiffer(words, own) ? Math.max(own.length, folded.length) : 0;
  const cap = Math.floor(longest * (1 - leastAlike));
  const distance = editDistance(own, folded, cap);
  const alike = longest === 0 || distance > cap ? 0 : 0.95 * (1 - distance / longest) - tieBreak(label, wanted, own);
  const ownWords = ` ${own} `;
  const hasAll = words.every((word) => ownWords.includes(` ${word} `));
  const share = hasAll ? 0.5 + 0.4 * (folded.length / own.length) : 0;
  if (Math.max(alike, share) === 0) return undefined;
  return share > alike ? { at, score: share, how: "words" } : { at, score: alike, how: "spelling" };
}

const accent = /\P{ASCII}/u;
const tieWeight = 0.002;

/**
 * Order of labels with equally many errors: few people mistype the first letter, and accents are rather left out than made up.
 */
function tieBreak(label: string, { text, folded }: Wanted, own: string): number {
  const accents = accent.test(label + text) ? editDistance(label.toLowerCase(), text.toLowerCase(), mostAccents) : 0;
  return tieWeight * (accents + (own.charAt(0) === folded.charAt(0) ? 0 : 1));
}

/** The least that a text must have, numbers and codes left out, to be looked for with typing errors. */
const leastLetters = 5;

/** Short words and codes are close to others without meaning the same. */
function mayDiffer(words: readonly string[], own: string): boolean {
  const letters = words.filter((word) => !/\d/.test(word));
  if (letters.join("").length < leastLetters) return false;
  const codes = own.split(" ").filter((word) => /\d/.test(word));
  return words.length - letters.length === codes.length && codes.every((code) => words.includes(code));
}

/** FNV-1a over UTF-16 code units, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** The first place whose number is not smaller. */
function lowerBound(sorted: Float64Array | Uint32Array, wanted: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The distinct trigrams of a folded text, each word with two spaces before it and one behind, as numbers. */
function trigramsOf(folded: string): Set<number> {
  const padded = `  ${folded.replaceAll(" ", "  ")} `;
  const found = new Set<number>();
  for (let at = 0; at + 2 < padded.length; at += 1) {
    // A trigram that ends a word's padding says nothing.
    if (padded.charCodeAt(at + 1) === 32 && padded.charCodeAt(at + 2) === 32) continue;
    found.add(
      ((padded.charCodeAt(at) & 0x3ff) << 20) |
        ((padded.charCodeAt(at + 1) & 0x3ff) << 10) |
        (padded.charCodeAt(at + 2) & 0x3ff),
    );
  }
  return found;
}

/** Distinct trigrams of each label, and in how many labels each trigram is. */
function countTrigrams(labels: readonly string[], size: number) {
  const counts = new Map<number, number>();
  const sizes = new Uint8Array(size);
  for (let at = 0; at < size; at += 1) {
    const own = trigramsOf(foldedWords(itemAt(labels, at)));
    sizes[at] = Math.min(255, own.size);
    for (const trigram of own) counts.set(trigram, (counts.get(trigram) ?? 0) + 1);
  }
  return { counts, sizes };
}

/** Which labels have which trigrams: the trigrams in order, where the labels of each begin, and these labels. */
function indexTrigrams(labels: readonly string[], size: number) {
  const { counts, sizes } = countTrigrams(labels, size);
  const keys = Uint32Array.from(counts.keys()).toSorted();
  const starts = new Uint32Array(keys.length + 1);
  for (const [at, key] of keys.entries()) starts[at + 1] = (starts[at] ?? 0) + (counts.get(key) ?? 0);
  // From here on the map holds where the next label of a trigram goes.
  for (const [at, key] of keys.entries()) counts.set(key, starts[at] ?? 0);
  const postings = new Uint32Array(starts[keys.length] ?? 0);
  for (let at = 0; at < size; at += 1) {
    for (const trigram of trigramsOf(foldedWords(itemAt(labels, at)))) {
      const place = counts.get(trigram) ?? 0;
      postings[place] = at;
      counts.set(trigram, place + 1);
    }
  }
  const shared = new Uint8Array(size);
  return {
    /** Labels that share most with a folded text, by the Dice coefficient of trigrams or by how much of the text they have. */
    candidates(folded: string, most: number): readonly number[] {
      const wanted = trigramsOf(folded);
      const touched: number[] = [];
      for (const trigram of wanted) {
        const key = lowerBound(keys, trigram);
        if (keys[key] !== trigram) continue;
        for (const label of postings.subarray(starts[key], starts[key + 1])) {
          if (shared[label] === 0) touched.push(label);
          shared[label] = (shared[label] ?? 0) + 1;
        }
      }
      const best = mostShared(touched, { shared, sizes, wanted: wanted.size, most });
      for (const label of touched) shared[label] = 0;
      return best;
    },
  };
}

const levels = 256;

/** The `most` labels of the highest likeness, found by counting how many there are of each level instead of sorting all. */
function mostShared(
  touched: readonly number[],
  how: { shared: Uint8Array; sizes: Uint8Array; wanted: number; most: number },
): readonly number[] {
  const { shared, sizes, wanted, most } = how;
  const levelOf = (label: number): number => {
    const common = shared[label] ?? 0;
    const dice = (2 * common) / (wanted + (sizes[label] ?? 0));
    return Math.round((levels - 1) * Math.max(dice, (0.8 * common) / wanted));
  };
  const counts = new Uint32Array(levels);
  for (const label of touched) counts[levelOf(label)] = (counts[levelOf(label)] ?? 0) + 1;
  let [least, taken] = [levels, 0];
  while (least > 0 && taken < most) taken += counts[(least -= 1)] ?? 0;
  return touched
    .filter((label) => levelOf(label) >= least)
    .toSorted((left, right) => levelOf(right) - levelOf(left) || left - right)
    .slice(0, most);
}
