import type { ServerResponse } from "node:http";
import { finished, type Readable } from "node:stream";
import { isMarkedAsUntransferable } from "node:worker_threads";
import type { FastifyReply } from "fastify";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { type GatheredBody, isWhole, piecesOf } from "../results/gathered-body.ts";
import {
  chooseCoding,
  compressStream,
  compressWhole,
  type ContentCoding,
  smallestCompressedBytes,
} from "./compression.ts";

/** A body on its way to the client. */
interface OutgoingAnswer {
  /** Flat list of names and values, without Content-Length and Content-Encoding. */
  readonly headers: readonly string[];
  /** Coding that the body already has; "identity" when plain. */
  readonly contentEncoding: string;
  readonly body: Buffer | Readable;
  /** Of a stream whose client takes trailers: those that follow it. */
  readonly trailers?: Trailers;
}

type Trailers = Promise<Readonly<Record<string, string>>> | undefined;

interface Headed {
  readonly headers: readonly string[];
  readonly body: Readable;
  readonly trailers: Trailers;
}

/** Called when an answer fails before its first byte; a problem document can still be sent. */
type OnEarlyFailure = (error: unknown) => void;

/**
 * Ends a response so that no client can take it for complete: without the last chunk, and by a reset for clients of
 * HTTP/1.0, to whom an orderly close means the end of the body.
 */
function cutOff(response: ServerResponse): void {
  if (response.req.httpVersion === "1.0") response.socket?.resetAndDestroy();
  response.destroy();
}

/** Larger bodies are not worth the copy. */
const onePieceBytes = 16_384;

const lengthOf = (pieces: readonly Buffer[]): number => pieces.reduce((sum, { length }) => sum + length, 0);

function writeWhole(response: ServerResponse, headers: readonly string[], pieces: readonly Buffer[]): void {
  const length = lengthOf(pieces);
  response.writeHead(200, [...headers, "Content-Length", String(length)]);
  if (response.req.method === "HEAD") response.end();
  // As text the body leaves together with the head in one piece; Latin-1 keeps every byte.
  else if (length <= onePieceBytes) response.end(pieces.map((piece) => piece.toString("latin1")).join(""), "latin1");
  else {
    // Corked until the end: head and pieces are handed to the system in one call.
    response.cork();
    for (const piece of pieces) response.write(piece);
    response.end();
  }
}

/** Once all is with the system, also what was compressed meanwhile. */
function giveBackSent(response: ServerResponse, pieces: readonly Buffer[]): void {
  response.once("finish", () => {
    for (const { buffer } of pieces) giveBack(buffer);
  });
}

/** Handles a body that breaks: a problem document as long as nothing went out, else a visible cut. */
const failing =
  (reply: FastifyReply, onEarly: OnEarlyFailure) =>
  (error: unknown): void => {
    const { state } = reply.request;
    if (reply.raw.destroyed) return;
    if (!reply.raw.headersSent) {
      onEarly(error);
      return;
    }
    state.cutOff = true;
    state.code = toFedwayError(error).code;
    cutOff(reply.raw);
  };

/** Pumps a stream into the response; headers leave together with the first bytes. */
function writeStream(
  response: ServerResponse,
  { headers, body, trailers }: Headed,
  fail: (error: unknown) => void,
): void {
  const memory = isReceived(body) ? new ChunkMemory() : undefined;
  const start = (): void => {
    if (response.headersSent) return;
    response.writeHead(200, trailers ? [...headers, "Trailer", "Fedway-Status, Fedway-Partial"] : [...headers]);
  };
  body.on("data", (chunk: Buffer) => {
    start();
    if (!response.write(chunk, memory?.writing(chunk))) body.pause();
  });
  response.on("drain", () => body.resume());
  // Also reports earlier events of the body: one that has failed already emits nothing any more.
  finished(body, { writable: false }, (error) => {
    if (error) return fail(error);
    start();
    void endWith(response, trailers);
  });
  if (response.destroyed) body.destroy();
  else response.once("close", () => body.destroy());
}

async function endWith(response: ServerResponse, trailers: Trailers): Promise<void> {
  if (trailers) response.addTrailers({ ...(await trailers) });
  response.end();
}

/** Sends a body that is there, compressed where it may be and that saves anything; undefined when that is done at once. */
function sendWhole(
  { raw: response, request }: FastifyReply,
  { headers, body }: { readonly headers: readonly string[]; readonly body: Buffer | GatheredBody },
  mayCompress: boolean,
): Promise<void> | undefined {
  const pieces = piecesOf(body);
  if (!Buffer.isBuffer(body) && body.received) giveBackSent(response, pieces);
  if (mayCompress && lengthOf(pieces) > smallestCompressedBytes) {
    const coding = chooseCoding(request.headers["accept-encoding"]);
    if (coding !== undefined) return sendCompressed(response, { headers, pieces }, coding);
  }
  writeWhole(response, headers, pieces);
  return undefined;
}

async function sendCompressed(
  response: ServerResponse,
  { headers, pieces }: { readonly headers: readonly string[]; readonly pieces: readonly Buffer[] },
  coding: ContentCoding,
): Promise<void> {
  const compressed = await compressWhole(Buffer.concat(pieces), coding);
  writeWhole(response, encodedAs(coding, headers), [compressed]);
}

const encodedAs = (coding: string, headers: readonly string[]): readonly string[] => [
  ...headers,
  "Content-Encoding",
  coding,
];

/**
 * Sends a successful answer past the web framework: one write for a whole body, a pump with back-pressure for a
 * stream. Compresses what is not yet encoded when the client asks for it.
 * @returns undefined when there is nothing left to wait for
 */
export function sendAnswer(
  reply: FastifyReply,
  answer: OutgoingAnswer,
  onEarly: OnEarlyFailure,
): Promise<void> | undefined {
  const { body, contentEncoding, trailers } = answer;
  const plain = contentEncoding === "identity";
  const headers = plain ? answer.headers : encodedAs(contentEncoding, answer.headers);
  reply.hijack();
  if (isWhole(body)) return sendWhole(reply, { headers, body }, plain);
  const coding = plain ? chooseCoding(reply.request.headers["accept-encoding"]) : undefined;
  if (reply.request.method === "HEAD" && !body.errored) {
    body.once("error", () => {});
    body.destroy(new FedwayError("CANCELLED", "A request with HEAD takes no body."));
    reply.raw.writeHead(200, coding ? [...encodedAs(coding, headers)] : [...headers]).end();
  } else if (coding) {
    const sent = { headers: encodedAs(coding, headers), body: compressStream(body, coding), trailers };
    writeStream(reply.raw, sent, failing(reply, onEarly));
  } else {
    writeStream(reply.raw, { headers, body, trailers }, failing(reply, onEarly));
  }
  return undefined;
}

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
