import type * as RDF from "@rdfjs/types";
import { FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import type { ExecutionBounds } from "../federation-engine.ts";
import { BufferedIterator } from "asynciterator";
import { type HeldBytes, rowBytes } from "../held-bytes.ts";
import { ActionContextKey } from "@comunica/core";
import type { BindingsStream, IActionContext } from "@comunica/types";
import type { ClauseSource } from "./clause-source.ts";
import type { PatternLeaves } from "./pattern-leaves.ts";

/** A stream as Comunica gives it; the parts of asynciterator and of Node streams that are used. */
interface ResultStream<T> extends AsyncIterable<T> {
  on(event: "error", listener: (error: Error) => void): unknown;
  destroy?(error?: Error): void;
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
    return mapped(source, map);
  }

  async function* mapped<T, U>(source: ResultStream<T>, map: (item: T) => U): AsyncIterable<U> {
    const items = source[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await race(items.next());
        if (next.done) return;
        yield map(next.value);
      }
    } catch (error) {
      throw toFedwayError(error);
    } finally {
      end();
      source.destroy?.();
    }
  }

  return { bounds: { ...outer, signal }, control: { fail, signal, count, held }, race, stream, end };
}

/** What a stream must know of the execution it belongs to. */
export interface RunControl {
  /** Ends the execution with an error. */
  readonly fail: (error: unknown) => void;
  /** Aborted when the execution is over. */
  readonly signal: AbortSignal;
  /** Counts a solution that was made; throws when there are too many. */
  readonly count: () => void;
  /** Memory account of the whole evaluation. */
  readonly held: HeldBytes;
}

// Solutions can be made of what is at hand for seconds on end; timers and other queries must have their turn.
const ITEMS_BETWEEN_TURNS = 256;
const MOST_BUFFERED = 64;
// A row beyond this waits alone: a query has many streams.
const LARGE_ROW_BYTES = 64 * 1024;

/**
 * An async iterable as an asynciterator: nothing runs before the first read, and leaving early ends the source. After a
 * failure, and when the execution is over, the stream stays silent: an operator above it must neither go on working nor
 * take the solutions it has seen for all of them.
 */
export class PulledStream<T> extends BufferedIterator<T> {
  readonly #open: () => AsyncIterable<T>;
  readonly #control: RunControl;
  #source: AsyncIterator<T> | undefined;
  #pulled = 0;

  constructor(open: () => AsyncIterable<T>, control: RunControl) {
    super({ autoStart: false, maxBufferSize: MOST_BUFFERED });
    this.#open = open;
    this.#control = control;
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
    this.#source ??= this.#open()[Symbol.asyncIterator]();
    for (let pulled = 0; pulled < count && !this.#control.signal.aborted; pulled++) {
      const next = await this.#source.next();
      if (next.done) return this.close();
      this.#control.count();
      this._push(next.value);
      this.#pulled++;
      this.maxBufferSize = isLarge(next.value) ? 1 : MOST_BUFFERED;
      if (this.maxBufferSize === 1) return;
      if (this.#pulled % ITEMS_BETWEEN_TURNS === 0) await new Promise(setImmediate);
    }
  }

  protected override _destroy(_cause: Error | undefined, callback: (error?: Error) => void): void {
    void this.#source?.return?.().catch(() => {});
    callback();
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

/** The running execution, for its streams. */
export const controlKey = new ActionContextKey<RunControl>("fedway:control");

/** Solutions that an operator passes on, in another order or once, as a stream of the running execution. */
export function passedOn(context: IActionContext, open: () => AsyncIterable<RDF.Bindings>): BindingsStream {
  return new PulledStream(open, withoutCount(context)) as unknown as BindingsStream;
}

/** The running execution, for items that were counted before. */
export function withoutCount(context: IActionContext): RunControl {
  return { ...context.getSafe(controlKey), count: () => {} };
}

/** Solutions as a stream of the running execution, which they end with. */
export function streamOf(context: IActionContext, open: () => AsyncIterable<RDF.Bindings>): BindingsStream {
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
