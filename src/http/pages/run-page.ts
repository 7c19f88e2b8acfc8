import { html, type Html } from "../../html.ts";
import type { RunRecord } from "../../query/run-log.ts";
import { marks, meaningOf, runView } from "../../views/run-view.ts";
import { capital, type PathOf, viewHtml } from "../../views/view-html.ts";
import { badge, consolePath, page, section } from "./layout.ts";

/** Content of the page of a run. */
interface ShownRun {
  readonly record: RunRecord;
  readonly pathOf: PathOf;
  readonly isOperator: boolean;
}

/** The page of one run. */
export function runPage({ record, pathOf, isOperator }: ShownRun): string {
  const { id, status, asked } = record;
  // Only its owner sees what it was asked.
  const mayCancel = status === "running" && (isOperator || asked !== undefined);
  const { facts = [], children = [] } = runView(record);
  return page({
    title: `Run ${id}`,
    main: html`<p class="crumbs"><a href="/query">Query</a> / <code>${id}</code></p>
<div class="titled"><h1>Run of a query</h1>${badge(marks[status] ?? "", status)}${mayCancel ? cancelForm(record) : ""}</div>
<p class="lead">${meaningOf(record)}${status === "running" ? " Load this page again to see how it goes on." : ""}</p>
${section("facts", "What happened", viewHtml({ title: "", facts }, pathOf))}
${children.map((child, at) => section(`part${at}`, capital(child.title), viewHtml(child, pathOf)))}
${inConsole(record)}<p><a href="/api/runs/${encodeURIComponent(id)}">As JSON</a></p>`,
  });
}

/** The button that ends a run. */
export const cancelForm = ({ id }: RunRecord): Html =>
  html`<form method="post" action="/runs/${id}/cancel"><button aria-label="Cancel ${id}">Cancel</button></form>`;

function inConsole({ asked }: RunRecord): Html {
  if (asked?.query === undefined) return html``;
  const { query, endpoint, federation } = asked;
  const target = { ...(endpoint !== undefined && { endpoint }), ...(federation !== undefined && { federation }) };
  return html`<p><a href="${consolePath(query, target)}">Open it in the console</a></p>\n`;
}
