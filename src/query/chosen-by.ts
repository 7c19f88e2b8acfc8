import type { Exclusion, Exclusions } from "../plan/source-selection.ts";
import type { ChosenBy } from "./records.ts";
import type { Run } from "./run-log.ts";
import type { Refutation, SourceVerifier } from "./verified-answer.ts";

/** True if an answer may lack data that an endpoint has. */
export function isTouched({ exclusions, pruned, startedAt }: Run, { endpoint, patterns, since }: Refutation): boolean {
  if (startedAt < since) return false;
  const isTheirs = (one: Exclusion): boolean =>
    (one.endpoint.id ?? one.endpoint.url) === endpoint && one.patterns.some(({ key }) => patterns.includes(key));
  return exclusions?.list.some(isTheirs) === true || pruned?.has(endpoint, patterns) === true;
}

/** The facts by which endpoints are left out. */
export function chosenBy(exclusions: Exclusions, pruned: readonly string[], verifier: SourceVerifier): ChosenBy {
  // Members without facts were asked; that is as old as its verification.
  const seenAt = Math.min(...exclusions.list.map((one) => one.seenAt));
  const verifiedAt = verifier.verifiedAt(exclusions);
  const oldest = Number.isFinite(seenAt) ? seenAt : verifiedAt;
  const { ms, isOld, changed } = verifier.age(exclusions);
  return {
    seenAt: oldest === undefined ? undefined : isoOf(oldest),
    verifiedAt: verifiedAt === undefined ? undefined : isoOf(verifiedAt),
    ageMs: Math.round(ms),
    isOld: isOld || undefined,
    changed: changed.length > 0 ? changed : undefined,
    withheld: pruned.length > 0 ? pruned : undefined,
  };
}

const isoOf = (ms: number): string => new Date(ms).toISOString();

/** The facts of a run, with those that turned out to be wrong. */
export const shownFacts = ({ facts, refuted }: Run): ChosenBy | undefined =>
  facts && { ...facts, refuted: refuted.length > 0 ? refuted : undefined };
