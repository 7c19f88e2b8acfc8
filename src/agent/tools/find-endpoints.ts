import { itemAt } from "../../values.ts";
import { estimateTokens } from "../../token-estimate.ts";
import { Type } from "typebox";
import { amountText } from "../../figures.ts";
import { type Finder, type LinkedEndpoint, shapeText } from "../../registry/find.ts";
import { bracketedIri, iriParts, plainText } from "../../rdf/display-text.ts";
import { defineTool } from "../tool.ts";

/** Tokens for the terms of the best hit, of the second, and of each after these. */
const termTokens = [900, 700, 500, 300, 200] as const;
const mostReasons = 5;

interface Parts {
  readonly finder: Pick<Finder, "findEndpoints" | "findShapes">;
  readonly due: {
    /** Endpoints that are being described for the first time, by id. */
    describedFirst(): Promise<readonly string[]>;
  };
}

/** Which endpoints, or federations of several, can answer a question, and with which terms. */
export const findEndpoints = ({ finder, due }: Parts) =>
  defineTool({
    name: "find_endpoints",
    title: "Find endpoints",
    text: ["Ranks endpoints and federations for a question, with the IRIs of the terms it means.", "Start here."],
    input: Type.Object({
      question: Type.String({ minLength: 1, maxLength: 2_000 }),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, default: 5 })),
    }),
    output: { total: "integer", complete: "boolean", endpoints: "array" },
    profiles: ["full", "small", "builder"],
    async run({ question, limit = 5 }, { hint, signal }) {
      const { endpoints: hits, total, complete, isForeign } = await finder.findEndpoints({ question, limit, signal });
      const coming = await due.describedFirst();
      const shapes = await shapesOfFirst(finder, hits, { question, signal });
      const shown = hits.map((hit, at) => shownHit(hit, itemAt(termTokens, Math.min(at, termTokens.length - 1))));
      const [best] = shown;
      const next = isForeign
        ? hint("Ask again in English, with names as they are written.")
        : best === undefined
          ? hint("Ask with fewer words: a kind of thing, in the singular, or a name; {search_terms} looks into values.")
          : (hint(`{run_query} with {run_query.endpoint}=${best.data.id} and these IRIs, without SERVICE.`) ??
            hint("{describe_endpoint} shows all classes and properties of one."));
      return {
        status:
          total === 0
            ? "No endpoint has a word of it."
            : `${isForeign ? "Most words are unknown, perhaps not English, so this is a guess: " : ""}${hits.length} of ${total}, best first; counts of instances in brackets`,
        cause: loadingText(complete, coming),
        rows: shown.flatMap(({ lines }, at) => (at === 0 ? [...lines, ...shapes.map((text) => `  ${text}`)] : lines)),
        next,
        data: { total, complete, endpoints: shown.map(({ data }, at) => Object.assign(data, at === 0 && { shapes })) },
      };
    },
  });

function loadingText(complete: boolean, coming: readonly string[]): string | undefined {
  if (!complete) return "The index is still loading, so this list may be wrong: ask again in some seconds.";
  if (coming.length === 0) return undefined;
  return `${coming.join(", ")} ${coming.length === 1 ? "is" : "are"} being described: ask again in some seconds.`;
}

/** A hit with as many of its terms as the budget takes. */
type HitTerm = LinkedEndpoint["terms"][number];

function shownHit(hit: LinkedEndpoint, mostTokens: number) {
  const { id, federation, status, why, provenance } = hit;
  const title = plainText(hit.title, 80);
  const description = plainText(hit.sentence ?? "", 200);
  const kind = federation === undefined ? "endpoint" : `federation of ${federation.members} endpoints`;
  const classes = classesOf(hit.terms, mostTokens);
  const values = hit.mentions.map(({ label, term, kind: of, property }) => {
    const name = `"${plainText(label, 60)}"`;
    return of === "entity" ? `${plainText(term, 200)} ${name}` : `${name} is a value of ${bracketedIri(property)}`;
  });
  const reasons = [...new Set(why.map(({ matched }) => plainText(matched, 40)))].slice(0, mostReasons);
  const about = [title === id ? "" : title, description].filter((text) => text !== "").join(". ");
  const lines = [
    `${id} (${kind}${status === "down" ? ", down" : ""})${about === "" ? "" : `: ${about}`}`,
    ...(classes.length === 0 && reasons.length > 0 ? [`  matches ${reasons.join(", ")}`] : []),
    ...classes.map(({ line }) => `  ${line}`),
    ...values.map((value) => `  ${value}`),
    ...(provenance === undefined ? [] : [`  (${plainText(provenance, 120)})`]),
  ];
  const data = {
    id,
    kind: federation === undefined ? "endpoint" : "federation",
    ...(federation && { members: federation.members, matching: federation.matching.slice(0, 20) }),
    title,
    status,
    description,
    why: reasons,
    classes: classes.map(({ iri, properties }) => ({ iri, properties })),
    values,
    schema_from: provenance === undefined ? null : plainText(provenance, 120),
  };
  return { lines, data };
}

interface ClassTerms {
  /** Null for properties whose class is not known. */
  readonly iri: string | null;
  readonly count: HitTerm["count"];
  readonly properties: HitTerm[];
}

/** The terms by class, as a line each: `<class> (12): <property> integer, <property> -> <class>`. */
function classesOf(terms: readonly HitTerm[], mostTokens: number) {
  const found = new Map<string | null, ClassTerms>();
  const counts = new Map(terms.map(({ iri, count }) => [iri, count]));
  const of = (iri: string | null): ClassTerms => {
    const group = found.get(iri) ?? { iri, count: counts.get(iri ?? ""), properties: [] };
    found.set(iri, group);
    return group;
  };
  let left = mostTokens;
  for (const term of terms) {
    if (iriParts(term.iri).local === "") continue;
    const [domain = null] = term.domains;
    const isNew = !found.has(term.kind === "class" ? term.iri : domain);
    left -= estimateTokens(propertyText(term)) + (isNew && domain !== null ? estimateTokens(domain) : 0);
    if (left < 0) break;
    if (term.kind === "class") of(term.iri);
    else of(domain).properties.push(term);
  }
  return Array.from(found.values(), ({ iri, count, properties }) => {
    const name = iri === null ? "of any class" : `${bracketedIri(iri)}${countText(count)}`;
    const listed = properties.map(propertyText).join(", ");
    return { iri, properties: properties.map((each) => each.iri), line: listed === "" ? name : `${name}: ${listed}` };
  });
}

const countText = (count: HitTerm["count"]): string =>
  count === undefined
    ? ""
    : ` (${count.status === "lowerBound" || count.status === "exists" ? ">=" : ""}${count.value})`;

function propertyText({ iri, ranges, datatype }: HitTerm): string {
  const [range] = ranges;
  if (range !== undefined) return `${bracketedIri(iri)} -> ${bracketedIri(range)}`;
  return datatype === undefined ? bracketedIri(iri) : `${bracketedIri(iri)} ${iriParts(datatype).local}`;
}

const mostShapes = 3;

/** Patterns of published queries, for the first hit where it is known from publications alone. */
async function shapesOfFirst(
  finder: Parts["finder"],
  [first]: readonly LinkedEndpoint[],
  asked: { readonly question: string; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  if (first?.provenance === undefined) return [];
  const found = await finder.findShapes({ ...asked, endpoints: [first.id], limit: mostShapes });
  return found.flatMap(({ shape }) => {
    const text = shapeText(shape);
    const seen =
      shape.uses === 0 ? "a published model" : amountText(shape.uses, "published query", "published queries");
    return text === undefined ? [] : [`in ${seen}: ${text}`];
  });
}
