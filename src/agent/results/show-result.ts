import type { Repair } from "../../errors/fedway-error.ts";
import type { TabularAnswer } from "../../query/table.ts";
import { plainText } from "../../rdf/display-text.ts";
import type { Reply } from "../reply.ts";
import type { Hint } from "../tool.ts";
import { type ResultPage, resultPage, type RowFormat } from "./result-page.ts";
import type { KeptResult } from "./result-store.ts";

/** How a result is shown. */
interface Showing {
  /** Rows before the first one shown. */
  readonly offset: number;
  readonly maxRows: number;
  readonly format: RowFormat;
  readonly hint: Hint;
  /** The query was not run again. */
  readonly isCached?: boolean;
  /** Repairs of the query before it was run. */
  readonly repairs?: readonly Repair[] | undefined;
}

/** A handle is missing where the result was too large to be kept. */
type Shown = Pick<KeptResult, "query" | "answer"> & { readonly id: string | undefined };

/** The resource that has all rows of a result. */
export const resultUri = (id: string): string => `fedway://results/${id}`;

const mostNotes = 3;
const mostSources = 6;

/** A page of a result as the reply of a tool: outcome, counts, diagnosis, rows, and where the others are. */
export function showResult(
  { id, query, answer }: Shown,
  { hint, isCached = false, repairs = [], ...request }: Showing,
): Reply {
  const { run, status, diagnosis, rows } = answer;
  const page = resultPage({ query, answer }, request);
  const rest = restOf(id, page);
  const { offset } = request;
  const cached = isCached ? " (cached: this query was run before)" : "";
  const isExplained = status !== "ok" || diagnosis !== null;
  const notes = notesOf(answer);
  return {
    status: [
      `status: ${statusText(answer)}${cached}; ${countText(answer, page, offset)}`,
      // What explains a run is asked for by its id.
      isExplained ? `run: ${run}` : "",
      sourcesText(answer),
    ],
    cause: diagnosis,
    rows: rows.length === 0 ? [] : [page.text, ...restText(rest, hint)],
    notes,
    repairs,
    suggested: diagnosis?.suggested ?? instead(answer.notes),
    data: {
      ...dataOf(answer),
      notes,
      repairs,
      cached: isCached,
      offset,
      rows_shown: page.shown,
      ...(rows.length > 0 && page.data),
      ...rest,
    },
    failed: status === "failed" || status === "cancelled",
  };
}

/** The query that a note says to send instead. */
export const instead = (notes: TabularAnswer["notes"]): string | undefined => notes.find(({ query }) => query)?.query;

/** COUNT, SUM and the like give a row also where nothing matches: that row says nothing of the data. */
const isOfNothing = ({ status, diagnosis }: TabularAnswer): boolean =>
  status === "ok" && diagnosis?.code.startsWith("EMPTY_") === true;

const statusText = (answer: TabularAnswer): string =>
  isOfNothing(answer) ? "empty: nothing matched, and the row below aggregates nothing" : answer.status;

/** Notes of how a query was planned. */
const routine: ReadonlySet<string> = new Set(["MEMBERS_LEFT_OUT", "CLAUSES_COLOCATED"]);

/** Notes of a run on which a reader of its rows can act. */
export const notesOf = ({ notes }: Pick<TabularAnswer, "notes">): readonly string[] =>
  notes
    .filter(({ code }) => !routine.has(code))
    .slice(0, mostNotes)
    .map(({ message }) => plainText(message, 200));

const restOf = (id: string | undefined, { next }: ResultPage) =>
  id === undefined || next === undefined
    ? { next_cursor: undefined, resource: undefined }
    : { next_cursor: `${id}:${next}`, resource: resultUri(id) };

const restText = ({ next_cursor: cursor, resource }: ReturnType<typeof restOf>, hint: Hint): readonly string[] =>
  cursor === undefined
    ? []
    : [
        hint(`next rows: {run_query} with {run_query.cursor}=${cursor}`) ?? `next rows: ${cursor}`,
        `all rows: resource ${resource}`,
      ];

function dataOf(answer: TabularAnswer) {
  const { run, status, boolean, columns, rows, sources } = answer;
  return {
    run,
    status,
    ...(boolean !== undefined && { boolean }),
    ...(isOfNothing(answer) && { aggregates_of_nothing: true }),
    columns,
    // Unknown is not what was received.
    rows_total: status === "ok" || status === "empty" ? rows.length : null,
    rows_received: rows.length,
    sources: sources.slice(0, 20).map((source) => ({
      endpoint: source.endpoint,
      status: stateOf(source, answer),
      rows: source.rows ?? null,
    })),
  };
}

/** Shown rows and their total: unknown is not 0. */
function countText(answer: TabularAnswer, { shown, last }: ResultPage, offset: number): string {
  const { boolean, rows, status } = answer;
  if (boolean !== undefined) return `answer: ${boolean}`;
  if (status === "failed" || status === "cancelled") return "no rows were received, which is not an empty answer";
  if (rows.length === 0) return status === "empty" ? "0 rows" : "no rows were received, others may be missing";
  const end = last === 0 ? "" : ` and the last ${last}`;
  return `rows ${offset + 1}-${offset + shown}${end} of ${totalText(answer)}`;
}

function totalText({ rows, truncated, status }: TabularAnswer): string {
  if (truncated) return `more than ${rows.length}`;
  return status === "partial" ? `at least ${rows.length}, as rows are missing` : String(rows.length);
}

function sourcesText(answer: TabularAnswer): string {
  const { sources } = answer;
  const told = sources.slice(0, mostSources).map((source) => {
    const state = stateOf(source, answer);
    return `${plainText(source.endpoint, 60)} ${state === "ok" ? "" : `${state} `}${source.rows ?? "?"}`;
  });
  const more = sources.length > mostSources ? `, and ${sources.length - mostSources} more` : "";
  return told.length === 0 ? "" : `endpoints (rows received): ${told.join(", ")}${more}`;
}

/** A source that had more to give than was wanted is no fault. */
function stateOf({ status: state }: TabularAnswer["sources"][number], { status, truncated }: TabularAnswer): string {
  if (state !== "cancelled") return state;
  if (truncated) return "stopped at the row limit";
  return status === "ok" || status === "empty" ? "stopped, as no more was needed" : state;
}
