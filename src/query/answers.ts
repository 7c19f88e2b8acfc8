import { LRUCache } from "lru-cache";
import type { AnswerBytes } from "../engine/executor.ts";
import { FedwayError, toFedwayError, type Problem, toProblem } from "../errors/fedway-error.ts";
import type { QueryPlan, DirectPlan, FederatedPlan, PlannedEndpoint } from "../plan/query-plan.ts";
import { type ResultFormat, resultFormats } from "../results/formats.ts";
import { isWhole } from "../results/gathered-body.ts";
import type { AnswerKind, QueryResult } from "../results/model.ts";
import { negotiateFormat } from "../results/negotiation.ts";
import type { QueryAnswer, QueryRequest, TabularAnswer, PlanDescription } from "./query-service.ts";
import { type RunEnd, brokenOff, completed, firstByteStatus, lacksRows } from "./run-log.ts";
import type { StartedRun } from "./start-run.ts";
import { createHeldBytes, type HeldErrors, type HeldTogether } from "../engine/held-bytes.ts";
import { termToText } from "../results/terms.ts";
import { describePlan } from "../plan/print-plan.ts";

const negotiated = new LRUCache<string, ResultFormat>({ max: 500 });
const longestKept = 1_000;

/** The format the client gets. @throws FedwayError `NOT_ACCEPTABLE` */
export function wantedFormat(kind: AnswerKind, { accept = "", format = "" }: QueryRequest): ResultFormat {
  const key = `${kind} ${format}\n${accept}`;
  const known = negotiated.get(key);
  if (known) return known;
  const wanted = negotiateFormat(kind, { accept, format });
  if (!wanted) throw notAcceptable(kind, format);
  if (key.length < longestKept) negotiated.set(key, wanted);
  return wanted;
}

function notAcceptable(kind: AnswerKind, format: string): FedwayError {
  const offered = resultFormats.filter(({ kinds, writable }) => writable && kinds.includes(kind));
  const wanted = format === "" ? "None of the formats in Accept" : `No format "${format.slice(0, 50)}"`;
  return new FedwayError("NOT_ACCEPTABLE", `${wanted} can carry ${kind}.`, {
    next: `Ask for one of ${offered.map(({ name, mediaType }) => `${mediaType} (${name})`).join(", ")}.`,
  });
}

/** What a shell sends for a started run. */
export function toQueryAnswer(
  { id, plan, cached, bounds, planMs }: StartedRun,
  { body, contentEncoding, rows }: AnswerBytes,
  { format, firstByteMs }: { readonly format: ResultFormat; readonly firstByteMs: number },
): QueryAnswer {
  if (plan.kind === "rejected") throw new Error("A rejected plan has no answer");
  return {
    runId: id,
    plan,
    kind: plan.answer,
    contentType: format.contentType,
    contentEncoding,
    body,
    status: firstByteStatus(bounds.sources.values(), isWhole(body), rows),
    notes: plan.notes,
    timings: { planMs, firstByteMs, planCached: cached },
  };
}

/** The table of an answer that failed before its first row. */
export const noTable: Table = { columns: [], rows: [], truncated: false };

/** Ends a run whose rows are collected. Rows before a failure are kept only when partial answers were asked for. */
export function toTabularAnswer(run: StartedRun, table: Table, thrown: unknown = table.error): TabularAnswer {
  const { id, plan, bounds } = run;
  const kept = thrown !== undefined && !bounds.partial ? { ...noTable, columns: table.columns } : table;
  const end = endOf(run, kept, thrown);
  run.end(end);
  return {
    run: id,
    status: end.status,
    plan: toPlanDescription(plan),
    columns: kept.columns,
    rows: kept.rows,
    ...(kept.boolean !== undefined && { boolean: kept.boolean }),
    truncated: kept.truncated,
    sources: [...bounds.sources.values()],
    notes: plan.kind === "rejected" ? [] : plan.notes,
    diagnosis: diagnose(run, end),
  };
}

/** Why an answer is failed or partial. One that only `maxRows` cut needs no diagnosis: `truncated` says it. */
function diagnose({ id, bounds }: StartedRun, { error }: RunEnd): Problem | null {
  if (error) return toProblem(error, id);
  const lacking = [...bounds.sources.values()].filter(lacksRows);
  const [first] = lacking;
  if (!first) return null;
  const how = lacking.map(({ endpoint, status, reason }) => `${endpoint} ${status}${reason ? ` (${reason})` : ""}`);
  const details = {
    fault: "partial",
    where: { endpoint: first.endpoint },
    next: "The sources say what each endpoint gave; narrow the query or ask again without partial.",
  } as const;
  return toProblem(new FedwayError("ENDPOINT_PARTIAL", `Rows are missing: ${how.join(", ")}.`, details), id);
}

function endOf(run: StartedRun, { rows, boolean, truncated }: Table, thrown: unknown): RunEnd {
  if (thrown !== undefined && rows.length === 0) return brokenOff(run.fail(thrown));
  if (thrown !== undefined) return { status: "partial", rows: rows.length, error: toFedwayError(thrown) };
  if (truncated) return { status: "partial", rows: rows.length };
  return completed(run.bounds.sources.values(), boolean === undefined ? rows.length : undefined);
}

/** Rows of an answer as text cells. */
interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
  /** Answer of ASK. */
  readonly boolean?: boolean;
  /** There were more rows than wanted; the rest was not asked for. */
  readonly truncated: boolean;
  /** What ended the stream of rows early. */
  readonly error?: FedwayError;
}

/** Of one table's cells. */
const MOST_TABLE_BYTES = 32 * 1024 * 1024;
const together: HeldTogether = { most: 256 * 1024 * 1024, bytes: 0, holders: 0 };

/** The first rows of a result. Never throws: a failure is part of the table, beside the rows before it. */
export async function tabulate(result: QueryResult, maxRows: number): Promise<Table> {
  if (result.kind === "boolean") return { columns: [], rows: [], boolean: result.value, truncated: false };
  const columns = result.kind === "bindings" ? result.variables : ["subject", "predicate", "object"];
  const rows: (string | null)[][] = [];
  const held = createHeldBytes(MOST_TABLE_BYTES, together, tableErrors);
  const cellBytes = held.open();
  try {
    for await (const cells of cellsOf(result)) {
      if (rows.length === maxRows) return { columns, rows, truncated: true };
      cellBytes.add(cells.reduce((sum, cell) => sum + 2 * (cell?.length ?? 0), 0));
      rows.push(cells);
    }
    return { columns, rows, truncated: false };
  } catch (error) {
    return { columns, rows, truncated: false, error: toFedwayError(error) };
  } finally {
    held.close();
  }
}

const tableErrors: HeldErrors = {
  tooMuch: (most) =>
    new FedwayError("ANSWER_TOO_LARGE", `The table is larger than ${most / 1024 / 1024} MiB.`, {
      fault: "too-large",
      next: "Ask for fewer rows (maxRows) or columns, or send the query to /sparql, where answers of any size are streamed.",
    }),
  noRoomBesideOthers: () =>
    new FedwayError("SERVICE_BUSY", "Too many large tables are being made.", {
      retryAfterMs: 2_000,
      next: "Try again in a moment, or send the query to /sparql, where answers of any size are streamed.",
    }),
};

async function* cellsOf(result: Exclude<QueryResult, { kind: "boolean" }>): AsyncIterable<(string | null)[]> {
  if (result.kind === "quads") {
    for await (const { subject, predicate, object } of result.quads) yield [subject, predicate, object].map(termToText);
    return;
  }
  for await (const row of result.rows) {
    yield result.variables.map((name) => {
      const term = row.get(name);
      return term ? termToText(term) : null;
    });
  }
}

/** A plan as data for `/api/explain`. */
export function toPlanDescription(plan: QueryPlan): PlanDescription {
  const text = describePlan(plan);
  if (plan.kind === "rejected") {
    return { kind: plan.kind, endpoints: [], notes: [], problem: toProblem(plan.reason), text };
  }
  const { kind, answer, query, notes } = plan;
  return { kind, answer, endpoints: endpointsOf(plan), query, notes, text };
}

function endpointsOf(plan: DirectPlan | FederatedPlan): PlanDescription["endpoints"] {
  if (plan.kind === "direct") {
    return [{ ...named(plan.endpoint), clauses: 1, silent: plan.silent !== undefined }];
  }
  return plan.members.map(({ endpoint, clauses, silent }) => ({ ...named(endpoint), clauses, silent }));
}

function named({ id, url }: PlannedEndpoint): { endpoint: string; url: string } {
  return { endpoint: id ?? url, url };
}
