import { Readable } from "node:stream";
import { FedwayError } from "../errors/fedway-error.ts";

/** Large answers in memory, from the store's reply until the client has taken them. */
export interface HeldAnswers {
  /** All of them together. */
  readonly bytes: number;
  /** An answer as a stream; it counts for the client until it is read or destroyed. */
  hold(client: string, answer: Buffer): Readable;
}

interface Held {
  readonly client: string;
  readonly bytes: number;
  readonly stream: Readable;
}

/**
 * Bounds what clients that read slowly, or not at all, keep in memory: while all answers together have more than
 * `maxBytes`, the oldest one of the client that keeps most is cut off.
 */
export function createHeldAnswers(maxBytes: number): HeldAnswers {
  // In order of arrival.
  const held: Held[] = [];
  let bytes = 0;
  const release = (one: Held): void => {
    const index = held.indexOf(one);
    if (index === -1) return;
    held.splice(index, 1);
    bytes -= one.bytes;
  };
  const makeRoom = (): void => {
    const greediest = clientWithMost(held);
    const oldest = held.find(({ client }) => client === greediest);
    if (bytes <= maxBytes || oldest === undefined) return;
    release(oldest);
    oldest.stream.destroy(takenTooSlowly());
    makeRoom();
  };
  return {
    get bytes() {
      return bytes;
    },
    hold(client, answer) {
      const one = { client, bytes: answer.length, stream: sliced(answer) };
      held.push(one);
      bytes += one.bytes;
      one.stream.once("close", () => release(one));
      if (bytes > maxBytes) makeRoom();
      return one.stream;
    },
  };
}

function clientWithMost(held: readonly Held[]): string | undefined {
  const sums = new Map<string, number>();
  for (const { client, bytes } of held) sums.set(client, (sums.get(client) ?? 0) + bytes);
  return [...sums].toSorted(([, left], [, right]) => right - left)[0]?.[0];
}

const sliceBytes = 65_536;

function sliced(bytes: Buffer): Readable {
  let at = 0;
  const stream = new Readable({
    highWaterMark: sliceBytes,
    read() {
      const slice = bytes.subarray(at, at + sliceBytes);
      at += slice.length;
      this.push(slice.length > 0 ? slice : null);
    },
  });
  // It may be cut off before anybody listens; the failure stays visible on the stream.
  stream.on("error", () => {});
  return stream;
}

function takenTooSlowly(): FedwayError {
  return new FedwayError("SERVICE_BUSY", "Too many large answers of hosted endpoints are waiting to be read.", {
    next: "Read answers as they come, or ask for less with LIMIT.",
    retryAfterMs: 5_000,
  });
}
