import { itemAt } from "../../values.ts";
import { Type } from "typebox";
import { entriesNamed } from "../../plan/meant-entries.ts";
import type { Catalog } from "../../registry/catalog.ts";
import type { Finder } from "../../registry/find.ts";
import { bracketedIri, iriParts, plainText, valueText } from "../../rdf/display-text.ts";
import { choice, nameList, namesIn } from "../arguments.ts";
import { defineTool } from "../tool.ts";

const mostUses = 5;
const longestTerm = 300;

interface Parts {
  readonly catalog: Catalog;
  readonly finder: Pick<Finder, "searchTerms">;
}

/** Which IRIs, and which values in data, stand for a word. */
export const searchTerms = ({ catalog, finder }: Parts) =>
  defineTool({
    name: "search_terms",
    title: "Search terms",
    text: ["Finds IRIs of classes, properties, entities, and values in data, and who has them.", "Never guess an IRI."],
    input: Type.Object({
      query: Type.String({
        minLength: 1,
        maxLength: 2_000,
        description: "Words, question, IRI; several: a; b",
      }),
      kind: Type.Optional(choice(["entity", "class", "property"])),
      endpoints: Type.Optional(nameList("Only these, comma-separated")),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 10 })),
    }),
    output: { total: "integer", terms: "array", entities: "array", lists: "array" },
    profiles: ["full", "small"],
    async run({ query, kind, endpoints, limit = 10 }, { hint, signal }) {
      const labels = labelsIn(query);
      const names = namesIn(endpoints);
      const own = { endpoints: names && entriesNamed(names, catalog).map(({ id }) => id), limit, signal };
      const answers = await Promise.all(
        labels.map((label) => {
          const { text, kind: meant } = kindMeant(label);
          const kinds = kind ?? meant;
          return finder.searchTerms({ query: text, kinds: kinds && [kinds], ...own });
        }),
      );
      const shown = answers.map(answerOf);
      const isEmpty = shown.every(({ data }) => data.terms.length + data.entities.length === 0);
      const next = isEmpty
        ? hint("Try single words, a more general word or a synonym, or {find_endpoints}.")
        : undefined;
      const count = shown.reduce((sum, { data }) => sum + data.terms.length + data.entities.length, 0);
      const reply = { status: isEmpty ? "Nothing found." : `${count} found, best first`, next };
      const [only] = shown;
      const notes = [...new Set(shown.flatMap((each) => each.notes))];
      if (only !== undefined && shown.length === 1) return { ...reply, rows: only.lines, notes, data: only.data };
      const blocks = shown.map(({ lines }, at) => {
        const label = plainText(itemAt(labels, at), 80);
        return [`"${label}":`, ...(lines.length > 0 ? lines : ["nothing found"])];
      });
      const lists = shown.map(({ data }, at) => Object.assign({ query: itemAt(labels, at) }, data));
      return { ...reply, rows: blocks.flat(), notes, data: { lists } };
    },
  });

const mostLabels = 20;
const longestLabel = 200;

/** The labels that a text lists, as JSON, a line each or between semicolons; the whole text where it lists none. */
function labelsIn(query: string): readonly string[] {
  const listed = query.trimStart().startsWith("[") ? namesIn(query) : query.split(/[\n;]/);
  const labels = (listed ?? []).map((label) => label.trim()).filter((label) => label !== "");
  const isList =
    labels.length > 1 && labels.length <= mostLabels && labels.every(({ length }) => length <= longestLabel);
  return isList ? labels : [query];
}

type Kind = "entity" | "class" | "property";

const kindFirst = /^(?:the |a )?(class|property|predicate|entity)(?: for| of| named| called)? (.+)$/i;
const kindAsked =
  /^(?:what|which)(?: is| are)?(?: the| a)? (class|property|predicate|entity)(?: for| of| that| which| has| gives| holds| means| is| are| do| does)+ (.+?)\??$/i;
const kindLast = /^(.+) (class|property|predicate|entity)$/i;

/** "property population" asks for a property, and is no question about properties. */
function kindMeant(label: string): { readonly text: string; readonly kind?: Kind | undefined } {
  const [, first, behind] = kindFirst.exec(label.trim()) ?? kindAsked.exec(label.trim()) ?? [];
  const [, before, last] = kindLast.exec(label.trim()) ?? [];
  const [word, text] = behind === undefined ? [last, before] : [first, behind];
  if (word === undefined || text === undefined) return { text: label };
  return { text, kind: kinds[word.toLowerCase()] };
}

const kinds: Readonly<Record<string, Kind>> = {
  class: "class",
  property: "property",
  predicate: "property",
  entity: "entity",
};

type Answer = Awaited<ReturnType<Finder["searchTerms"]>>;

/** One answer in lines; terms of exactly this name come before terms that contain the word. */
function answerOf({ terms: best, total, entities: hits, unanswered }: Answer) {
  const terms = best.map(termOf);
  const entities = hits.map(entityOf);
  const termLines =
    terms.length === 0 ? [] : [`${terms.length} of ${total} terms (instances of the class, triples of the property):`];
  const entityLines = entities.length === 0 ? [] : [`${entities.length} entities and values (triples they are in):`];
  const ofTerms = [...termLines, ...terms.map(termLine)];
  const ofEntities = [...entityLines, ...entities.map(entityLine)];
  const isNamed = hits.some(({ why }) => why === "exact" || why === "folded");
  const lines = isNamed ? [...ofEntities, ...ofTerms] : [...ofTerms, ...ofEntities];
  const notes = unanswered.length === 0 ? [] : [`Names not searched: ${unanswered.join(", ")} gave no answer.`];
  return { lines, notes, data: { total, terms, entities, unanswered } };
}

const termOf = ({ iri, kind, label, endpoints, endpointsTotal }: Answer["terms"][number]) => ({
  iri,
  kind,
  label,
  endpoints: endpoints
    .slice(0, mostUses)
    .map(({ id, count, published }) => ({ id, count: count?.value ?? null, published })),
  endpoints_total: endpointsTotal,
});

function termLine({ iri, kind, label, endpoints, endpoints_total: all }: ReturnType<typeof termOf>): string {
  const uses = endpoints.map(useText).join(", ");
  return `${bracketedIri(iri)} ${kind} "${label}" in ${uses || "no endpoint that is known"}${all > endpoints.length ? ` and ${all - endpoints.length} more` : ""}`;
}

interface ShownUse {
  readonly id: string;
  readonly count: number | null;
  readonly published?: string | undefined;
}

const useText = ({ id, count, published }: ShownUse): string =>
  `${id} (${count ?? "?"}${published === undefined ? "" : ", published"})`;

/** A term that would be cut is left out: a part of it would be another one. */
const entityOf = ({
  kind,
  term,
  literal,
  label,
  class: type,
  property,
  endpoint,
  degree,
}: Answer["entities"][number]) => ({
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
  const name = literal === null ? `"${label}"` : valueText(literal, longestTerm);
  const what =
    kind === "entity" ? `entity with ${nameOf(property)} ${name}${of}` : `value of ${bracketedIri(property)}${of}`;
  return `${term === null ? `"${label}"` : valueText(term, longestTerm)} ${what} in ${endpoint} (${degree ?? "?"})`;
}
