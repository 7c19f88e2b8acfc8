import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { SparqlAnswer, SparqlClient, SparqlRequest } from "../../outbound/sparql-request.ts";
import { Flight, type KeptAnswer, LARGEST_SHARED_BYTES } from "./flight.ts";

/** How answers are shared. */
interface SharingOptions {
  readonly client: SparqlClient;
  /** Milliseconds for which answers are kept whose endpoint does not say how long they may be; default 0. */
  readonly keepMs?: number | undefined;
  /** Monotonic clock, milliseconds. */
  readonly now: () => number;
}

const MOST_KEPT_BYTES = 32 * 1024 * 1024;
// What an entry takes beside its body.
const ENTRY_BYTES = 512;
/** Whatever an endpoint allows, its answer is not reused for longer; a longer `keepMs` is the operator's word. */
const LONGEST_ALLOWED_MS = 60_000;

interface Kept {
  readonly answer: KeptAnswer;
  readonly untilMs: number;
}

/**
 * A client for the requests that evaluations send to endpoints: equal requests under way are one, and small whole answers
 * are kept for as long as their endpoint or the operator allows. Partial answers are never kept, so no answer is complete
 * that was not.
 */
export function createSharingClient(options: SharingOptions): SparqlClient {
  const { client, now, keepMs = 0 } = options;
  const flights = new Map<string, Flight>();
  const kept = new LRUCache<string, Kept>({
    maxSize: MOST_KEPT_BYTES,
    sizeCalculation: ({ answer }) => ENTRY_BYTES + answer.body.length,
  });

  function keep(key: string, answer: KeptAnswer, { endpoint }: SparqlRequest): void {
    const { mirror } = endpoint;
    const isForbidden = endpoint.neverKept || (answer.mirror !== undefined && mirror?.neverKept);
    if (isForbidden || answer.end.partial !== undefined || answer.status !== 200) return;
    const { freshMs } = answer;
    const forMs = freshMs === undefined ? keepMs : Math.min(freshMs, Math.max(keepMs, LONGEST_ALLOWED_MS));
    if (forMs > 0 && answer.body.length <= LARGEST_SHARED_BYTES) kept.set(key, { answer, untilMs: now() + forMs });
  }

  function begin(key: string, request: SparqlRequest): Promise<SparqlAnswer> {
    const onClosed = (): void => {
      if (flights.get(key) === flight) flights.delete(key);
    };
    // One that was overtaken by a later request is not kept: what that got is newer.
    const onWhole = (answer: KeptAnswer): void => {
      if (flights.get(key) === flight) keep(key, answer, request);
    };
    const flight = new Flight({ client, now, onClosed, onWhole }, request.deadlineMs);
    flights.set(key, flight);
    return flight.begin(request);
  }

  return {
    async query(request) {
      // A body that is passed on as it came is for one reader.
      if (request.encoding !== "decode") return client.query(request);
      const key = keyOf(request);
      const known = request.fresh || request.endpoint.neverKept ? undefined : kept.get(key);
      if (known && known.untilMs > now()) return savedAnswer(known.answer, "cached");
      const flight = request.fresh ? undefined : flights.get(key);
      if (!flight?.isOpenUntil(request.deadlineMs)) return begin(key, request);
      const answer = await flight.join(request);
      return answer ? savedAnswer(answer, "shared") : client.query(request);
    },
  };
}

/** Key shared by requests that have the same answer. */
function keyOf(request: SparqlRequest): string {
  const { endpoint, query, kind, accept, limit, acceptPartial = false, defaultGraphs, namedGraphs, maxBytes } = request;
  const { url, method, rowCap, formats, maxUrlBytes, mirror } = endpoint;
  const rest = [
    url,
    mirror?.url,
    method,
    rowCap,
    formats,
    maxUrlBytes,
    kind,
    accept,
    limit,
    acceptPartial,
    request.budget?.withoutCredentials === true,
    defaultGraphs,
  ];
  return hash("sha256", `${JSON.stringify([...rest, namedGraphs, maxBytes])}\n${query}`, "base64");
}

function savedAnswer({ end, ...answer }: KeptAnswer, saved: "shared" | "cached"): SparqlAnswer {
  return { ...answer, saved, partial: end.partial, requests: 0, whole: end, end: Promise.resolve(end) };
}
