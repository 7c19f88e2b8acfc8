import type { FactStatus, UnknownFact } from "../void/void-description.ts";
import { anchored } from "./anchors.ts";
import type { Family } from "./families.ts";
import type { Groups, Observation } from "./observation.ts";
import { familyFacts } from "./family-facts.ts";
import { improves, type Run } from "./run.ts";

/** What is known already says of one key of an answer. */
export function judgeKey(
  run: Run,
  family: Family,
  { key, observation }: { readonly key: string; readonly observation: Observation },
): "agrees" | "contradicts" | "unknown" {
  if (!run.dialect.count || observation.flawed.has(key)) return "unknown";
  const verdict = anchored(run.base, family, { key, groups: observation.groups.get(key) ?? new Map() });
  return verdict === "agrees" && run.lies ? "unknown" : verdict;
}

/** One answer about some keys. */
export interface About {
  readonly keys: readonly string[];
  readonly observation: Observation;
}

/** Keeps what an answer shows at least; gives the keys of which it shows more than was seen before. */
export function keepBounds(run: Run, family: Family, { keys, observation }: About): readonly string[] {
  const status: FactStatus = run.dialect.count ? "lowerBound" : "exists";
  const risen: string[] = [];
  for (const key of keys) {
    const groups = observation.groups.get(key);
    record(run, family, { key, groups, status, record: observation.record });
    if (improves(run, family, { key, observation })) risen.push(key);
  }
  return risen;
}

/**
 * A second way agrees with an answer about a key: its counts are exact and its lists complete. Without counts there is no
 * way to see that both lack the same, so lists are then left open.
 */
export function accept(
  run: Run,
  family: Family,
  { key, observation }: { readonly key: string; readonly observation: Observation },
): void {
  if (observation.flawed.has(key)) {
    giveUp(run, family, { key, why: "refused", record: observation.record });
    return;
  }
  const { count } = run.dialect;
  const groups = observation.groups.get(key);
  record(run, family, { key, groups, status: count ? "exact" : "exists", record: observation.record });
  if (count) familyFacts[family.name].complete(run.base, key);
  run.agenda.settle(family, key);
}

/** A key stays as it is: known in part. */
export function giveUp(run: Run, family: Family, at: { readonly key: string } & Omit<UnknownFact, "what">): void {
  const { key, ...unknown } = at;
  run.agenda.settle(family, key, unknown);
}

/** Groups of one key, and how they are known. */
export interface Finding {
  readonly key: string;
  readonly groups: Groups | undefined;
  readonly status: FactStatus;
  readonly record: number;
}

/** Puts the groups of a key into the facts. */
export function record(run: Run, family: Family, { groups, ...found }: Finding): void {
  for (const group of groups?.values() ?? []) familyFacts[family.name].record(run.base, { ...found, group });
}
