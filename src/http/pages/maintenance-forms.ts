import { type Html, html } from "../../html.ts";
import type { MaintenanceWindow } from "../../monitor/monitor.ts";
import type { HttpShell, TypedApp } from "../http-deps.ts";
import { momentOf } from "../monitor-routes.ts";
import { knownEntry } from "../registry-routes.ts";
import { IdPath } from "../schemas.ts";
import { guarded } from "../write-access.ts";
import { Type } from "typebox";
import { durationText } from "../../figures.ts";
import { moment } from "./figures.ts";
import type { Asker } from "./login.ts";
import { toCopy } from "./layout.ts";
import { seeOther } from "./page-reply.ts";

/** Maintenance windows that have not ended, each followed by what `behind` makes of it. */
export const windowList = (
  windows: readonly MaintenanceWindow[],
  nowMs: number,
  behind: (window: MaintenanceWindow) => Html,
): Html => html`<ul>
${windows.map(
  (window) =>
    html`<li>${moment(window.fromMs)} to ${moment(window.toMs)} (${durationText(Math.max(0, window.toMs - window.fromMs))}), ${window.fromMs <= nowMs ? "now" : "planned"}${window.reason === undefined ? "" : html`: ${window.reason}`} ${behind(window)}</li>\n`,
)}</ul>`;

const removal = ({ id, endpoint }: MaintenanceWindow): Html =>
  html`<form method="post" action="/endpoints/${endpoint}/maintenance/${id}/remove"><button>Remove</button></form>`;

const planning = (id: string): Html => html`<form method="post" action="/endpoints/${id}/maintenance">
<div><label for="from">From (UTC; empty: now)</label><input type="datetime-local" id="from" name="from"></div>
<div><label for="to">To (UTC)</label><input type="datetime-local" id="to" name="to" required></div>
<div><label for="reason">Reason</label><input id="reason" name="reason" maxlength="300"></div>
<div class="act"><button>Plan maintenance</button></div></form>`;

/** Maintenance windows that have not ended, with what plans and removes them. */
export function maintenanceBody(windows: readonly MaintenanceWindow[], nowMs: number, { id, mayAsk }: Asker): Html {
  const list =
    windows.length === 0
      ? html`<p class="muted">None is announced.</p>`
      : windowList(windows, nowMs, (window) => (mayAsk ? removal(window) : html``));
  const tomorrow = `${new Date(nowMs + 86_400_000).toISOString().slice(0, 16)}Z`;
  const command = `fedway maintenance add ${id} --to ${tomorrow} --reason 'new disks'`;
  return html`${list}${mayAsk ? planning(id) : toCopy("Command that plans maintenance", command)}`;
}

/** A moment in UTC of a form; undefined when its field is empty. @throws FedwayError `REQUEST_INVALID` */
function momentIn(form: URLSearchParams, name: string): number | undefined {
  const text = form.get(name) ?? "";
  return text === "" ? undefined : momentOf(name, `${text.length === 16 ? `${text}:00` : text}Z`);
}

const WindowPath = Type.Object({ ...IdPath.properties, window: IdPath.properties.id });

/** The routes behind those forms. */
export function addMaintenanceForms(app: TypedApp, shell: HttpShell): void {
  const { monitor, now = Date.now } = shell;
  const tags = ["Pages"];
  app.post("/endpoints/:id/maintenance", {
    ...guarded,
    schema: { tags, operationId: "planFromPage", summary: "Plan maintenance, from a page", params: IdPath },
    handler: async ({ params, body }, reply) => {
      const form = new URLSearchParams(typeof body === "string" ? body : "");
      const { id: endpoint } = knownEntry(shell, params.id);
      const [fromMs = now(), toMs = 0] = [momentIn(form, "from"), momentIn(form, "to")];
      const reason = form.get("reason") || undefined;
      await monitor.addMaintenance({ endpoint, fromMs, toMs, ...(reason !== undefined && { reason }) });
      return seeOther(reply, `/endpoints/${endpoint}`);
    },
  });
  app.post("/endpoints/:id/maintenance/:window/remove", {
    ...guarded,
    schema: { tags, operationId: "removeFromPage", summary: "Call maintenance off, from a page", params: WindowPath },
    handler: async ({ params: { id, window } }, reply) => {
      const endpoint = knownEntry(shell, id).id;
      await monitor.removeMaintenance(window);
      return seeOther(reply, `/endpoints/${endpoint}`);
    },
  });
}
