import type { Config } from "../config/config.ts";
import { createExplainer } from "../diagnosis/why/explainer.ts";
import type { Problem } from "../errors/fedway-error.ts";
import { createProbe } from "../query/probe.ts";
import type { QueryRequest } from "../query/query-service.ts";
import type { Registry } from "./open-registry.ts";

/** Questions about an empty answer that somebody waits for; who asks why has more. */
const fewQuestions = 8;

/** What explains empty answers, by the planner and the executors of the query service. */
export function openDiagnosis(
  { agents }: Pick<Config, "agents">,
  { catalog, search, values }: Pick<Registry, "catalog" | "search" | "values">,
  execution: Parameters<typeof createProbe>[0],
) {
  const { planner, now } = execution;
  const probe = createProbe(execution);
  const explainer = createExplainer({ run: probe, planner, catalog, terms: search, values, now });
  const timeoutMs = agents.explainEmptyMs;
  const explainEmpty = async (request: QueryRequest): Promise<Problem | null> => {
    const { text: query, endpointId: endpoint, federationId: federation, signal, owner } = request;
    // The parts are asked without a dataset of the protocol.
    if (request.defaultGraphs.length + request.namedGraphs.length > 0) return null;
    const asked = { query, endpoint, federation };
    const { problem } = await explainer.explain(asked, { signal, owner, timeoutMs, maxRequests: fewQuestions });
    return problem;
  };
  return { probe, explainer, explainEmpty: timeoutMs > 0 ? explainEmpty : undefined };
}
