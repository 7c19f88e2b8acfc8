import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { Asker } from "../registry/catalog/catalog.ts";

/** An asker that counts what it is used for. */
export interface Meter extends Asker {
  /** Requests sent and decoded bytes received. */
  readonly spent: { readonly requests: number; readonly bytes: number };
  /** Queries that were answered. */
  readonly answered: number;
  /** Why the last query that failed did; cancelled ones do not count. */
  readonly failure: FedwayError | undefined;
  /** A request was refused because the limit was reached. */
  readonly exhausted: boolean;
}

/** Counts requests and refuses those beyond `mostRequests` with `CANCELLED`. */
export function createMeter(asker: Asker, mostRequests = Number.POSITIVE_INFINITY): Meter {
  const state = { requests: 0, bytes: 0, answered: 0, exhausted: false };
  let failure: FedwayError | undefined;
  const counted = async <Answer extends { readonly bytes: number; readonly requests?: number }>(
    send: () => Promise<Answer>,
  ): Promise<Answer> => {
    if (state.requests >= mostRequests) {
      state.exhausted = true;
      throw new FedwayError("CANCELLED", "All requests that were allowed have been sent.");
    }
    state.requests += 1;
    const answer = await send();
    state.requests += Math.max(0, (answer.requests ?? 1) - 1);
    state.bytes += answer.bytes;
    return answer;
  };
  return {
    get spent() {
      return { requests: state.requests, bytes: state.bytes };
    },
    get answered() {
      return state.answered;
    },
    get failure() {
      return failure;
    },
    get exhausted() {
      return state.exhausted;
    },
    fetchDocument: (request) =>
      counted<Awaited<ReturnType<Asker["fetchDocument"]>>>(() => asker.fetchDocument(request)),
    async ask(asking) {
      try {
        const answer = await counted(() => asker.ask(asking));
        state.answered += 1;
        return answer;
      } catch (thrown) {
        const error = toFedwayError(thrown);
        if (error.code !== "CANCELLED") failure = error;
        throw error;
      }
    },
  };
}
