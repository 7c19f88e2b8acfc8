import { Readable } from "node:stream";
import { FedwayError } from "../errors/fedway-error.ts";

interface Held {
  readonly client: string;
  readonly bytes: number;
  readonly stream: Readable;
}

/**
 * Large answers in memory, from the store's reply until the client has taken them. Bounds what clients that read slowly, or
 * not at all, keep: while all answers together have more than `maxBytes`, the oldest one of the client that keeps most is
 * cut off.
 */
export class HeldAnswers {
  /** In order of arrival. */
  readonly #held: Held[] = [];
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** All of them together. */
  get bytes(): number {
    return this.#bytes;
  }

  /** An answer as a stream; it counts for the client until it is read or destroyed. */
  hold(client: string, answer: Buffer): Readable {
    const one = { client, bytes: answer.length, stream: sliced(answer) };
    this.#held.push(one);
    this.#bytes += one.bytes;
    one.stream.once("close", () => this.#release(one));
    while (this.#bytes > this.#maxBytes) this.#cutOff();
    return one.stream;
  }

  #cutOff(): void {
    const greediest = clientWithMost(this.#held);
    const oldest = this.#held.find(({ client }) => client === greediest);
    if (oldest === undefined) return;
    this.#release(oldest);
    oldest.stream.destroy(takenTooSlowly());
  }

  #release(one: Held): void {
    const index = this.#held.indexOf(one);
    if (index === -1) return;
    this.#held.splice(index, 1);
    this.#bytes -= one.bytes;
  }
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
