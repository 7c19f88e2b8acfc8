import { systemClock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import { createAdapterAcceptance } from "../diagnosis/accept-adapter.ts";
import type { CheckOptions } from "../diagnosis/check/lookups.ts";
import { createQueryCheck } from "../diagnosis/check/query-check.ts";
import { createExplainer } from "../diagnosis/why/explainer.ts";
import type { Problem } from "../errors/fedway-error.ts";
import type { Admission } from "../query/admission.ts";
import { createProbe } from "../query/probe.ts";
import type { QueryRequest } from "../query/query-service.ts";
import type { Registry } from "./open-registry.ts";

/** Diagnosis of queries, by asking endpoints. */
export type Diagnosis = ReturnType<typeof openDiagnosis>;

/** Explanations of empty answers, by the planner and the executors of the query service. */
export function openDiagnosis(
  { agents }: Pick<Config, "agents">,
  registry: Registry,
  execution: Parameters<typeof createProbe>[0] & { readonly admission: Admission } & Pick<CheckOptions, "availability">,
) {
  const { catalog, finder } = registry;
  const { planner, now, admission, availability } = execution;
  const maxRequests = agents.diagnosisRequests;
  const probe = createProbe(execution);
  const check = createQueryCheck({ ...registry, ...(availability && { availability }), planner, now: systemClock.now });
  const explainer = createExplainer({
    check: (asked, how) => check.check(asked, how),
    run: probe,
    planner,
    catalog,
    terms: finder,
    now,
    admission,
    maxRequests,
  });
  const explainEmpty = async (request: QueryRequest, timeoutMs: number): Promise<Problem | null> => {
    const { text: query, endpointId: endpoint, federationId: federation } = request;
    const { signal, owner, admitted, withoutCredentials } = request;
    // The parts are asked without a dataset of the protocol.
    if (request.defaultGraphs.length + request.namedGraphs.length > 0) return null;
    const asked = { query, endpoint, federation };
    const { problem } = await explainer.explain(asked, { signal, owner, admitted, timeoutMs, withoutCredentials });
    return problem;
  };
  const mend = async ({ text, endpointId: endpoint, federationId: federation, owner = "", signal }: QueryRequest) => {
    const { query, suggested } = await check.check({ query: text, endpoint, federation, owner }, { signal });
    return query === text ? suggested : query;
  };
  const acceptAdapter = createAdapterAcceptance({ catalog, probe, admission, now });
  return { probe, check, explainer, acceptAdapter, mend, explainEmpty: agents.explainEmpty ? explainEmpty : undefined };
}
