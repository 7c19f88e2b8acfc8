import { type FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import { type Clock, sleep } from "../../clock.ts";
import type { AskedAnswer, AskedEndpoint, Asker } from "../catalog/asking.ts";
import type { MeasurementRecord } from "../void/void-description.ts";
import { StopRun } from "./stop-run.ts";
import { type Failure, failureOf } from "./failures.ts";

/** One query of the description. */
export interface Question {
  readonly query: string;
  readonly rung: MeasurementRecord["rung"];
  readonly maxRows?: number;
}

/** A whole answer arrived, perhaps a partial one. */
export interface Answered {
  readonly ok: true;
  readonly answer: AskedAnswer;
  readonly record: number;
  /** Nothing speaks against it: not partial, and clearly faster than the endpoint's suspected time limit. */
  readonly sound: boolean;
}

/** No answer came to this query; others may be answered. */
export interface Unanswered {
  readonly ok: false;
  readonly why: "timeout" | "refused" | "failed" | "too-large";
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

/** Requests, decoded bytes and milliseconds of this run. */
export interface Spent {
  readonly requests: number;
  readonly bytes: number;
  readonly ms: number;
}

/** The conversation with one endpoint: one request at a time, within the budget, every request on record. */
export interface Session {
  /** @throws StopRun when the run must end: budget, repeated time-outs, endpoint gone, cancelled */
  ask(question: Question): Promise<Outcome>;
  readonly records: readonly MeasurementRecord[];
  readonly spent: Spent;
  /** Requests that are left. */
  readonly requestsLeft: number;
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

interface SessionState {
  readonly records: MeasurementRecord[];
  readonly startedMs: number;
  requests: number;
  bytes: number;
  timeouts: number;
  failures: number;
  asked: boolean;
  suspectedLimitMs: number;
}

/** Opens the conversation; its clock starts now. */
export function openSession(options: SessionOptions): Session {
  const { clock, budget } = options;
  const state: SessionState = {
    records: [...options.records],
    startedMs: clock.now(),
    requests: 0,
    bytes: 0,
    timeouts: 0,
    failures: 0,
    asked: false,
    suspectedLimitMs: Number.POSITIVE_INFINITY,
  };
  return {
    ask: (question) => converse(options, state, question),
    records: state.records,
    get spent() {
      return { requests: state.requests, bytes: state.bytes, ms: clock.now() - state.startedMs };
    },
    get requestsLeft() {
      return Math.max(0, budget.requests - state.requests);
    },
  };
}

async function converse(options: SessionOptions, state: SessionState, question: Question): Promise<Outcome> {
  for (let attempt = 1; ; attempt++) {
    await readyToAsk(options, state);
    const outcome = await once(options, state, question);
    if (!("waitMs" in outcome)) {
      await options.afterEach();
      return outcome;
    }
    if (attempt >= attemptsPerQuery) {
      if (outcome.gone) throw new StopRun("unreachable");
      return { ok: false, why: "failed", record: outcome.record };
    }
    const waitMs = outcome.waitMs * (outcome.told ? 1 : 2 ** (attempt - 1));
    if (waitMs > Math.min(longestWaitMs, msLeft(options, state)))
      throw new StopRun(outcome.gone ? "unreachable" : "busy");
    await pause(options, waitMs);
  }
}

const msLeft = ({ clock, budget }: SessionOptions, state: SessionState): number =>
  budget.ms - (clock.now() - state.startedMs);

async function readyToAsk(options: SessionOptions, state: SessionState): Promise<void> {
  const { budget, signal, pauseMs } = options;
  if (signal.aborted) throw new StopRun("cancelled");
  if (
    state.records.length >= mostRecords ||
    state.requests >= budget.requests ||
    state.bytes >= budget.bytes ||
    msLeft(options, state) <= 0
  )
    throw new StopRun("budget");
  if (state.timeouts >= timeoutsInARow || state.failures >= failuresInARow) throw new StopRun("timeouts");
  if (state.asked && pauseMs > 0) await pause(options, pauseMs);
  state.asked = true;
}

/** The endpoint is to be asked again later. */
interface Postponed {
  readonly waitMs: number;
  /** The endpoint itself named the time. */
  readonly told: boolean;
  /** It could not be reached at all. */
  readonly gone: boolean;
  readonly record: number;
}

async function once(options: SessionOptions, state: SessionState, question: Question): Promise<Outcome | Postponed> {
  const { clock, endpoint, signal, asker } = options;
  const startedMs = clock.now();
  try {
    const answer = await asker.ask({
      endpoint,
      query: question.query,
      signal,
      timeoutMs: Math.max(1, Math.min(options.queryTimeoutMs, msLeft(options, state))),
      maxRows: question.maxRows ?? mostRows,
      maxBytes: Math.max(1, Math.min(mostBytes, options.budget.bytes - state.bytes)),
    });
    return answered(options, state, { question, answer, startedMs });
  } catch (thrown) {
    const error = toFedwayError(thrown);
    if (signal.aborted || error.code === "CANCELLED") throw new StopRun("cancelled", error);
    if (error.code === "ADDRESS_REFUSED" || error.code === "INTERNAL") throw error;
    return unanswered(options, state, { question, error, startedMs });
  }
}

function answered(
  options: SessionOptions,
  state: SessionState,
  {
    question,
    answer,
    startedMs,
  }: { readonly question: Question; readonly answer: AskedAnswer; readonly startedMs: number },
): Answered {
  const durationMs = options.clock.now() - startedMs;
  const partial = answer.partial !== undefined || answer.httpStatus === 206;
  state.requests += Math.max(1, answer.requests);
  state.bytes += answer.bytes;
  state.timeouts = 0;
  state.failures = 0;
  if (partial) suspectLimit(state, durationMs);
  const record = note(state, {
    question,
    startedMs,
    durationMs,
    outcome: partial ? "partial" : "ok",
    httpStatus: answer.httpStatus,
  });
  return { ok: true, answer, record, sound: !partial && durationMs < 0.8 * state.suspectedLimitMs };
}

function unanswered(
  options: SessionOptions,
  state: SessionState,
  {
    question,
    error,
    startedMs,
  }: { readonly question: Question; readonly error: FedwayError; readonly startedMs: number },
): Unanswered | Postponed {
  const failure: Failure = failureOf(error);
  const durationMs = options.clock.now() - startedMs;
  state.requests += 1;
  const record = note(state, {
    question,
    startedMs,
    durationMs,
    outcome: failure.outcome,
    ...(error.details.upstreamStatus !== undefined && { httpStatus: error.details.upstreamStatus }),
  });
  if (failure.postpone) {
    const { retryAfterMs } = error.details;
    const told = retryAfterMs !== undefined;
    return { waitMs: retryAfterMs ?? Math.max(1000, options.pauseMs), told, gone: failure.gone, record };
  }
  state.timeouts = failure.why === "timeout" ? state.timeouts + 1 : 0;
  state.failures = failure.why === "failed" || failure.why === "timeout" ? state.failures + 1 : 0;
  if (failure.why === "timeout" || failure.why === "failed") suspectLimit(state, durationMs);
  return { ok: false, why: failure.why, record };
}

function suspectLimit(state: SessionState, durationMs: number): void {
  if (durationMs >= shortestLimitMs) state.suspectedLimitMs = Math.min(state.suspectedLimitMs, durationMs);
}

interface Happening {
  readonly question: Question;
  readonly startedMs: number;
  readonly durationMs: number;
  readonly outcome: MeasurementRecord["outcome"];
  readonly httpStatus?: number;
}

function note(state: SessionState, happening: Happening): number {
  const { question, startedMs, durationMs, outcome, httpStatus } = happening;
  const { query } = question;
  const record: MeasurementRecord = {
    rung: question.rung,
    query: query.length > longestQueryText ? `${query.slice(0, longestQueryText)}…` : query,
    durationMs: Math.round(durationMs),
    at: new Date(startedMs).toISOString(),
    outcome,
    ...(httpStatus !== undefined && { httpStatus }),
  };
  state.records.push(record);
  return state.records.length - 1;
}

/** @throws StopRun "cancelled" when the signal aborts meanwhile */
async function pause({ clock, signal }: Pick<SessionOptions, "clock" | "signal">, ms: number): Promise<void> {
  await sleep(ms, { clock, signal });
  if (signal.aborted) throw new StopRun("cancelled");
}
