import { amountText, dayText, durationText, latencyText, percentText } from "../../figures.ts";
import { type Html, html, joined, type Piece } from "../../html.ts";
import type { Heartbeat, HourSummary } from "../../monitor/monitor.ts";
import { wellKnownPrefixes } from "../../rdf/well-known-prefixes.ts";
import { iriParts } from "../../rdf/display-text.ts";
import { catalogPathBy } from "./catalog-filter.ts";
import type { FaultKind } from "../../errors/fedway-error.ts";

/** ISO 8601 with a year of four digits; undefined beyond. */
const isoOf = (ms: number): string | undefined =>
  ms >= -62_135_596_800_000 && ms < 253_402_300_800_000 ? new Date(ms).toISOString() : undefined;

/** A moment for people and programs; `zoned` says that it is UTC where no heading does. */
export function moment(ms: number, zoned = true): Html {
  const iso = isoOf(ms);
  if (iso === undefined) return html`an unknown time`;
  return html`<time datetime="${iso}">${dayText(iso)} ${iso.slice(11, 16)}${zoned ? " UTC" : ""}</time>`;
}

/** A day (UTC) for people and programs. */
export function day(ms: number): Html {
  const iso = isoOf(ms);
  if (iso === undefined) return html`an unknown day`;
  return html`<time datetime="${iso.slice(0, 10)}">${dayText(iso)}</time>`;
}

/** A moment in ISO 8601 that came from a document. */
export const momentOf = (text: string): Html => moment(Date.parse(text));

/** Warns where shown states are not kept up to date; nothing while the monitor runs. */
export function heartbeatBanner({ enabled, alive, lastMs, offline }: Heartbeat): Html {
  if (!enabled) {
    return html`<div class="banner"><p><strong>Monitoring is switched off.</strong> ${
      lastMs === undefined
        ? "Nothing is known of the endpoints' state."
        : html`The last probe was started at ${moment(lastMs)}; what is shown is as old as that.`
    }</p></div>
`;
  }
  if (alive && offline) {
    return html`<div class="banner down"><p><strong>This service has not been able to reach the network since <a href="/incidents/${offline.incident}">${moment(offline.sinceMs)}</a>.</strong> Endpoints beyond this machine are unknown until they answer again.</p></div>
`;
  }
  if (alive) return html``;
  return html`<div class="banner down"><p><strong>${
    lastMs === undefined ? "Monitoring has not started." : html`Monitoring stopped at ${moment(lastMs)}.`
  }</strong> The states are not up to date: the endpoints are not probed now.</p></div>
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
  return html`<p>${last} In the last 90 days probes were missing for ${durationText(lost)}.</p>
<details><summary>${amountText(gaps.length, "gap")} in the record</summary>
<ul>
${newest.map(({ fromMs, toMs }) => html`<li>${moment(fromMs)} to ${moment(toMs)} (${durationText(Math.max(0, toMs - fromMs))})</li>\n`)}</ul></details>`;
}

/** Where nothing was measured. */
export const noData = html`<span class="muted">no data</span>`;

/** A latency, where one was measured. */
export const latencyOf = (ms: number | undefined): Piece => (ms === undefined ? noData : latencyText(ms));

/** The share of good probes. */
export const uptimeOf = ({ probes, good }: { readonly probes: number; readonly good: number }): Piece =>
  probes === 0 ? noData : percentText(good, probes);

interface Probed {
  readonly probes: number;
  readonly faults: HourSummary["faults"];
}

/** Faults of probes. */
export const faultsOf = ({ probes, faults }: Probed): Piece => (probes === 0 ? noData : faultList(faults));

/** `prefix:name` in a well-known namespace, else the local name. */
export function shortName(iri: string): string {
  const { namespace, local } = iriParts(iri);
  const prefix = wellKnownPrefixes.get(namespace);
  return prefix === undefined || local === "" ? local || iri : `${prefix}:${local}`;
}

/** A class or property, as a link to the endpoints that have it. */
export const termLink = (kind: "class" | "property", iri: string): Html =>
  html`<a href="${catalogPathBy(kind, iri)}" title="${iri}">${shortName(iri)}</a>`;

/** Kinds of faults in words for people. */
export const faultWords: Readonly<Record<FaultKind, string>> = {
  address: "its address may not be dialled",
  dns: "its name does not resolve",
  connect: "no connection",
  tls: "no secure connection",
  timeout: "no answer in time",
  reset: "the connection broke",
  "http-3xx": "redirected elsewhere",
  "http-4xx": "refused the request",
  "http-429": "too many requests for it",
  "http-5xx": "an error of its server",
  "wrong-media-type": "answered with something else than results",
  malformed: "an unreadable answer",
  "wrong-answer": "a wrong answer",
  partial: "an incomplete answer",
  "too-large": "an answer that is too large",
  busy: "too many requests were waiting for it",
  "circuit-open": "not asked, after failures in a row",
};

/** A kind of fault in words, with its name as the API gives it. */
export const faultText = (fault: FaultKind): Html => html`${faultWords[fault]} <code>${fault}</code>`;

/** Faults by kind, the most frequent first; `none` without one. */
export function faultList(faults: Readonly<Partial<Record<FaultKind, number>>>): Html {
  const counted = Object.entries(faults)
    .filter(([, count]) => count > 0)
    .toSorted(([, left], [, right]) => right - left);
  if (counted.length === 0) return html`none`;
  return html`${joined(
    counted.map(([fault, count]) => html`${count} × <code>${fault}</code>`),
    ", ",
  )}`;
}
