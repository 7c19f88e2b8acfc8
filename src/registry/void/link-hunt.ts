import { type FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import type { AskedAnswer, AskedEndpoint, Asker } from "../catalog/asking.ts";
import type { WallClock } from "./retrieval-log.ts";
import type { MeasurementRecord, UnknownFact } from "./void-description.ts";

/** Circumstances of one search. */
export interface LinkSearch {
  readonly signal: AbortSignal;
  /** Requests to both endpoints together; default 100. */
  readonly maxRequests?: number;
}

const askMs = 10_000;
const askBytes = 2 * 1024 * 1024;
const mostRows = 1000;
const defaultRequests = 100;

/** One answer and the position of its record. */
export interface Heard {
  readonly answer: AskedAnswer;
  readonly record: number;
}

/** The requests of one search, within its budget. */
export class Hunt {
  readonly records: MeasurementRecord[] = [];
  readonly unknown: UnknownFact[] = [];
  readonly #options: { readonly asker: Asker; readonly clock: WallClock };
  readonly #search: LinkSearch;
  #left: number;

  constructor(options: { readonly asker: Asker; readonly clock: WallClock }, search: LinkSearch) {
    this.#options = options;
    this.#search = search;
    this.#left = search.maxRequests ?? defaultRequests;
  }

  get spent(): boolean {
    return this.#left <= 0;
  }

  /** Something that was not looked into; told once. */
  note(fact: UnknownFact): void {
    if (!this.unknown.some(({ what }) => what === fact.what)) this.unknown.push(fact);
  }

  /** Undefined when the budget is spent or the endpoint failed, which is recorded. */
  async ask(endpoint: AskedEndpoint, query: string, what: string): Promise<Heard | undefined> {
    if (this.spent) return undefined;
    this.#left -= 1;
    const { asker, clock } = this.#options;
    const { signal } = this.#search;
    const sentMs = clock.now();
    const at = new Date(sentMs).toISOString();
    const limits = { signal, timeoutMs: askMs, maxRows: mostRows, maxBytes: askBytes };
    try {
      const answer = await asker.ask({ endpoint, query, ...limits });
      const { httpStatus, durationMs, partial } = answer;
      const outcome = partial === undefined ? "ok" : "partial";
      this.records.push({ rung: 6, query, httpStatus, durationMs, at, outcome });
      return { answer, record: this.records.length - 1 };
    } catch (thrown) {
      const error = toFedwayError(thrown);
      if (signal.aborted || error.code === "CANCELLED") throw error;
      this.#fail(error, { query, at, durationMs: Math.max(0, clock.now() - sentMs) }, what);
      return undefined;
    }
  }

  #fail(error: FedwayError, base: Pick<MeasurementRecord, "query" | "at" | "durationMs">, what: string): void {
    const { upstreamStatus } = error.details;
    const why = whyOf(error);
    const httpStatus = upstreamStatus === undefined ? {} : { httpStatus: upstreamStatus };
    this.records.push({ rung: 6, ...base, ...httpStatus, outcome: why });
    this.unknown.push({ what, why, record: this.records.length - 1 });
  }
}

function whyOf({ code }: FedwayError): "timeout" | "refused" | "failed" {
  if (code === "ENDPOINT_TIMEOUT" || code === "DEADLINE_EXCEEDED") return "timeout";
  return code === "ENDPOINT_REFUSED" || code === "ENDPOINT_REJECTED_QUERY" ? "refused" : "failed";
}
