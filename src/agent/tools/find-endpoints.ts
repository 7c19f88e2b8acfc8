import { Type } from "typebox";
import type { Catalog } from "../../registry/catalog/catalog.ts";
import { oneSentence } from "../../registry/schema/one-sentence.ts";
import { plainText } from "../../registry/schema/text.ts";
import type { EndpointStatus, SearchIndex } from "../../registry/search/search-index.ts";
import type { DescriptionService } from "../../registry/void/description-service.ts";
import { defineTool } from "../tool.ts";

interface Parts {
  readonly catalog: Catalog;
  readonly search: SearchIndex;
  readonly descriptions: Pick<DescriptionService, "get">;
  readonly statusOf: (id: string) => EndpointStatus;
}

/** Which endpoints can answer a question. */
export function findEndpoints({ catalog, search, descriptions, statusOf }: Parts) {
  const sentenceOf = async (id: string): Promise<string | undefined> => {
    const entry = catalog.byId(id);
    if (entry?.description !== undefined) return entry.description;
    const description = await descriptions.get(id);
    return description && oneSentence(description, entry);
  };
  return defineTool({
    name: "find_endpoints",
    title: "Find endpoints",
    text: [
      "Ranks the SPARQL endpoints that can answer a question, each with its id and one sentence on its data.",
      "Start here.",
    ],
    input: Type.Object({
      question: Type.String({ minLength: 1, maxLength: 2_000, description: "Question or topic in plain words" }),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, default: 5 })),
    }),
    profiles: ["full", "small"],
    async run({ question, limit = 5 }, { hint }) {
      const { hits, total } = search.search({ q: question, kinds: ["endpoint"], limit, offset: 0 });
      const endpoints = await Promise.all(
        hits.map(async ({ id = "", title, why }) => ({
          id,
          title: plainText(title, 80),
          status: statusOf(id),
          description: plainText((await sentenceOf(id)) ?? "", 240),
          why: [...new Set(why.map(({ matched }) => plainText(matched, 40)))].slice(0, 5),
        })),
      );
      const lines = endpoints.map(({ id, status, title, description, why }) => {
        const sentence = description === "" ? "" : `. ${description}`;
        return `${id} (${status}): ${title}${sentence}${why.length === 0 ? "" : ` [matches ${why.join(", ")}]`}`;
      });
      const next =
        endpoints.length > 0
          ? hint("Next: {describe_endpoint} shows the classes and properties of one.")
          : hint("Nothing matches; try other words, or {search_terms}.");
      const text = [`${endpoints.length} of ${total} endpoints, best first:`, ...lines, ...(next ? [next] : [])];
      return { text: text.join("\n"), data: { total, endpoints, ...(next !== undefined && { next }) } };
    },
  });
}
