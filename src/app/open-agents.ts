import { createToolbox, type Toolbox } from "../agent/toolbox.ts";
import type { Tool, ToolProfile } from "../agent/tool.ts";
import { describeEndpoint } from "../agent/tools/describe-endpoint.ts";
import { findEndpoints } from "../agent/tools/find-endpoints.ts";
import { runQuery } from "../agent/tools/run-query.ts";
import { searchTerms } from "../agent/tools/search-terms.ts";
import type { Config } from "../config/config.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { QueryService } from "../query/query-service.ts";
import type { EndpointStatus } from "../registry/search/search-index.ts";
import type { Registry } from "./open-registry.ts";

/** What the tools are made of. */
interface AgentParts {
  readonly settings: Config["agents"];
  readonly onDefect: (error: unknown) => void;
  readonly registry: Registry;
  readonly queries: QueryService;
  readonly statusOf: (id: string) => EndpointStatus;
}

/** The tools of agents, from what this process has. @throws FedwayError `CONFIG_INVALID` */
export function openAgents({ settings, registry, queries, statusOf, onDefect }: AgentParts) {
  // In the order in which a model uses them.
  const tools: readonly Tool[] = [
    findEndpoints({ ...registry, statusOf }),
    describeEndpoint(registry),
    searchTerms(registry),
    runQuery({ queries }),
  ];
  const off = knownTools(settings.toolsOff, tools);
  return {
    /** The tools of a profile; of the configured one when none is named. */
    toolbox: (profile: ToolProfile = settings.profile): Toolbox => createToolbox(tools, { profile, off, onDefect }),
  };
}

/** A name that is misspelt would leave its tool on. */
function knownTools(off: readonly string[], tools: readonly Tool[]): readonly string[] {
  const names = tools.map(({ name }) => name);
  const unknown = off.find((name) => !names.includes(name));
  if (unknown === undefined) return off;
  throw new FedwayError("CONFIG_INVALID", `FEDWAY_TOOLS_OFF names ${unknown}, which is no tool.`, {
    next: `The tools are ${names.join(", ")}.`,
  });
}
