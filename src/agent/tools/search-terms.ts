import { Type } from "typebox";
import { bracketedIri, plainText } from "../../registry/schema/text.ts";
import type { HitKind, SearchHit, SearchIndex } from "../../registry/search/search-index.ts";
import { choice, nameList, namesIn } from "../arguments.ts";
import { defineTool } from "../tool.ts";

const mostUses = 5;

/** Which IRIs stand for a word. */
export const searchTerms = ({ search }: { readonly search: SearchIndex }) =>
  defineTool({
    name: "search_terms",
    title: "Search terms",
    text: ["Finds the IRIs of classes and properties by name, and the endpoints that use them.", "Never guess an IRI."],
    input: Type.Object({
      query: Type.String({ minLength: 1, maxLength: 2_000, description: "Words, IRI or prefix:name" }),
      kind: Type.Optional(choice(["class", "property"])),
      endpoints: Type.Optional(nameList("Only these endpoint ids, separated by commas")),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 10 })),
    }),
    profiles: ["full", "small"],
    async run({ query, kind, endpoints, limit = 10 }, { hint }) {
      const kinds: readonly HitKind[] = kind === undefined ? ["class", "property"] : [kind];
      const chosen = namesIn(endpoints);
      const only = chosen ? { endpoints: chosen } : {};
      const { hits, total } = search.search({ q: query, kinds, ...only, limit, offset: 0 });
      const terms = hits.map(termOf);
      const lines = terms.map(
        ({ iri, kind: what, label, endpoints: uses, endpoints_total: all }) =>
          `${bracketedIri(iri)} ${what} "${label}" in ${uses.map(useText).join(", ")}${all > uses.length ? ` and ${all - uses.length} more` : ""}`,
      );
      const next = total === 0 ? hint("Try a shorter or more general word, or {find_endpoints}.") : undefined;
      const text = [`${terms.length} of ${total} terms, best first:`, ...lines, ...(next ? [next] : [])];
      return { text: text.join("\n"), data: { total, terms, ...(next !== undefined && { next }) } };
    },
  });

const termOf = ({ iri = "", kind, title, endpoints, endpointsTotal }: SearchHit) => ({
  iri,
  kind,
  label: plainText(title, 80),
  endpoints: endpoints.slice(0, mostUses).map(({ id, count }) => ({ id, count: count?.value ?? null })),
  endpoints_total: endpointsTotal,
});

const useText = ({ id, count }: { readonly id: string; readonly count: number | null }): string =>
  `${id} (${count ?? "?"})`;
