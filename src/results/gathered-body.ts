import { Readable } from "node:stream";

/**
 * The bytes of an answer that has arrived whole, in the pieces in which it came: they can be written on without
 * a copy, and read as a stream.
 */
export class GatheredBody extends Readable {
  readonly pieces: readonly Buffer[];
  /** They lie in the memory that the connection was read into, and are not needed once they are written on. */
  readonly received: boolean;

  constructor(pieces: readonly Buffer[], received = false) {
    super();
    this.pieces = pieces;
    this.received = received;
  }

  override _read(): void {
    for (const piece of this.pieces) this.push(piece);
    this.push(null);
  }
}

/** The body is there as a whole; any other one still has to come. */
export const isWhole = (body: Buffer | Readable): body is Buffer | GatheredBody =>
  Buffer.isBuffer(body) || body instanceof GatheredBody;

/** The body's bytes, however it came. */
export function bytesOf(body: Buffer | Readable): AsyncIterable<Uint8Array> {
  return isWhole(body) ? each(piecesOf(body)) : body;
}

async function* each<T>(items: Iterable<T>): AsyncIterable<T> {
  yield* items;
}

export const piecesOf = (body: Buffer | GatheredBody): readonly Buffer[] =>
  Buffer.isBuffer(body) ? [body] : body.pieces;

/** A body of these pieces; where they are `received`, it says so. */
export function gathered(pieces: readonly Buffer[], received = false): Buffer | GatheredBody {
  const [first = Buffer.alloc(0)] = pieces;
  return pieces.length <= 1 && !received ? first : new GatheredBody(pieces, received);
}
