import { type Clock, sleep } from "../../clock.ts";
import type { ErrorCode } from "../../errors/codes.ts";
import { type FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import type { RdfDocument } from "../../outbound/documents.ts";
import type { AskRequest, Asker, WholeAnswer } from "../../outbound/whole-answer.ts";
import type { AskedEndpoint } from "../catalog/catalog.ts";
import { wholeNumberOf } from "./values.ts";
import type { MeasurementRecord } from "./void-description.ts";

/** Options of a log, and the bounds of the requests it sends. */
interface RequestLogOptions {
  readonly asker: Asker;
  readonly clock: Pick<Clock, "now">;
  readonly endpoint: AskedEndpoint;
  readonly signal: AbortSignal;
  /** HTTP requests, milliseconds and decoded bytes of the whole run. */
  readonly budget: { readonly requests: number; readonly ms?: number | undefined; readonly bytes?: number | undefined };
  /** Limits of one answer or document. */
  readonly limits: { readonly timeoutMs: number; readonly maxRows: number; readonly maxBytes: number };
  /** Before each request but the first; none when absent. */
  readonly pause?: { readonly ms: number; readonly clock: Clock };
  /** Level of the questions that name none. */
  readonly level: MeasurementRecord["rung"];
  /** Records of earlier runs; new ones follow them. */
  readonly records?: readonly MeasurementRecord[];
}

/** How one query departs from the log's own endpoint, level and limits. */
interface Departures extends Partial<Pick<AskRequest, "endpoint" | "kind" | "accept" | "maxRows" | "maxBytes">> {
  readonly level?: MeasurementRecord["rung"];
}

/** An answer or document, the position of its record, and how long it took in milliseconds. */
export interface Answered<T> {
  readonly value: T;
  readonly record: number;
  readonly durationMs: number;
}

/** Why none came. */
export interface Failed {
  readonly value?: undefined;
  readonly error: FedwayError;
  readonly why: "timeout" | "refused" | "failed";
  readonly record: number;
  readonly durationMs: number;
}

const maxQuads = 100_000;
const longestQueryText = 2000;
const unreachableCodes = new Set(["ENDPOINT_UNREACHABLE", "CIRCUIT_OPEN", "ADDRESS_REFUSED", "ENDPOINT_RATE_LIMITED"]);

/** By code; other errors are failures of the endpoint. */
const reasons: Partial<Record<ErrorCode, Failed["why"]>> = {
  ENDPOINT_TIMEOUT: "timeout",
  DEADLINE_EXCEEDED: "timeout",
  ENDPOINT_REJECTED_QUERY: "refused",
  ENDPOINT_REFUSED: "refused",
  ENDPOINT_NOT_SPARQL: "refused",
  ENDPOINT_REDIRECT: "refused",
  ADDRESS_REFUSED: "refused",
};

/** Asks and fetches within bounds, keeps a record of every attempt and an account of what all of them cost. */
export class RequestLog {
  readonly records: MeasurementRecord[];
  /** A query did not reach the endpoint: more are pointless. */
  unreachable = false;
  /** True while the latest answer came from something other than a SPARQL endpoint. */
  isNoEndpoint = false;
  readonly #options: RequestLogOptions;
  readonly #startedMs: number;
  #requests = 0;
  #bytes = 0;

  constructor(options: RequestLogOptions) {
    this.#options = options;
    this.records = [...(options.records ?? [])];
    this.#startedMs = options.clock.now();
  }

  /** HTTP requests, decoded bytes and milliseconds of this run. */
  get cost() {
    return { requests: this.#requests, bytes: this.#bytes, ms: this.#msSince(this.#startedMs) };
  }

  /** Nothing is sent any more. */
  get isSpent(): boolean {
    const { requests, bytes, ms } = this.#left;
    return requests <= 0 || bytes <= 0 || ms <= 0;
  }

  /** Remaining budget. */
  get #left() {
    const { requests, bytes = Number.POSITIVE_INFINITY, ms = Number.POSITIVE_INFINITY } = this.#options.budget;
    const { cost } = this;
    return { requests: requests - cost.requests, bytes: bytes - cost.bytes, ms: ms - cost.ms };
  }

  /** Bounds of the next answer: it takes no more than the remaining budget. */
  #bounds(maxBytes = this.#options.limits.maxBytes) {
    const { timeoutMs } = this.#options.limits;
    const { bytes, ms } = this.#left;
    return { timeoutMs: Math.max(1, Math.min(timeoutMs, ms)), maxBytes: Math.max(1, Math.min(maxBytes, bytes)) };
  }

  /** Undefined, and nothing is sent, when the budget is spent. @throws FedwayError when the signal aborts */
  document(url: string): Promise<Answered<RdfDocument> | Failed | undefined> {
    const { asker, endpoint, signal, level } = this.#options;
    return this.#attempt({ query: url, level }, () =>
      asker.fetchDocument({ url, signal, ...this.#bounds(), maxQuads, endpoint: endpoint.id }),
    );
  }

  /** The same for a query. */
  async ask(query: string, departures: Departures = {}): Promise<Answered<WholeAnswer> | Failed | undefined> {
    const { asker, endpoint, signal, limits, ...options } = this.#options;
    const { level = options.level, maxBytes, ...more } = departures;
    const bounds = this.#bounds(maxBytes);
    const attempt = await this.#attempt({ query, level }, () =>
      asker.ask({ endpoint, query, signal, maxRows: limits.maxRows, ...bounds, ...more }),
    );
    if (attempt?.value === undefined && attempt?.error.code === "ANSWER_TOO_LARGE") this.#bytes += bounds.maxBytes;
    if (attempt === undefined) return undefined;
    const code = attempt.value === undefined ? attempt.error.code : undefined;
    this.unreachable ||= code !== undefined && unreachableCodes.has(code);
    this.isNoEndpoint = code === "ENDPOINT_NOT_SPARQL";
    return attempt;
  }

  async #attempt<T extends WholeAnswer | RdfDocument>(
    { query, level: rung }: { readonly query: string; readonly level: MeasurementRecord["rung"] },
    send: () => Promise<T>,
  ): Promise<Answered<T> | Failed | undefined> {
    const { signal } = this.#options;
    if (this.#requests > 0 && !this.isSpent) await this.#pause();
    if (this.isSpent) return undefined;
    const sentMs = this.#options.clock.now();
    const note = (outcome: MeasurementRecord["outcome"], httpStatus: number | undefined) => {
      const durationMs = this.#msSince(sentMs);
      const text = query.length > longestQueryText ? `${query.slice(0, longestQueryText)}…` : query;
      const at = new Date(sentMs).toISOString();
      this.records.push({ rung, query: text, httpStatus, durationMs: Math.round(durationMs), at, outcome });
      return { record: this.records.length - 1, durationMs };
    };
    try {
      const value = await send();
      this.#requests += "requests" in value ? Math.max(1, value.requests) : 1;
      this.#bytes += value.bytes;
      const isPartial = "partial" in value && value.partial !== undefined;
      return { value, ...note(isPartial ? "partial" : "ok", value.httpStatus) };
    } catch (thrown) {
      const error = toFedwayError(thrown);
      if (signal.aborted || error.code === "CANCELLED") throw error;
      this.#requests += 1;
      const why = reasons[error.code] ?? "failed";
      return { error, why, ...note(why, error.details.upstreamStatus) };
    }
  }

  async #pause(): Promise<void> {
    const { pause, signal } = this.#options;
    if (pause !== undefined && pause.ms > 0) await sleep(pause.ms, { ...pause, signal });
  }

  #msSince(startedMs: number): number {
    return Math.max(0, this.#options.clock.now() - startedMs);
  }
}

/** The count that an answer has as `?n`; undefined where none came, and where the endpoint says that rows are missing. */
export function countIn(answer: WholeAnswer | undefined): number | undefined {
  const term = answer?.partial === undefined ? answer?.rows[0]?.get("n") : undefined;
  return term && wholeNumberOf(term);
}
