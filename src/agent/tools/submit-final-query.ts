import { Type } from "typebox";
import type { QueryService } from "../../query/query-service.ts";
import { defineTool } from "../tool.ts";

/** Ends a question of a benchmark: notes the final query in the session, and nothing more. */
export const submitFinalQuery = ({ sessions }: QueryService) =>
  defineTool({
    name: "submit_final_query",
    title: "Submit the final query",
    text: ["Submits the SPARQL query that answers the question. It is not run; the question ends with it."],
    input: Type.Object({ query: Type.String({ minLength: 1, maxLength: 100_000 }) }),
    output: { status: "string", query: "string" },
    profiles: ["benchmark"],
    async run({ query }, { owner, session }) {
      sessions.used({ owner, session, tool: "submit_final_query", informs: false, query });
      return { status: "status: submitted", data: { status: "submitted", query } };
    },
  });
