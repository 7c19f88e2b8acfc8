import type { Clock } from "../../clock.ts";
import { toFedwayError } from "../../errors/fedway-error.ts";
import type { AskedAnswer, AskedEndpoint, Asker, FetchedDocument } from "../catalog/catalog.ts";
import { failures } from "../compute/session.ts";
import type { MeasurementRecord, UnknownFact } from "./void-description.ts";

/** What a log works with, and the bounds of what it sends. */
interface RequestLogOptions {
  readonly asker: Asker;
  readonly clock: Pick<Clock, "now">;
  readonly endpoint: AskedEndpoint;
  readonly signal: AbortSignal;
  readonly level: MeasurementRecord["rung"];
  readonly maxRequests: number;
  /** Limits of one answer. */
  readonly limits: { readonly timeoutMs: number; readonly maxRows: number };
}

/** An answer or document, and the position of its record. */
export interface Logged<T> {
  readonly value: T;
  readonly record: number;
}

const maxBytes = 2 * 1024 * 1024;
const maxQuads = 100_000;

const unreachableCodes = new Set(["ENDPOINT_UNREACHABLE", "CIRCUIT_OPEN", "ADDRESS_REFUSED", "ENDPOINT_RATE_LIMITED"]);

/** Asks and fetches within bounds, and keeps a record of every attempt. */
export class RequestLog {
  readonly records: MeasurementRecord[] = [];
  /** The endpoint cannot be reached: more queries are pointless. */
  unreachable = false;
  /** What went wrong with the last attempt; undefined when it was answered, or not sent. */
  failure: Omit<UnknownFact, "what"> | undefined;
  readonly #options: RequestLogOptions;
  readonly #startedMs: number;
  #requests = 0;
  #bytes = 0;

  constructor(options: RequestLogOptions) {
    this.#options = options;
    this.#startedMs = options.clock.now();
  }

  get cost() {
    return { requests: this.#requests, bytes: this.#bytes, ms: this.#msSince(this.#startedMs) };
  }

  get isSpent(): boolean {
    return this.#requests >= this.#options.maxRequests;
  }

  /** @throws FedwayError when the signal aborts; any other failure is recorded, and undefined */
  document(url: string): Promise<Logged<FetchedDocument> | undefined> {
    const { asker, endpoint, signal, limits } = this.#options;
    const bounds = { timeoutMs: limits.timeoutMs, maxBytes, maxQuads };
    return this.#attempt(url, () => asker.fetchDocument({ url, signal, ...bounds, endpoint: endpoint.id }));
  }

  /** The same for a query, by default to the log's endpoint. */
  ask(query: string, endpoint = this.#options.endpoint): Promise<Logged<AskedAnswer> | undefined> {
    const { asker, signal, limits } = this.#options;
    return this.#attempt(
      query,
      () => asker.ask({ endpoint, query, signal, ...limits, maxBytes }),
      (code) => {
        this.unreachable ||= unreachableCodes.has(code);
      },
    );
  }

  async #attempt<T extends AskedAnswer | FetchedDocument>(
    query: string,
    run: () => Promise<T>,
    onFailure?: (code: string) => void,
  ): Promise<Logged<T> | undefined> {
    this.failure = undefined;
    if (this.isSpent) return undefined;
    const { clock, signal, level: rung } = this.#options;
    const sentMs = clock.now();
    const at = new Date(sentMs).toISOString();
    try {
      const value = await run();
      const { httpStatus, durationMs, bytes } = value;
      this.#requests += "requests" in value ? value.requests : 1;
      this.#bytes += bytes;
      const outcome = "partial" in value && value.partial !== undefined ? "partial" : "ok";
      this.records.push({ rung, query, httpStatus, durationMs, at, outcome });
      return { value, record: this.records.length - 1 };
    } catch (thrown) {
      const error = toFedwayError(thrown);
      if (signal.aborted || error.code === "CANCELLED") throw error;
      const { upstreamStatus } = error.details;
      const why = error.code === "ENDPOINT_PARTIAL" ? "partial" : (failures[error.code]?.why ?? "failed");
      const durationMs = this.#msSince(sentMs);
      this.#requests += 1;
      this.records.push({ rung, query, httpStatus: upstreamStatus, durationMs, at, outcome: why });
      this.failure = { why, record: this.records.length - 1 };
      onFailure?.(error.code);
      return undefined;
    }
  }

  #msSince(startedMs: number): number {
    return Math.max(0, this.#options.clock.now() - startedMs);
  }
}
