import { FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import { createItemStream } from "../../results/item-reader.ts";
import type { ExecutionBounds } from "../execution-bounds.ts";

/** One run of the engine: a single end for everything, whoever causes it. */
export interface Run {
  /** The bounds for requests: aborted as soon as the run is over. */
  readonly bounds: ExecutionBounds;
  /** The promise, or the failure of the run if that comes first. */
  race<T>(promise: Promise<T>): Promise<T>;
  /** The items of batches; ends the run with the last one, with a failure, and when it is left early. */
  stream<T, U>(batches: AsyncIterable<readonly T[]>, map: (item: T) => U): AsyncIterable<U>;
  /** Cancels pending requests. */
  end(): void;
}

/** Starts a run: one signal stops every request, and the caller does not wait for those that do not heed it. */
export function createRun(outer: ExecutionBounds): Run {
  const over = new AbortController();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  const signal = AbortSignal.any([outer.signal, over.signal]);
  const end = () => over.abort(new FedwayError("CANCELLED", "The execution is over."));
  const fail = () => failed.reject(toFedwayError(outer.signal.reason));
  // The failure stands first: of two settled promises it wins, so that nothing is delivered after it.
  const race = <T>(promise: Promise<T>): Promise<T> => Promise.race([failed.promise, promise]);

  if (outer.signal.aborted) fail();
  outer.signal.addEventListener("abort", fail, { once: true, signal: over.signal });

  function stream<T, U>(batches: AsyncIterable<readonly T[]>, map: (item: T) => U): AsyncIterable<U> {
    const source = batches[Symbol.asyncIterator]();
    return createItemStream({
      async next() {
        try {
          const next = await race(source.next());
          return next.done === true ? undefined : next.value.map(map);
        } catch (error) {
          throw toFedwayError(error);
        }
      },
      async release() {
        end();
        source.return?.().catch(() => {});
      },
    });
  }

  return { bounds: { ...outer, signal }, race, stream, end };
}
