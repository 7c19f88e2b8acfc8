import { estimateTokens } from "../../token-estimate.ts";
import { Type } from "typebox";
import { amountText } from "../../figures.ts";
import { type Finder, type LinkedEndpoint, shapeText } from "../../registry/find.ts";
import { PrefixTable } from "../../registry/schema.ts";
import { bracketedIri, iriParts, plainText } from "../../rdf/display-text.ts";
import { itemAt } from "../../values.ts";
import { defineTool, type Hint } from "../tool.ts";

/** Tokens for the terms of the best hit, and of each other one that is shown in full. */
const [bestTokens, otherTokens] = [400, 200];
/** Of the best score: a hit with as much of it is nearly as good. */
const closeShare = 0.75;
const mostReasons = 5;
/** More are not named one by one. */
const mostNamedMembers = 8;

interface Parts {
  readonly finder: Pick<Finder, "findEndpoints">;
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
    output: { total: "integer", complete: "boolean", together: "array", endpoints: "array" },
    profiles: ["full", "small", "builder"],
    async run({ question, limit = 5 }, { hint, signal }) {
      const found = await finder.findEndpoints({ question, limit, signal });
      const { endpoints: hits, total, complete, isForeign } = found;
      const coming = await due.describedFirst();
      const set = found.together > 1 ? hits.slice(0, found.together) : [];
      const isFull = (at: number): boolean => at < set.length || isMeant(hits, at);
      const shown = hits.map((hit, at) => (isFull(at) ? fullHit(hit, at === 0) : briefHit(hit)));
      const rest = hits.every((_, at) => isFull(at))
        ? undefined
        : hint("; {describe_endpoint} shows the terms of others");
      return {
        status: [
          total === 0
            ? "No endpoint has a word of it."
            : `${isForeign ? "Most words are unknown, perhaps not English, so this is a guess: " : ""}${hits.length} of ${total}, best first; counts of instances in brackets${rest ?? ""}`,
          set.length > 1 ? `No endpoint has all of it; together: ${set.map(({ id }) => id).join(", ")}` : "",
        ],
        cause: loadingText(complete, coming),
        rows: withShortNames((write) => shown.flatMap(({ lines }) => lines(write))),
        next: nextStep({ hits, set, coming, isForeign }, hint),
        data: {
          total,
          complete,
          together: set.map(({ id }) => id),
          endpoints: shown.map(({ data }) => data),
        },
      };
    },
  });

/** The first hit is shown in full, the next ones too where they may be meant. */
function isMeant(hits: readonly LinkedEndpoint[], at: number): boolean {
  const [best, hit] = [itemAt(hits, 0), itemAt(hits, at)];
  return best.isWeak || hit.score >= closeShare * best.score;
}

type Write = (iri: string) => string;

/** Lines with short names of their IRIs, after the declarations of the prefixes; only namespaces of several IRIs have one. */
function withShortNames(linesOf: (write: Write) => readonly string[]): readonly string[] {
  const iris: string[] = [];
  linesOf((iri) => {
    iris.push(iri);
    return iri;
  });
  const { write, declarations } = new PrefixTable(iris).writer();
  const lines = linesOf(write);
  return [...declarations(), ...lines];
}

interface Answered {
  readonly hits: readonly LinkedEndpoint[];
  readonly set: readonly LinkedEndpoint[];
  /** Endpoints that are being described for the first time. */
  readonly coming: readonly string[];
  readonly isForeign: boolean;
}

/** A query is advised only where the question surely means what is shown. */
function nextStep(answered: Answered, hint: Hint): string | undefined {
  const { hits, set, isForeign } = answered;
  const [best] = hits;
  if (isForeign) return hint("Ask again in English, with names as they are written.");
  if (best === undefined)
    return hint("Ask with fewer words: a kind of thing, in the singular, or a name; {search_terms} looks into values.");
  const unseen = unseenIn(best, set);
  if (mayChange(answered, best, unseen)) return "Ask again in some seconds, when they are described.";
  if (best.isWeak) return lookFirst(hint);
  if (unseen !== undefined)
    return hint(`{describe_endpoint} with {describe_endpoint.endpoint}=${unseen.id} shows its terms.`);
  return runNext(best, set, hint) ?? hint("{describe_endpoint} shows all classes and properties of one.");
}

/** One of several endpoints that are needed, or their federation, of which no term is known. */
function unseenIn(best: LinkedEndpoint, set: readonly LinkedEndpoint[]): LinkedEndpoint | undefined {
  const needed = set.length > 1 ? set : best.federation === undefined ? [] : [best];
  return needed.find(({ terms }) => terms.length === 0);
}

const runNext = ({ id }: LinkedEndpoint, set: readonly LinkedEndpoint[], hint: Hint): string | undefined =>
  hint(
    set.length > 1
      ? "{run_query} without {run_query.endpoint} and with the IRIs of all, without SERVICE."
      : `{run_query} with {run_query.endpoint}=${id} and these IRIs, without SERVICE.`,
  );

/** True while endpoints are being described that may come first: the best hit is one, has one, or is not described itself. */
function mayChange({ coming }: Answered, best: LinkedEndpoint, unseen: LinkedEndpoint | undefined): boolean {
  const isComing = [best.id, ...(best.federation?.matching ?? [])].some((id) => coming.includes(id));
  const isOpen = best.isWeak || best.provenance !== undefined || unseen !== undefined;
  return isComing || (isOpen && coming.length > 0);
}

const lookFirst = (hint: Hint): string | undefined =>
  hint(
    "Look before you run: {search_terms} with a word of the question, in the singular, or one that means the same.",
  ) ?? hint("Ask again with other words: a kind of thing, in the singular, or a name.");

function loadingText(complete: boolean, coming: readonly string[]): string | undefined {
  if (!complete) return "The index is still loading, so this list may be wrong: ask again in some seconds.";
  if (coming.length === 0) return undefined;
  return `${coming.join(", ")} ${coming.length === 1 ? "is" : "are"} being described: ask again in some seconds.`;
}

type HitTerm = LinkedEndpoint["terms"][number];

const kindOf = ({ federation }: LinkedEndpoint): string => (federation === undefined ? "endpoint" : "federation");

function headOf(hit: LinkedEndpoint, texts: readonly string[]): string {
  const { id, federation, status, isWeak } = hit;
  const kind = federation === undefined ? "endpoint" : `federation of ${federation.members} endpoints`;
  const about = texts.filter((text) => text !== "" && text !== id).join(". ");
  const states = `${status === "down" ? ", down" : ""}${isWeak ? ", weak match" : ""}`;
  return `${id} (${kind}${states})${about === "" ? "" : `: ${about}`}`;
}

const reasonsOf = ({ why }: LinkedEndpoint): readonly string[] =>
  [...new Set(why.map(({ matched }) => plainText(matched, 40)))].slice(0, mostReasons);

/** A hit on one line. */
function briefHit(hit: LinkedEndpoint) {
  const { id, status, isWeak } = hit;
  const title = plainText(hit.title, 80);
  const reasons = reasonsOf(hit);
  const matches = reasons.length === 0 ? "" : `; matches ${reasons.join(", ")}`;
  const data = { id, kind: kindOf(hit), title, status, weak: isWeak, why: reasons };
  const line = `${headOf(hit, [title])}${matches}`;
  return { lines: (): readonly string[] => [line], data };
}

/** A hit with as many of its terms as the budget takes; the first with published shapes. */
function fullHit(hit: LinkedEndpoint, isFirst: boolean) {
  const { id, federation, status, provenance, isWeak, mentions } = hit;
  const title = plainText(hit.title, 80);
  const description = plainText(hit.sentence ?? "", 200);
  const classes = classesOf(hit.terms, isFirst ? bestTokens : otherTokens);
  const shapes = isFirst ? hit.shapes : [];
  const reasons = reasonsOf(hit);
  const members = federation?.matching ?? [];
  const lines = (write: Write): readonly string[] => [
    ...(members.length > 0 && members.length <= mostNamedMembers ? [`members that match: ${members.join(", ")}`] : []),
    ...(classes.length === 0 && reasons.length > 0 ? [`matches ${reasons.join(", ")}`] : []),
    ...classes.map((each) => classText(each, write)),
    ...mentions.map((mention) => mentionText(mention, write)),
    ...(provenance === undefined ? [] : [`(${plainText(provenance, 120)})`]),
    ...shapeTexts(shapes, write),
  ];
  const data = {
    id,
    kind: kindOf(hit),
    ...(federation && { members: federation.members, matching: federation.matching.slice(0, 20) }),
    title,
    status,
    weak: isWeak,
    description,
    why: reasons,
    classes: classes.map(({ iri, properties }) => ({ iri, properties: properties.map((each) => each.iri) })),
    values: mentions.map((mention) => mentionText(mention, bracketedIri)),
    schema_from: provenance === undefined ? null : plainText(provenance, 120),
    ...(isFirst && { shapes: shapeTexts(shapes, bracketedIri) }),
  };
  const head = headOf(hit, [title, description]);
  return { lines: (write: Write): readonly string[] => [head, ...lines(write).map((line) => `  ${line}`)], data };
}

function mentionText({ label, term, kind, property }: LinkedEndpoint["mentions"][number], write: Write): string {
  const name = `"${plainText(label, 60)}"`;
  return kind === "entity" ? `${plainText(term, 200)} ${name}` : `${name} is a value of ${write(property)}`;
}

/** Patterns of published queries. */
const shapeTexts = (shapes: LinkedEndpoint["shapes"], write: Write): readonly string[] =>
  shapes.flatMap((shape) => {
    const text = shapeText(shape, write);
    const { uses } = shape;
    const seen = uses === 0 ? "a published model" : amountText(uses, "published query", "published queries");
    return text === undefined ? [] : [`in ${seen}: ${text}`];
  });

interface ClassTerms {
  /** Null for properties whose class is not known. */
  readonly iri: string | null;
  readonly count: HitTerm["count"];
  readonly properties: HitTerm[];
}

/** As many of the terms, by class, as the budget takes. */
function classesOf(terms: readonly HitTerm[], mostTokens: number): readonly ClassTerms[] {
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
    const texts = [termText(term, likelyName), ...(isNew && domain !== null ? [likelyName(domain)] : [])];
    left -= estimateTokens(texts.join(" "));
    if (left < 0) break;
    if (term.kind === "class") of(term.iri);
    else of(domain).properties.push(term);
  }
  return [...found.values()];
}

/** As long as a short name. */
const likelyName: Write = (iri) => `name:${iriParts(iri).local}`;

/** `class (12): property integer, property -> class`. */
function classText({ iri, count, properties }: ClassTerms, write: Write): string {
  const name = iri === null ? "of any class" : `${write(iri)}${countText(count)}`;
  const listed = properties.map((property) => termText(property, write)).join(", ");
  return listed === "" ? name : `${name}: ${listed}`;
}

const countText = (count: HitTerm["count"]): string =>
  count === undefined
    ? ""
    : ` (${count.status === "lowerBound" || count.status === "exists" ? ">=" : ""}${count.value})`;

function termText({ iri, ranges, datatype }: HitTerm, write: Write): string {
  const [range] = ranges;
  if (range !== undefined) return `${write(iri)} -> ${write(range)}`;
  return datatype === undefined ? write(iri) : `${write(iri)} ${iriParts(datatype).local}`;
}
