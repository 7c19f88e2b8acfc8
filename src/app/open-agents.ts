import { type AskAgent, type AskOptions, createAskAgent } from "../agent/ask/ask-agent.ts";
import { createGrammars } from "../agent/grammar/create-grammars.ts";
import { createToolbox, type Toolbox, type ToolObserver } from "../agent/toolbox.ts";
import { type Tool, type ToolProfile, toolProfiles } from "../agent/tool.ts";
import { createQueryContainer } from "../agent/container/container.ts";
import type { AskRows } from "../agent/container/judge.ts";
import { acceptAdapter } from "../agent/tools/accept-adapter.ts";
import { buildQuery } from "../agent/tools/build-query.ts";
import { checkQuery } from "../agent/tools/check-query.ts";
import { describeEndpoint } from "../agent/tools/describe-endpoint.ts";
import { createResources } from "../agent/resources.ts";
import { createResultStore } from "../agent/results/result-store.ts";
import { findExamples } from "../agent/tools/find-examples.ts";
import { findEndpoints } from "../agent/tools/find-endpoints.ts";
import { paperTools } from "../agent/tools/paper-names.ts";
import { explainResult } from "../agent/tools/explain-result.ts";
import { runQuery } from "../agent/tools/run-query.ts";
import { searchTerms } from "../agent/tools/search-terms.ts";
import { submitFinalQuery } from "../agent/tools/submit-final-query.ts";
import { steadyClock, systemClock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import { packageVersion } from "../package-file.ts";
import type { AcceptAdapter } from "../diagnosis/accept-adapter.ts";
import type { QueryCheck } from "../diagnosis/check/query-check.ts";
import type { Explainer } from "../diagnosis/why/explainer.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { McpParts } from "../mcp/create-server.ts";
import type { McpHttpHandler } from "../mcp/http-handler.ts";
import type { JsonClient } from "../outbound/json-client.ts";
import type { Admission } from "../query/admission.ts";
import type { Probe } from "../query/probe.ts";
import type { QueryService } from "../query/query-service.ts";
import type { RawExample } from "../registry/find.ts";
import { createToolSpans, type Tracer } from "../telemetry/tracing.ts";
import { termToText } from "../results/terms.ts";
import type { Registry } from "./open-registry.ts";

/** Parts of the tools. */
interface AgentParts {
  readonly settings: Config["agents"] & Pick<Config["limits"], "maxRows">;
  readonly onDefect: (error: unknown) => void;
  readonly registry: Registry;
  readonly queries: QueryService;
  readonly check: QueryCheck;
  readonly explainer: Explainer;
  readonly probe: Probe;
  readonly admission: Admission;
  readonly acceptAdapter: AcceptAdapter;
  readonly tracer?: Tracer | undefined;
}

/** Rows that an agent's query asks for, so that it can turn pages. */
const mostRows = 5_000;

/** The tools of agents, from what this process has. @throws FedwayError `CONFIG_INVALID` */
export function openAgents(parts: AgentParts) {
  const { settings, registry, queries, check, explainer, onDefect, tracer, probe, admission } = parts;
  const results = createResultStore({ now: steadyClock.now });
  const { experience } = registry;
  const running = {
    queries,
    results,
    maxRows: Math.min(settings.maxRows, mostRows),
    check: settings.repair ? check : undefined,
    keepExample: experience && ((pair: RawExample) => experience.add(pair).catch(onDefect)),
  };
  // In the order in which a model uses them.
  const tools: readonly Tool[] = [
    findEndpoints(registry),
    describeEndpoint(registry),
    searchTerms(registry),
    checkQuery({ check }),
    findExamples(registry),
    runQuery(running),
    explainResult({ queries, explainer }),
    ...(settings.acceptAdapters ? [acceptAdapter({ accept: parts.acceptAdapter })] : []),
    buildQuery({ container: createQueryContainer({ ...registry, queries, ask: askBy(probe), now: systemClock.now }) }),
    ...paperTools({ ...registry, ...running }),
    submitFinalQuery(queries),
  ];
  const off = knownTools(settings.toolsOff, tools);
  const observe = observeTools(queries, tracer);
  const shared = { off, onDefect, observe, admission };
  const toolbox = (profile: ToolProfile = settings.profile): Toolbox => createToolbox(tools, { profile, ...shared });
  const mcpParts = (profile?: ToolProfile): McpParts => {
    const box = toolbox(profile);
    return { toolbox: box, resources: createResources({ ...registry, results }, box.hint), version: packageVersion() };
  };
  return {
    /** The tools of a profile; of the configured one when none is named. */
    toolbox,
    /** These tools alone, in this order. @throws FedwayError `REQUEST_INVALID` for one that is not there */
    toolboxOf: (only: readonly string[]): Toolbox =>
      createToolbox(chosenTools(only, tools, off), { profile: "full", ...shared }),
    /** Tools and resources for MCP. */
    mcpParts,
    /** Loaded when somebody asks: most processes never serve MCP. */
    mcp: async (): Promise<McpHttpHandler> => {
      const [{ createHttpHandler }, { createMcpServer }] = await Promise.all([
        import("../mcp/http-handler.ts"),
        import("../mcp/create-server.ts"),
      ]);
      const byProfile = new Map(toolProfiles.map((profile) => [profile, mcpParts(profile)]));
      const configured = mcpParts();
      return createHttpHandler(
        ({ profile, ...client }) => createMcpServer((profile && byProfile.get(profile)) ?? configured, client),
        onDefect,
      );
    },
  };
}

/** Small questions of the query container, which leave no run records. */
function askBy(probe: Probe): AskRows {
  return async (request) => {
    const { rows } = await probe(request);
    return rows.map((row) => [...row].map(([, term]) => termToText(term)));
  };
}

/** Tools with a query that is noted in its session as such. */
const queryTools: ReadonlySet<string> = new Set(["run_query", "run_sparql_query", "submit_final_query"]);
/** Tools that tell what there is; others tell of a query. */
const informingTools: ReadonlySet<string> = new Set([
  "find_endpoints",
  "describe_endpoint",
  "get_void_descriptions",
  "search_terms",
  "find_examples",
]);

/** Spans of tool calls, and their place in the figures of their sessions. */
function observeTools({ sessions }: QueryService, tracer: Tracer | undefined): ToolObserver {
  const spanOf = tracer && createToolSpans(tracer);
  return (call) => {
    const { owner, session, tool } = call;
    if (call.isOpen && !queryTools.has(tool)) sessions.admit(call);
    const span = spanOf?.(call);
    const startedMs = steadyClock.now();
    return {
      context: span?.context,
      end(code, requests) {
        span?.end(code);
        const informs = code === undefined && informingTools.has(tool);
        const ms = Math.round(steadyClock.now() - startedMs);
        if (!queryTools.has(tool)) sessions.used({ owner, session, tool, informs, ms, requests, code });
      },
    };
  };
}

function chosenTools(names: readonly string[], tools: readonly Tool[], off: readonly string[]): readonly Tool[] {
  const on = tools.filter(({ name }) => !off.includes(name));
  return names.map((wanted) => {
    const found = on.find(({ name }) => name === wanted);
    if (found !== undefined) return { ...found, profiles: ["full"] };
    throw new FedwayError("REQUEST_INVALID", `There is no tool "${wanted}".`, {
      next: `The tools are ${on.map(({ name }) => name).join(", ")}.`,
    });
  });
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

/** A small model's server reads a grammar anew for each answer. */
const grammarBytes = 32_768;

interface AskParts {
  readonly config: Pick<Config, "chat" | "limits">;
  readonly client: Pick<JsonClient, "post">;
  readonly agents: Pick<AskOptions, "toolboxOf"> & { toolbox(profile: "full"): Toolbox };
  readonly registry: Parameters<typeof createGrammars>[0];
  readonly tracer?: Tracer | undefined;
}

/** The reference agent; undefined when no model is configured. @throws FedwayError `CONFIG_INVALID` */
export function openAsk({ config, client, agents, registry, tracer }: AskParts): AskAgent | undefined {
  const { url, model, key, mode, price, tokens: mostTokens, timeoutMs } = config.chat;
  if (url === undefined) return undefined;
  if (model === undefined) {
    throw new FedwayError("CONFIG_INVALID", "FEDWAY_CHAT names an API, but FEDWAY_CHAT_MODEL no model.", {
      next: "Set FEDWAY_CHAT_MODEL to a name that the API knows.",
    });
  }
  const grammars = createGrammars(registry);
  return createAskAgent({
    api: { what: "chat API", setting: "FEDWAY_CHAT", url, model, key, client },
    mode,
    price,
    mostTokens,
    timeoutMs,
    toolbox: agents.toolbox("full"),
    toolboxOf: agents.toolboxOf,
    callRequests: config.limits.callRequests,
    grammarOf: (endpoints) => grammars.ofEndpoints(endpoints, { dialect: "gbnf", maxBytes: grammarBytes }),
    tracer,
    clock: steadyClock,
  });
}
