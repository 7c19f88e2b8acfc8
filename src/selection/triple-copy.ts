import type * as RDF from "@rdfjs/types";
import type { HolderQuestion } from "../plan/source-selection.ts";
import { iriText } from "../rdf/term-text.ts";
import { termToText } from "../results/terms.ts";
import { itemAt } from "../values.ts";

/** Patterns that are asked of copies, with terms as hashes. */
export interface HashedUnit {
  /** Subject, predicate and object of each: the hash of a constant, or below 0 for a variable: -1 the first, -2 the second. */
  readonly patterns: readonly HashedPattern[];
  readonly variables: number;
}

type HashedPattern = readonly [subject: number, predicate: number, object: number];

/** The hash of an unknown term: any term may stand there. */
const anyTerm = -1;
/** In copies, every blank node is this one. Hashes of IRIs follow. */
const blankNode = 0;
/** A literal that engines may write in another way, so that it may equal any other; hashes of plain literals follow. */
const someLiteral = 0x8000_0000;

/** The hash of a constant or key in N-Triples. @returns below 0 for one that may equal any term */
export function hashTerm(text: string): number {
  // Engines take such IRIs for blank nodes.
  if (text.startsWith("<_:") || text.startsWith("<nodeID:")) return anyTerm;
  if (text.startsWith("<") && !text.startsWith("<<")) return Math.max(1, hashText(text) & 0x7fff_ffff);
  if (!text.startsWith('"')) return anyTerm;
  if (!text.endsWith('"') || text.includes("\\")) return someLiteral;
  return Math.max(someLiteral + 1, (hashText(text) | someLiteral) >>> 0);
}

/** FNV-1a over UTF-16 code units, its bits mixed as in MurmurHash3. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The patterns of a question; its key variables are the first variables, and patterns with keys come first. */
export function hashUnit({ patterns, variables }: Pick<HolderQuestion, "patterns" | "variables">): HashedUnit {
  const numbers = new Map(variables.map((name, index) => [`?${name}`, index]));
  const placeOf = (term: string): number => {
    const isNamed = term.startsWith("?") || term.startsWith("_:");
    const hash = isNamed ? anyTerm : hashTerm(term);
    if (hash >= 0) return hash;
    const number = (isNamed ? numbers.get(term) : undefined) ?? numbers.size;
    numbers.set(isNamed ? term : `any ${number}`, number);
    return -1 - number;
  };
  const hashed = patterns.map(([s, p, o]): HashedPattern => [placeOf(s), placeOf(p), placeOf(o)]);
  const hasKey = (pattern: HashedPattern): number =>
    Number(pattern.some((place) => place < 0 && place >= -variables.length));
  return { patterns: hashed.toSorted((one, other) => hasKey(other) - hasKey(one)), variables: numbers.size };
}

/** Steps that may be taken for one row of keys; an undecided row may match. */
const mostSteps = 4_000;

/** Steps of some 50 ns that are left to a question. */
export interface Steps {
  left: number;
}

/**
 * The triples of an endpoint as two 32-bit hashes each, by property, sorted by subject, and found by object too: 10 bytes a
 * triple. It answers whether patterns can have a solution there. Different terms may have one hash, and a literal with a
 * datatype or language may equal any other: so "no" is certain, "yes" is not.
 */
export class TripleCopy {
  /** Of each property: its hash, and where its triples begin; one more for the end. */
  readonly #properties: Uint32Array;
  readonly #starts: Uint32Array;
  readonly #subjects: Uint32Array;
  readonly #objects: Uint32Array;
  /** Positions of triples, sorted by object within each property. */
  readonly #byObject: Uint16Array | Uint32Array;

  /** @param words hashes of properties, their numbers of triples, all subjects, all objects, after the number of properties */
  private constructor(words: Uint32Array) {
    const properties = itemAt(words, 0);
    const triples = (words.length - 1 - 2 * properties) / 2;
    this.#properties = words.subarray(1, 1 + properties);
    this.#starts = new Uint32Array(properties + 1);
    for (let at = 0; at < properties; at++) {
      this.#starts[at + 1] = this.#starts[at]! + words[1 + properties + at]!;
    }
    this.#subjects = words.subarray(1 + 2 * properties, 1 + 2 * properties + triples);
    this.#objects = words.subarray(1 + 2 * properties + triples);
    this.#byObject = triples > 0x1_0000 ? new Uint32Array(triples) : new Uint16Array(triples);
    for (let at = 0; at < properties; at++) this.#indexObjects(this.#starts[at]!, this.#starts[at + 1]!);
  }

  /** Of the subjects and objects by property; undefined where a term has no hash. */
  static of(triples: ReadonlyMap<string, readonly (readonly [subject: RDF.Term, object: RDF.Term])[]>): TripleCopy {
    const hashed = new Map<number, [subject: number, object: number][]>();
    for (const [property, pairs] of triples) {
      const own = pairs.map(([s, o]): [number, number] => [hashOf(s), hashOf(o)]);
      const hash = hashTerm(iriText(property));
      // Two properties may have one hash.
      hashed.set(hash, [...(hashed.get(hash) ?? []), ...own]);
    }
    const groups = [...hashed.values()].map((pairs) => pairs.toSorted(([s], [s2]) => s - s2));
    const all = groups.flat();
    const counts = groups.map(({ length }) => length);
    const words = [[hashed.size, ...hashed.keys()], counts, all.map(([s]) => s), all.map(([, o]) => o)];
    return new TripleCopy(Uint32Array.from(words.flat()));
  }

  /** From `toText`. */
  static from(text: string): TripleCopy {
    const bytes = Uint8Array.from(Buffer.from(text, "base64"));
    return new TripleCopy(new Uint32Array(bytes.buffer, 0, bytes.length >> 2));
  }

  /** Base64. */
  toText(): string {
    const { buffer } = this.#subjects;
    return Buffer.from(buffer).toString("base64");
  }

  get bytes(): number {
    return this.#subjects.buffer.byteLength + this.#byObject.byteLength;
  }

  /** False only when the patterns have no solution here. */
  mayMatch(unit: HashedUnit): boolean {
    return this.rowsOf(unit, [[]]).length > 0;
  }

  /**
   * The indices of rows that the patterns may have solutions for; a row has hashes (`hashTerm`) of the unit's first variables.
   * The first steps only look for the keys themselves.
   */
  rowsOf({ patterns, variables }: HashedUnit, rows: readonly (readonly number[])[], all: Steps = { left: mostSteps }) {
    // Without the property there are no rows.
    if (patterns.some(([, predicate]) => predicate >= 0 && !this.#properties.includes(predicate))) return [];
    const keyed = patterns.flatMap((pattern) => this.#keyPlaces(pattern));
    return rows.flatMap((keys, index) => {
      if (keyed.some(({ column, where }) => !this.#has(where, keys[column] ?? anyTerm))) return [];
      const values = Array.from({ length: variables }, (_, at) => keys[at] ?? anyTerm);
      const steps = { left: Math.min(mostSteps, all.left) };
      all.left -= steps.left;
      const isHeld = this.#search(patterns, values, steps);
      all.left += Math.max(0, steps.left);
      return isHeld ? index : [];
    });
  }

  #keyPlaces([subject, predicate, object]: HashedPattern) {
    const at = this.#properties.indexOf(predicate);
    return [
      { column: -1 - subject, where: { at, byObject: false } },
      { column: -1 - object, where: { at, byObject: true } },
    ].filter(({ column }) => column >= 0 && at >= 0);
  }

  /** True if a property may have a term in this position. */
  #has(where: Order, hash: number): boolean {
    if (hash < 0) return true;
    if (where.byObject && hash >= someLiteral) return this.#ranges(where, hash).some(({ from, to }) => from < to);
    const first = this.#first(where, hash);
    return first < this.#starts[where.at + 1]! && this.#hashAt(where, first) === hash;
  }

  /** True if the patterns have a solution with the bound values, or the search takes too many steps. */
  #search(patterns: readonly HashedPattern[], values: readonly number[], steps: Steps): boolean {
    const narrowest = this.#narrowest(patterns, values);
    if (narrowest === undefined || steps.left < 0) return true;
    const rest = patterns.filter((pattern) => pattern !== narrowest.pattern);
    for (const { at, byObject, from, to } of narrowest.ranges) {
      for (let position = from; position < to; position++) {
        if (--steps.left < 0) return true;
        const triple = byObject ? this.#byObject[position]! : position;
        const terms: HashedPattern = [this.#subjects[triple]!, this.#properties[at]!, this.#objects[triple]!];
        const bound = withMatch(values, narrowest.pattern, terms);
        if (bound !== undefined && this.#search(rest, bound, steps)) return true;
      }
    }
    return false;
  }

  /** The pattern with the fewest candidates, and those; undefined when there is no pattern. */
  #narrowest(patterns: readonly HashedPattern[], values: readonly number[]): Candidates | undefined {
    let best: Candidates | undefined;
    for (const pattern of patterns) {
      const ranges = this.#candidates(pattern, values);
      const size = ranges.reduce((sum, { from, to }) => sum + to - from, 0);
      if (best === undefined || size < best.size) best = { pattern, ranges, size };
      if (size === 0) break;
    }
    return best;
  }

  /** The triples that may match a pattern with its bound terms, by its predicate and its subject or else its object. */
  #candidates([subject, predicate, object]: HashedPattern, values: readonly number[]): readonly Range[] {
    const [s, p, o] = [valueOf(subject, values), valueOf(predicate, values), valueOf(object, values)];
    const ranges: Range[] = [];
    for (let at = p < 0 ? 0 : this.#properties.indexOf(p); at >= 0 && at < this.#properties.length; at++) {
      if (s >= 0) ranges.push(...this.#ranges({ at, byObject: false }, s));
      else if (o >= 0) ranges.push(...this.#ranges({ at, byObject: true }, o));
      else ranges.push({ at, byObject: false, from: this.#starts[at]!, to: this.#starts[at + 1]! });
      if (p >= 0) break;
    }
    return ranges;
  }

  /** The triples of a property that may have this term as their subject, or object. */
  #ranges({ at, byObject }: Order, hash: number): readonly Range[] {
    const range = (least: number, most: number): Range => {
      const from = this.#first({ at, byObject }, least);
      return {
        at,
        byObject,
        from,
        to: most >= 0xffff_ffff ? this.#starts[at + 1]! : this.#first({ at, byObject }, most + 1),
      };
    };
    if (!byObject || hash < someLiteral) return [range(hash, hash)];
    if (hash === someLiteral) return [range(hash, 0xffff_ffff)];
    return [range(hash, hash), range(someLiteral, someLiteral)];
  }

  /** Position of the first triple of a property with this hash or a greater one, by bisection. */
  #first(where: Order, hash: number): number {
    let low = this.#starts[where.at]!;
    let high = this.#starts[where.at + 1]!;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#hashAt(where, middle) < hash) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #hashAt({ byObject }: Order, position: number): number {
    return byObject ? this.#objects[this.#byObject[position]!]! : this.#subjects[position]!;
  }

  #indexObjects(from: number, to: number): void {
    // One number each sorts ten times as fast as with a function.
    const order = new Float64Array(to - from);
    for (let at = from; at < to; at++) order[at - from] = this.#objects[at]! * 0x20_0000 + at;
    order.sort();
    for (const [index, key] of order.entries()) this.#byObject[from + index] = key % 0x20_0000;
  }
}

/** The triples of one property: as they are, or in the order by object. */
interface Order {
  /** Index of the property. */
  readonly at: number;
  readonly byObject: boolean;
}

/** Positions in an order. */
interface Range extends Order {
  readonly from: number;
  readonly to: number;
}

interface Candidates {
  readonly pattern: HashedPattern;
  readonly ranges: readonly Range[];
  readonly size: number;
}

function hashOf(term: RDF.Term): number {
  const hash = term.termType === "BlankNode" ? blankNode : hashTerm(termToText(term));
  // Triple terms, and blank nodes that an endpoint names by IRIs, are found as whatever they may equal.
  return hash === anyTerm ? someLiteral : hash;
}

const valueOf = (place: number, values: readonly number[]): number => (place < 0 ? values[-1 - place]! : place);

/** The values with those of a triple; undefined when it does not fit them. */
function withMatch(values: readonly number[], pattern: HashedPattern, triple: HashedPattern): number[] | undefined {
  const bound = [...values];
  for (const [at, place] of pattern.entries()) {
    const term = triple[at]!;
    const expected = valueOf(place, bound);
    if (expected === anyTerm) bound[-1 - place] = term;
    else if (expected !== term && !mayEqual(expected, term)) return undefined;
  }
  return bound;
}

const mayEqual = (one: number, other: number): boolean =>
  one >= someLiteral && other >= someLiteral && (one === someLiteral || other === someLiteral);
