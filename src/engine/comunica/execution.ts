import { FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import type { ExecutionBounds } from "../federation-engine.ts";
import type { RunControl } from "./pulled-stream.ts";

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
