import { FedwayError } from "../errors/fedway-error.ts";
import type { CatalogEntry } from "../registry/catalog/catalog.ts";
import type { AnalysedQuery } from "../sparql/analyse-query.ts";
import { withAbsoluteIris } from "../sparql/absolute-iris.ts";
import type { PlanRequest, PlanTask } from "./plan-request.ts";
import type { DirectPlan, FederatedPlan, FederationMember, MergedMembers, PlannedEndpoint } from "./query-plan.ts";
import { plannedEndpoint } from "./service-targets.ts";

/** The members of the federation that a request names; undefined when it names none. */
export function mergedMembers({ over }: PlanTask): MergedMembers | undefined {
  return over && { federation: over.federation.id, members: over.members.map((entry) => plannedEndpoint(entry)) };
}

/** Whether an entry's data are triples to be matched, so that its queries are evaluated here. */
export function isMatchedHere(entry: CatalogEntry | PlannedEndpoint): boolean {
  return entry.interface === "tpf" || entry.interface === "file";
}

/** A query without SERVICE whose patterns are matched at these members and joined here. */
export function mergedPlan(
  { answer, query, notes }: Pick<FederatedPlan, "answer" | "query" | "notes">,
  over: MergedMembers,
): FederatedPlan {
  const skeleton = withAbsoluteIris(query);
  return { kind: "federated", answer, query, skeleton, clauses: [], over, members: memberList([], over), notes };
}

/** What was to be sent to one endpoint, evaluated here over the triples of that endpoint. */
export function evaluatedOver({ answer, query, notes, endpoint }: DirectPlan): FederatedPlan {
  return mergedPlan({ answer, query, notes }, { members: [endpoint] });
}

/** A plan with SERVICE clauses whose other patterns are asked at these members. */
export function withMembers(plan: FederatedPlan, over: MergedMembers): FederatedPlan {
  return { ...plan, over, members: memberList(plan.members, over) };
}

/** Members that only answer patterns come first; one that a SERVICE names too is not silent for them. */
function memberList(named: readonly FederationMember[], { members }: MergedMembers): readonly FederationMember[] {
  const urls = new Set(members.map(({ url }) => url));
  const clausesAt = (url: string): number => named.find(({ endpoint }) => endpoint.url === url)?.clauses ?? 0;
  return [
    ...members.map((endpoint) => ({ endpoint, clauses: clausesAt(endpoint.url), silent: false })),
    ...named.filter(({ endpoint }) => !urls.has(endpoint.url)),
  ];
}

/**
 * A merged graph has no other graphs than its default graph, and a part of it cannot be chosen.
 * @throws FedwayError `REQUEST_INVALID` for FROM, FROM NAMED and the protocol's dataset
 */
export function refuseDataset({ datasets }: AnalysedQuery, request: PlanRequest): void {
  if (datasets.length + request.defaultGraphs.length + request.namedGraphs.length === 0) return;
  const what = request.federationId === undefined ? "This endpoint" : "A federation";
  throw new FedwayError("REQUEST_INVALID", `${what} has one default graph and no named graphs to choose from.`, {
    next: "Leave out FROM, FROM NAMED and the dataset parameters.",
  });
}
