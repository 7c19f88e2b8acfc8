import type { Heartbeat } from "../../monitor/monitor.ts";
import { amountText, durationText, moment } from "./figures.ts";
import { type Html, html } from "../../html.ts";

/** Said loudly where states are shown that nobody keeps up to date; nothing while the monitor runs. */
export function heartbeatBanner({ enabled, alive, lastMs }: Heartbeat): Html {
  if (!enabled) {
    return html`<div class="banner"><p><strong>Monitoring is switched off.</strong> ${
      lastMs === undefined
        ? "Nothing is known of the endpoints' state."
        : html`The last probe was started at ${moment(lastMs)}; what is shown is as old as that.`
    }</p></div>
`;
  }
  if (alive) return html``;
  return html`<div class="banner down"><p><strong>${
    lastMs === undefined ? "Monitoring has not started." : html`Monitoring stopped at ${moment(lastMs)}.`
  }</strong> What is shown here is not up to date: nobody probes the endpoints now.</p></div>
`;
}

const mostGaps = 20;

/** How the monitor itself has run. */
export function heartbeatFacts({ enabled, lastMs, gaps }: Heartbeat): Html {
  const last =
    lastMs === undefined ? "No probe has been started yet." : html`The last probe was started at ${moment(lastMs)}.`;
  if (gaps.length === 0) {
    return html`<p>${last}${enabled ? " There was no gap in the last 90 days." : ""}</p>`;
  }
  const newest = gaps.toSorted((left, right) => right.fromMs - left.fromMs).slice(0, mostGaps);
  const lost = gaps.reduce((sum, { fromMs, toMs }) => sum + Math.max(0, toMs - fromMs), 0);
  return html`<p>${last} In the last 90 days nobody probed for ${durationText(lost)}.</p>
<details><summary>${amountText(gaps.length, "gap")} in the record</summary>
<ul>
${newest.map(({ fromMs, toMs }) => html`<li>${moment(fromMs)} to ${moment(toMs)} (${durationText(Math.max(0, toMs - fromMs))})</li>\n`)}</ul></details>`;
}
