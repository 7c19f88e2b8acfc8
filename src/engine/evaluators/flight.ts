import { Readable } from "node:stream";
import { longestTimerMs } from "../../clock.ts";
import { FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import type { AnswerEnd, SparqlAnswer, SparqlClient, SparqlRequest } from "../../outbound/sparql-request.ts";
import { isWhole, piecesOf } from "../../results/gathered-body.ts";

/** An answer that has arrived whole, for everybody who asks. */
export interface KeptAnswer
  extends Pick<SparqlAnswer, "status" | "mediaType" | "contentEncoding" | "freshMs" | "mirror"> {
  readonly body: Buffer;
  readonly end: AnswerEnd;
}

/** Answers larger than this have one reader, and are not kept. */
export const LARGEST_SHARED_BYTES = 256 * 1024;
/** A body that takes longer is not waited for by anybody but its first reader. */
const PATIENCE_MS = 1_000;
/** How much longer than its first reader's the deadline of a request is, as a share of the time: others may join so long. */
const STRETCH = 0.25;
/** Bytes that all flights together may have gathered for who joins. */
const MOST_GATHERED_BYTES = 64 * 1024 * 1024;
let gatheredBytes = 0;

/** Options of a flight. */
interface FlightOptions {
  readonly client: SparqlClient;
  readonly now: () => number;
  /** The request is over or can be joined no more. */
  readonly onClosed: () => void;
  /** The answer has arrived whole and is small. */
  readonly onWhole: (answer: KeptAnswer) => void;
}

/**
 * One request under way for several readers. The first one gets the answer as it comes, up to 256 KiB without waiting for
 * anybody to read; the others wait for the whole of it. Each has a signal and a deadline of its own; the request is
 * cancelled when the last one has left.
 */
export class Flight {
  readonly #options: FlightOptions;
  readonly #deadlineMs: number;
  readonly #controller = new AbortController();
  /** The whole answer; undefined once it is too large or too slow to be waited for. */
  readonly #whole = Promise.withResolvers<KeptAnswer | undefined>();
  #readers = 0;
  #isOpen = true;
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(options: FlightOptions, deadlineMs: number) {
    this.#options = options;
    const nowMs = options.now();
    this.#deadlineMs = deadlineMs + Math.max(0, deadlineMs - nowMs) * STRETCH;
    // Without other waiters the rejection is not handled elsewhere.
    this.#whole.promise.catch(() => {});
  }

  /** The answer may still be waited for until this moment. */
  isOpenUntil(deadlineMs: number): boolean {
    return this.#isOpen && deadlineMs <= this.#deadlineMs;
  }

  /** Sends the request, for its first reader. @throws FedwayError as `SparqlClient.query` */
  async begin(request: SparqlRequest): Promise<SparqlAnswer> {
    const { client } = this.#options;
    const sent = client.query({ ...request, signal: this.#controller.signal, deadlineMs: this.#deadlineMs });
    const answered = sent.then((answer) => this.#take(answer));
    answered.catch((error: unknown) => this.#fail(error));
    const leave = this.#enter();
    try {
      const { answer, body } = await ownTime(request, this.#options.now, answered);
      if (body === undefined) {
        leave();
        return answer;
      }
      followSignal(request, body);
      body.once("close", () => leave(body.errored));
      return { ...answer, body };
    } catch (error) {
      leave(error);
      // Whoever has left does not read it either.
      answered.then(({ body }) => body?.destroy()).catch(() => {});
      throw error;
    }
  }

  /** The answer for one more reader; undefined when it cannot be shared after all. @throws FedwayError as `begin` */
  async join(request: SparqlRequest): Promise<KeptAnswer | undefined> {
    const leave = this.#enter();
    try {
      const answer = await ownTime(request, this.#options.now, this.#whole.promise);
      leave();
      return answer;
    } catch (error) {
      leave(error);
      throw error;
    }
  }

  /** One more reader; the returned function is called when it leaves, with the error that made it leave. */
  #enter(): (error?: unknown) => void {
    this.#readers++;
    let isIn = true;
    return (error) => {
      if (!isIn) return;
      isIn = false;
      this.#readers--;
      if (this.#readers > 0) return;
      this.#close();
      this.#controller.abort(asDeparture(error));
    };
  }

  #take(answer: SparqlAnswer): { readonly answer: SparqlAnswer; readonly body?: FirstBody } {
    if (answer.whole !== undefined && isWhole(answer.body)) {
      for (const piece of piecesOf(answer.body)) this.#gather(piece);
      this.#end(answer, answer.whole);
      return { answer };
    }
    const { body: stream } = answer;
    if (Buffer.isBuffer(stream)) return { answer };
    const patience = setTimeout(() => this.#giveUp(), PATIENCE_MS);
    const body = new FirstBody(stream);
    // A first reader that has left stops nothing while others wait for the gathered body.
    const isWanted = (): boolean => !body.destroyed || this.#isOpen;
    stream.on("data", (piece: Buffer) => {
      this.#gather(piece);
      if (!isWanted()) stream.destroy();
      else if (!body.destroyed && !body.push(piece) && !this.#isOpen) stream.pause();
    });
    const fail = (error: unknown): void => {
      clearTimeout(patience);
      this.#fail(error);
      body.destroy(toFedwayError(error));
    };
    answer.end.catch(fail);
    stream.on("error", fail);
    // The end is known before the last piece has been read.
    stream.once("end", () => {
      clearTimeout(patience);
      answer.end.then((end) => this.#end(answer, end)).catch(fail);
      if (!body.destroyed) body.push(null);
    });
    return { answer, body };
  }

  #gather(piece: Buffer): void {
    if (!this.#isOpen) return;
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    gatheredBytes += piece.length;
    if (this.#bytes > LARGEST_SHARED_BYTES || gatheredBytes > MOST_GATHERED_BYTES) this.#giveUp();
  }

  #end({ status, mediaType, contentEncoding, freshMs, mirror }: SparqlAnswer, end: AnswerEnd): void {
    if (!this.#isOpen) return;
    const kept = { status, mediaType, contentEncoding, freshMs, mirror, body: joined(this.#pieces), end };
    this.#options.onWhole(kept);
    this.#whole.resolve(kept);
    this.#close();
  }

  #fail(error: unknown): void {
    this.#whole.reject(error);
    this.#close();
  }

  /** Only the first reader has the rest of it. */
  #giveUp(): void {
    this.#whole.resolve(undefined);
    this.#close();
  }

  #close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    gatheredBytes -= this.#bytes;
    this.#pieces = [];
    this.#options.onClosed();
  }
}

/** Why the last reader left, as it concerns the endpoint: it let the time pass, or it has no part in it. */
const asDeparture = (error: unknown): FedwayError =>
  error instanceof FedwayError && error.code === "DEADLINE_EXCEEDED"
    ? error
    : new FedwayError("CANCELLED", "The answer is not needed any more.");

/** A copy in memory of its own: a piece may be a small part of a chunk of 64 KiB, which it keeps. */
function joined(pieces: readonly Buffer[]): Buffer {
  const whole = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) at += piece.copy(whole, at);
  return whole;
}

/** The body of the first reader. A class: a generator that is left before its first piece runs none of its code. */
class FirstBody extends Readable {
  readonly #source: Readable;

  constructor(source: Readable) {
    super();
    this.#source = source;
    // It may fail before it is read; readers still receive its failure.
    this.on("error", () => {});
  }

  override _read(): void {
    if (this.#source.isPaused()) this.#source.resume();
  }
}

function followSignal({ signal }: SparqlRequest, body: Readable): void {
  const abort = (): void => void body.destroy(toFedwayError(signal.reason));
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  body.once("close", () => signal.removeEventListener("abort", abort));
}

/** The work, or the end of the reader's own time, whichever comes first. */
async function ownTime<T>({ signal, deadlineMs }: SparqlRequest, now: () => number, work: Promise<T>): Promise<T> {
  const over = Promise.withResolvers<never>();
  const abort = (): void => over.reject(toFedwayError(signal.reason));
  const leftMs = Math.min(longestTimerMs, Math.max(0, deadlineMs - now()));
  const timer = setTimeout(() => over.reject(tooLate()), leftMs);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, over.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

const tooLate = (): FedwayError =>
  new FedwayError("DEADLINE_EXCEEDED", "The endpoint did not finish its answer before the query's deadline.", {
    fault: "timeout",
  });
