import type { Problem } from "../../../errors/fedway-error.ts";
import type { RunRecord } from "../../../query/run-log.ts";
import type { Outcome } from "./ask.ts";
import { element } from "./elements.ts";

/** What is shown of a failure. */
export type ShownProblem = Pick<Problem, "title" | "detail" | "where" | "next" | "endpoints"> & {
  readonly code: string;
};

/** A word, a sentence and a mark of the badge: ok, empty, partial, failed and unknown never look alike. */
type State = readonly [state: string, sentence: string, mark?: string];

const time = (ms: number): string =>
  ms < 1000 ? `${Math.ceil(ms)} ms` : `${(ms / 1000).toLocaleString("en", { maximumFractionDigits: 1 })} s`;

const rowsText = ({ rows }: RunRecord): string =>
  rows === undefined ? "" : `${rows.toLocaleString("en")} ${rows === 1 ? "row" : "rows"}, `;

const recordStates: Readonly<Record<RunRecord["status"], (record: RunRecord, took: string) => State>> = {
  ok: (record, took) => ["ok", `${rowsText(record)}${took}.`, "up"],
  empty: (_, took) => ["empty", `Nothing fits the query. ${took}.`],
  partial: (record, took) => [
    "partial",
    `${rowsText(record)}${took}. ${record.partial === "uncertain" ? "Some rows may be wrong, because the query uses MINUS, counts or OPTIONAL on missing data" : "Something is missing"}: ${missingText(record)}`,
    "work",
  ],
  failed: ({ detail }, took) => ["failed", `${detail ?? "The answer was not finished."} ${took}.`, "down"],
  cancelled: (_, took) => ["cancelled", `The answer was not finished. ${took}.`, "down"],
  running: (_, took) => unknown(took),
};

function missingText({ sources, detail }: RunRecord): string {
  const lacking = sources.filter(({ status }) => status !== "ok" && status !== "pending");
  const names = lacking.map(({ endpoint, reason }) => (reason === undefined ? endpoint : `${endpoint} (${reason})`));
  return names.length === 0 ? (detail ?? "what, the service did not say.") : `${names.join(", ")}.`;
}

const unknown = (took: string): State => [
  "unknown",
  `The answer is shown, but whether it is whole is not known. ${took}.`,
];

/** Said of an empty query; the service is not asked. */
export const writeFirst = "Write a query first.";

/** How a run ended. */
export function endOf({ record, broken, problem }: Outcome, tookMs: number): State {
  const took = time(record?.durationMs ?? tookMs);
  if (problem !== undefined) return ["failed", `after ${took}: ${problem.title}.`, "down"];
  if (broken !== undefined) return ["failed", broken, "down"];
  return record === undefined ? unknown(took) : recordStates[record.status](record, took);
}

const lost: ReadonlySet<string> = new Set(["failed", "timeout", "skipped"]);

/** What went wrong, if anything did: a refusal, or why an answer that began well has no end. */
export function failureOf({ record, broken, problem }: Outcome): ShownProblem | undefined {
  if (problem !== undefined) return problem;
  if (broken === undefined || record?.status !== "failed") return undefined;
  const { code = "INTERNAL", detail = "It is not known why.", sources } = record;
  const endpoint = sources.find(({ status }) => lost.has(status))?.endpoint;
  return {
    title: "The answer broke off",
    code,
    detail,
    where: { ...(endpoint !== undefined && { endpoint }) },
    next: "Nothing of it is shown: it would look like the whole answer. Run the query again, or take what can be had.",
  };
}

/** A failure with what to do next: buttons ask another endpoint, or go to the line. */
export function problemView({ title, code, detail, where, next, endpoints = [] }: ShownProblem): readonly Node[] {
  const lines: Node[] = [element("p", {}, element("strong", {}, title), `: ${detail}`)];
  if (next !== undefined) lines.push(element("p", {}, next));
  if (endpoints.length > 0) {
    const items = endpoints.map((id) =>
      element("li", {}, element("button", { type: "button", "data-endpoint": id }, id)),
    );
    lines.push(element("p", {}, "Ask one of these instead:"), element("ul", { class: "choices" }, ...items));
  }
  const place = element("p", { class: "meta" }, "Code ", element("code", {}, code));
  if (where?.endpoint !== undefined) place.append(`, endpoint ${where.endpoint}`);
  if (where?.line !== undefined) {
    const { line, column = 1 } = where;
    const data = { type: "button", "data-line": String(line), "data-column": String(column) };
    place.append(" ", element("button", data, `Go to line ${line}, column ${column}`));
  }
  return [...lines, place];
}

/** What the service did to the query that the reader should know. */
export const notesView = ({ record }: Outcome): readonly Node[] =>
  (record?.notes ?? []).map(({ code, message }) => element("li", {}, element("code", {}, code), ` ${message}`));
