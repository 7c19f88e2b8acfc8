import { createToolbox, type Toolbox } from "../agent/toolbox.ts";
import type { Tool, ToolProfile } from "../agent/tool.ts";
import { describeEndpoint } from "../agent/tools/describe-endpoint.ts";
import { findEndpoints } from "../agent/tools/find-endpoints.ts";
import { runQuery } from "../agent/tools/run-query.ts";
import { searchTerms } from "../agent/tools/search-terms.ts";
import type { QueryService } from "../query/query-service.ts";
import type { EndpointStatus } from "../registry/search/search-index.ts";
import type { Registry } from "./open-registry.ts";

/** What the tools are made of. */
interface AgentParts {
  readonly registry: Registry;
  readonly queries: QueryService;
  readonly statusOf: (id: string) => EndpointStatus;
}

/** The tools of agents, from what this process has. */
export function openAgents({ registry, queries, statusOf }: AgentParts) {
  // In the order in which a model uses them.
  const tools: readonly Tool[] = [
    findEndpoints({ ...registry, statusOf }),
    describeEndpoint(registry),
    searchTerms(registry),
    runQuery({ queries }),
  ];
  return {
    /** The tools of a profile. */
    toolbox: (profile: ToolProfile): Toolbox => createToolbox(tools, { profile }),
  };
}
