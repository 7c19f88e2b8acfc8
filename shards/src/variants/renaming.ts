import { createHash } from "node:crypto";

/** How the numbers of a property are renamed: years stay near what they are. */
export type NumberKind = "years" | "numbers";

interface RenamingOptions {
  readonly seed: number;
  /** Every word of the data and the queries, as `wordsOf` gives them; invented words are none of these. */
  readonly words: ReadonlySet<string>;
  /** Words that stay in IRIs: those of names of classes and properties. */
  readonly kept: ReadonlySet<string>;
  /** Local names become opaque ids. */
  readonly opaque: boolean;
}

const runs = /\p{L}[\p{L}\p{M}]*|\d+/gu;
/** Percent escapes are no words. */
const localRuns = new RegExp(`%[0-9A-Fa-f]{2}|${runs.source}`, "gu");
const plainNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/u;
const day = /^[1-9]\d{3}-\d\d-\d\d(?=$|[T Z+-])/u;

/** The words of a text, those in lower case, capitalised or in capitals as one. */
export const wordsOf = (text: string): readonly string[] => (text.match(runs) ?? []).map(keyOf);
/** Text after the last `/`, `#` or `:` of an IRI. */
export const localName = (iri: string): string => /(?<![^/#:])[^/#:]*[/#:]?$/u.exec(iri)?.[0] ?? "";

export const isYear = (text: string): boolean => /^(?:1[5-9]|20)\d\d$/u.test(text);
/** Dates and numbers, whose order is kept. */
export const isOrdered = (text: string): boolean => plainNumber.test(text) || day.test(text);

/**
 * One-to-one maps that a seed decides: words become invented ones in the same form, dates move by the same number of days, numbers
 * keep their order, digits behind the point, 0 and 1.
 */
export class Renaming {
  readonly #seed: number;
  readonly #opaque: boolean;
  readonly #kept: ReadonlySet<string>;
  readonly #words: ReadonlyMap<string, string>;
  readonly #percent: bigint;
  readonly #step: bigint;
  readonly #years: number;
  readonly #days: number;

  constructor({ seed, words, kept, opaque }: RenamingOptions) {
    this.#seed = seed;
    this.#opaque = opaque;
    this.#kept = kept;
    this.#words = this.#invent(words);
    const chosen = (purpose: string, least: number, most: number): number =>
      least + (this.#hash(purpose).readUInt32BE() % (most - least + 1));
    this.#percent = BigInt(chosen("percent", 105, 145));
    this.#step = BigInt(chosen("step", 2, 7));
    this.#years = chosen("years", 8, 40);
    this.#days = chosen("days", 100, 1_500);
  }

  iri(iri: string): string {
    const name = localName(iri);
    const base = iri.slice(0, iri.length - name.length);
    if (this.#opaque) return `${base}x${this.#hash(`iri ${iri}`).toString("hex", 0, 10)}`;
    const renamed = (run: string): string => (run.startsWith("%") || this.#kept.has(keyOf(run)) ? run : this.#run(run));
    return base + name.replaceAll(localRuns, renamed);
  }

  /** A text, date or number. */
  value(text: string, kind: NumberKind): string {
    if (plainNumber.test(text)) return kind === "years" ? String(Number(text) - this.#years) : this.#number(text);
    const found = day.exec(text)?.[0];
    const time = found === undefined ? Number.NaN : Date.parse(found);
    if (found === undefined || Number.isNaN(time)) return text.replaceAll(runs, (run) => this.#run(run));
    const moved = new Date(time - this.#days * 86_400_000).toISOString().slice(0, found.length);
    return moved + text.slice(found.length);
  }

  #run(run: string): string {
    const [zeros = ""] = /^0*(?=\d)/u.exec(run) ?? [];
    if (/^\d/u.test(run)) return zeros + this.#number(run.slice(zeros.length));
    const [key, invented = run] = [keyOf(run), this.#words.get(keyOf(run))];
    if (key !== key.toLowerCase()) return /^\p{Lu}/u.test(key) ? capitalised(invented) : invented;
    return forms.find((form) => form(key) === run)!(invented);
  }

  #number(text: string): string {
    const digits = /\.(\d+)$/u.exec(text)?.[1]?.length ?? 0;
    const scale = 10n ** BigInt(digits);
    const scaled = BigInt(text.replace(".", ""));
    const rest = ((scaled % scale) + scale) % scale;
    const moved = this.#whole((scaled - rest) / scale) * scale + rest;
    const plain = String(moved < 0n ? -moved : moved).padStart(digits + 1, "0");
    const point = plain.length - digits;
    return `${moved < 0n || text.startsWith("-0.") ? "-" : ""}${plain.slice(0, point)}${digits === 0 ? "" : `.${plain.slice(point)}`}`;
  }

  /** Grows by at least 1 from each whole number to the next. */
  #whole(number: bigint): bigint {
    if (number === 0n || number === 1n) return number;
    if (number > 0n) return 1n + ((number - 1n) * this.#percent) / 100n + this.#step;
    return -((-number * this.#percent + 99n) / 100n) - this.#step;
  }

  #invent(words: ReadonlySet<string>): ReadonlyMap<string, string> {
    const invented = new Map<string, string>();
    const taken = new Set(Array.from(words, (word) => word.toLowerCase()));
    for (const word of [...words].filter((each) => !/^\d/u.test(each)).toSorted()) {
      let name = "";
      for (let attempt = 0; name === "" || taken.has(name); attempt++) {
        const syllables = Math.min(4, Math.max(2, Math.ceil(word.length / 3))) + Math.floor(attempt / 8);
        const bytes = this.#hash(`word ${attempt} ${word}`).subarray(0, syllables);
        name = Array.from(bytes, (byte) => "bdfgklmnprstvz"[byte % 14]! + "aeiou"[(byte >> 4) % 5]!).join("");
      }
      taken.add(name);
      invented.set(word, name);
    }
    return invented;
  }

  #hash(purpose: string): Buffer {
    return createHash("sha256").update(`${this.#seed} ${purpose}`).digest();
  }
}

const capitalised = (word: string): string => word.replace(/^./u, (first) => first.toUpperCase());
const forms = [(word: string): string => word, capitalised, (word: string): string => word.toUpperCase()];

/** Words of mixed case stand for themselves, so that different texts stay different. */
function keyOf(word: string): string {
  const lower = word.toLowerCase();
  return forms.some((form) => form(lower) === word) ? lower : word;
}
