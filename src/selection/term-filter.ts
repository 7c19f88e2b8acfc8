const bitsPerTerm = 10;
const probes = 7;

/** A Bloom filter over IRIs: about 1 in 100 that are not in it seems to be. */
export class TermFilter {
  readonly #bits: Uint8Array;

  private constructor(bits: Uint8Array) {
    this.#bits = bits;
  }

  static of(iris: ReadonlySet<string>): TermFilter {
    const filter = new TermFilter(new Uint8Array(Math.max(8, Math.ceil((iris.size * bitsPerTerm) / 8))));
    for (const iri of iris) {
      const hash = hashTerm(iri);
      for (let probe = 0; probe < probes; probe++) {
        const bit = filter.#place(hash, probe);
        filter.#bits[bit >> 3]! |= 1 << (bit & 7);
      }
    }
    return filter;
  }

  /** From `toText`. */
  static from(text: string): TermFilter {
    return new TermFilter(new Uint8Array(Buffer.from(text, "base64")));
  }

  /** False only for an IRI that is not in it. */
  mayHave(iri: string): boolean {
    return this.has(hashTerm(iri));
  }

  /** `mayHave` for an IRI that is looked for in several filters. */
  has(hash: TermHash): boolean {
    for (let probe = 0; probe < probes; probe++) {
      const bit = this.#place(hash, probe);
      if (((this.#bits[bit >> 3] ?? 0) & (1 << (bit & 7))) === 0) return false;
    }
    return true;
  }

  get bytes(): number {
    return this.#bits.length;
  }

  /** Base64. */
  toText(): string {
    return Buffer.from(this.#bits).toString("base64");
  }

  #place({ first, step }: TermHash, probe: number): number {
    return (first + probe * step) % (this.#bits.length * 8);
  }
}

/** Two hashes of an IRI, which give all of its places (Kirsch and Mitzenmacher, Less Hashing, Same Performance, 2006). */
interface TermHash {
  readonly first: number;
  readonly step: number;
}

export function hashTerm(iri: string): TermHash {
  let [one, other] = [0x811c9dc5, 0x9e3779b9];
  for (let at = 0; at < iri.length; at++) {
    const code = iri.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x85ebca6b) ^ (other >>> 13);
  }
  return { first: one >>> 0, step: (other | 1) >>> 0 };
}
