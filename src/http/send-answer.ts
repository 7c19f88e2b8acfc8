import type { ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { isWhole, piecesOf } from "../results/gathered-body.ts";
import { chooseCoding, compressStream, compressWhole, smallestCompressedBytes } from "./content-coding.ts";

/** A body on its way to the client. */
export interface OutgoingAnswer {
  /** Flat list of names and values, without Content-Length and Content-Encoding. */
  readonly headers: readonly string[];
  /** Coding that the body already has; "identity" when plain. */
  readonly contentEncoding: string;
  readonly body: Buffer | Readable;
}

interface Headed {
  readonly headers: readonly string[];
  readonly body: Readable;
}

/** Called when an answer fails before its first byte; a problem document can still be sent. */
export type OnEarlyFailure = (error: unknown) => void;

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

/** What happens when the body breaks: a problem document as long as nothing went out, else a visible cut. */
const failing =
  (reply: FastifyReply, onEarly: OnEarlyFailure) =>
  (error: unknown): void => {
    const { exchange } = reply.request;
    if (reply.raw.destroyed) return;
    if (!reply.raw.headersSent) {
      onEarly(error);
      return;
    }
    exchange.cutOff = true;
    exchange.code = toFedwayError(error).code;
    cutOff(reply.raw);
  };

/** Pumps a stream into the response; headers leave together with the first bytes. */
function writeStream(response: ServerResponse, { headers, body }: Headed, fail: (error: unknown) => void): void {
  const start = (): void => {
    if (!response.headersSent) response.writeHead(200, [...headers]);
  };
  body.on("data", (chunk: Buffer) => {
    start();
    if (!response.write(chunk)) body.pause();
  });
  response.on("drain", () => body.resume());
  body.once("end", () => {
    start();
    response.end();
  });
  body.once("error", fail);
  body.once("close", () => {
    if (!body.readableEnded && !body.errored) fail(new FedwayError("INTERNAL", "The answer ended early."));
  });
  response.once("close", () => body.destroy());
}

/**
 * Sends a successful answer past the web framework: one write for a whole body, a pump with back-pressure for a
 * stream. Compresses what is not yet encoded when the client asks for it.
 */
export async function sendAnswer(reply: FastifyReply, answer: OutgoingAnswer, onEarly: OnEarlyFailure): Promise<void> {
  const { body, contentEncoding } = answer;
  const plain = contentEncoding === "identity";
  const coding = plain ? chooseCoding(reply.request.headers["accept-encoding"]) : undefined;
  const encoded = coding ?? (plain ? undefined : contentEncoding);
  const headers = encoded ? [...answer.headers, "Content-Encoding", encoded] : answer.headers;
  reply.hijack();
  if (isWhole(body)) {
    const pieces = piecesOf(body);
    const small = lengthOf(pieces) <= smallestCompressedBytes;
    if (!coding || small) writeWhole(reply.raw, small && coding ? answer.headers : headers, pieces);
    else writeWhole(reply.raw, headers, [await compressWhole(Buffer.concat(pieces), coding)]);
  } else if (reply.request.method === "HEAD") {
    body.once("error", () => {});
    body.destroy();
    reply.raw.writeHead(200, [...headers]).end();
  } else {
    const sent = coding ? compressStream(body, coding) : body;
    writeStream(reply.raw, { headers, body: sent }, failing(reply, onEarly));
  }
}
