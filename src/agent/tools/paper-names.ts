import { Type } from "typebox";
import { defineTool, type Tool } from "../tool.ts";
import { type DescribeParts, describeForAgent, schemaFields } from "./describe-endpoint.ts";
import { rowFields, runForAgent, type RunQueryParts } from "./run-query.ts";

/**
 * The tools of the paper under its names and arguments, to repeat its runs. Only `profile=paper` lists them: a second name
 * for the same thing costs tokens and makes models hesitate. They have the budgets of the tools they stand for.
 */
export const paperTools = (parts: RunQueryParts & DescribeParts): readonly Tool[] => [
  defineTool({
    name: "get_void_descriptions",
    aliasOf: "describe_endpoint",
    title: "Get VoID descriptions",
    text: ["Describes the classes and properties of an endpoint in VoID."],
    input: Type.Object({
      endpoint: Type.String({ minLength: 1, maxLength: 2_048, description: "Endpoint id or URL" }),
    }),
    output: schemaFields,
    profiles: ["paper", "benchmark"],
    run: ({ endpoint }) => describeForAgent(parts, { endpoint, detail: "void", maxTokens: 2_000 }),
  }),
  defineTool({
    name: "run_sparql_query",
    aliasOf: "run_query",
    title: "Run a SPARQL query",
    text: [
      "Runs a read-only SPARQL query over all that is described; SERVICE <id> { ... } sends patterns to one endpoint.",
    ],
    input: Type.Object({
      query: Type.String({ minLength: 1, maxLength: 100_000, description: "SPARQL 1.1 query" }),
      format: Type.Optional(Type.String({ maxLength: 100, description: "csv (default) or json" })),
      timeout: Type.Optional(Type.Number({ minimum: 1, maximum: 600, description: "Seconds" })),
    }),
    output: rowFields,
    annotations: { openWorldHint: true },
    profiles: ["paper", "benchmark"],
    run: ({ query, format = "csv", timeout }, call) =>
      runForAgent(parts, {
        query,
        maxRows: 50,
        format: /json/i.test(format) ? "json" : "csv",
        timeoutS: timeout,
        call,
      }),
  }),
];
