import type { FedwayError } from "../errors/fedway-error.ts";
import type { FederationMember, MergedMembers, PlannedEndpoint, PlanNote, QueryPlan } from "./query-plan.ts";

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
