import type { SourceReport } from "../engine/reports.ts";
import { endedReports } from "../engine/executor.ts";
import { createHeldBytes, type HeldErrors, type HeldTogether } from "../engine/held-bytes.ts";
import { lacksRows, partialKind, type PartialKind } from "../engine/completeness.ts";
import { FedwayError, type Problem, toFedwayError, toProblem } from "../errors/fedway-error.ts";
import type { PlanNote } from "../plan/query-plan.ts";
import type { Bindings, QueryResult } from "../results/model.ts";
import { termToText } from "../results/terms.ts";
import type { ChosenBy, PlanDescription, RunStatus } from "./records.ts";
import { toPlanDescription } from "./explain.ts";
import { notesOf, planNotes } from "./answer-notes.ts";
import { brokenOff, completed, type RunEnd } from "./run-log.ts";
import type { StartedRun } from "./start-run.ts";

/** An answer with its rows as a table, and how it went. */
export interface TabularAnswer {
  readonly run: string;
  readonly status: RunStatus;
  /** Of a partial answer. */
  readonly partial?: PartialKind | undefined;
  readonly plan: PlanDescription;
  readonly columns: readonly string[];
  /** One array a row, in column order; each cell an RDF term in N-Triples/TSV syntax, null where unbound. */
  readonly rows: readonly (readonly (string | null)[])[];
  /** Answer of ASK. */
  readonly boolean?: boolean | undefined;
  /** `maxRows` cut the answer. */
  readonly truncated: boolean;
  readonly sources: readonly SourceReport[];
  readonly notes: readonly PlanNote[];
  /** The facts by which endpoints were left out. */
  readonly facts?: ChosenBy | undefined;
  /** Why the answer is partial, failed or, where that was asked for and is known, empty, false or 0; else null. */
  readonly diagnosis: Problem | null;
}

/** The table of an answer that failed before its first row. */
export const noTable: Table = { columns: [], rows: [], truncated: false };

/**
 * True if a query has aggregates without GROUP BY, so that it has one row even where its patterns have no solutions.
 * Words in strings count too: a true result is worth a question, no more.
 */
export const mayCountNothing = (query: string): boolean =>
  /\b(?:COUNT|SUM|AVG|MIN|MAX|SAMPLE|GROUP_CONCAT)\s*\(/i.test(query) && !/\bGROUP\s+BY\b/i.test(query);

/** True if a whole answer looks like that of patterns without solutions: no rows, ASK false, or aggregates that are 0 or unbound. */
export function isOfNothing(query: string, rows: Table["rows"], boolean?: boolean): boolean {
  if (boolean !== undefined) return !boolean;
  const [row, ...others] = rows;
  if (row === undefined || others.length > 0) return row === undefined;
  return mayCountNothing(query) && row.every((cell) => cell === null || /^"(?:0(?:\.0+)?(?:e0)?)?"/i.test(cell));
}

/** Ends a run whose rows are collected. Rows before a failure are kept only when partial answers were asked for. */
export function toTabularAnswer(run: StartedRun, table: Table, thrown: unknown = table.error): TabularAnswer {
  const { id, plan, bounds } = run;
  const kept = thrown !== undefined && !bounds.partial ? { ...noTable, columns: table.columns } : table;
  const end = endOf(run, kept, thrown);
  run.end(end);
  return {
    run: id,
    status: end.status,
    partial: end.partial,
    plan: toPlanDescription(plan),
    columns: kept.columns,
    rows: kept.rows,
    boolean: kept.boolean,
    truncated: kept.truncated,
    // As they are now: what ends later, as its answer is no longer read, changes nothing of this one.
    sources: endedReports(bounds.sources.values()),
    notes: notesOf(planNotes(plan, end.status), bounds.sources.values(), run.facts),
    facts: run.facts,
    diagnosis: diagnosisOf(run, end),
  };
}

/** Why an answer is failed or partial. One that only `maxRows` cut needs no diagnosis: `truncated` says it. */
function diagnosisOf({ id, bounds }: StartedRun, { error, partial }: RunEnd): Problem | null {
  if (error) return toProblem(error, id);
  const lacking = [...bounds.sources.values()].filter(lacksRows);
  const [first] = lacking;
  if (!first) return null;
  const how = lacking.map(({ endpoint, status, reason }) => `${endpoint} ${status}${reason ? ` (${reason})` : ""}`);
  const isUncertain = partial === "uncertain";
  const details = {
    fault: "partial",
    where: { endpoint: first.endpoint },
    next: isUncertain
      ? "Ask with partial=subset to get no row that is not certain, or without partial to get all or nothing."
      : "The sources say what each endpoint gave; narrow the query or ask again without partial.",
  } as const;
  const effect = isUncertain
    ? "Some rows may be wrong, because the query uses MINUS, counts or OPTIONAL on missing data"
    : "Rows are missing";
  return toProblem(new FedwayError("ENDPOINT_PARTIAL", `${effect}: ${how.join(", ")}.`, details), id);
}

function endOf(run: StartedRun, { rows, boolean, truncated }: Table, thrown: unknown): RunEnd {
  if (thrown !== undefined && rows.length === 0) return brokenOff(run.fail(thrown));
  if (thrown === undefined && !truncated) {
    return completed(run.plan, run.bounds, boolean === undefined ? rows.length : undefined);
  }
  const partial = partialKind(run.plan, run.bounds) ?? "subset";
  const error = thrown === undefined ? {} : { error: toFedwayError(thrown) };
  return { status: "partial", partial, rows: rows.length, ...error };
}

/** Rows of an answer as text cells. */
interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | null)[])[];
  /** Answer of ASK. */
  readonly boolean?: boolean | undefined;
  /** There were more rows than wanted; the rest was not asked for. */
  readonly truncated: boolean;
  /** Error that ended the stream of rows early. */
  readonly error?: FedwayError;
}

/** Bytes of one table's cells. */
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
  for await (const row of result.rows) yield cellsOfRow(result.variables, row);
}

/** The terms of a solution as text. */
export const cellsOfRow = (variables: readonly string[], row: Bindings): (string | null)[] =>
  variables.map((name) => {
    const term = row.get(name);
    return term ? termToText(term) : null;
  });
