import { Type } from "typebox";
import { FedwayError } from "../../errors/fedway-error.ts";
import { choice, namesIn } from "../arguments.ts";
import type { ContainerAnswer, QueryContainer } from "../container/container.ts";
import { stepNames } from "../container/read-step.ts";
import type { Reply } from "../reply.ts";
import { defineTool, holderOf, type ToolCall } from "../tool.ts";

/** Puts a query together from numbered choices. */
export const buildQuery = ({ container }: { readonly container: QueryContainer }) =>
  defineTool({
    name: "build_query",
    title: "Build a query from choices",
    text: [
      "Builds a SPARQL query step by step from numbered choices, so that it is always valid and finds something.",
      "Begin with step open and endpoint ids as value; then class, property, path and filter. A step without choice lists its choices; value narrows the list.",
      "filter: choice is a column, value a condition like > 20, = France, contains son or = ?name2.",
      "show, group, order (value desc), aggregate (value count, avg...; choice 0 counts rows), having (count > 3), limit and distinct shape the answer.",
      "except drops rows whose column occurs in another pattern: build that one, then end with its column. compare does so with a figure (end, value avg).",
      "Each answer has the whole query and its number of rows. {run_query} runs it.",
    ],
    input: Type.Object({
      step: choice(["open", ...stepNames, "undo", "look"]),
      handle: Type.Optional(Type.String({ maxLength: 64, description: "From open" })),
      choice: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, description: "Number in the list" })),
      value: Type.Optional(Type.String({ maxLength: 4_000 })),
    }),
    output: { handle: "string", query: "string", rows: "integer", lists: "array" },
    annotations: { readOnlyHint: true, openWorldHint: true, idempotentHint: false },
    profiles: ["builder"],
    async run({ step, handle, choice: number, value }, call) {
      const { owner, signal, admitted } = call;
      const caller = { owner, holder: holderOf(call), signal, budget: admitted?.requests };
      if (step === "open") return shown(await container.open(namesIn(value) ?? [], caller), call);
      if (handle === undefined) {
        throw new FedwayError("DRAFT_UNKNOWN", "The handle of the query is missing.", {
          next: "Begin with step open.",
        });
      }
      if (step === "undo") return shown(await container.undo(handle, caller), call);
      if (step === "look") return shown(await container.look(handle, caller), call);
      return shown(await container.step(handle, { step, choice: number, value }, caller), call);
    },
  });

function shown(answer: ContainerAnswer, { hint }: ToolCall): Reply {
  const { handle, query, rows, notes, lists, open } = answer;
  return {
    status: [
      `handle: ${handle}`,
      ...(query === "" ? [] : [query, rows === null ? "rows: not counted" : `rows: ${rows}`]),
    ],
    rows: lists.flatMap(({ step, items, more }) => [
      `${headings[step]}:`,
      ...(items.length === 0 ? ["none"] : items),
      ...(more > 0 ? [`(${more} more; narrow the list with value)`] : []),
    ]),
    notes: [...notes, ...(open === undefined ? [] : [`This is the inner pattern of ${open}; step end closes it.`])],
    next: query === "" || open !== undefined ? undefined : hint("{run_query} runs this query."),
    data: { handle, query, rows, notes, lists, ...(open !== undefined && { open }) },
  };
}

const headings = { class: "classes", property: "properties", path: "paths", filter: "columns" } as const;
