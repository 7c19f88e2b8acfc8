import { type Problem, toProblem, type FedwayError } from "../errors/fedway-error.ts";
import type {
  DirectPlan,
  FederatedPlan,
  PlannedEndpoint,
  PlanNote,
  QueryPlan,
  FederationMember,
  MergedMembers,
} from "../plan/query-plan.ts";
import { notesOf } from "./run-log.ts";
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
  }[];
  /** Text sent (direct) or evaluated (federated). */
  readonly query?: string;
  readonly notes: readonly PlanNote[];
  /** Set when the plan is a rejection. */
  readonly problem?: Problem;
  /** The plan as indented text for people. */
  readonly text: string;
}

/** A plan as data for `/api/explain`. */
export function toPlanDescription(plan: QueryPlan): PlanDescription {
  const text = describePlan(plan);
  if (plan.kind === "rejected") {
    return { kind: plan.kind, endpoints: [], notes: [], problem: toProblem(plan.reason), text };
  }
  const { kind, answer, query } = plan;
  return { kind, answer, endpoints: endpointsOf(plan), query, notes: notesOf(plan, "empty"), text };
}

/** The endpoints that a plan names, each once. */
export function endpointsOf(plan: DirectPlan | FederatedPlan): PlanDescription["endpoints"] {
  if (plan.kind === "direct") {
    return [{ ...named(plan.endpoint), clauses: 1, silent: plan.silent !== undefined }];
  }
  return plan.members.map(({ endpoint, clauses, silent }) => ({ ...named(endpoint), clauses, silent }));
}

function named({ id, url }: PlannedEndpoint): { endpoint: string; url: string } {
  return { endpoint: id ?? url, url };
}

/** A plan as indented text for people: kind, endpoints with their clauses, notes, query. Ends without a line break. */
export function describePlan(plan: QueryPlan): string {
  switch (plan.kind) {
    case "direct":
      return [
        `direct (${plan.answer})`,
        `  endpoint ${endpointLabel(plan.endpoint)}`,
        ...graphLines("default graph", plan.defaultGraphs),
        ...graphLines("named graph", plan.namedGraphs),
        ...(plan.silent
          ? ["  silent: a failure before the first row is one empty solution, a later one leaves a partial answer"]
          : []),
        ...noteLines(plan.notes),
        ...queryLines("query", plan.query),
        ...(plan.silent ? queryLines("after a failure", plan.silent.query) : []),
      ].join("\n");
    case "federated":
      return [
        `federated (${plan.answer})`,
        ...(plan.members.length === 0 ? ["  no endpoint: evaluated here over the empty dataset"] : []),
        ...(plan.over ? [overLine(plan.over)] : []),
        ...plan.members.map((member) => memberLine(member)),
        ...noteLines(plan.notes),
        ...queryLines("query", plan.query),
      ].join("\n");
    default:
      return rejectionLines(plan.reason).join("\n");
  }
}

function overLine({ federation, members }: MergedMembers): string {
  const where = federation === undefined ? "" : `federation ${federation}: `;
  const [only] = members;
  if (members.length === 1 && only) return `  ${where}patterns are matched at ${only.id ?? only.url} and joined here`;
  return `  ${where}each pattern is asked at all of ${members.length} members, their answers are one graph`;
}

function memberLine({ endpoint, clauses, silent }: FederationMember): string {
  const interfaceName = endpoint.interface === undefined ? "" : `, interface ${endpoint.interface}`;
  const count = clauses === 0 ? "" : `, ${clauses} ${clauses === 1 ? "clause" : "clauses"}`;
  return `  member ${endpointLabel(endpoint)}${interfaceName}${count}${silent ? ", silent" : ""}`;
}

const endpointLabel = ({ id, url }: PlannedEndpoint): string => (id === undefined ? `<${url}>` : `${id} <${url}>`);

const graphLines = (label: string, graphs: readonly string[]): string[] => graphs.map((iri) => `  ${label} <${iri}>`);

const noteLines = (notes: readonly PlanNote[]): string[] =>
  notes.map(({ code, message }) => `  note ${code}: ${message}`);

function queryLines(label: string, query: string): string[] {
  const lines = query.split(/\r\n?|\n/).filter((line) => line.trim() !== "");
  return [`  ${label}`, ...lines.map((line) => `    ${line.trimEnd()}`)];
}

function rejectionLines({ code, message, details }: FedwayError): string[] {
  const { line, column } = details.where ?? {};
  return [
    `rejected ${code}`,
    `  ${message}`,
    ...(line === undefined ? [] : [`  at line ${line}, column ${column}`]),
    ...(details.endpoints ? [`  endpoints: ${details.endpoints.join(", ")}`] : []),
    ...(details.next === undefined ? [] : [`  next: ${details.next}`]),
  ];
}
