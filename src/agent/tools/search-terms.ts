import { Type } from "typebox";
import type { LinkedTerm, Linker } from "../../registry/linking/linker.ts";
import { bracketedIri, iriParts, plainText } from "../../registry/schema/text.ts";
import type { ValueHit } from "../../registry/values/value-index.ts";
import { choice, nameList, namesIn } from "../arguments.ts";
import { defineTool } from "../tool.ts";

const mostUses = 5;
const longestTerm = 300;

/** Which IRIs, and which values in data, stand for a word. */
export const searchTerms = ({ linker }: { readonly linker: Pick<Linker, "searchTerms"> }) =>
  defineTool({
    name: "search_terms",
    title: "Search terms",
    text: [
      "Finds the IRIs of classes, properties and entities, and values in data, with the endpoints that have them.",
      "Never guess an IRI.",
    ],
    input: Type.Object({
      query: Type.String({ minLength: 1, maxLength: 2_000, description: "Words, question, IRI or prefix:name" }),
      kind: Type.Optional(choice(["entity", "class", "property"])),
      endpoints: Type.Optional(nameList("Only these ids, comma-separated")),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 10 })),
    }),
    profiles: ["full", "small"],
    async run({ query, kind, endpoints, limit = 10 }, { hint, signal }) {
      const kinds = kind === undefined ? undefined : [kind];
      const found = await linker.searchTerms({ query, kinds, endpoints: namesIn(endpoints), limit, signal });
      const { total } = found;
      const terms = found.terms.map(termOf);
      const entities = found.entities.map(entityOf);
      const lines = terms.map(
        ({ iri, kind: what, label, endpoints: uses, endpoints_total: all }) =>
          `${bracketedIri(iri)} ${what} "${label}" in ${uses.map(useText).join(", ")}${all > uses.length ? ` and ${all - uses.length} more` : ""}`,
      );
      const isEmpty = total === 0 && entities.length === 0;
      const next = isEmpty
        ? hint("Nothing found. Try single words, a more general word or a synonym, or {find_endpoints}.")
        : undefined;
      const text = [
        ...(terms.length === 0
          ? []
          : [
              `${terms.length} of ${total} terms, best first (instances of the class, triples of the property):`,
              ...lines,
            ]),
        ...(entities.length === 0 ? [] : [`${entities.length} entities and values (triples they are in):`]),
        ...entities.map(entityLine),
        ...(next ? [next] : []),
      ];
      return { text: text.join("\n"), data: { total, terms, entities, ...(next !== undefined && { next }) } };
    },
  });

const termOf = ({ iri, kind, label, endpoints, endpointsTotal }: LinkedTerm) => ({
  iri,
  kind,
  label,
  endpoints: endpoints.slice(0, mostUses).map(({ id, count }) => ({ id, count: count?.value ?? null })),
  endpoints_total: endpointsTotal,
});

const useText = ({ id, count }: { readonly id: string; readonly count: number | null }): string =>
  `${id} (${count ?? "?"})`;

/** A term that would be cut is left out: a part of it would be another one. */
const entityOf = ({ kind, term, literal, label, class: type, property, endpoint, degree }: ValueHit) => ({
  kind,
  term: term.length > longestTerm ? null : term,
  label: plainText(label, 80),
  literal: literal.length > longestTerm ? null : literal,
  class: type ?? null,
  property,
  endpoint,
  degree: degree ?? null,
});

const nameOf = (iri: string): string => plainText(iriParts(iri).local || iri, 60);

function entityLine({
  kind,
  term,
  label,
  literal,
  class: type,
  property,
  endpoint,
  degree,
}: ReturnType<typeof entityOf>): string {
  const of = type === null ? "" : ` of ${nameOf(type)}`;
  const name = literal === null ? `"${label}"` : plainText(literal, longestTerm);
  const what =
    kind === "entity" ? `entity with ${nameOf(property)} ${name}${of}` : `value of ${bracketedIri(property)}${of}`;
  return `${term === null ? `"${label}"` : plainText(term, longestTerm)} ${what} in ${endpoint} (${degree ?? "?"})`;
}
