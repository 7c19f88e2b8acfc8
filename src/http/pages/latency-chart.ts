import type { HourSummary } from "../../monitor/monitor.ts";
import { latencyText } from "./figures.ts";
import { type Html, html } from "../../html.ts";
import { placed, type StripScale } from "./strip.ts";

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

/** What a latency chart shows. */
export interface LatencyChart {
  readonly scale: StripScale;
  readonly summaries: readonly HourSummary[];
  /** Words for its two ends. */
  readonly ends: readonly [Html, Html];
}

/** The median latency of each span, with its least and largest in words; says so when there is none. */
export function latencyChart({ scale, summaries, ends }: LatencyChart): Html {
  const values = placed(scale, summaries).map((summary) => summary?.p50Ms);
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
