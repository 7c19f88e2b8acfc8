import { type FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import type { AskedAnswer, AskedEndpoint, Asker, FetchedDocument } from "../catalog/asking.ts";
import type { MeasurementRecord } from "./void-description.ts";

/** Time, for moments and durations. */
export interface WallClock {
  /** Milliseconds since the epoch. */
  now(): number;
}

/** What one cascade works with. */
interface RetrievalOptions {
  readonly asker: Asker;
  readonly clock: WallClock;
  readonly endpoint: AskedEndpoint;
  readonly signal: AbortSignal;
}

/** An answer or document, and the position of its record. */
interface Logged<T> {
  readonly value: T;
  readonly record: number;
}

/** Asks and fetches within the bounds of one cascade and keeps a record of every attempt. */
export interface RetrievalLog {
  readonly records: readonly MeasurementRecord[];
  readonly cost: { readonly requests: number; readonly bytes: number; readonly ms: number };
  /** The endpoint cannot be reached: more queries are pointless. */
  readonly gone: boolean;
  /** @throws FedwayError when the cascade was aborted; any other failure is recorded, and undefined */
  document(url: string): Promise<Logged<FetchedDocument> | undefined>;
  /** The same for a query. */
  ask(query: string): Promise<Logged<AskedAnswer> | undefined>;
}

/** Bounds of each attempt (registry method, section 3). */
const attemptMs = 5_000;
const attemptBytes = 2 * 1024 * 1024;
const mostQuads = 100_000;
const mostRows = 5_000;
/** Requests of one cascade. */
const mostRequests = 60;

const outcomes: Partial<Record<string, MeasurementRecord["outcome"]>> = {
  ENDPOINT_TIMEOUT: "timeout",
  DEADLINE_EXCEEDED: "timeout",
  ENDPOINT_PARTIAL: "partial",
  ENDPOINT_REFUSED: "refused",
  ENDPOINT_REJECTED_QUERY: "refused",
  ENDPOINT_NOT_SPARQL: "refused",
  ENDPOINT_REDIRECT: "refused",
  ADDRESS_REFUSED: "refused",
};

const goneCodes = new Set(["ENDPOINT_UNREACHABLE", "CIRCUIT_OPEN", "ADDRESS_REFUSED", "ENDPOINT_RATE_LIMITED"]);

/** An empty log. */
export function createRetrievalLog({ asker, clock, endpoint, signal }: RetrievalOptions): RetrievalLog {
  const startedMs = clock.now();
  const records: MeasurementRecord[] = [];
  let requests = 0;
  let bytes = 0;
  let gone = false;

  const attempt = async <
    T extends { readonly httpStatus: number; readonly bytes: number; readonly durationMs: number },
  >(
    { query, asked }: { readonly query: string; readonly asked: boolean },
    run: () => Promise<T>,
  ): Promise<Logged<T> | undefined> => {
    if (requests >= mostRequests) return undefined;
    const sentMs = clock.now();
    const at = new Date(sentMs).toISOString();
    try {
      const value = await run();
      requests += requestsOf(value);
      bytes += value.bytes;
      const { httpStatus, durationMs } = value;
      records.push({ rung: 0, query, httpStatus, durationMs, at, outcome: isPartial(value) ? "partial" : "ok" });
      return { value, record: records.length - 1 };
    } catch (thrown) {
      const error: FedwayError = toFedwayError(thrown);
      if (signal.aborted || error.code === "CANCELLED") throw error;
      requests += 1;
      const { upstreamStatus } = error.details;
      records.push({
        rung: 0,
        query,
        ...(upstreamStatus !== undefined && { httpStatus: upstreamStatus }),
        durationMs: Math.max(0, clock.now() - sentMs),
        at,
        outcome: outcomes[error.code] ?? "failed",
      });
      if (asked && goneCodes.has(error.code)) gone = true;
      return undefined;
    }
  };

  const limits = { signal, timeoutMs: attemptMs, maxBytes: attemptBytes };
  return {
    records,
    get cost() {
      return { requests, bytes, ms: Math.max(0, clock.now() - startedMs) };
    },
    get gone() {
      return gone;
    },
    document: (url) =>
      attempt({ query: url, asked: false }, () =>
        asker.fetchDocument({ url, ...limits, maxQuads: mostQuads, endpoint: endpoint.id }),
      ),
    ask: (query) => attempt({ query, asked: true }, () => asker.ask({ endpoint, query, ...limits, maxRows: mostRows })),
  };
}

const requestsOf = (value: object): number =>
  "requests" in value && typeof value.requests === "number" ? value.requests : 1;
const isPartial = (value: object): boolean => "partial" in value && value.partial !== undefined;
