import { Type } from "typebox";
import type { QueryService } from "../../query/query-service.ts";
import { choice } from "../arguments.ts";
import { problemForModel, problemText } from "../problem-text.ts";
import { defineTool, type ToolAnswer } from "../tool.ts";

interface Parts {
  readonly queries: Pick<QueryService, "table">;
}

/** Runs a query and shows its rows. */
export const runQuery = ({ queries }: Parts) =>
  defineTool({
    name: "run_query",
    title: "Run a SPARQL query",
    text: [
      "Runs a read-only SPARQL query over one or several endpoints and returns its rows.",
      "Put the patterns of each endpoint into SERVICE <id> { ... }.",
    ],
    input: Type.Object({
      query: Type.String({
        minLength: 1,
        maxLength: 100_000,
        description: "SPARQL SELECT, ASK, CONSTRUCT or DESCRIBE",
      }),
      max_rows: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })),
      timeout_s: Type.Optional(Type.Integer({ minimum: 1, maximum: 600 })),
      format: Type.Optional(choice(["csv", "json"])),
    }),
    annotations: { openWorldHint: true },
    profiles: ["full", "small"],
    async run(
      { query, max_rows: maxRows = 50, timeout_s: timeout },
      { hint, signal, owner, session, trace },
    ): Promise<ToolAnswer> {
      const table = await queries.table({
        text: query,
        maxRows,
        ...(timeout !== undefined && { timeoutMs: timeout * 1_000 }),
        defaultGraphs: [],
        namedGraphs: [],
        strict: false,
        partial: true,
        signal,
        owner,
        session,
        trace,
      });
      const { run, status, columns, rows, truncated, diagnosis } = table;
      const problem = diagnosis ? problemForModel(diagnosis, hint) : undefined;
      const text = [
        `status: ${status}`,
        ...(problem === undefined ? [] : [problemText(problem)]),
        columns.join(","),
        ...rows.map((row) => row.map((cell) => cell ?? "").join(",")),
      ].join("\n");
      const data = { run, status, columns, rows, boolean: table.boolean, truncated, diagnosis: problem ?? null };
      return { text, data, problem: status === "failed" || status === "cancelled" ? problem : undefined };
    },
  });
