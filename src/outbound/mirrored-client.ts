import { once } from "node:events";
import { LRUCache } from "lru-cache";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import type { EndpointTarget, SparqlAnswer, SparqlClient, SparqlRequest } from "./sparql-client.ts";
import { sizedByKey } from "../cache-size.ts";

/** How mirrors are asked. */
interface MirroredClientOptions {
  readonly client: Pick<SparqlClient, "query">;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
}

const SAMPLES = 32;
const FEWEST_SAMPLES = 8;
/** Where it is not known how long an endpoint takes. */
const UNKNOWN_MS = 1_000;
const SHORTEST_MS = 20;
/** The share of the time that is left for which an answer that lacks rows waits for a whole one. */
const WAIT_SHARE = 0.25;

/**
 * A client that asks the mirror of an endpoint in its place: at once when the endpoint fails or is cooling down by its
 * circuit breaker, and beside it when it has not begun to answer in the time that 95 % of its answers take. The first
 * whole answer that has begun counts, the other request is cancelled. One that lacks rows counts when the other endpoint has no whole one.
 * When both fail, the endpoint's own failure counts.
 */
export function createMirroredClient({ client, now }: MirroredClientOptions): Pick<SparqlClient, "query"> {
  // As many as the outbound client remembers: of a cache that is walked through, one entry too many forgets all.
  const usual = new LRUCache<string, number[]>(sizedByKey(8, { each: 500 }));

  function begin(request: SparqlRequest, endpoint: EndpointTarget): Attempt {
    const over = new AbortController();
    const signal = AbortSignal.any([request.signal, over.signal]);
    const startedMs = now();
    const answer = client.query({ ...request, endpoint, signal });
    const noted = answer.then(begun).then((arrived) => {
      usual.set(endpoint.url, [...(usual.get(endpoint.url) ?? []), now() - startedMs].slice(-SAMPLES));
      return arrived;
    });
    const abandon = (): void => {
      over.abort(new FedwayError("CANCELLED", "Another endpoint with the same data has answered."));
      noted.then(({ body }) => Buffer.isBuffer(body) || body.destroy()).catch(() => {});
    };
    noted.catch(() => {});
    return { answer: noted, abandon };
  }

  async function queryBoth(request: SparqlRequest, mirror: EndpointTarget): Promise<SparqlAnswer> {
    const own = begin(request, request.endpoint);
    const early = await firstOf(own.answer, waitMs(usual.get(request.endpoint.url)));
    if (early === "failed") {
      const failure = await own.answer.catch((error: unknown) => toFedwayError(error));
      if (!(failure instanceof FedwayError)) return failure;
      if (!mayBeMended(failure) || request.signal.aborted) throw failure;
    } else if (early !== undefined && !lacksRows(early)) return early;
    const other = begin(request, mirror);
    const mirrored = other.answer.then((answer) => ({ ...answer, mirror: mirror.id ?? mirror.url }));
    /** One that lacks rows waits, so that a whole one is there before it. */
    const inTurn = async (asked: Promise<SparqlAnswer>, better: Promise<SparqlAnswer>): Promise<SparqlAnswer> => {
      const answer = await asked;
      if (lacksRows(answer)) await firstOf(wholeOf(better), (request.deadlineMs - now()) * WAIT_SHARE);
      return answer;
    };
    try {
      const answer = await Promise.any([inTurn(own.answer, mirrored), inTurn(mirrored, own.answer)]);
      (answer.mirror === undefined ? other : own).abandon();
      return { ...answer, requests: answer.requests + 1 };
    } catch {
      throw await own.answer.catch((error: unknown) => error);
    }
  }

  return {
    query(request) {
      const { mirror, ...endpoint } = request.endpoint;
      return mirror === undefined ? client.query(request) : queryBoth({ ...request, endpoint }, mirror);
    },
  };
}

/** An answer when its first bytes are there: one that breaks off before is no answer yet. */
async function begun(answer: SparqlAnswer): Promise<SparqlAnswer> {
  const { body, whole, end } = answer;
  if (whole === undefined && !Buffer.isBuffer(body)) await Promise.race([once(body, "readable"), end]);
  return answer;
}

interface Attempt {
  readonly answer: Promise<SparqlAnswer>;
  readonly abandon: () => void;
}

/** The answer, or that there will be none; undefined when neither is known in time. */
async function firstOf(answer: Promise<SparqlAnswer>, ms: number): Promise<SparqlAnswer | "failed" | undefined> {
  const expired = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => expired.resolve(undefined), ms);
  try {
    return await Promise.race([answer.catch(() => "failed" as const), expired.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The endpoint's usual time to the first bytes of an answer (its 95th percentile). */
function waitMs(samples: readonly number[] = []): number {
  if (samples.length < FEWEST_SAMPLES) return UNKNOWN_MS;
  const sorted = samples.toSorted((a, b) => a - b);
  return Math.max(SHORTEST_MS, sorted[Math.ceil(sorted.length * 0.95) - 1] ?? UNKNOWN_MS);
}

/** Rows are known to be missing before any is read: by a sign in the head, or in an answer that is there as a whole. */
const lacksRows = ({ partial, whole }: SparqlAnswer): boolean => (partial ?? whole?.partial) !== undefined;

async function wholeOf(asked: Promise<SparqlAnswer>): Promise<SparqlAnswer> {
  const answer = await asked;
  if (lacksRows(answer)) throw new FedwayError("ENDPOINT_PARTIAL", "The other endpoint has no whole answer either.");
  return answer;
}

/** Another endpoint with the same data may do better: it is not the query that is wrong. */
const mayBeMended = ({ kind, code }: FedwayError): boolean => kind.silenceable && code !== "ENDPOINT_REJECTED_QUERY";
