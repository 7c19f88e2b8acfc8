import type { Availability, Score, ScorePart, WindowSummary, HourSummary } from "../../monitor/monitor.ts";
import { latencyText, numberText } from "../../figures.ts";
import { day, faultsOf, latencyOf, noData, uptimeOf } from "./figures.ts";
import { type Html, html, ownLink } from "../../html.ts";
import { table } from "./layout.ts";
import { createStrips, dayScale, hourScale, summariesBySpan, stripKey, type StripScale } from "./strip.ts";

const windowNames: Readonly<Record<WindowSummary["window"], string>> = {
  "24h": "24\u00a0hours",
  "7d": "7\u00a0days",
  "30d": "30\u00a0days",
  "90d": "90\u00a0days",
};

/** Uptime and latency by window. */
export const windowTable = (windows: readonly WindowSummary[]): Html =>
  table({
    name: "Uptime",
    caption: "Uptime is good probes of all probes; latency is of good probes.",
    columns: [
      ["Window", ({ window }) => windowNames[window]],
      ["#Uptime", uptimeOf],
      ["#Probes", ({ probes }) => numberText(probes)],
      ["#Median", ({ p50Ms }) => latencyOf(p50Ms)],
      ["#p90", ({ p90Ms }) => latencyOf(p90Ms)],
      ["#p99", ({ p99Ms }) => latencyOf(p99Ms)],
      ["First probe", ({ firstMs }) => (firstMs === undefined ? noData : day(firstMs))],
      ["Faults", faultsOf],
    ],
    rows: windows,
  });

function dayTable(scale: StripScale, days: readonly HourSummary[]): Html {
  const none = { probes: 0, good: 0, p50Ms: undefined, faults: {} };
  const rows = summariesBySpan(scale, days).map((summary, at) => ({
    fromMs: scale.fromMs + at * scale.spanMs,
    summary: summary ?? none,
  }));
  return html`<details><summary>Every day as a table</summary>
${table({
  name: "Days",
  columns: [
    ["Day (UTC)", ({ fromMs }) => day(fromMs)],
    ["#Uptime", ({ summary }) => uptimeOf(summary)],
    ["#Probes", ({ summary: { probes } }) => (probes === 0 ? noData : numberText(probes))],
    ["#Median", ({ summary }) => latencyOf(summary.p50Ms)],
    ["Faults", ({ summary }) => faultsOf(summary)],
  ],
  rows: rows.toReversed(),
})}</details>
`;
}

const labelledEnds = (from: string, to: string): Html =>
  html`<div class="ends" aria-hidden="true"><span>${from}</span><span>${to}</span></div>
`;

/** Strips, windows and latency of an endpoint. */
export function availabilityBody({ health, windows, days }: Availability, nowMs: number): Html {
  const hours = hourScale(nowMs);
  const long = dayScale(nowMs);
  return html`<h3>Last 24 hours</h3>
${createStrips(hours, "large")(health.hours)}
${labelledEnds("24 hours ago", "now")}<h3>Last 90 days</h3>
${createStrips(long, "large")(days)}
${labelledEnds("90 days ago", "today")}${stripKey("span")}
${windowTable(windows)}<h3>Latency</h3>
<div class="pair">
${latencyChart({ scale: hours, summaries: health.hours, ends: [html`24 hours ago`, html`now`] })}
${latencyChart({ scale: long, summaries: days, ends: [html`90 days ago`, html`today`] })}
</div>
${dayTable(long, days)}`;
}

const partNames: Readonly<Record<ScorePart["name"], string>> = {
  reachable: "Reachable",
  correct: "Correct",
  described: "Described",
  fast: "Fast",
};

/** The score with what it was made from. */
export function scoreBody(score: Score | undefined): Html {
  if (score === undefined || score.parts.length === 0) return html`<p class="muted">There is no score yet.</p>`;
  const total =
    score.points === undefined
      ? html`<p>Unknown: nothing that it is made from has been measured.</p>`
      : html`<p><span class="score">${Math.round(score.points)}</span> of 100, from the parts that are known. Each part leads to its measurement.</p>`;
  return html`${total}
${table({
  name: "Parts of the score",
  columns: [
    ["Part", ({ name, measurement }) => ownLink(measurement, partNames[name])],
    ["#Points", ({ points, outOf }) => (points === undefined ? undefined : `${Math.round(points)} of ${outOf}`)],
    ["Why", ({ why }) => why],
  ],
  rows: score.parts,
})}`;
}

const height = 100;

/** The least of 1, 2, 5, 10, 20, ... that is not below `value`. */
export function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value) ?? 10 * power;
}

const rounded = (value: number): number => Math.round(value * 10) / 10;

interface Curve {
  /** Runs of neighbouring spans. */
  readonly lines: string;
  /** Spans whose neighbours have no data. */
  readonly dots: string;
}

/** Spans without data break the line: nothing is drawn where nothing is known. */
function curveOf(values: readonly (number | undefined)[], top: number): Curve {
  let lines = "";
  let dots = "";
  for (const [at, value] of values.entries()) {
    if (value === undefined) continue;
    const point = `${at + 0.5} ${rounded(height - (value / top) * height)}`;
    const [before, after] = [values[at - 1], values[at + 1]];
    if (before === undefined && after === undefined) dots += `M${point}h0`;
    else lines += `${before === undefined ? "M" : "L"}${point}`;
  }
  return { lines, dots };
}

function drawing(values: readonly (number | undefined)[], top: number, label: string): Html {
  const { lines, dots } = curveOf(values, top);
  const grid = [0, height / 2, height].map((y) => `M0 ${y}H${values.length}`).join("");
  return html`<svg viewBox="0 0 ${values.length} ${height}" preserveAspectRatio="none" role="img" aria-label="${label}"><path class="grid" d="${grid}"/>${
    lines === "" ? "" : html`<path class="line" d="${lines}"/>`
  }${dots === "" ? "" : html`<path class="dot" d="${dots}"/>`}</svg>`;
}

/** Content of a latency chart. */
interface LatencyChart {
  readonly scale: StripScale;
  readonly summaries: readonly HourSummary[];
  /** Words for its two ends. */
  readonly ends: readonly [Html, Html];
}

/** The median latency of each span, with its least and largest in words; says so when there is none. */
export function latencyChart({ scale, summaries, ends }: LatencyChart): Html {
  const values = summariesBySpan(scale, summaries).map((summary) => summary?.p50Ms);
  const known = values.filter((value) => value !== undefined);
  if (known.length === 0) return html`<p class="muted">No latency is known: no probe was good in this time.</p>`;
  const least = known.reduce((low, value) => Math.min(low, value));
  const most = known.reduce((high, value) => Math.max(high, value));
  const top = niceCeiling(most);
  const range = `between ${latencyText(least)} and ${latencyText(most)}`;
  const label = `Median latency by ${scale.unit}, ${range}; ${known.length} of ${scale.cells} ${scale.unit}s have data`;
  return html`<figure class="chart"><div class="plot">
<div class="scale" aria-hidden="true"><span>${latencyText(top)}</span><span>${latencyText(top / 2)}</span><span>0</span></div>
${drawing(values, top, label)}
<div class="ends"><span>${ends[0]}</span><span>${ends[1]}</span></div>
</div><figcaption>Median of the good probes of each ${scale.unit}: ${range}.</figcaption></figure>
`;
}
