import { type Guard, isCount, isListOf, isOneOf, isText, optional } from "../guards.ts";

/** A call of an agent: a tool, or the model (`tool` is `model`). */
export interface CallRecord {
  readonly tool: string;
  /** Milliseconds since the question began. */
  readonly atMs: number;
  readonly ms: number;
  /** Of a query: its text as the agent wrote it. */
  readonly query?: string | undefined;
  /** Of a query: that of its run. Of another call: `ok` or `failed`. */
  readonly outcome?: "ok" | "empty" | "partial" | "failed" | "cancelled" | undefined;
  /** Error code of what failed. */
  readonly code?: string | undefined;
  /** Of a query: rows of its answer. */
  readonly rows?: number | undefined;
  /** Of a query: shards that were contacted, by id. */
  readonly endpoints?: readonly string[] | undefined;
  /** Requests to endpoints, and decoded bytes from them. */
  readonly requests?: number | undefined;
  readonly bytes?: number | undefined;
  /** Changes made to the text before it was run. */
  readonly repairs?: number | undefined;
}

/**
 * How a question ended. `submitted`: with a final query. `gave-up`: the agent said that it does not know. `no-query`: it never wrote
 * one. `turns`, `tokens`, `money`, `time`: a limit was reached before. `model-failed`: the model's service failed.
 * `service-failed`: Fedway failed. `missing`: a foreign trace lacks the question.
 */
export type QuestionOutcome =
  | "submitted"
  | "gave-up"
  | "no-query"
  | "turns"
  | "tokens"
  | "money"
  | "time"
  | "model-failed"
  | "service-failed"
  | "missing";

/** A line of `runs.jsonl`: what an agent did for one question. */
export interface QuestionRecord {
  /** Id in `questions.jsonl` of the package. */
  readonly question: string;
  readonly setup: string;
  readonly model: string;
  /** From 0, where questions are asked several times. */
  readonly repeat: number;
  readonly outcome: QuestionOutcome;
  readonly why?: string | undefined;
  /** The submitted query, else the last one that was run; null without any. */
  readonly final: string | null;
  /** In order; absent where a foreign trace does not say. */
  readonly calls?: readonly CallRecord[] | undefined;
  readonly turns: number;
  readonly tokens: { readonly input: number; readonly output: number; readonly estimated: boolean };
  /** In the currency of the configured price; null without one. */
  readonly cost: number | null;
  readonly ms: number;
}

/** True if the model or the service failed, which says nothing of how the question would be answered. */
export const isFailure = ({ outcome }: { readonly outcome: QuestionOutcome }): boolean =>
  outcome === "model-failed" || outcome === "service-failed";

const isString = (value: unknown): value is string => typeof value === "string";
export const isAmount = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 && value < 1e15;

/** Optional fields of a call beside its times, in files. */
export const callFields = {
  tool: isText,
  query: optional(isString),
  outcome: optional(isOneOf("ok", "empty", "partial", "failed", "cancelled")),
  code: optional(isString),
  rows: optional(isCount),
  endpoints: optional(isListOf(isString)),
  requests: optional(isCount),
  bytes: optional(isCount),
  repairs: optional(isCount),
} as const satisfies Readonly<Record<string, Guard<unknown>>>;

/** Of a question that nothing is known of. */
export const missing = {
  outcome: "missing",
  final: null,
  calls: [],
  turns: 0,
  tokens: { input: 0, output: 0, estimated: true },
  cost: null,
  ms: 0,
} as const satisfies Partial<QuestionRecord>;
