import type { Problem, Repair } from "../../../errors/fedway-error.ts";
import { amountText, latencyText } from "../../../figures.ts";
import { type Html, html, joined } from "../../../html.ts";
import type { RunRecord } from "../../../query/records.ts";
import { ownUrl } from "./own-url.ts";

/** Word, sentence and mark of a badge: ok, empty, partial, failed and unknown never look alike. */
export type State = readonly [word: string, sentence: string, mark?: string];

/** A failure or a diagnosis as it is shown. */
export type ShownProblem = Omit<Problem, "type" | "status" | "retryable">;

/** How a run ended whose answer arrived. */
export function endOf(record: RunRecord | undefined, tookMs: number): State {
  const took = latencyText(record?.durationMs ?? tookMs);
  const { status = "running", rows } = record ?? {};
  const found = rows === undefined ? took : `${amountText(rows, "row")}, ${took}`;
  if (status === "ok") return [status, `${found}.`, "up"];
  if (status === "empty") return [status, `Nothing fits the query. ${took}.`];
  if (status === "partial") return [status, `${found}. ${missingText(record)}`, "work"];
  if (status === "running") return ["unknown", `It is not known whether the answer is complete. ${took}.`];
  return [status, `${record?.detail ?? "The answer was not finished."} ${took}.`, "down"];
}

function missingText({ sources, detail = "unknown.", partial }: Partial<RunRecord> = {}): string {
  const lacking = sources?.filter(({ status }) => status !== "ok" && status !== "cancelled") ?? [];
  const names = lacking.map(({ endpoint, reason }) => (reason === undefined ? endpoint : `${endpoint} (${reason})`));
  const rows =
    partial === "uncertain" ? ", and some rows may be wrong (MINUS, counts or OPTIONAL on missing data)" : "";
  return `Something is missing${rows}: ${names.length === 0 ? detail : `${names.join(", ")}.`}`;
}

/** Time taken so far, rows received and endpoints asked. */
export function progressText({ sources = [] }: Partial<RunRecord> = {}, elapsedMs: number): string {
  const known = sources.flatMap(({ rows }) => rows ?? []);
  const rows = known.reduce((sum, each) => sum + each, 0);
  const received = known.length === 0 ? "" : `, ${amountText(rows, "row")} received`;
  const ended = sources.filter(({ status }) => status !== "pending").length;
  const asked =
    sources.length === 0
      ? "No endpoint asked yet"
      : `${amountText(sources.length, "endpoint")} asked, ${ended} answered`;
  return `${(elapsedMs / 1000).toFixed(1)} s${received}. ${asked}.`;
}

/** Cause of an answer that began well and broke off. */
export function brokenOff({
  code = "INTERNAL",
  detail = "The reason is not known.",
  sources,
}: RunRecord): ShownProblem {
  const endpoint = sources.find(({ status }) => ["failed", "timeout", "skipped"].includes(status))?.endpoint;
  const next = "Nothing of it is shown, as it would look complete. Try again, or allow partial results (partial=true).";
  return { title: "The answer broke off", code, detail, next, where: endpoint === undefined ? {} : { endpoint } };
}

/** The state with its run and what the service did to the query. */
export function stateHtml([word, sentence, mark = ""]: State, record?: RunRecord): Html {
  const page = record && html` <a href="${ownUrl(`/runs/${encodeURIComponent(record.id)}`)}">The page of this run</a>.`;
  const notes = (record?.notes ?? []).map(
    ({ code, message, query }) =>
      html`<code>${code}</code> ${message}${query === undefined ? "" : repair(runLabel(code), { query })}`,
  );
  return html`<span class="badge ${mark}">${word}</span> ${sentence}${page}${list(notes, "notes")}`;
}

const runLabel = (code: string): string =>
  code === "PREFIXES_FILLED_IN" ? "Insert the prefixes and run" : "Run that query";

/** A problem with its place, advice and repairs; buttons say by their data what they change. */
export function problemHtml({ title, detail, code, next, ...problem }: ShownProblem, query: string): Html {
  const { where = {}, repairs = [], suggestions = [], suggested = repaired(query, repairs), endpoints = [] } = problem;
  const { line, column = 1, endpoint } = where;
  const actions = [
    ...(suggested === undefined ? [] : [repair("Run the repaired query", { query: suggested })]),
    ...endpoints.map((id) => repair(`Ask ${id}`, { endpoint: id })),
    ...(next?.includes("partial=true") ? [repair("Allow partial results", { partial: "yes" })] : []),
  ];
  const place = [
    html`Code <code>${code}</code>`,
    endpoint === undefined ? undefined : html`endpoint ${endpoint}`,
    line === undefined ? undefined : button(`Go to line ${line}, column ${column}`, { line, column }),
  ];
  return html`<p><strong>${title}</strong>: ${detail}</p><p>${next}</p>
${list(repairs.map(({ before, after, why }) => html`<code>${before}</code> → <code>${after}</code> ${why}`))}
${list(suggestions.slice(0, 5).map(({ term, why }) => html`<code>${term}</code> (${why})`))}
${list(actions, "tags choices")}<p class="meta">${joined(place, ", ")}</p>`;
}

/** The query with all repairs, where each has one place in it. */
function repaired(query: string, repairs: readonly Repair[]): string | undefined {
  const isClear = repairs.length > 0 && repairs.every(({ before }) => query.split(before).length === 2);
  return isClear ? repairs.reduce((text, { before, after }) => text.replace(before, () => after), query) : undefined;
}

const list = (items: readonly Html[], name = ""): Html =>
  items.length === 0 ? html`` : html`<ul class="${name}">${items.map((item) => html`<li>${item}</li>`)}</ul>`;

const button = (text: string, data: Readonly<Record<string, string | number>>): Html =>
  html` <button type="button"${Object.entries(data).map(([key, value]) => html` data-${key}="${value}"`)}>${text}</button>`;

/** Button that changes the query and runs it. */
const repair = (text: string, change: Readonly<Record<string, string>>): Html =>
  button(text, { repair: "yes", ...change });
