import { createHash } from "node:crypto";
import type { SessionCall } from "./session-figures.ts";

/** A question with the query that answered it. */
export interface AnsweredQuestion {
  readonly question: string;
  readonly query: string;
  /** Ids of the endpoints that its plan named. */
  readonly endpoints: readonly string[];
  readonly rows: number | null;
}

/** The questions of a session whose last query ended `ok`: that one was accepted, those before it were not. */
export function answeredQuestions(calls: readonly SessionCall[]): readonly AnsweredQuestion[] {
  const last = new Map(
    calls.flatMap((call) => (call.kind === "query" && call.answers ? [[call.answers.question, call] as const] : [])),
  );
  return [...last.values()].flatMap(({ answers, status, named, rows = null }) =>
    answers && status === "ok" ? [{ ...answers, endpoints: named, rows }] : [],
  );
}

const hex = (text: string, digits: number): string => createHash("sha256").update(text).digest("hex").slice(0, digits);
const nanoseconds = (ms: number): string => `${Math.round(ms * 1_000)}000`;

type Value = string | number | readonly string[] | undefined;

/** A session as one trace in OTLP/JSON, by the semantic conventions of OpenTelemetry for GenAI; without texts of queries. */
export function otlpTrace(session: string, calls: readonly SessionCall[], version: string) {
  const [startMs, endMs] = [calls[0]?.atMs ?? 0, Math.max(0, ...calls.map(({ atMs, ms }) => atMs + ms))];
  const traceId = hex(`${session} ${startMs}`, 32);
  const rootId = hex(`${traceId} root`, 16);
  const span = (name: string, spanId: string, { at, code, attributes }: SpanParts) => ({
    traceId,
    spanId,
    ...(spanId !== rootId && { parentSpanId: rootId }),
    name,
    // SPAN_KIND_INTERNAL
    kind: 1,
    startTimeUnixNano: nanoseconds(at[0]),
    endTimeUnixNano: nanoseconds(at[1]),
    attributes: attributesOf({ "gen_ai.conversation.id": session, ...attributes, "error.type": code }),
    // STATUS_CODE_ERROR, STATUS_CODE_UNSET
    status: { code: code === undefined ? 0 : 2 },
  });
  const root = { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "fedway client" };
  const spans = calls.map((call, at) => {
    const tool = call.kind === "tool" ? call.tool : "run_query";
    return span(`execute_tool ${tool}`, hex(`${traceId} ${at}`, 16), {
      at: [call.atMs, call.atMs + call.ms],
      code: call.code,
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.type": "function",
        ...queryAttributes(call),
      },
    });
  });
  const whole = span("invoke_agent", rootId, { at: [startMs, endMs], code: undefined, attributes: root });
  const scopeSpans = [{ scope: { name: "fedway", version }, spans: [whole, ...spans] }];
  const resource = { attributes: attributesOf({ "service.name": "fedway", "service.version": version }) };
  return { resourceSpans: [{ resource, scopeSpans }] };
}

interface SpanParts {
  /** Milliseconds since the epoch. */
  readonly at: readonly [start: number, end: number];
  readonly code: string | undefined;
  readonly attributes: Readonly<Record<string, Value>>;
}

const queryAttributes = (call: SessionCall): Readonly<Record<string, Value>> =>
  call.kind === "tool"
    ? {}
    : {
        "db.system.name": "sparql",
        "db.response.returned_rows": call.rows,
        "fedway.status": call.status,
        "fedway.endpoints": call.named,
        "fedway.requests": call.requests,
      };

const attributesOf = (values: Readonly<Record<string, Value>>) =>
  Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: anyValue(value) }]));

/** 64-bit integers are strings in JSON of Protocol Buffers. */
function anyValue(value: Exclude<Value, undefined>): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "number") return { intValue: String(value) };
  return { arrayValue: { values: value.map((each) => ({ stringValue: each })) } };
}
