import { toProblem } from "../errors/fedway-error.ts";
import {
  type DirectPlan,
  type FederatedPlan,
  factsKnown,
  type MergedMembers,
  type PlannedEndpoint,
  type QueryPlan,
} from "../plan/query-plan.ts";
import type { SourceSelection } from "../plan/source-selection.ts";
import { passTimes } from "../plan/passes.ts";
import { portablePlan } from "../plan/portable-plan.ts";
import { planNotes } from "./answer-notes.ts";
import type { PlanDescription, RunRecord } from "./records.ts";

/** A plan with what a run of it took. */
export const toAnalyzedPlan = (plan: QueryPlan, run: RunRecord): PlanDescription => ({
  ...toPlanDescription(plan),
  run,
});

type PlannedSources = NonNullable<PlanDescription["sources"]>;

/** A plan with the passes that made it. */
export const toTimedPlan = (plan: QueryPlan): PlanDescription => ({
  ...toPlanDescription(plan),
  passes: passTimes(plan)?.map(({ pass, ms }) => ({ pass, ms: Math.round(ms * 1_000) / 1_000 })),
});

/** A plan as data. */
export function toPlanDescription(plan: QueryPlan): PlanDescription {
  if (plan.kind === "rejected") return { kind: plan.kind, endpoints: [], notes: [], problem: toProblem(plan.reason) };
  const { kind, answer, query } = plan;
  const shown = { kind, answer, endpoints: endpointsOf(plan), query, notes: planNotes(plan, "empty") };
  return { ...shown, ...placesOf(plan), facts: factsKnown(plan), portable: portablePlan(plan) };
}

function placesOf(plan: DirectPlan | FederatedPlan): Partial<PlanDescription> {
  if (plan.kind === "federated") return { over: plan.over && membersOf(plan.over), sources: sourcesOf(plan) };
  const { defaultGraphs, namedGraphs, silent } = plan;
  const hasGraphs = defaultGraphs.length + namedGraphs.length > 0;
  return { silent, graphs: hasGraphs ? { default: defaultGraphs, named: namedGraphs } : undefined };
}

function membersOf({ federation, members, selection }: MergedMembers): NonNullable<PlanDescription["over"]> {
  const [first] = members;
  const only = members.length === 1 ? (first?.id ?? first?.url) : undefined;
  return { federation, members: members.length, leftOut: selection?.leftOut ?? 0, only };
}

function sourcesOf({ over, clauses }: FederatedPlan): PlannedSources | undefined {
  const merged = [over, ...clauses.map(({ endpoint }) => endpoint.over)].flatMap((each) =>
    each?.selection === undefined ? [] : [patternsOf(each.members, each.selection)],
  );
  return merged.length === 0 ? undefined : merged.flat();
}

function patternsOf(members: readonly PlannedEndpoint[], selection: SourceSelection): PlannedSources {
  return Object.entries(selection.patterns).map(([pattern, { sources, excluded }]) => ({
    pattern,
    members: sources.flatMap(({ member }) => members[member] ?? []).map(({ id, url }) => id ?? url),
    excluded: excluded.map(({ certificate, members: count }) => ({ ...certificate, members: count })),
  }));
}

/** The endpoints that a plan names, each once. */
export function endpointsOf(plan: DirectPlan | FederatedPlan): PlanDescription["endpoints"] {
  if (plan.kind === "direct") {
    return [{ ...named(plan.endpoint), clauses: 1, silent: plan.silent !== undefined }];
  }
  return plan.members.map(({ endpoint, clauses, silent }) => {
    const { interface: its } = endpoint;
    return { ...named(endpoint), clauses, silent, ...(its && { interface: its }) };
  });
}

function named({ id, url }: PlannedEndpoint): { endpoint: string; url: string } {
  return { endpoint: id ?? url, url };
}
