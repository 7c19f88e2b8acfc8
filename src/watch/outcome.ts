import { itemAt } from "../values.ts";
import { type ErrorCode, errorCatalog } from "../errors/codes.ts";
import { isOfNothing, mayCountNothing, type TabularAnswer } from "../query/table.ts";
import type { Outcome } from "./watch.ts";

const mostColumns = 30;
const mostKinds = 8;

/** Failures that say nothing of the data: the endpoint was not asked, or not reached, which is the monitor's to judge. */
const sayNothing: ReadonlySet<ErrorCode> = new Set([
  "ADDRESS_REFUSED",
  "CIRCUIT_OPEN",
  "ENDPOINT_BUSY",
  "ENDPOINT_RATE_LIMITED",
  "ENDPOINT_UNREACHABLE",
]);

const isOfEndpoint = (code: ErrorCode): boolean =>
  code === "DEADLINE_EXCEEDED" || (errorCatalog[code].silenceable && !sayNothing.has(code));

/** A run that says nothing. */
export const notRun = (atMs: number, why: string): Outcome => ({
  atMs,
  status: "not run",
  size: 0,
  ms: 0,
  why: why.slice(0, 300),
  columns: {},
});

/** Shape of an answer: its size, and for each column the bound share and the kinds of terms. */
export function outcomeOf(
  query: string,
  table: TabularAnswer,
  { atMs, ms }: { readonly atMs: number; readonly ms: number },
): Outcome {
  const { run, columns, rows } = table;
  const failure = failureOf(table);
  if (failure !== undefined) {
    const failed = { ...notRun(atMs, `${failure.code}: ${failure.detail}`), run, ms };
    return isOfEndpoint(failure.code) ? { ...failed, status: "failed" } : failed;
  }
  const shapes = columns
    .slice(0, mostColumns)
    .map((name, at) => [name, columnOf(rows.map((row) => row[at] ?? null))] as const);
  const status = isOfNothing(query, rows, table.boolean) ? "empty" : "ok";
  return { atMs, status, run, size: sizeOf(query, table), ms, columns: Object.fromEntries(shapes) };
}

/** Why an answer is not whole; one that was only cut by its number of rows is as good. */
function failureOf({ status, diagnosis, truncated, notes }: TabularAnswer) {
  const silenced = notes.find(({ code }) => code === "SILENCED");
  if (silenced) return { code: "ENDPOINT_FAILED", detail: silenced.message } as const;
  if (diagnosis !== null) return diagnosis;
  const isWhole = status === "ok" || status === "empty" || (status === "partial" && truncated);
  return isWhole ? undefined : ({ code: "INTERNAL", detail: `The run is ${status}.` } as const);
}

/** A count says more in its cell than by its one row. */
function sizeOf(query: string, { rows, boolean }: TabularAnswer): number {
  if (boolean !== undefined) return Number(boolean);
  const only = rows.length === 1 && mayCountNothing(query) ? itemAt(rows, 0) : [];
  const counted = only.flatMap((cell) => /^"(\d{1,15})(?:\.\d*)?"\^\^/.exec(cell ?? "")?.[1] ?? []);
  return Number(counted[0] ?? rows.length);
}

function columnOf(cells: readonly (string | null)[]): Outcome["columns"][string] {
  const bound = cells.filter((cell) => cell !== null).map(kindOf);
  const counts = [...Map.groupBy(bound, (kind) => kind)].map(
    ([kind, all]) => [kind, all.length / bound.length] as const,
  );
  const kinds = counts.toSorted((one, other) => other[1] - one[1]).slice(0, mostKinds);
  return { bound: bound.length / Math.max(1, cells.length), kinds: Object.fromEntries(kinds) };
}

const numeric = /#(?:integer|decimal|double|float|int|long|short|byte|(?:un|non|pos|neg)\w+)>$/;
const namespace = /^<([^/]*\/\/[^/>]*(?:\/[^/#>]*[/#])?|[^:>]*:)/;

/** Kind of a term: of an IRI its host and first part of the path, of a literal its language or datatype. */
function kindOf(cell: string): string {
  if (cell.startsWith("<<")) return "triple";
  if (cell.startsWith("<")) return `IRI ${namespace.exec(cell)?.[1]?.slice(0, 100) ?? ""}`;
  if (cell.startsWith("_:")) return "blank node";
  const tail = cell.slice(cell.lastIndexOf('"') + 1);
  return numeric.test(tail) ? "number" : `text ${tail.slice(0, 100)}`.trimEnd();
}
