import type { Statement } from "./statement.ts";

const pageBytes = 4 * 1024 * 1024;

/** Zeros that threads can share. */
const numbers = (length: number): Uint32Array => new Uint32Array(new SharedArrayBuffer(length * 4));

/**
 * Numbers byte strings in the order in which they come: the same bytes, the same number. Holds each once, with about 25
 * bytes beside it.
 */
export class ByteTable {
  size = 0;
  readonly #seed: number;
  readonly #pages: Buffer[] = [];
  /** Free bytes begin here, in the last page. */
  #used = pageBytes;
  /** For each number: its page, its place there, its length, its hash. */
  #page = numbers(1024);
  #start = numbers(1024);
  #length = numbers(1024);
  #hash = numbers(1024);
  /** Open addressing; numbers are one higher, 0 is free. */
  #slots = numbers(4096);
  /** Slot and hash of the bytes that were looked for last. */
  #keySlot = 0;
  #keyHash = 0;

  constructor(seed = Math.floor(Math.random() * 0x1_0000_0000)) {
    this.#seed = seed;
  }

  /** The table that another thread has shared; both may only look for bytes in it from then on. */
  static of({ seed, size, pages, page, start, length, hash, slots }: ReturnType<ByteTable["share"]>): ByteTable {
    const table = new ByteTable(seed);
    table.size = size;
    table.#pages.push(
      ...pages.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)),
    );
    table.#page = page;
    table.#start = start;
    table.#length = length;
    table.#hash = hash;
    table.#slots = slots;
    return table;
  }

  /** The table as another thread can have it: the memory is shared, not copied. */
  share() {
    return {
      seed: this.#seed,
      size: this.size,
      pages: this.#pages as readonly Uint8Array[],
      page: this.#page,
      start: this.#start,
      length: this.#length,
      hash: this.#hash,
      slots: this.#slots,
    };
  }

  /** The number of these bytes, which are added when they are new. */
  intern(bytes: Buffer, from: number, to: number): number {
    this.#seek(bytes, from, to);
    const found = this.#slots[this.#keySlot]!;
    if (found !== 0) return found - 1;
    const number = this.#store(bytes, from, to);
    this.#slots[this.#keySlot] = number + 1;
    if (this.size * 2 > this.#slots.length) this.#growSlots();
    return number;
  }

  /** The number of these bytes, or -1. */
  find(bytes: Buffer, from: number, to: number): number {
    this.#seek(bytes, from, to);
    return this.#slots[this.#keySlot]! - 1;
  }

  /** True if a number is that of a statement's subject. */
  isSubject(number: number, { bytes, start, subjectEnd }: Statement): boolean {
    return this.#length[number] === subjectEnd - start && this.#isAt(number, bytes, start);
  }

  /** True if the bytes of a number stand at this place. */
  #isAt(number: number, bytes: Buffer, from: number): boolean {
    const page = this.#pages[this.#page[number]!]!;
    const start = this.#start[number]!;
    // IRIs of one dataset differ at their ends.
    for (let at = this.#length[number]! - 1; at >= 0; at -= 1) if (page[start + at] !== bytes[from + at]) return false;
    return true;
  }

  bytesOf(number: number): Buffer {
    const start = this.#start[number]!;
    return this.#pages[this.#page[number]!]!.subarray(start, start + this.#length[number]!);
  }

  textOf(number: number): string {
    return this.bytesOf(number).toString("utf8");
  }

  /** Finds the slot of these bytes, or the free one where they would be. */
  #seek(bytes: Buffer, from: number, to: number): void {
    const hash = this.#hashed(bytes, from, to);
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const found = this.#slots[slot]! - 1;
      if (found < 0) break;
      if (this.#hash[found] === hash && this.#length[found] === to - from && this.#isAt(found, bytes, from)) break;
      slot = (slot + 1) & mask;
    }
    this.#keySlot = slot;
    this.#keyHash = hash;
  }

  #store(bytes: Buffer, from: number, to: number): number {
    const number = this.size;
    const length = to - from;
    if (number === this.#page.length) this.#growEntries();
    if (this.#used + length > pageBytes) {
      this.#pages.push(Buffer.from(new SharedArrayBuffer(Math.max(pageBytes, length))));
      this.#used = 0;
    }
    bytes.copy(this.#pages.at(-1)!, this.#used, from, to);
    this.#page[number] = this.#pages.length - 1;
    this.#start[number] = this.#used;
    this.#length[number] = length;
    this.#hash[number] = this.#keyHash;
    this.#used += length;
    this.size += 1;
    return number;
  }

  /** FNV-1a from a secret start, its bits mixed. */
  #hashed(bytes: Buffer, from: number, to: number): number {
    let hash = this.#seed;
    for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ bytes[at]!, 0x0100_0193);
    hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
    return (hash ^ (hash >>> 13)) >>> 0;
  }

  #growEntries(): void {
    this.#page = grown(this.#page);
    this.#start = grown(this.#start);
    this.#length = grown(this.#length);
    this.#hash = grown(this.#hash);
  }

  #growSlots(): void {
    const slots = numbers(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let number = 0; number < this.size; number += 1) {
      let slot = this.#hash[number]! & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = number + 1;
    }
    this.#slots = slots;
  }
}

/** A longer array that begins with the same numbers, and that threads can share. */
export function grown(array: Uint32Array): Uint32Array {
  const longer = numbers(array.length * 2);
  longer.set(array);
  return longer;
}
