import type { Incident } from "../../monitor/monitor.ts";
import { faultList, faultText } from "./fault-words.ts";
import { amountText, moment } from "./figures.ts";
import { type Html, html, link } from "../../html.ts";
import { endOf, evidenceTable, lengthOf } from "./incident-parts.ts";
import { badge, page, section } from "./layout.ts";

/** What the page of an incident shows. */
export interface ShownIncident {
  readonly incident: Incident;
  /** Title of its endpoint; undefined when that has left the catalogue. */
  readonly title: string | undefined;
  readonly nowMs: number;
  readonly version: string;
}

function factsOf({ incident, nowMs }: ShownIncident): Html {
  const { startedMs, openedMs, fault, faults, url } = incident;
  return html`<dl class="facts">
<div><dt>Started</dt><dd>${moment(startedMs)}</dd></div>
<div><dt>Counted as down from</dt><dd>${moment(openedMs)}</dd></div>
<div><dt>Ended</dt><dd>${endOf(incident)}</dd></div>
<div><dt>Length</dt><dd>${lengthOf(incident, nowMs)}</dd></div>
<div><dt>First fault</dt><dd>${faultText(fault)}</dd></div>
<div><dt>Faults</dt><dd>${faultList(faults)}</dd></div>
<div class="long"><dt>Probed</dt><dd>${link(url, url)}</dd></div>
</dl>`;
}

/** The page of one incident, with its evidence. */
export function incidentPage(shown: ShownIncident): string {
  const { incident, title, version } = shown;
  const name = title ?? incident.endpoint;
  const isOpen = incident.closedMs === undefined;
  const { evidence } = incident;
  const endpoint =
    title === undefined
      ? html`${name} (no longer in the catalogue)`
      : html`<a href="/endpoints/${incident.endpoint}">${name}</a>`;
  return page({
    title: `Incident of ${name} - Fedway`,
    version,
    main: html`<p class="crumbs"><a href="/status">Status</a> / ${endpoint}</p>
<div class="titled"><h1>Incident of ${name}</h1>${isOpen ? badge("down", "open") : badge("up", "closed")}</div>
<p class="lead">A time during which probes of this endpoint failed.</p>
${section("facts", "What happened", factsOf(shown))}
${section(
  "evidence",
  "Evidence",
  evidence.length === 0
    ? html`<p class="muted">No observation was kept.</p>`
    : html`<p class="muted">${amountText(evidence.length, "observation")}: those that led to the incident and to its end, and some of those between.</p>
${evidenceTable(evidence)}`,
)}
<p><a href="/api/incidents/${encodeURIComponent(incident.id)}">As JSON</a></p>`,
  });
}
