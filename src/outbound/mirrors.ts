import { once } from "node:events";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { EndpointTarget, SparqlAnswer, SparqlClient, SparqlRequest } from "./sparql-request.ts";

/** The share of the time that is left for which an answer that lacks rows waits for a whole one. */
const waitShare = 0.25;

/**
 * Asks the mirror of an endpoint in its place when the endpoint fails before its answer begins, is cooling down
 * behind its circuit breaker, or has an answer that lacks rows. Such an answer counts when the mirror has no whole one in time. When both
 * fail, the endpoint's own failure counts.
 * @param send sends a query to one of the two
 * @param now monotonic clock, milliseconds
 */
export async function queryWithMirror(
  request: SparqlRequest,
  mirror: EndpointTarget,
  send: SparqlClient["query"],
  now: () => number,
): Promise<SparqlAnswer> {
  const own = begin(request, send);
  const first = await own.answer.catch((error: unknown) => toFedwayError(error));
  const isFailed = first instanceof FedwayError;
  if (!isFailed && !lacksRows(first)) return first;
  if (isFailed && (!mayBeMended(first) || request.signal.aborted)) throw first;
  const other = begin({ ...request, endpoint: mirror }, send);
  const waitMs = isFailed ? undefined : (request.deadlineMs - now()) * waitShare;
  const second = await answeredWithin(other.answer, waitMs);
  if (second && (isFailed || !lacksRows(second))) {
    own.abandon();
    return { ...second, mirror: mirror.id ?? mirror.url, requests: second.requests + 1 };
  }
  other.abandon();
  if (isFailed) throw first;
  return { ...first, requests: first.requests + 1 };
}

interface Attempt {
  readonly answer: Promise<SparqlAnswer>;
  readonly abandon: () => void;
}

function begin(request: SparqlRequest, send: SparqlClient["query"]): Attempt {
  const over = new AbortController();
  const signal = AbortSignal.any([request.signal, over.signal]);
  const answer = send({ ...request, signal }).then(begun);
  const abandon = (): void => {
    over.abort(new FedwayError("CANCELLED", "Another endpoint with the same data has answered."));
    answer.then(({ body }) => Buffer.isBuffer(body) || body.destroy()).catch(() => {});
  };
  return { answer, abandon };
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
