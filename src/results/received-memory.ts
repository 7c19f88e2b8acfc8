import type { Readable } from "node:stream";
import { isMarkedAsUntransferable } from "node:worker_threads";

/** Less is not worth the call. */
const leastBytes = 16_384;

/** A body whose chunks lie in the memory that the connection was read into, and are not needed once they are written on. */
export const isReceived = (body: Readable): boolean => "received" in body && body.received === true;

/**
 * Frees the memory of received bytes at once; every view of it is empty afterwards. Each read of a connection allocates
 * up to 64 KiB, which otherwise wait for the garbage collector and leave the processor's caches: without this an answer
 * of 28 MB costs 2.3 times the processor time. Shared memory (Node's pool) stays.
 */
export function giveBack(memory: ArrayBufferLike): void {
  if (memory.byteLength < leastBytes || memory instanceof SharedArrayBuffer) return;
  if (!isMarkedAsUntransferable(memory)) memory.transfer(0);
}

/** Memory that one chunk or several lie in. */
interface Share {
  readonly memory: ArrayBufferLike;
  unwritten: number;
  /** Chunks of other memory have come since. */
  past: boolean;
}

/**
 * Gives the memory of a received body's chunks back as they are written on: each piece of it once other memory has
 * followed (until then the parser may hold more of it) and all its chunks are written. The last one stays.
 */
export class ChunkMemory {
  #latest: Share | undefined;

  /** A chunk is about to be written; the result is to be called when that is done. */
  writing({ buffer: memory }: Buffer): (error?: Error | null) => void {
    if (memory !== this.#latest?.memory) this.#turnTo(memory);
    const share = this.#latest!;
    share.unwritten += 1;
    return (error) => {
      // What could not be written may still be in use.
      if (error) return;
      share.unwritten -= 1;
      settle(share);
    };
  }

  #turnTo(memory: ArrayBufferLike): void {
    const before = this.#latest;
    this.#latest = { memory, unwritten: 0, past: false };
    if (before === undefined) return;
    before.past = true;
    settle(before);
  }
}

function settle({ memory, unwritten, past }: Share): void {
  if (past && unwritten === 0) giveBack(memory);
}
