import type { QueryPlan } from "../plan/query-plan.ts";
import type { Exclusion, Exclusions, FactsKnown } from "../plan/source-selection.ts";
import type { ChosenBy } from "./records.ts";
import type { Run } from "./run-log.ts";
import type { Refutation, SourceVerifier } from "./proven-answer.ts";

/** True if an answer may lack data that an endpoint has. */
export function isTouched(
  { exclusions, withheld, startedAt }: Pick<Run, "exclusions" | "withheld" | "startedAt">,
  { endpoint, patterns, since }: Refutation,
): boolean {
  if (startedAt < since) return false;
  const isTheirs = (one: Exclusion): boolean =>
    (one.endpoint.id ?? one.endpoint.url) === endpoint && one.patterns.some(({ key }) => patterns.includes(key));
  return exclusions?.list.some(isTheirs) === true || withheld.has(endpoint, patterns);
}

/** Of how many members of the federation that a plan is for facts are known; undefined where sources were not chosen by them. */
export function factsKnown(plan: QueryPlan): FactsKnown | undefined {
  if (plan.kind === "rejected") return undefined;
  return plan.kind === "direct" ? plan.facts : plan.over?.selection?.facts;
}

/** By which facts sources are chosen; undefined where all endpoints are asked, or those that were asked whether they have matches. */
export function chosenBy(
  plan: QueryPlan,
  { exclusions, withheld }: { readonly exclusions: Exclusions | undefined; readonly withheld: readonly string[] },
  sources: Pick<SourceVerifier, "verifiedAt"> | undefined,
): ChosenBy | undefined {
  const known = factsKnown(plan);
  const seenAt = Math.min(...(exclusions?.list.map((one) => one.seenAt) ?? []));
  if (exclusions === undefined || !Number.isFinite(seenAt)) return known && { known };
  const verifiedAt = sources?.verifiedAt(exclusions);
  return {
    known,
    seenAt: isoOf(seenAt),
    verifiedAt: verifiedAt === undefined ? undefined : isoOf(verifiedAt),
    withheld: withheld.length > 0 ? withheld : undefined,
  };
}

const isoOf = (ms: number): string => new Date(ms).toISOString();

/** The facts of a run, with those that turned out to be wrong. */
export const shownFacts = ({ facts, refuted }: Pick<Run, "facts" | "refuted">): ChosenBy | undefined =>
  facts && { ...facts, refuted: refuted.length > 0 ? refuted : undefined };
