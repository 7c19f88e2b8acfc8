import type * as RDF from "@rdfjs/types";
import { FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import type { ExecutionBounds } from "../federation-engine.ts";
import { createItemStream } from "../../results/item-reader.ts";
import { BufferedIterator } from "asynciterator";
import { type HeldBytes, rowBytes } from "../held-bytes.ts";
import { ActionContextKey } from "@comunica/core";
import type { BindingsStream, IActionContext } from "@comunica/types";
import type { ClauseSource } from "./clause-source.ts";
import type { PatternLeaves } from "./pattern-leaves.ts";

/** A stream as Comunica gives it; the parts of asynciterator that are used. */
interface ResultStream<T> extends AsyncIterable<T> {
  read(): T | null;
  on(event: "error", listener: (error: Error) => void): unknown;
  destroy(error?: Error): void;
}

/** One run of the engine: a single end for everything, whoever causes it. */
export interface Execution {
  /** The bounds for requests: aborted as soon as the execution is over. */
  readonly bounds: ExecutionBounds;
  /** For the streams that Comunica reads. */
  readonly control: RunControl;
  /** The promise, or the failure of the execution if that comes first. */
  race<T>(promise: Promise<T>): Promise<T>;
  /** The stream's items; ends the execution with the last one, with a failure, and when it is left early. */
  stream<T, U>(source: ResultStream<T>, map: (item: T) => U): AsyncIterable<U>;
  /** Cancels what is still under way. */
  end(): void;
}

type Counts = Pick<RunControl, "count" | "held">;

/**
 * Comunica's iterators do not hand every failure on, and destroying its result does not stop its sources. So failures
 * are taken where they happen, in the clause executor, and one signal stops every request.
 */
export function createExecution(outer: ExecutionBounds, { count, held }: Counts): Execution {
  const over = new AbortController();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  const signal = AbortSignal.any([outer.signal, over.signal]);
  const end = () => over.abort(new FedwayError("CANCELLED", "The execution is over."));
  const fail = (error: unknown) => failed.reject(toFedwayError(error));
  // The failure stands first: of two settled promises it wins, so that nothing is delivered after it.
  const race = <T>(promise: Promise<T>): Promise<T> => Promise.race([failed.promise, promise]);

  if (outer.signal.aborted) fail(outer.signal.reason);
  outer.signal.addEventListener("abort", () => fail(outer.signal.reason), { once: true, signal: over.signal });

  function stream<T, U>(source: ResultStream<T>, map: (item: T) => U): AsyncIterable<U> {
    // Now, not with the first item: an iterator that has failed before it is read only looks as if it had ended.
    source.on("error", fail);
    const batches = batchesOf(source)[Symbol.asyncIterator]();
    return createItemStream({
      async next() {
        try {
          const next = await race(batches.next());
          return next.done === true ? undefined : next.value.map(map);
        } catch (error) {
          throw toFedwayError(error);
        }
      },
      async release() {
        end();
        source.destroy();
      },
    });
  }

  const control = { fail, signal, count, held, traced: outer.provenance === true };
  return { bounds: { ...outer, signal }, control, race, stream, end };
}

/** What a stream must know of the execution it belongs to. */
export interface RunControl {
  /** Ends the execution with an error. */
  readonly fail: (error: unknown) => void;
  /** Rows say which endpoints they came from (`../provenance.ts`). */
  readonly traced: boolean;
  /** Aborted when the execution is over. */
  readonly signal: AbortSignal;
  /** Counts solutions that were made; throws when there are too many. */
  readonly count: (solutions?: number) => void;
  /** Memory account of the whole evaluation. */
  readonly held: HeldBytes;
}

// Solutions can be made of what is at hand for seconds on end; timers and other queries must have their turn.
const ITEMS_BETWEEN_TURNS = 256;
const MOST_BUFFERED = 64;
// A row beyond this waits alone: a query has many streams.
const LARGE_ROW_BYTES = 64 * 1024;

/**
 * Batches of items as an asynciterator: nothing runs before the first read, and leaving early ends the source. Our own
 * operators read the batches as they are (`batchesOf`). To those of Comunica the stream stays silent after a failure, and
 * when the execution is over: they must neither go on working nor take the solutions they have seen for all of them.
 */
export class PulledStream<T> extends BufferedIterator<T> {
  readonly #open: () => AsyncIterable<readonly T[]>;
  readonly #control: RunControl;
  #source: AsyncIterator<readonly T[]> | undefined;

  constructor(open: () => AsyncIterable<readonly T[]>, control: RunControl) {
    super({ autoStart: false, maxBufferSize: MOST_BUFFERED });
    this.#open = open;
    this.#control = control;
  }

  /** For a reader that reads nothing else of the stream. */
  batches(): AsyncIterable<readonly T[]> {
    const next = (): Promise<IteratorResult<readonly T[]>> => this.#batches().next();
    const leave = async (): Promise<IteratorResult<readonly T[]>> => {
      this.destroy();
      return { done: true, value: undefined };
    };
    return { [Symbol.asyncIterator]: () => ({ next, return: leave }) };
  }

  #batches(): AsyncIterator<readonly T[]> {
    this.#source ??= followed(this.#open, this.#control)[Symbol.asyncIterator]();
    return this.#source;
  }

  override _read(count: number, done: () => void): void {
    void this.#pullOrFail(count, done);
  }

  async #pullOrFail(count: number, done: () => void): Promise<void> {
    try {
      await this.#pull(count);
    } catch (error) {
      this.#control.fail(error);
      return;
    }
    if (!this.#control.signal.aborted) done();
  }

  async #pull(count: number): Promise<void> {
    for (let pulled = 0; pulled < count && !this.#control.signal.aborted; ) {
      const next = await this.#batches().next();
      if (this.done) return;
      if (next.done) return this.close();
      for (const item of next.value) this._push(item);
      pulled += next.value.length;
      this.maxBufferSize = next.value.some((item) => isLarge(item)) ? 1 : MOST_BUFFERED;
      if (this.maxBufferSize === 1) return;
    }
  }

  protected override _destroy(_cause: Error | undefined, callback: (error?: Error) => void): void {
    void this.#source?.return?.().catch(() => {});
    callback();
  }
}

/** The batches; they are counted, and others have their turn between them. */
async function* followed<T>(
  open: () => AsyncIterable<readonly T[]>,
  { count, signal }: RunControl,
): AsyncIterable<readonly T[]> {
  let sinceTurn = 0;
  for await (const batch of open()) {
    count(batch.length);
    sinceTurn += batch.length;
    yield batch;
    if (sinceTurn < ITEMS_BETWEEN_TURNS) continue;
    sinceTurn = 0;
    await new Promise(setImmediate);
    signal.throwIfAborted();
  }
}

/** A stream's items in batches: those of our own operators as they are, of Comunica's what is at hand. */
export function batchesOf<T>(stream: ResultStream<T>): AsyncIterable<readonly T[]> {
  return stream instanceof PulledStream
    ? (stream as PulledStream<T>).batches()
    : atHand(stream, stream[Symbol.asyncIterator]());
}

async function* atHand<T>(stream: ResultStream<T>, items: AsyncIterator<T>): AsyncIterable<readonly T[]> {
  try {
    for (let first = await items.next(); first.done !== true; first = await items.next()) {
      const batch = [first.value];
      for (let item = stream.read(); item !== null; item = batch.length < MOST_BUFFERED ? stream.read() : null) {
        batch.push(item);
      }
      yield batch;
    }
  } finally {
    stream.destroy();
  }
}

function isLarge(item: unknown): boolean {
  const row = item as { readonly forEach?: unknown };
  return typeof row.forEach === "function" && rowBytes(item as RDF.Bindings) > LARGE_ROW_BYTES;
}

/** The sources of the running execution, by clause IRI. */
export const clauseSourcesKey = new ActionContextKey<ReadonlyMap<string, ClauseSource>>("fedway:clauseSources");

/** Makes the leaves of patterns outside the clauses; absent when those have no data. */
export const patternLeavesKey = new ActionContextKey<PatternLeaves>("fedway:patternLeaves");

/** So many solutions of the query are enough, in whatever order they come. */
export const wantedKey = new ActionContextKey<number>("fedway:wanted");

/** The running execution, for its streams. */
export const controlKey = new ActionContextKey<RunControl>("fedway:control");

/** Solutions that an operator passes on, in another order or once, as a stream of the running execution. */
export function passedOn(context: IActionContext, open: () => AsyncIterable<readonly RDF.Bindings[]>): BindingsStream {
  return new PulledStream(open, withoutCount(context)) as unknown as BindingsStream;
}

/** The running execution, for items that were counted before. */
export function withoutCount(context: IActionContext): RunControl {
  return { ...context.getSafe(controlKey), count: () => {} };
}

/** Solutions as a stream of the running execution, which they end with. */
export function streamOf(context: IActionContext, open: () => AsyncIterable<readonly RDF.Bindings[]>): BindingsStream {
  return new PulledStream(open, context.getSafe(controlKey)) as unknown as BindingsStream;
}

/** Undefined while the work may go on; a promise when others must have their turn first. */
export type Turns = () => Promise<void> | undefined;

const CALLS_BETWEEN_LOOKS = 256;
const LONGEST_TURN_MS = 10;

/**
 * For loops that work for seconds on what is at hand: called once a step, it gives timers and other queries their turn
 * every few milliseconds. @param signal ends the loop when the execution is over
 */
export function createTurns(signal: AbortSignal): Turns {
  let calls = 0;
  let since = performance.now();
  return () => {
    calls++;
    if (calls % CALLS_BETWEEN_LOOKS > 0 || performance.now() - since < LONGEST_TURN_MS) return undefined;
    return new Promise((resolve, reject) => {
      setImmediate(() => {
        since = performance.now();
        if (signal.aborted) reject(signal.reason as Error);
        else resolve();
      });
    });
  };
}
