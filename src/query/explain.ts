import { type Problem, toProblem } from "../errors/fedway-error.ts";
import type {
  DirectPlan,
  FederatedPlan,
  PlannedEndpoint,
  PlanNote,
  QueryPlan,
  MergedMembers,
  SilentFallback,
} from "../plan/query-plan.ts";
import type { Certificate, FactsKnown, SourceSelection } from "../plan/source-selection.ts";
import { portablePlan } from "../plan/portable-plan.ts";
import { factsKnown } from "./chosen-by.ts";
import { notesOf, type RunRecord } from "./run-log.ts";
import type { AnswerKind } from "../results/model.ts";

/** A plan as `/api/explain` returns it. */
export interface PlanDescription {
  readonly kind: QueryPlan["kind"];
  readonly answer?: AnswerKind;
  /** One entry an endpoint. */
  readonly endpoints: readonly {
    readonly endpoint: string;
    readonly url: string;
    readonly clauses: number;
    readonly silent: boolean;
    /** Of one that does not speak SPARQL. */
    readonly interface?: PlannedEndpoint["interface"];
  }[];
  /** Of a direct plan: the dataset that goes to the endpoint. */
  readonly graphs?: { readonly default: readonly string[]; readonly named: readonly string[] } | undefined;
  /** Of a direct plan whose failure is an answer: the query that is evaluated after one. */
  readonly silent?: SilentFallback | undefined;
  /** Where patterns outside of SERVICE are matched. */
  readonly over?: PlannedMembers | undefined;
  /** Text sent (direct) or evaluated (federated). */
  readonly query?: string;
  /** One SPARQL 1.1 query with SERVICE that other engines give the same answer to, unless it joins blank nodes of two requests; or why there is none. */
  readonly portable?: {
    readonly query?: string;
    /** What another engine's answer lacks. */
    readonly notes?: readonly PlanNote[] | undefined;
    readonly why?: string;
    /** What may be done where there is none. */
    readonly next?: string;
  };
  /** Of a federation: what is known of who has matches of each pattern; what is not in it is asked of all members. */
  readonly sources?: PlannedSources | undefined;
  /** Of a federation: of how many of its members facts are known. */
  readonly facts?: FactsKnown | undefined;
  readonly notes: readonly PlanNote[];
  /** Set when the plan is a rejection. */
  readonly problem?: Problem;
  /** The record of a run whose rows were dropped; set when the plan was analysed. */
  readonly run?: RunRecord;
}

/** A plan with what a run of it took. */
export const toAnalyzedPlan = (plan: QueryPlan, run: RunRecord): PlanDescription => ({
  ...toPlanDescription(plan),
  run,
});

/** The members whose data are one graph for patterns outside of SERVICE; `leftOut` have no match for any of them. */
interface PlannedMembers {
  readonly federation?: string | undefined;
  readonly members: number;
  readonly leftOut: number;
  /** The only member, by id or URL. */
  readonly only?: string | undefined;
}

/** Who is asked for a pattern, and what proves that the others have no match. */
type PlannedSources = readonly {
  readonly pattern: string;
  readonly members: readonly string[];
  readonly excluded: readonly (Certificate & { readonly members: number })[];
}[];

/** A plan as data for `/api/explain`. */
export function toPlanDescription(plan: QueryPlan): PlanDescription {
  if (plan.kind === "rejected") return { kind: plan.kind, endpoints: [], notes: [], problem: toProblem(plan.reason) };
  const { kind, answer, query } = plan;
  const shown = { kind, answer, endpoints: endpointsOf(plan), query, notes: notesOf(plan, "empty") };
  return { ...shown, ...placesOf(plan), facts: factsKnown(plan), portable: portablePlan(plan) };
}

function placesOf(plan: DirectPlan | FederatedPlan): Pick<PlanDescription, "graphs" | "silent" | "over" | "sources"> {
  if (plan.kind === "federated") return { over: plan.over && membersOf(plan.over), sources: sourcesOf(plan) };
  const { defaultGraphs, namedGraphs, silent } = plan;
  const hasGraphs = defaultGraphs.length + namedGraphs.length > 0;
  return { silent, graphs: hasGraphs ? { default: defaultGraphs, named: namedGraphs } : undefined };
}

function membersOf({ federation, members, selection }: MergedMembers): PlannedMembers {
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
