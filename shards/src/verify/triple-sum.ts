import { randomBytes } from "node:crypto";
import type { Statement } from "../load/statement.ts";

/** The key of the sums of one verification: who does not know it cannot make different triples have equal sums. */
export const newSumKey = (): readonly [number, number] => {
  const bytes = randomBytes(8);
  return [bytes.readInt32LE(0), bytes.readInt32LE(4)];
};

/**
 * The sum of the keyed 64-bit digests of statements: equal for the same statements in any order, each as often, and by chance
 * with a probability of 2^-64 for others. The digest is that of HalfSipHash-1-3, but for both halves of its last state: keyed,
 * and several times as quick in JavaScript as a call of sha256 for each line.
 */
export class TripleSum {
  count = 0;
  readonly #key: readonly [number, number];
  #low = 0;
  #high = 0;

  constructor(key: readonly [number, number]) {
    this.#key = key;
  }

  equals(other: TripleSum): boolean {
    return this.count === other.count && this.#low === other.#low && this.#high === other.#high;
  }

  /** The sum of nothing, with the same key. */
  ofNothing(): TripleSum {
    return new TripleSum(this.#key);
  }

  /** Adds what another sum with this key has added. */
  join(other: TripleSum): void {
    this.count += other.count;
    this.#low = (this.#low + other.#low) | 0;
    this.#high = (this.#high + other.#high) | 0;
  }

  add({ bytes, start, end }: Statement): void {
    let v0 = this.#key[0];
    let v1 = this.#key[1] ^ 0xee;
    let v2 = this.#key[0] ^ 0x6c796765;
    let v3 = this.#key[1] ^ 0x74656462;
    const length = end - start;
    const whole = end - (length & 3);
    // Behind the words of the line one with the rest of its bytes and its length, then three rounds without one.
    for (let at = start, left = 4; left > 0; at += 4) {
      let word = 0;
      if (at < whole) word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
      else {
        if (left === 4) word = lastWord(bytes, at, end) | (length << 24);
        else if (left === 3) v2 ^= 0xee;
        left -= 1;
      }
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
    }
    this.#low = (this.#low + (v1 ^ v3)) | 0;
    this.#high = (this.#high + (v0 ^ v2)) | 0;
    this.count += 1;
  }
}

function lastWord(bytes: Buffer, from: number, end: number): number {
  let word = 0;
  for (let at = end - 1; at >= from; at -= 1) word = (word << 8) | bytes[at]!;
  return word;
}

/** Checks that lines come in strictly ascending order of their bytes, so that none is there twice. */
export class LineOrder {
  isAscending = true;
  #last = Buffer.alloc(1024);
  #length = 0;

  next({ bytes, start, end }: Statement): void {
    const length = end - start;
    if (this.#length > 0 && bytes.compare(this.#last, 0, this.#length, start, end) <= 0) this.isAscending = false;
    if (length > this.#last.length) this.#last = Buffer.alloc(length * 2);
    bytes.copy(this.#last, 0, start, end);
    this.#length = length;
  }
}
