import { Type } from "typebox";
import type { Linker } from "../../registry/linking/linker.ts";
import { plainText } from "../../registry/schema/text.ts";
import { defineTool } from "../tool.ts";

const mostReasons = 5;

/** Which endpoints can answer a question. */
export const findEndpoints = ({ linker }: { readonly linker: Pick<Linker, "findEndpoints"> }) =>
  defineTool({
    name: "find_endpoints",
    title: "Find endpoints",
    text: ["Ranks the endpoints that can answer a question, with their ids and what they hold.", "Start here."],
    input: Type.Object({
      question: Type.String({ minLength: 1, maxLength: 2_000 }),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, default: 5 })),
    }),
    profiles: ["full", "small", "builder"],
    async run({ question, limit = 5 }, { hint, signal }) {
      const found = await linker.findEndpoints({ question, limit, signal });
      const { total } = found;
      const endpoints = found.endpoints.map(({ id, title, status, sentence = "", why, provenance }) => ({
        id,
        title: plainText(title, 80),
        status,
        description: sentence,
        why: [...new Set(why.map(({ matched }) => plainText(matched, 40)))].slice(0, mostReasons),
        schema_from: provenance === undefined ? null : plainText(provenance, 120),
      }));
      const lines = endpoints.map(({ id, status, title, description, why, schema_from: from }) => {
        const sentence = description === "" ? "" : `. ${description}`;
        const matches = why.length === 0 ? "" : ` [matches ${why.join(", ")}${from === null ? "" : `; ${from}`}]`;
        return `${id} (${status}): ${title}${sentence}${matches}`;
      });
      const next =
        endpoints.length > 0
          ? hint("Next: {describe_endpoint} shows the classes and properties of one.")
          : hint(
              "Ask with fewer words: a kind of thing, in the singular, or a name; {search_terms} looks into values.",
            );
      const head =
        total === 0 ? "No endpoint has a word of it." : `${endpoints.length} of ${total} endpoints, best first:`;
      const text = [head, ...lines, ...(next ? [next] : [])];
      return { text: text.join("\n"), data: { total, endpoints, ...(next !== undefined && { next }) } };
    },
  });
