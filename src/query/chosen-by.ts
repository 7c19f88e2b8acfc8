import type { PlanNote, QueryPlan } from "../plan/query-plan.ts";
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

/** By which facts sources are chosen; undefined where all endpoints are asked. */
export function chosenBy(
  plan: QueryPlan,
  { exclusions, withheld }: { readonly exclusions: Exclusions | undefined; readonly withheld: readonly string[] },
  sources: Pick<SourceVerifier, "verifiedAt" | "age"> | undefined,
): ChosenBy | undefined {
  const known = factsKnown(plan);
  if (exclusions === undefined || sources === undefined) return known && { known };
  // Members without facts were asked; that is as old as its verification.
  const seenAt = Math.min(...exclusions.list.map((one) => one.seenAt));
  const verifiedAt = sources.verifiedAt(exclusions);
  const oldest = Number.isFinite(seenAt) ? seenAt : verifiedAt;
  const { ms, isOld, changed } = sources.age(exclusions);
  return {
    known,
    seenAt: oldest === undefined ? undefined : isoOf(oldest),
    verifiedAt: verifiedAt === undefined ? undefined : isoOf(verifiedAt),
    ageMs: Math.round(ms),
    isOld: isOld || undefined,
    changed: changed.length > 0 ? changed : undefined,
    withheld: withheld.length > 0 ? withheld : undefined,
  };
}

/** Endpoints that a note names. */
const mostNamed = 5;

/** Notes on facts that are old, or about endpoints that have changed lately: the answer may lack rows of these. */
export function factsNotes({ ageMs = 0, isOld, changed = [] }: ChosenBy = {}): readonly PlanNote[] {
  const age = `facts found or verified ${ageText(ageMs)} ago; prune=false asks all`;
  const more = changed.length > mostNamed ? ` and ${changed.length - mostNamed} more` : "";
  const names = `${changed.slice(0, mostNamed).join(", ")}${more}`;
  return [
    ...(isOld ? [{ code: "FACTS_OLD", message: `Endpoints were left out by ${age}.` } as const] : []),
    ...(changed.length > 0
      ? [{ code: "MEMBERS_CHANGED", message: `Changed within a day and left out: ${names}, by ${age}.` } as const]
      : []),
  ];
}

/** "90 s", "3 h", "2 days". */
function ageText(ms: number): string {
  const hours = ms / 3_600_000;
  if (hours >= 48) return `${Math.floor(hours / 24)} days`;
  return hours >= 2 ? `${Math.floor(hours)} h` : `${Math.round(ms / 1_000)} s`;
}

const isoOf = (ms: number): string => new Date(ms).toISOString();

/** The facts of a run, with those that turned out to be wrong. */
export const shownFacts = ({ facts, refuted }: Pick<Run, "facts" | "refuted">): ChosenBy | undefined =>
  facts && { ...facts, refuted: refuted.length > 0 ? refuted : undefined };
