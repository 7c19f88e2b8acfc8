import type {
  Availability,
  DaySummary,
  MaintenanceWindow,
  Score,
  ScorePart,
  WindowSummary,
} from "../../monitor/monitor.ts";
import { faultList } from "./fault-words.ts";
import { day, durationText, latencyText, moment, numberText, percentText } from "./figures.ts";
import { type Html, html, ownLink } from "../../html.ts";
import { latencyChart } from "./latency-chart.ts";
import { createStrips, dayScale, hourScale, placed, stripKey, type StripScale } from "./strip.ts";

const noData = html`<span class="muted">no data</span>`;
const latencyCell = (ms: number | undefined): Html =>
  html`<td class="n">${ms === undefined ? noData : latencyText(ms)}</td>`;
const uptimeText = (good: number, probes: number): Html | string => (probes === 0 ? noData : percentText(good, probes));

const windowNames: Readonly<Record<WindowSummary["window"], string>> = {
  "24h": "24 hours",
  "7d": "7 days",
  "30d": "30 days",
  "90d": "90 days",
};

const windowRow = (each: WindowSummary): Html =>
  html`<tr><th scope="row" class="whole">${windowNames[each.window]}</th><td class="n">${uptimeText(each.good, each.probes)}</td><td class="n">${numberText(each.probes)}</td>${latencyCell(each.p50Ms)}${latencyCell(each.p90Ms)}${latencyCell(each.p99Ms)}<td>${
    each.firstMs === undefined ? noData : day(each.firstMs)
  }</td><td>${each.probes === 0 ? noData : faultList(each.faults)}</td></tr>
`;

const windowTable = (
  windows: readonly WindowSummary[],
): Html => html`<div class="scroll" role="group" aria-label="Uptime" tabindex="0"><table>
<caption>Uptime is good probes of all probes; latency is of good probes.</caption>
<thead><tr><th scope="col">Window</th><th scope="col" class="n">Uptime</th><th scope="col" class="n">Probes</th><th scope="col" class="n">Median</th><th scope="col" class="n">p90</th><th scope="col" class="n">p99</th><th scope="col">First probe</th><th scope="col">Faults</th></tr></thead>
<tbody>
${windows.map(windowRow)}</tbody></table></div>
`;

function dayRow(scale: StripScale, at: number, summary: DaySummary | undefined): Html {
  const fromMs = scale.fromMs + at * scale.spanMs;
  const { probes, good, p50Ms, faults } = summary ?? { probes: 0, good: 0, p50Ms: undefined, faults: {} };
  return html`<tr><th scope="row">${day(fromMs)}</th><td class="n">${uptimeText(good, probes)}</td><td class="n">${probes === 0 ? noData : numberText(probes)}</td>${latencyCell(p50Ms)}<td>${probes === 0 ? noData : faultList(faults)}</td></tr>
`;
}

const dayTable = (
  scale: StripScale,
  days: readonly DaySummary[],
): Html => html`<details><summary>Every day as a table</summary>
<div class="scroll" role="group" aria-label="Days" tabindex="0"><table>
<thead><tr><th scope="col">Day (UTC)</th><th scope="col" class="n">Uptime</th><th scope="col" class="n">Probes</th><th scope="col" class="n">Median</th><th scope="col">Faults</th></tr></thead>
<tbody>
${placed(scale, days)
  .map((summary, at) => dayRow(scale, at, summary))
  .toReversed()}</tbody></table></div></details>
`;

const ends = (from: string, to: string): Html =>
  html`<div class="ends" aria-hidden="true"><span>${from}</span><span>${to}</span></div>
`;

/** Strips, windows and latency of an endpoint. */
export function availabilityBody({ health, windows, days }: Availability, nowMs: number): Html {
  const hours = hourScale(nowMs);
  const long = dayScale(nowMs);
  return html`<h3>Last 24 hours</h3>
${createStrips(hours, "large")(health.hours)}
${ends("24 hours ago", "now")}<h3>Last 90 days</h3>
${createStrips(long, "large")(days)}
${ends("90 days ago", "today")}${stripKey("span")}
${windowTable(windows)}<h3>Latency</h3>
<div class="pair">
${latencyChart({ scale: hours, summaries: health.hours, ends: [html`24 hours ago`, html`now`] })}
${latencyChart({ scale: long, summaries: days, ends: [html`90 days ago`, html`today`] })}
</div>
${dayTable(long, days)}`;
}

/** Maintenance windows that have not ended. */
export function maintenanceBody(windows: readonly MaintenanceWindow[], nowMs: number): Html {
  if (windows.length === 0) return html`<p class="muted">None is announced.</p>`;
  return html`<ul>
${windows.map(
  ({ fromMs, toMs, reason }) =>
    html`<li>${moment(fromMs)} to ${moment(toMs)} (${durationText(Math.max(0, toMs - fromMs))})${fromMs <= nowMs ? ", now" : ""}${reason === undefined ? "" : html`: ${reason}`}</li>\n`,
)}</ul>`;
}

const partNames: Readonly<Record<ScorePart["name"], string>> = {
  reachable: "Reachable",
  correct: "Correct",
  described: "Described",
  fast: "Fast",
};

const partRow = ({ name, points, outOf, why, measurement }: ScorePart): Html =>
  html`<tr><th scope="row">${ownLink(measurement, partNames[name])}</th><td class="n">${points === undefined ? html`<span class="muted">unknown</span>` : `${Math.round(points)} of ${outOf}`}</td><td>${why}</td></tr>
`;

/** The score with what it was made from. */
export function scoreBody(score: Score | undefined): Html {
  if (score === undefined || score.parts.length === 0) return html`<p class="muted">There is no score yet.</p>`;
  const total =
    score.points === undefined
      ? html`<p>Unknown: nothing that it is made from has been measured.</p>`
      : html`<p><span class="score">${Math.round(score.points)}</span> of 100, from the parts that are known. Each part leads to its measurement.</p>`;
  return html`${total}
<div class="scroll" role="group" aria-label="Parts of the score" tabindex="0"><table>
<thead><tr><th scope="col">Part</th><th scope="col" class="n">Points</th><th scope="col">Why</th></tr></thead>
<tbody>
${score.parts.map(partRow)}</tbody></table></div>`;
}
