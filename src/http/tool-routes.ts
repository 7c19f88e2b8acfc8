import { Type } from "typebox";
import { toolProfiles } from "../agent/tool.ts";
import type { ListedTool, Toolbox } from "../agent/toolbox.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import { callerOf } from "./caller.ts";
import { refuseForeignPages } from "./mcp-routes.ts";
import { sendJson } from "./common-headers.ts";
import type { HttpShell, TypedApp } from "./http-deps.ts";
import { view, strictObject, documented } from "./schemas.ts";
import { asking } from "./write-access.ts";

const doc = documented("Agents");

const texts = { name: Type.String(), description: Type.String({ description: "For the model." }) };
const argumentsSchema = Type.Any({ description: "JSON Schema of the arguments, an object of scalars." });

const ToolList = view("Tools", {
  tools: Type.Array(
    Type.Union([
      view("Tool", {
        ...texts,
        title: Type.String(),
        input: argumentsSchema,
        annotations: Type.Any({ description: "What the tool may change, as in MCP." }),
        output: Type.Optional(Type.Any({ description: "JSON Schema of `data` of an answer." })),
      }),
      view("OpenAiTool", {
        type: Type.Literal("function"),
        function: Type.Object({ ...texts, parameters: argumentsSchema }),
      }),
      view("AnthropicTool", { ...texts, input_schema: argumentsSchema }),
    ]),
  ),
});

/** A tool as the APIs of models take it. */
const shapes = {
  fedway: (tool: ListedTool) => tool,
  openai: ({ name, description, input }: ListedTool) => ({
    type: "function",
    function: { name, description, parameters: { ...input, additionalProperties: false } },
  }),
  anthropic: ({ name, description, input }: ListedTool) => ({
    name,
    description,
    input_schema: { ...input, additionalProperties: false },
  }),
} as const;

const ToolAnswer = view("ToolAnswer", {
  text: Type.String({ description: "The whole answer for a model to read." }),
  data: Type.Any({ description: "The same for programs." }),
});

const ListParameters = strictObject({
  profile: Type.Optional(
    Type.Enum([...toolProfiles], { description: "A set of tools; the configured one by default." }),
  ),
  format: Type.Optional(
    Type.Enum(["fedway", "openai", "anthropic"], {
      description:
        "openai: functions of the Chat Completions API; anthropic: tools of the Messages API; fedway, the default: all that is known.",
    }),
  ),
});

/** `GET /api/tools`, and `POST /api/tools/{name}` for every tool. */
export function addToolRoutes(app: TypedApp, shell: HttpShell): void {
  const { toolbox: toolboxOf } = shell;
  if (toolboxOf === undefined) return;
  const toolbox = toolboxOf();
  app.get("/api/tools", {
    schema: { ...doc("listTools", "The tools of agents, as models see them", ToolList), querystring: ListParameters },
    handler: ({ query: { profile, format = "fedway" } }, reply) =>
      sendJson(reply, { tools: toolboxOf(profile).tools.map((tool) => shapes[format](tool)) }),
  });
  for (const tool of toolbox.callable) addTool(app, { toolbox, shell }, tool);
}

interface Called {
  readonly toolbox: Toolbox;
  readonly shell: HttpShell;
}

function addTool(app: TypedApp, { toolbox, shell }: Called, { name, title, input }: ListedTool): void {
  app.post(`/api/tools/${name}`, {
    schema: { ...doc(operationId(name), title, ToolAnswer), body: { ...input, additionalProperties: false } },
    ...asking,
    onRequest: async (request, reply) => refuseForeignPages(shell, request, reply),
    // The tool reads its arguments itself, more leniently than its schema says.
    validatorCompiler: () => (value) => ({ value }),
    handler: async (request, reply) => {
      const { text, data, problem } = await toolbox.call(name, request.body, callerOf(request));
      if (problem === undefined) return sendJson(reply, { text, data });
      request.state.run = problem.run;
      throw new FedwayError(problem.code, problem.detail, problem);
    },
  });
}

/** `callFindEndpoints`. */
const operationId = (name: string): string =>
  `call${name.replaceAll(/(?:^|_)([a-z])/g, (_all, letter: string) => letter.toUpperCase())}`;
