import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { packageFile } from "../../../package-file.ts";

/** Vectors of English words; `catalog/README.md` says what they were made of. */
interface WordVectors {
  /** Numbers of one vector. */
  readonly dimensions: number;
  /** Cosines of words that are not alike, and of words that mean the same. */
  readonly unlike: number;
  readonly alike: number;
  readonly places: ReadonlyMap<string, number>;
  /** One vector after the other. */
  readonly numbers: Int8Array;
  /** Lengths of the vectors. */
  readonly lengths: Float32Array;
}

/** Read at the first question: 30 ms. */
let table: WordVectors | undefined;

function wordVectors(): WordVectors {
  table ??= readTable(gunzipSync(readFileSync(packageFile("catalog/words/english.gz"))));
  return table;
}

/** A line of JSON, a line of words, and the numbers. */
function readTable(bytes: Buffer): WordVectors {
  const headEnd = bytes.indexOf("\n");
  const wordsEnd = bytes.indexOf("\n", headEnd + 1);
  const head: Pick<WordVectors, "dimensions" | "unlike" | "alike"> = JSON.parse(bytes.toString("latin1", 0, headEnd));
  const words = bytes.toString("latin1", headEnd + 1, wordsEnd).split(" ");
  const vectors = { ...head, numbers: new Int8Array(bytes.subarray(wordsEnd + 1)) };
  const lengths = Float32Array.from(words, (_, place) => Math.sqrt(product(vectors, place, place)));
  return { ...vectors, places: new Map(words.map((word, place) => [word, place])), lengths };
}

function product(
  { numbers, dimensions }: Pick<WordVectors, "numbers" | "dimensions">,
  one: number,
  other: number,
): number {
  const [from, to] = [one * dimensions, other * dimensions];
  let sum = 0;
  for (let at = 0; at < dimensions; at++) sum += (numbers[from + at] ?? 0) * (numbers[to + at] ?? 0);
  return sum;
}

/** Place of a word in the table; undefined for a word that is not in it. */
export const wordPlace = (word: string): number | undefined => wordVectors().places.get(word);

/** How alike in meaning the words at two places are, 0 to 1. */
export function likeMeaning(one: number, other: number): number {
  const vectors = wordVectors();
  const { lengths, unlike, alike } = vectors;
  const cosine = product(vectors, one, other) / ((lengths[one] ?? 1) * (lengths[other] ?? 1));
  return Math.min(1, Math.max(0, (cosine - unlike) / (alike - unlike)));
}
