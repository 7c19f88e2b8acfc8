import { type Clock, sleep } from "../../clock.ts";
import type { ErrorCode } from "../../errors/codes.ts";
import { type FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import type { AskedAnswer, AskedEndpoint, Asker } from "../catalog/catalog.ts";
import type { MeasurementRecord } from "../void/void-description.ts";

/** One query of the description. */
interface Question {
  readonly query: string;
  readonly level: MeasurementRecord["rung"];
  readonly maxRows?: number;
}

/** A whole answer arrived, perhaps a partial one. */
interface Answered {
  readonly ok: true;
  readonly answer: AskedAnswer;
  readonly record: number;
  /** Nothing speaks against it: not partial, and clearly faster than the endpoint's suspected time limit. */
  readonly sound: boolean;
}

/** No answer came to this query; others may be answered. */
export interface Unanswered {
  readonly ok: false;
  readonly why: "timeout" | "refused" | "failed";
  /** Failed because the answer is larger than is taken in. */
  readonly tooLarge: boolean;
  readonly record: number;
}

/** What came of a question. */
export type Outcome = Answered | Unanswered;

/** What a session works with. */
export interface SessionOptions {
  readonly asker: Asker;
  readonly clock: Clock;
  readonly endpoint: AskedEndpoint;
  readonly signal: AbortSignal;
  readonly pauseMs: number;
  readonly queryTimeoutMs: number;
  readonly budget: { readonly requests: number; readonly ms: number; readonly bytes: number };
  /** Records of earlier runs; new ones follow them. */
  readonly records: readonly MeasurementRecord[];
  /** Called after every answered or failed question. */
  readonly afterEach: () => Promise<void>;
}

const mostRows = 200_000;
const mostBytes = 64 * 1024 * 1024;
const mostRecords = 5000;
const longestQueryText = 2000;
const timeoutsInARow = 5;
const failuresInARow = 10;
const longestWaitMs = 120_000;
const attemptsPerQuery = 8;
/** Below this a duration says nothing of a time limit. */
const shortestLimitMs = 500;

/** The endpoint is to be asked again later. */
interface Postponed {
  readonly waitMs: number;
  /** The endpoint itself named the time. */
  readonly told: boolean;
  readonly unreachable: boolean;
  readonly record: number;
}

/** A question that was sent. */
interface Sent {
  readonly question: Question;
  readonly startedMs: number;
}

/** Asks one endpoint, one request at a time, within the budget, every request on record. Its clock starts at once. */
export class Session {
  readonly records: MeasurementRecord[];
  readonly #options: SessionOptions;
  readonly #startedMs: number;
  #requests = 0;
  #bytes = 0;
  #timeouts = 0;
  #failures = 0;
  #asked = false;
  #suspectedLimitMs = Number.POSITIVE_INFINITY;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.records = [...options.records];
    this.#startedMs = options.clock.now();
  }

  /** Requests, decoded bytes and milliseconds of this run. */
  get spent() {
    return { requests: this.#requests, bytes: this.#bytes, ms: this.#options.clock.now() - this.#startedMs };
  }

  get requestsLeft(): number {
    return Math.max(0, this.#options.budget.requests - this.#requests);
  }

  get #msLeft(): number {
    return this.#options.budget.ms - this.spent.ms;
  }

  /** @throws StopRun when the run must end: budget, repeated time-outs, endpoint unreachable, cancelled */
  async ask(question: Question): Promise<Outcome> {
    for (let attempt = 1; ; attempt++) {
      await this.#ready();
      const outcome = await this.#askOnce(question);
      if (!("waitMs" in outcome)) {
        await this.#options.afterEach();
        return outcome;
      }
      const { unreachable, record } = outcome;
      if (attempt >= attemptsPerQuery) {
        if (unreachable) throw new StopRun("unreachable");
        return { ok: false, why: "failed", tooLarge: false, record };
      }
      const waitMs = outcome.waitMs * (outcome.told ? 1 : 2 ** (attempt - 1));
      if (waitMs > Math.min(longestWaitMs, this.#msLeft)) throw new StopRun(unreachable ? "unreachable" : "busy");
      await this.#pause(waitMs);
    }
  }

  async #ready(): Promise<void> {
    const { budget, signal, pauseMs } = this.#options;
    if (signal.aborted) throw new StopRun("cancelled");
    const isSpent = this.requestsLeft === 0 || this.#bytes >= budget.bytes || this.#msLeft <= 0;
    if (isSpent || this.records.length >= mostRecords) throw new StopRun("budget");
    if (this.#timeouts >= timeoutsInARow || this.#failures >= failuresInARow) throw new StopRun("timeouts");
    if (this.#asked && pauseMs > 0) await this.#pause(pauseMs);
    this.#asked = true;
  }

  async #askOnce(question: Question): Promise<Outcome | Postponed> {
    const { clock, endpoint, signal, asker, queryTimeoutMs, budget } = this.#options;
    const startedMs = clock.now();
    try {
      const answer = await asker.ask({
        endpoint,
        query: question.query,
        signal,
        timeoutMs: Math.max(1, Math.min(queryTimeoutMs, this.#msLeft)),
        maxRows: question.maxRows ?? mostRows,
        maxBytes: Math.max(1, Math.min(mostBytes, budget.bytes - this.#bytes)),
      });
      return this.#answered({ question, startedMs }, answer);
    } catch (thrown) {
      const error = toFedwayError(thrown);
      if (signal.aborted || error.code === "CANCELLED") throw new StopRun("cancelled", error);
      if (error.code === "ADDRESS_REFUSED" || error.code === "INTERNAL") throw error;
      return this.#unanswered({ question, startedMs }, error);
    }
  }

  #answered(sent: Sent, answer: AskedAnswer): Answered {
    const partial = answer.partial !== undefined || answer.httpStatus === 206;
    this.#requests += Math.max(1, answer.requests);
    this.#bytes += answer.bytes;
    this.#timeouts = 0;
    this.#failures = 0;
    const { record, durationMs } = this.#note(sent, partial ? "partial" : "ok", answer.httpStatus);
    if (partial) this.#suspectLimit(durationMs);
    return { ok: true, answer, record, sound: !partial && durationMs < 0.8 * this.#suspectedLimitMs };
  }

  #unanswered(sent: Sent, error: FedwayError): Unanswered | Postponed {
    const { why, retry } = failures[error.code] ?? { why: "failed" };
    const { upstreamStatus, retryAfterMs } = error.details;
    this.#requests += 1;
    const { record, durationMs } = this.#note(sent, why, upstreamStatus);
    if (retry !== undefined) {
      const waitMs = retryAfterMs ?? Math.max(1000, this.#options.pauseMs);
      return { waitMs, told: retryAfterMs !== undefined, unreachable: retry === "unreachable", record };
    }
    const tooLarge = error.code === "ANSWER_TOO_LARGE";
    const isFault = why !== "refused" && !tooLarge;
    this.#timeouts = why === "timeout" ? this.#timeouts + 1 : 0;
    this.#failures = isFault ? this.#failures + 1 : 0;
    if (isFault) this.#suspectLimit(durationMs);
    return { ok: false, why, tooLarge, record };
  }

  #suspectLimit(durationMs: number): void {
    if (durationMs >= shortestLimitMs) this.#suspectedLimitMs = Math.min(this.#suspectedLimitMs, durationMs);
  }

  #note({ question, startedMs }: Sent, outcome: MeasurementRecord["outcome"], httpStatus: number | undefined) {
    const durationMs = this.#options.clock.now() - startedMs;
    const { query, level } = question;
    this.records.push({
      rung: level,
      query: query.length > longestQueryText ? `${query.slice(0, longestQueryText)}…` : query,
      durationMs: Math.round(durationMs),
      at: new Date(startedMs).toISOString(),
      outcome,
      httpStatus,
    });
    return { record: this.records.length - 1, durationMs };
  }

  /** @throws StopRun "cancelled" when the signal aborts meanwhile */
  async #pause(ms: number): Promise<void> {
    const { clock, signal } = this.#options;
    await sleep(ms, { clock, signal });
    if (signal.aborted) throw new StopRun("cancelled");
  }
}

/** What an error means for the description; with `retry`, nothing is wrong with the query: it is asked again later. */
interface Failure {
  readonly why: Unanswered["why"];
  readonly retry?: "busy" | "unreachable";
}

/** By code; other errors are failures of the endpoint. */
export const failures: Partial<Record<ErrorCode, Failure>> = {
  ENDPOINT_TIMEOUT: { why: "timeout" },
  DEADLINE_EXCEEDED: { why: "timeout" },
  ENDPOINT_REJECTED_QUERY: { why: "refused" },
  ENDPOINT_REFUSED: { why: "refused" },
  ENDPOINT_NOT_SPARQL: { why: "refused" },
  ENDPOINT_REDIRECT: { why: "refused" },
  ADDRESS_REFUSED: { why: "refused" },
  ENDPOINT_RATE_LIMITED: { why: "failed", retry: "busy" },
  ENDPOINT_BUSY: { why: "failed", retry: "busy" },
  CIRCUIT_OPEN: { why: "failed", retry: "unreachable" },
  ENDPOINT_UNREACHABLE: { why: "failed", retry: "unreachable" },
};

/** Ends a run from any depth before everything is known; never leaves the describer. */
export class StopRun extends Error {
  override readonly name = "StopRun";
  readonly reason: "budget" | "timeouts" | "busy" | "unreachable" | "cancelled";

  constructor(reason: StopRun["reason"], cause?: unknown) {
    super(`The run ends: ${reason}`, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
