import { once } from "node:events";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { EndpointTarget, SparqlAnswer, SparqlClient, SparqlRequest } from "./sparql-client.ts";

/** How mirrors are asked. */
interface MirroredClientOptions {
  readonly client: Pick<SparqlClient, "query">;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
}

/** The share of the time that is left for which an answer that lacks rows waits for a whole one. */
const WAIT_SHARE = 0.25;

/**
 * A client that asks the mirror of an endpoint in its place when the endpoint fails before its answer begins, is cooling down
 * behind its circuit breaker, or has an answer that lacks rows. Such an answer counts when the mirror has no whole one in time. When both
 * fail, the endpoint's own failure counts.
 */
export function createMirroredClient({ client, now }: MirroredClientOptions): Pick<SparqlClient, "query"> {
  function begin(request: SparqlRequest): Attempt {
    const over = new AbortController();
    const signal = AbortSignal.any([request.signal, over.signal]);
    const answer = client.query({ ...request, signal }).then(begun);
    const abandon = (): void => {
      over.abort(new FedwayError("CANCELLED", "Another endpoint with the same data has answered."));
      answer.then(({ body }) => Buffer.isBuffer(body) || body.destroy()).catch(() => {});
    };
    return { answer, abandon };
  }

  async function queryBoth(request: SparqlRequest, mirror: EndpointTarget): Promise<SparqlAnswer> {
    const own = begin(request);
    const first = await own.answer.catch((error: unknown) => toFedwayError(error));
    const isFailed = first instanceof FedwayError;
    if (!isFailed && !lacksRows(first)) return first;
    if (isFailed && (!mayBeMended(first) || request.signal.aborted)) throw first;
    const other = begin({ ...request, endpoint: mirror });
    const waitMs = isFailed ? undefined : (request.deadlineMs - now()) * WAIT_SHARE;
    const second = await answeredWithin(other.answer, waitMs);
    if (second && (isFailed || !lacksRows(second))) {
      own.abandon();
      return { ...second, mirror: mirror.id ?? mirror.url, requests: second.requests + 1 };
    }
    other.abandon();
    if (isFailed) throw first;
    return { ...first, requests: first.requests + 1 };
  }

  return {
    query(request) {
      const { mirror, ...endpoint } = request.endpoint;
      return mirror === undefined ? client.query(request) : queryBoth({ ...request, endpoint }, mirror);
    },
  };
}

interface Attempt {
  readonly answer: Promise<SparqlAnswer>;
  readonly abandon: () => void;
}

/** An answer when its first bytes are there: one that breaks off before is no answer yet. */
async function begun(answer: SparqlAnswer): Promise<SparqlAnswer> {
  const { body, whole, end } = answer;
  if (whole === undefined && !Buffer.isBuffer(body)) await Promise.race([once(body, "readable"), end]);
  return answer;
}

/** Undefined when there is no answer, or none in this number of milliseconds. */
async function answeredWithin(answer: Promise<SparqlAnswer>, ms?: number): Promise<SparqlAnswer | undefined> {
  const expired = Promise.withResolvers<undefined>();
  const timer = ms === undefined ? undefined : setTimeout(() => expired.resolve(undefined), ms);
  try {
    return await Promise.race([answer.catch(() => undefined), expired.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Rows are known to be missing before any is read: by a sign in the head, or in an answer that is there as a whole. */
const lacksRows = ({ partial, whole }: SparqlAnswer): boolean => (partial ?? whole?.partial) !== undefined;

/** Another endpoint with the same data may do better: it is not the query that is wrong. */
const mayBeMended = ({ kind, code }: FedwayError): boolean => kind.silenceable && code !== "ENDPOINT_REJECTED_QUERY";
