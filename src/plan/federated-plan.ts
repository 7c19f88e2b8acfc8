import { FedwayError } from "../errors/fedway-error.ts";
import { absoluteIris } from "../sparql/absolute-iris.ts";
import { analyseQuery } from "../sparql/analyse-query.ts";
import type { ServiceElement } from "../sparql/outline.ts";
import { mergeClauses } from "../sparql/merge-clauses.ts";
import { parseQuery } from "../sparql/parse-query.ts";
import { withoutDatasets } from "../sparql/rewrite.ts";
import { splitClauses } from "../sparql/split-clauses.ts";
import type { Draft } from "./decide-plan.ts";
import type { FederatedPlan, FederationMember, PlanNote, PlannedEndpoint } from "./query-plan.ts";

/** A plan in which every SERVICE names a member by its absolute URL and neighbours for one endpoint are one clause. */
export function federatedPlan(draft: Draft): FederatedPlan {
  const { query, targets } = draft;
  const { text, merged } = mergeClauses(query, {
    isMember: (service: ServiceElement) => targets.members.has(service.from),
    urlOf: (service: ServiceElement) => targets.members.get(service.from)?.url ?? "",
  });
  const parsed = absoluteIris(parseQuery(text));
  const planned = analyseQuery(parsed);
  const endpoints = new Map([...targets.members.values()].map((endpoint) => [endpoint.url, endpoint]));
  const members = countMembers(planned, endpoints);
  const notes: PlanNote[] = [...draft.notes];
  if (merged > 0) {
    notes.push({
      code: "WRAPPERS_MERGED",
      message: "Neighbouring SERVICE clauses for one endpoint were merged into one.",
    });
  }
  const sent = planned.datasets.length > 0 ? parseQuery(withoutDatasets(planned)) : parsed;
  const { skeleton, clauses } = splitClauses(sent);
  return {
    kind: "federated",
    answer: parsed.kind,
    query: sent.text,
    skeleton,
    clauses: clauses.map(({ target, ...clause }) => Object.assign(clause, { endpoint: memberOf(endpoints, target) })),
    members,
    notes,
  };
}

/** The member that a clause names by its absolute URL, `<...>` included. */
function memberOf(endpoints: ReadonlyMap<string, PlannedEndpoint>, target: string): PlannedEndpoint {
  const endpoint = endpoints.get(target.slice(1, -1));
  if (!endpoint) throw new FedwayError("INTERNAL", "The planned query names an endpoint that was not checked.");
  return endpoint;
}

/** Members in order of appearance; fails when the text names anything that was not planned. */
function countMembers(
  planned: ReturnType<typeof analyseQuery>,
  endpoints: ReadonlyMap<string, PlannedEndpoint>,
): readonly FederationMember[] {
  const members = new Map<string, FederationMember>();
  for (const { target, silent, parent } of planned.services) {
    // What is left inside another clause is an extension of that endpoint's engine.
    if (parent) continue;
    const endpoint = memberOf(endpoints, target.kind === "iri" ? `<${target.iri}>` : "");
    const known = members.get(endpoint.url);
    members.set(endpoint.url, {
      endpoint,
      clauses: (known?.clauses ?? 0) + 1,
      silent: (known?.silent ?? true) && silent,
    });
  }
  return [...members.values()];
}
