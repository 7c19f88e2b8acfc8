import type { AskAnswer, AskRequest } from "../../../../src/agent/ask/ask-answer.ts";
import { steadyClock } from "../../../../src/clock.ts";
import { isErrorCode } from "../../../../src/errors/codes.ts";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { withAdvice } from "../../../../src/errors/problem.ts";
import type { SessionCall } from "../../../../src/query/session-figures.ts";
import { isListOf, isObject, isOneOf } from "../../guards.ts";
import type { CallRecord, QuestionOutcome } from "../records.ts";
import { withRetries, type Ask, type Asked } from "./run-questions.ts";

/** A running service that answers questions, and the agent that it is to be. */
interface AskedService {
  readonly url: string;
  readonly token: string | undefined;
  readonly fetch: typeof fetch;
  readonly asked: Omit<AskRequest, "question"> & { readonly setup: { readonly timeoutMs?: number | undefined } };
  /** Id in the package by id in the catalogue. */
  readonly shards: ReadonlyMap<string, string>;
}

/** Time beyond that of the question after which the service counts as hanging. */
const graceMs = 60_000;

/** Asks questions by `POST /api/ask`, and reads what their calls took from `GET /api/sessions/{id}`. */
export const serviceAsker =
  (service: AskedService): Ask =>
  async ({ question }, signal) => {
    const startedMs = steadyClock.now();
    const timeout = AbortSignal.timeout((service.asked.setup.timeoutMs ?? 0) + graceMs);
    const within = AbortSignal.any([signal, timeout]);
    const body = JSON.stringify({ question, ...service.asked });
    try {
      const send = () => request(service, "/api/ask", { method: "POST", body, signal: within });
      const answer = await withRetries(send, (found) => !isAnswer(found.body) && isBusy(found.status), within);
      const ms = () => Math.round(steadyClock.now() - startedMs);
      if (!isAnswer(answer.body)) return serviceFailed(refusalIn(answer.body, answer.status), ms());
      const session = await request(service, `/api/sessions/${answer.body.session}?format=calls`, { signal: within });
      return askedOf(answer.body, { calls: callsIn(session.body), shards: service.shards, ms: ms() });
    } catch (error) {
      signal.throwIfAborted();
      if (!timeout.aborted) throw error;
      return serviceFailed("The service did not answer in time.", Math.round(steadyClock.now() - startedMs));
    }
  };

const isBusy = (status: number): boolean => status === 429 || status === 503;

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

async function request({ url, token, fetch: ask }: AskedService, path: string, init: RequestInit): Promise<Reply> {
  const headers = {
    "Content-Type": "application/json",
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
  };
  const response = await ask(url + path, { ...init, headers }).catch((cause: unknown) => {
    init.signal?.throwIfAborted();
    throw new FedwayError("ENDPOINT_UNREACHABLE", "The service could not be reached.", {
      next: "Check --service and that the service is running, then start the run again: it goes on.",
      cause,
    });
  });
  const body: unknown = await response.json().catch(() => undefined);
  return { status: response.status, body };
}

const isAnswer = (value: unknown): value is AskAnswer =>
  isObject(value) && "stopped" in value && "steps" in value && "session" in value;

const isCalls = isListOf(
  (value: unknown): value is SessionCall => isObject(value) && (value["kind"] === "query" || value["kind"] === "tool"),
);

function callsIn(body: unknown): readonly SessionCall[] {
  const calls = isObject(body) ? body["calls"] : undefined;
  return isCalls(calls) ? calls : [];
}

/** Why a question was not answered. @throws FedwayError when no other question would be answered either */
function refusalIn(body: unknown, status: number): string {
  const { code, detail, next } = isObject(body) ? body : {};
  const text = typeof detail === "string" ? detail : `The service answered with HTTP status ${status}.`;
  if (status >= 500 || status === 429) return text;
  const known = typeof code === "string" && isErrorCode(code) ? code : "ENDPOINT_FAILED";
  const advice = status === 404 ? "Start it with FEDWAY_CHAT and FEDWAY_CHAT_MODEL." : undefined;
  throw new FedwayError(known, text, { next: typeof next === "string" ? next : advice });
}

const serviceFailed = (why: string, ms: number): Asked => ({
  outcome: "service-failed",
  why,
  final: null,
  calls: [],
  turns: 0,
  tokens: { input: 0, output: 0, estimated: true },
  cost: null,
  ms,
});

interface Facts {
  readonly calls: readonly SessionCall[];
  readonly shards: AskedService["shards"];
  readonly ms: number;
}

function askedOf(answer: AskAnswer, { ms, ...facts }: Facts): Asked {
  const { stopped, query, turns, tokens, cost, diagnosis } = answer;
  const outcome = outcomeOf(stopped, query);
  const failed = outcome === "model-failed" || outcome === "time";
  return {
    outcome,
    why: failed ? whyOf(diagnosis) : reasons[stopped],
    final: query,
    calls: callRecords(answer.steps, facts),
    turns,
    tokens,
    cost,
    ms,
  };
}

const whyOf = (problem: AskAnswer["diagnosis"]): string | undefined => (problem ? withAdvice(problem) : undefined);

const reasons: Partial<Record<AskAnswer["stopped"], string>> = {
  answered: "The query was written as text and run; it was not submitted by a call.",
  rounds: "All corrections were used.",
};

function outcomeOf(stopped: AskAnswer["stopped"], query: string | null): QuestionOutcome {
  if (stopped === "rounds") return query === null ? "no-query" : "turns";
  const outcomes = { answered: "submitted", unknown: "gave-up", model: "model-failed" } as const;
  return stopped === "answered" || stopped === "unknown" || stopped === "model" ? outcomes[stopped] : stopped;
}

/** The steps of the agent with what the session knows of their runs; a repeated query that was not run again took nothing. */
function callRecords(steps: AskAnswer["steps"], { calls, shards }: Omit<Facts, "ms">): readonly CallRecord[] {
  const runs = new Map(
    calls.flatMap((call) => (call.kind === "query" && call.run !== undefined ? [[call.run, call] as const] : [])),
  );
  return steps.map(({ step: tool, atMs, ms, outcome, query, run = "" }) => {
    const call = { tool, atMs, ms, ...endOf(outcome) };
    if (query === undefined || tool === "submit_final_query") return call;
    const found = runs.get(run);
    if (found === undefined) return { ...call, query };
    runs.set(run, { ...found, contacted: [], requests: 0, bytes: 0 });
    const { rows, contacted, requests, bytes, repairs } = found;
    // Which endpoint is contacted first depends on the moment.
    const endpoints = contacted.map((id) => shards.get(id) ?? id).toSorted();
    return { ...call, query, rows, endpoints, requests, bytes, repairs };
  });
}

function endOf(outcome: string | undefined): Pick<CallRecord, "outcome" | "code"> {
  if (outcome !== undefined && isErrorCode(outcome)) return { code: outcome, outcome: "failed" };
  return { outcome: isRunOutcome(outcome) ? outcome : "ok" };
}

const isRunOutcome = isOneOf("ok", "empty", "partial", "failed", "cancelled");
