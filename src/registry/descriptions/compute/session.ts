import { type Clock, sleep } from "../../../clock.ts";
import type { ErrorCode } from "../../../errors/codes.ts";
import type { Asker, WholeAnswer } from "../../../outbound/whole-answer.ts";
import type { AskedEndpoint } from "../../catalog/catalog.ts";
import { type Failed, RequestLog } from "../request-log.ts";
import type { MeasurementRecord } from "../void-description.ts";

/** One query of the description. */
export interface Question {
  readonly query: string;
  readonly level: MeasurementRecord["rung"];
  readonly maxRows?: number;
}

/** A whole answer arrived, perhaps a partial one. */
interface Complete {
  readonly ok: true;
  readonly answer: WholeAnswer;
  readonly record: number;
  /** Nothing speaks against it: not partial, and clearly faster than the endpoint's suspected time limit. */
  readonly sound: boolean;
}

/** No answer came to this query; others may be answered. */
export interface Unanswered {
  readonly ok: false;
  readonly why: Failed["why"];
  /** Failed because the answer is larger than is taken in. */
  readonly tooLarge: boolean;
  readonly record: number;
}

/** The outcome of a question. */
export type Outcome = Complete | Unanswered;

interface SessionOptions {
  readonly asker: Asker;
  readonly clock: Clock;
  readonly endpoint: AskedEndpoint;
  readonly signal: AbortSignal;
  readonly pauseMs: number;
  readonly queryTimeoutMs: number;
  readonly budget: { readonly requests: number; readonly ms: number; readonly bytes: number };
  /** Records of earlier runs; new ones follow them. */
  readonly records: readonly MeasurementRecord[];
}

const mostRows = 200_000;
const mostBytes = 64 * 1024 * 1024;
const mostRecords = 5000;
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

/** Asks one endpoint, one request at a time, within the budget, every request on record. Its clock starts at once. */
export class Session {
  readonly #options: SessionOptions;
  readonly #log: RequestLog;
  #timeouts = 0;
  #failures = 0;
  #suspectedLimitMs = Number.POSITIVE_INFINITY;

  constructor(options: SessionOptions) {
    this.#options = options;
    const limits = { timeoutMs: options.queryTimeoutMs, maxRows: mostRows, maxBytes: mostBytes };
    const pause = { ms: options.pauseMs, clock: options.clock };
    this.#log = new RequestLog({ ...options, limits, pause, level: 1 });
  }

  get records(): readonly MeasurementRecord[] {
    return this.#log.records;
  }

  /** Requests, decoded bytes and milliseconds of this run. */
  get spent() {
    return this.#log.cost;
  }

  /** @throws StopRun when the run must end: budget, repeated time-outs, endpoint unreachable, cancelled */
  async ask(question: Question): Promise<Outcome> {
    for (let attempt = 1; ; attempt++) {
      this.#checkEnd();
      const outcome = await this.#askOnce(question);
      if (!("waitMs" in outcome)) return outcome;
      const { unreachable, record } = outcome;
      if (attempt >= attemptsPerQuery) {
        if (unreachable) throw new StopRun("unreachable");
        return { ok: false, why: "failed", tooLarge: false, record };
      }
      const waitMs = outcome.waitMs * (outcome.told ? 1 : 2 ** (attempt - 1));
      if (waitMs > Math.min(longestWaitMs, this.#options.budget.ms - this.spent.ms))
        throw new StopRun(unreachable ? "unreachable" : "busy");
      await this.#pause(waitMs);
    }
  }

  #checkEnd(): void {
    if (this.#options.signal.aborted) throw new StopRun("cancelled");
    if (this.#log.isSpent || this.records.length >= mostRecords) throw new StopRun("budget");
    if (this.#timeouts >= timeoutsInARow || this.#failures >= failuresInARow) throw new StopRun("timeouts");
  }

  async #askOnce({ query, ...question }: Question): Promise<Outcome | Postponed> {
    const attempt = await this.#log.ask(query, question).catch((thrown) => {
      throw new StopRun("cancelled", thrown);
    });
    if (attempt === undefined) throw new StopRun("budget");
    if (attempt.value === undefined) return this.#unanswered(attempt);
    const { value: answer, record, durationMs } = attempt;
    this.#timeouts = 0;
    this.#failures = 0;
    const partial = answer.partial !== undefined;
    if (partial) this.#suspectLimit(durationMs);
    return { ok: true, answer, record, sound: !partial && durationMs < 0.8 * this.#suspectedLimitMs };
  }

  #unanswered({ error, why, record, durationMs }: Failed): Unanswered | Postponed {
    if (error.code === "ADDRESS_REFUSED" || error.code === "INTERNAL") throw error;
    const retry = retries[error.code];
    if (retry !== undefined) {
      const { retryAfterMs } = error.details;
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

  /** @throws StopRun "cancelled" when the signal aborts meanwhile */
  async #pause(ms: number): Promise<void> {
    const { clock, signal } = this.#options;
    await sleep(ms, { clock, signal });
    if (signal.aborted) throw new StopRun("cancelled");
  }
}

/** Errors with which nothing is wrong with the query: it is asked again later. */
const retries: Partial<Record<ErrorCode, "busy" | "unreachable">> = {
  ENDPOINT_RATE_LIMITED: "busy",
  ENDPOINT_BUSY: "busy",
  CIRCUIT_OPEN: "unreachable",
  ENDPOINT_UNREACHABLE: "unreachable",
};

/** Ends a run from any depth before everything is known; never leaves the describer. */
export class StopRun extends Error {
  override readonly name = "StopRun";
  readonly reason: "lists" | "budget" | "timeouts" | "busy" | "unreachable" | "cancelled";

  constructor(reason: StopRun["reason"], cause?: unknown) {
    super(`The run ends: ${reason}`, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
