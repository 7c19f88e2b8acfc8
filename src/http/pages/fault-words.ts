import type { FaultKind } from "../../errors/fedway-error.ts";
import { type Html, html, joined } from "../../html.ts";

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
