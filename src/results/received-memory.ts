import type { Readable } from "node:stream";
import { isMarkedAsUntransferable } from "node:worker_threads";

/** Less is not worth the call. */
const leastBytes = 16_384;

/** A body whose chunks lie where a connection was read; nobody looks at them again once they are written on. */
export const isReceived = (body: Readable): boolean => "received" in body && body.received === true;

/**
 * Gives memory of received bytes back at once; every view of it is empty afterwards. Each read of a connection has up
 * to 64 KiB of its own, which otherwise wait for the garbage collector: large answers walk through as many megabytes as
 * the young generation lets pile up, none of which any cache holds. Memory that others share (Node's pool) stays.
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
