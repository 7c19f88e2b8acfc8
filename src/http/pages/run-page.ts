import { type Html, html, joined } from "../../html.ts";
import type { RunRecord } from "../../query/run-log.ts";
import { kilobytes, marks } from "../../query/run-text.ts";
import { amountText, latencyText, momentOf, numberText } from "./figures.ts";
import { badge, consolePath, fact, page, section, table } from "./layout.ts";

type Step = NonNullable<RunRecord["steps"]>[number];
type Source = RunRecord["sources"][number];

/** What the page of a run shows. */
interface ShownRun {
  readonly record: RunRecord;
  /** Whether the catalogue has an endpoint with this id. */
  readonly isKnown: (endpoint: string) => boolean;
  readonly isOperator: boolean;
}

/** The page of one run: how it ended, what each endpoint gave, and when each step was asked. */
export function runPage({ record, isKnown, isOperator }: ShownRun): string {
  const { id, status, notes, sources, steps = [], asked } = record;
  // Only its owner sees what it was asked.
  const mayCancel = status === "running" && (isOperator || asked !== undefined);
  const nameOf = (endpoint: string): Html =>
    isKnown(endpoint) ? html`<a href="/endpoints/${endpoint}">${endpoint}</a>` : html`${endpoint}`;
  return page({
    title: `Run ${id} - Fedway`,
    main: html`<p class="crumbs"><a href="/query">Query</a> / <code>${id}</code></p>
<div class="titled"><h1>Run of a query</h1>${badge(marks[status] ?? "", status)}${mayCancel ? cancelForm(record) : ""}</div>
<p class="lead">${meaningOf(record)}</p>
${section("facts", "What happened", html`${factsOf(record)}${notesOf(notes)}`)}
${section("endpoints", amountText(sources.length, "endpoint"), membersBody(record, nameOf))}
${steps.length === 0 ? "" : section("steps", "Steps", stepsBody(steps, nameOf))}
${askedOf(record)}<p><a href="/api/runs/${encodeURIComponent(id)}">As JSON</a></p>`,
  });
}

/** The button that ends a run. */
export const cancelForm = ({ id }: RunRecord): Html =>
  html`<form method="post" action="/runs/${id}/cancel"><button aria-label="Cancel ${id}">Cancel</button></form>`;

const meanings: Readonly<Record<RunRecord["status"], string>> = {
  running: "The answer is not finished yet. Load this page again to see how it goes on.",
  ok: "The answer is whole.",
  empty: "The answer is whole: nothing fits the query.",
  partial: "Something is missing. Every row that was given is in the true answer.",
  failed: "The query failed. If part of an answer was sent, it is not to be used.",
  cancelled: "The answer was not finished.",
};

function meaningOf({ status, partial, detail }: RunRecord): string {
  const meaning = partial === "uncertain" ? uncertainMeaning : meanings[status];
  return detail === undefined ? meaning : `${meaning} ${detail}`;
}

const uncertainMeaning =
  "Something is missing. Some rows may be wrong, because the query uses MINUS, counts or OPTIONAL on missing data.";

function factsOf(record: RunRecord): Html {
  const { startedAt, durationMs, rows, bytes, plan, code, sources, queryHash } = record;
  const requests = sources.reduce((sum, source) => sum + source.requests, 0);
  return html`<dl class="facts">
${fact("Rows", rows === undefined ? html`<span class="muted">not known</span>` : numberText(rows))}${fact("Took", durationMs === undefined ? undefined : latencyText(durationMs))}${fact("Started", momentOf(startedAt))}${fact("Requests", numberText(requests))}${fact("Received", kilobytes(bytes))}${fact("Plan", plan)}${fact("Code", code === undefined ? undefined : html`<code>${code}</code>`)}${fact("SHA-256 of the query", html`<code>${queryHash}</code>`, true)}</dl>`;
}

const notesOf = (notes: RunRecord["notes"]): Html =>
  notes.length === 0
    ? html``
    : html`<h3>Notes</h3>
<ul>
${notes.map(({ code, message }) => html`<li><code>${code}</code> ${message}</li>\n`)}</ul>`;

function membersBody({ sources, status }: RunRecord, nameOf: (endpoint: string) => Html): Html {
  if (sources.length === 0) return html`<p class="muted">None was asked.</p>`;
  const row = (source: Source): Html => {
    const { endpoint, mirror, reason, leftAlone, requests, rows, bytes, ms, learned = [] } = source;
    const [state, mark] = stateOf(source, status);
    const more = [
      leftAlone ? `left alone since ${leftAlone.since}, asked again at ${leftAlone.until}` : reason,
      mirror === undefined ? undefined : html`asked at its mirror ${nameOf(mirror)}`,
      keptText(source),
      ...learned,
    ];
    return html`<tr><th scope="row">${nameOf(endpoint)}</th><td>${badge(mark, state)} <span class="small muted">${joined(more, ", ")}</span></td><td class="n">${numberText(requests)}</td><td class="n">${rows === undefined ? html`<span class="muted">not known</span>` : numberText(rows)}</td><td class="n">${kilobytes(bytes)}</td><td class="n">${latencyText(ms)}</td></tr>
`;
  };
  const heads = ["Endpoint", "State", "#Requests", "#Rows", "#Received", "#Took"];
  return table({ name: "Endpoints", heads, rows: sources.map(row) });
}

/** An endpoint that had more to give than a whole answer needed is no failure. */
function stateOf({ status }: Source, run: RunRecord["status"]): readonly [state: string, mark: string] {
  if (status === "pending") return run === "running" ? ["asking", ""] : ["stopped", ""];
  const isStopped = status === "cancelled" && (run === "ok" || run === "empty");
  return isStopped ? ["stopped: no more was needed", ""] : [status, marks[status] ?? ""];
}

function keptText({ cached = 0, shared = 0 }: Source): string | undefined {
  const known = cached + shared;
  return known === 0 ? undefined : `${amountText(known, "answer")} without a request`;
}

/** Steps on one axis of time, each with what was expected of it and what came. */
function stepsBody(steps: readonly Step[], nameOf: (endpoint: string) => Html): Html {
  const end = Math.max(1, ...steps.map(({ at, ms }) => at + ms));
  const row = (step: Step): Html => {
    const { pattern, endpoints, asked, estimate, rows, requests, keys, bytes, at, ms } = step;
    const more = asked > endpoints.length ? ` and ${asked - endpoints.length} more` : "";
    return html`<tr><th scope="row"><code>${pattern ?? "a step"}</code><br><span class="small muted">at ${joined(endpoints.map(nameOf), ", ")}${more}</span></th><td>${bar({ at, ms, end })}</td><td class="n">${estimate === undefined ? html`<span class="muted">unknown</span>` : numberText(Math.round(estimate))}</td><td class="n">${numberText(rows)}</td><td class="n">${numberText(requests)}</td><td class="n">${keys === 0 ? html`<span class="muted">none</span>` : numberText(keys)}</td><td class="n">${kilobytes(bytes)}</td><td class="n">${latencyText(ms)}</td></tr>
`;
  };
  const axis = html`<tr><th scope="row" class="muted">Time</th><td><div class="axis"><span>0</span><span>${latencyText(end)}</span></div></td><td colspan="6"></td></tr>
`;
  const heads = ["Step", "When", "#Expected", "#Rows", "#Requests", "#Join keys", "#Received", "#Took"];
  return html`<p class="muted">In the order of their first requests. Expected are the rows without join keys.</p>
<div class="steps">${table({ name: "Steps", heads, rows: [axis, ...steps.map(row)] })}</div>`;
}

/** Units of a bar's coordinates. */
const width = 1000;

function bar({ at, ms, end }: { readonly at: number; readonly ms: number; readonly end: number }): Html {
  const length = Math.max(6, Math.round((ms / end) * width));
  const from = Math.min(width - length, Math.round((at / end) * width));
  return html`<svg viewBox="0 0 ${width} 10" preserveAspectRatio="none" role="img" aria-label="from ${latencyText(at)} to ${latencyText(at + ms)}"><rect class="track" width="${width}" height="10"/><rect class="bar" x="${from}" width="${length}" height="10"/></svg>`;
}

/** The text, for its owner; for others nothing. */
function askedOf({ asked }: RunRecord): Html {
  if (asked?.query === undefined) return html``;
  const { query, endpoint, federation } = asked;
  const target = { ...(endpoint !== undefined && { endpoint }), ...(federation !== undefined && { federation }) };
  return section(
    "query",
    "Query",
    html`<pre tabindex="0" role="group" aria-label="Query">${query}</pre>
<p><a href="${consolePath(query, target)}">Open it in the console</a></p>`,
  );
}
