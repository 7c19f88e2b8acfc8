import type { RunStatus } from "./records.ts";

/** A query of a session. */
interface QueryCall {
  readonly kind: "query";
  /** Absent: none was opened. */
  readonly run?: string | undefined;
  /** When it began, in milliseconds since the epoch. */
  readonly atMs: number;
  readonly ms: number;
  /** The same for the same text sent to the same target. */
  readonly key: string;
  readonly status: RunStatus;
  readonly code?: string | undefined;
  readonly repairs: number;
  /** Endpoints that its plan names. */
  readonly named: readonly string[];
  /** Endpoints that a request was sent to. */
  readonly contacted: readonly string[];
  /** Those that gave rows, or an unknown number of them. */
  readonly gave: readonly string[];
  readonly rows?: number | undefined;
  readonly requests: number;
  readonly bytes: number;
  /** The question that the query is meant to answer, where it is known, and its text. */
  readonly answers?: { readonly question: string; readonly query: string } | undefined;
}

/** Another tool's call in a session. */
interface ToolCall {
  readonly kind: "tool";
  readonly atMs: number;
  readonly ms: number;
  readonly tool: string;
  /** It shows what endpoints hold, or how to write a query. */
  readonly informs: boolean;
  /** Requests to endpoints. */
  readonly requests?: number | undefined;
  /** Why it failed. */
  readonly code?: string | undefined;
  /** A query that it submitted. */
  readonly query?: string | undefined;
}

export type SessionCall = QueryCall | ToolCall;

/** Reference sets of the figures. */
interface FigureOptions {
  /** Every endpoint that the session could have named. */
  readonly offered: readonly string[];
  /** Endpoints that hold matches for the question, where known (in a benchmark). */
  readonly holding?: readonly string[] | undefined;
}

/** The figures of a session; the schema of `GET /api/sessions/{id}` describes each of them. */
export type SessionFigures = ReturnType<typeof sessionFigures>;

/**
 * How a session went, as agents are judged by it (*Agentic SPARQL*, section 4). Shares are from 0 to 1 and null where nothing
 * can be said: of no query, or without knowing what endpoints hold.
 * @param calls in order of their starts
 */
export function sessionFigures(calls: readonly SessionCall[], { offered, holding }: FigureOptions) {
  const queries = calls.filter((call) => call.kind === "query");
  const parsed = queries.filter(wasParsed);
  const planned = queries.filter(({ named }) => named.length > 0);
  const answered = planned.filter(({ status }) => status === "ok" || status === "empty");
  const namesAll = ({ named }: QueryCall): boolean =>
    offered.length > 1 && offered.every((endpoint) => named.includes(endpoint));
  const informedAtMs = calls.find((call) => call.kind === "tool" && call.informs)?.atMs ?? Number.POSITIVE_INFINITY;
  const contacted = new Set(queries.flatMap((query) => query.contacted));
  const corrections = queries.filter((query, index) => isCorrection(query, queries[index - 1]));
  const firstRows = queries.find(({ status, rows }) => status === "ok" || (rows ?? 0) > 0);
  return {
    queries: queries.length,
    tools: toolCounts(calls),
    outcomes: outcomeCounts(queries),
    validity: share(parsed, ({ code }) => code !== "QUERY_SYNTAX" && code !== "UPDATE_REFUSED"),
    informed: share(queries, ({ atMs }) => atMs > informedAtMs),
    consultation: share(holding ?? [], (endpoint) => contacted.has(endpoint)),
    allEndpoints: share(planned, namesAll),
    trivial: share(answered, (query) => namesAll(query) && query.gave.length < query.named.length),
    repeated: queries.length - new Set(queries.map(({ key }) => key)).size,
    corrections: corrections.length,
    corrected: corrections.filter(({ status }) => status === "ok").length,
    switches: planned.filter(({ named }, index) => index > 0 && !isSame(named, planned[index - 1]?.named ?? [])).length,
    repairs: sum(queries, ({ repairs }) => repairs),
    firstRowsMs: firstRows ? Math.round(firstRows.atMs + firstRows.ms - (calls[0]?.atMs ?? firstRows.atMs)) : null,
    requests: sum(queries, ({ requests }) => requests),
    bytes: sum(queries, ({ bytes }) => bytes),
  };
}

/** A request that is refused for what it names is not parsed. */
const unparsed: ReadonlySet<string> = new Set([
  "ENDPOINT_UNKNOWN",
  "FEDERATION_UNKNOWN",
  "REQUEST_INVALID",
  "QUERY_TOO_LARGE",
  "INTERNAL",
]);

const wasParsed = ({ named, code }: QueryCall): boolean =>
  named.length > 0 || code === undefined || !unparsed.has(code);

const isCorrection = (query: QueryCall, before: QueryCall | undefined): boolean =>
  before !== undefined && (before.status === "failed" || before.status === "empty") && before.key !== query.key;

const isSame = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((endpoint) => right.includes(endpoint));

function toolCounts(calls: readonly SessionCall[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const call of calls) if (call.kind === "tool") counts.set(call.tool, (counts.get(call.tool) ?? 0) + 1);
  return Object.fromEntries(counts);
}

function outcomeCounts(queries: readonly QueryCall[]) {
  const count = (wanted: RunStatus): number => queries.filter(({ status }) => status === wanted).length;
  return {
    ok: count("ok"),
    empty: count("empty"),
    partial: count("partial"),
    failed: count("failed"),
    cancelled: count("cancelled"),
  };
}

const sum = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((total, item) => total + of(item), 0);

const share = <T>(items: readonly T[], holds: (item: T) => boolean): number | null =>
  items.length === 0 ? null : items.filter(holds).length / items.length;
