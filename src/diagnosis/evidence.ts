/**
 * Evidence of a finding: endpoints were asked for it now, or descriptions say so. Conclusions are never shown as observations.
 * "asked now" is said of nothing that facts could have kept from being asked.
 */
export type Evidence = { readonly kind: "asked" } | { readonly kind: "described"; readonly at: readonly string[] };

/** The evidence of a finding in the words of its reader. */
export function evidenceText(evidence: Evidence): string {
  if (evidence.kind === "asked") return "asked now";
  const [oldest] = evidence.at.toSorted();
  const date = oldest === undefined ? "" : ` of ${oldest.slice(0, 16).replace("T", " ")}`;
  return evidence.at.length === 1 ? `by the description${date}` : `by the descriptions${date} or later`;
}
