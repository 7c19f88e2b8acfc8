import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type StandardSchemaV1,
} from "@modelcontextprotocol/server";
import { toProblem } from "../errors/fedway-error.ts";
import { writeReply } from "../agent/reply.ts";
import type { AgentResources } from "../agent/resources.ts";
import type { Caller, CallerIdentity, Hint, ToolAnswer } from "../agent/tool.ts";
import type { CallsUnderWay } from "./http-handler.ts";
import type { ListedTool, Toolbox } from "../agent/toolbox.ts";

/** Tools and resources of a server. */
export interface McpParts {
  readonly toolbox: Toolbox;
  readonly resources: AgentResources;
  readonly version: string;
}

/** Origin of a connection or request. */
export interface McpClient extends CallerIdentity {
  readonly count?: Caller["count"];
  readonly requireWrite?: Caller["requireWrite"];
  /** Where each request has a server of its own, which is notified of no cancellation but that of its connection. */
  readonly calls?: CallsUnderWay | undefined;
  /** Name of the connection of an HTTP client. */
  readonly connection?: string | undefined;
  /** Resolves when the next call of the request may begin; undefined: now. */
  readonly turn?: (() => Promise<void> | undefined) | undefined;
}

const hour = 3_600_000;
/** Of one answer, by the specification (Completion, 2025-11-25). */
const mostCompletions = 100;
/** Descriptions of endpoints change with the data; tools with the configuration of a process only. */
const cacheHints = {
  "tools/list": { ttlMs: hour, cacheScope: "public" },
  "prompts/list": { ttlMs: hour, cacheScope: "public" },
  "resources/templates/list": { ttlMs: hour, cacheScope: "public" },
  "server/discover": { ttlMs: hour, cacheScope: "public" },
  "resources/list": { ttlMs: 60_000, cacheScope: "public" },
  "resources/read": { ttlMs: 0, cacheScope: "private" },
} as const;

/** A server for one request or one connection of `client`: it keeps nothing itself. */
export function createMcpServer(parts: McpParts, client: McpClient): Server {
  const { toolbox, resources, version } = parts;
  const { skill } = resources;
  const server = new Server(
    { name: "fedway", title: "Fedway", version },
    { capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} }, instructions: skill, cacheHints },
  );
  server.setRequestHandler("tools/list", { params: anything }, () => ({ tools: toolbox.tools.map(toolEntry) }));
  // Arguments of any kind reach the tool, which says what is wrong with them in words that a model can follow.
  server.setRequestHandler("tools/call", { params: anything }, (params, ctx) =>
    callTool(toolbox, params, { client, ctx }),
  );
  server.setRequestHandler("resources/list", async ({ params }) => {
    const { resources: page, nextCursor } = await resources.list(params?.cursor).catch(asProtocolError(toolbox.hint));
    return { resources: [...page], ...(nextCursor !== undefined && { nextCursor }) };
  });
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [...resources.templates] }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }) => {
    const content = await resources.read(uri, client).catch(asProtocolError(toolbox.hint, uri));
    return { contents: [content] };
  });
  addPrompt(server, skill);
  server.setRequestHandler("completion/complete", async ({ params: { ref, argument } }, { mcpReq }) => {
    const { value } = argument;
    const values =
      ref.type === "ref/prompt"
        ? await resources.completeQuestion(value, mcpReq.signal)
        : resources.completeId(ref.uri, value, client);
    const shown = values.slice(0, mostCompletions);
    return { completion: { values: shown, total: values.length, hasMore: values.length > shown.length } };
  });
  const { calls } = client;
  if (calls) {
    server.setNotificationHandler("notifications/cancelled", ({ params }) =>
      calls.cancel(peerOf(client), params.requestId),
    );
  }
  return server;
}

/** Key of the peer whose cancellations count. */
const peerOf = ({ owner, session, connection }: McpClient): string =>
  JSON.stringify([owner, session === undefined ? { connection } : { session }]);

const toolEntry = ({ name, title, description, input, output, annotations }: ListedTool) => ({
  name,
  title,
  description,
  inputSchema: {
    type: "object" as const,
    properties: input.properties,
    ...(input.required && { required: input.required }),
  },
  ...(output && { outputSchema: { type: "object" as const, ...output } }),
  annotations: hintsOf(annotations),
});

/** Without those that are the default, or mean nothing where a tool only reads (Tools, ToolAnnotations). */
const hintsOf = ({ readOnlyHint, openWorldHint, idempotentHint }: ListedTool["annotations"]) => ({
  ...(readOnlyHint ? { readOnlyHint } : { destructiveHint: false, idempotentHint }),
  ...(!openWorldHint && { openWorldHint }),
});

interface CallParameters {
  readonly name?: unknown;
  readonly arguments?: unknown;
}

const anything: StandardSchemaV1<unknown, CallParameters> = {
  "~standard": {
    version: 1,
    vendor: "fedway",
    validate: (value) => ({ value: typeof value === "object" && value !== null ? value : {} }),
  },
};

async function callTool(
  toolbox: Toolbox,
  { name, arguments: given }: CallParameters,
  { client, ctx: { mcpReq } }: { readonly client: McpClient; readonly ctx: ServerContext },
) {
  const { calls, connection: _connection, turn, ...caller } = client;
  const callWith = async (signal: AbortSignal): Promise<ToolAnswer> => {
    await turn?.();
    return toolbox.call(String(name), given, {
      ...caller,
      signal,
      callId: String(mcpReq.id),
      onProgress: progressOf(mcpReq),
    });
  };
  const { text, data, problem } = await (calls
    ? calls.run(peerOf(client), mcpReq.id, (signal) => callWith(AbortSignal.any([signal, mcpReq.signal])))
    : callWith(mcpReq.signal));
  return {
    content: [{ type: "text" as const, text }],
    structuredContent: data,
    ...(problem !== undefined && { isError: true }),
  };
}

/** Progress goes to clients that asked for it; one that is gone misses it. */
function progressOf({ _meta: meta, notify }: ServerContext["mcpReq"]): Caller["onProgress"] {
  const progressToken = meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let progress = 0;
  return (message) => {
    progress += 1;
    const params = { progressToken, progress, message };
    notify({ method: "notifications/progress", params }).catch(() => {});
  };
}

function addPrompt(server: Server, skill: string): void {
  const prompt = {
    name: "answer_question",
    title: "Answer a question from SPARQL endpoints",
    description: "Finds endpoints and terms, writes a federated query, runs it and answers with its sources.",
    arguments: [{ name: "question", description: "What you want to know", required: true }],
  };
  server.setRequestHandler("prompts/list", () => ({ prompts: [prompt] }));
  server.setRequestHandler("prompts/get", ({ params }) => {
    if (params.name !== prompt.name)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no such prompt; there is ${prompt.name}.`);
    const question = (params.arguments?.["question"] ?? "").slice(0, 2_000);
    const text = `${skill}\n\nQuestion: ${question}`;
    return {
      description: prompt.description,
      messages: [{ role: "user" as const, content: { type: "text" as const, text } }],
    };
  });
}

/** Resources have no other way to fail than an error of the protocol. */
const asProtocolError =
  (hint: Hint, uri?: string) =>
  (error: unknown): never => {
    const problem = toProblem(error);
    throw new ProtocolError(
      problem.code === "INTERNAL" ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams,
      writeReply({ status: "", cause: problem, data: {} }, hint).text,
      uri === undefined ? undefined : { uri },
    );
  };
