import { inTurns } from "../../../clock.ts";
import { iriParts, plainText } from "../../../rdf/display-text.ts";
import type { HitKind, Match, SearchHit, TermUse } from "../answers.ts";
import type { EngineHits, EngineSearch } from "../read/engine-search.ts";
import type { EndpointTables } from "../tables/endpoint-tables.ts";
import type { SchemaTerm } from "../tables/schema-graph.ts";
import { bestFirst, type ValueHit } from "../tables/value-index.ts";
import { nameIn } from "./mentions.ts";
import { clamped, mostHits, type QuestionRanking, rankQuestion } from "./question-ranking.ts";
import { namedScore, searchSteps, usesOfTerm } from "./run-search.ts";
import { type RankedNode, reason } from "./rank-terms.ts";

/** A class or property that a question may mean. */
interface LinkedTerm {
  readonly kind: SchemaTerm["kind"];
  readonly iri: string;
  /** Label, else local name. Foreign text. */
  readonly label: string;
  /** Larger is better; comparable within one answer only. */
  readonly score: number;
  readonly why: readonly Match[];
  /** The 20 endpoints with the largest counts, unknown last. */
  readonly endpoints: readonly TermUse[];
  readonly endpointsTotal: number;
}

/** Possible meanings of a name: an entity or a value of a property; a class; a property. */
type TermKind = "entity" | LinkedTerm["kind"];

const allKinds: readonly TermKind[] = ["entity", "class", "property"];

/** A search for terms. */
export interface TermRequest {
  /** A word, a name, an IRI or a whole question. */
  readonly query: string;
  /** All when absent. */
  readonly kinds?: readonly TermKind[] | undefined;
  /** Only of these; of all when absent. */
  readonly endpoints?: readonly string[] | undefined;
  /** 1 to 100. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

/** Endpoints whose schemas are looked at when none are named. */
const likelyEndpoints = 5;
/** Of an endpoint that was asked for, however unlikely it is. */
const leastWeight = 0.1;

/**
 * Classes and properties, and beside them entities and values, for a word, a name or a question, each best first.
 * @throws the signal's reason
 */
export async function termsFor(tables: EndpointTables, request: TermRequest, engineSearch: EngineSearch | undefined) {
  const { query, kinds: wanted = allKinds, endpoints, limit, signal } = request;
  const { catalog, texts } = tables;
  const kinds = wanted.filter((kind) => kind !== "entity");
  const ranked = await rankQuestion(tables, query, signal);
  const { ranking, complete } = ranked;
  const ids = ranked.endpoints.map(({ id }) => id).filter((id) => catalog.byId(id) !== undefined);
  const likely = endpoints ?? ids.slice(0, likelyEndpoints);
  const { hits: entities, unanswered } = wanted.includes("entity")
    ? await entitiesFor(tables, request, { likely: ids, engineSearch })
    : { hits: [], unanswered: [] };
  const weight = weightsOf(ranked);
  const inSchemas = bestTerms(
    likely.slice(0, mostHits).map((id) => ({ weight: weight(id), terms: ranked.termsOf(id) })),
  );
  const only = endpoints && { endpoints };
  const named = await inTurns(searchSteps(texts, { q: query, kinds, ...only, limit: mostHits, offset: 0 }));
  const merged = mergedTerms({ inSchemas, named: named.hits, isRestricted: endpoints !== undefined });
  const ofKinds = merged.filter(({ kind }) => kinds.includes(kind));
  const terms = ofKinds.slice(0, clamped(limit)).map((term) => linkedTerm(tables, term));
  return { terms, total: ofKinds.length, entities, unanswered, ranking, complete };
}

/** Scores of terms are comparable within an endpoint only; how likely that is makes them so. */
function weightsOf({ endpoints }: QuestionRanking): (id: string) => number {
  const best = endpoints[0]?.score ?? 1;
  const scores = new Map(endpoints.map(({ id, score }) => [id, score]));
  return (id) => Math.max(leastWeight, (scores.get(id) ?? 0) / best);
}

function linkedTerm({ texts }: EndpointTables, { kind, iri, score, why }: FoundTerm): LinkedTerm {
  const {
    title = iriParts(iri).local || iri,
    endpoints = [],
    endpointsTotal = 0,
  } = usesOfTerm(texts, { kind, iri }) ?? {};
  return { kind, iri, label: plainText(title, 80), score, why, endpoints, endpointsTotal };
}

/**
 * Entities and values, best first: of harvests, and, where they have no label that is just so, of the engines of endpoints that
 * were not read whole, the likeliest first.
 */
async function entitiesFor(
  { values }: EndpointTables,
  request: TermRequest,
  { likely, engineSearch }: { readonly likely: readonly string[]; readonly engineSearch: EngineSearch | undefined },
): Promise<EngineHits> {
  const { query, endpoints, limit } = request;
  const known = await values.find({ texts: [query], endpoints, limit: 2 * limit });
  const text = known.some(isSameText) ? undefined : nameToAsk(request);
  const isComplete = (id: string): boolean => values.isComplete(id);
  const asked = text === undefined ? undefined : { text, endpoints, likely, isComplete, limit };
  const { hits = [], unanswered = [] } = (asked && (await engineSearch?.find(asked))) ?? {};
  return { hits: onceEach([...known, ...hits].toSorted(bestFirst)).slice(0, Math.min(mostHits, limit)), unanswered };
}

const isSameText = ({ why }: ValueHit): boolean => why === "exact" || why === "folded";

/** A word in small letters is more often a class or property, and no endpoint is asked for it unless entities are wanted. */
function nameToAsk({ query, kinds, endpoints }: TermRequest): string | undefined {
  const name = nameIn(query);
  const isEntity = kinds !== undefined || endpoints !== undefined;
  return isEntity || /\p{Lu}/u.test(name ?? "") ? name : undefined;
}

/** The same text of the same property once for each entity, in whatever languages and of whatever classes it is there. */
function onceEach(hits: readonly ValueHit[]): readonly ValueHit[] {
  const best = new Map<string, ValueHit>();
  for (const hit of hits) if (!best.has(occurrenceOf(hit))) best.set(occurrenceOf(hit), hit);
  return [...best.values()];
}

const occurrenceOf = ({ endpoint, kind, term, property, label }: ValueHit): string =>
  [endpoint, kind, term, property, label].join(" ");

/** A class or property that was found in schemas or by the index. */
interface FoundTerm extends SchemaTerm {
  readonly score: number;
  readonly why: readonly Match[];
}

const keyOf = ({ kind, iri }: { readonly kind: string; readonly iri?: string | undefined }): string =>
  `${kind} ${iri ?? ""}`;

const mostOfList = 100;

/** Terms of an endpoint, and what the endpoint weighs. */
interface WeightedTerms {
  readonly weight: number;
  readonly terms: readonly RankedNode[];
}

/** The terms of several endpoints as one list: each with its best score. */
function bestTerms(lists: readonly WeightedTerms[]): readonly FoundTerm[] {
  const found = new Map<string, FoundTerm>();
  for (const { weight, terms } of lists) {
    for (const ranked of terms.slice(0, mostOfList)) {
      const { node } = ranked;
      const score = weight * ranked.score;
      const key = keyOf(node);
      if (score > (found.get(key)?.score ?? 0)) {
        found.set(key, { kind: node.kind, iri: node.iri, score, why: termReasons(ranked), count: node.count });
      }
    }
  }
  return [...found.values()].toSorted((left, right) => right.score - left.score || right.count - left.count);
}

function termReasons({ node, words, meaning, isMentioned, near }: RankedNode): readonly Match[] {
  if (words.length > 0) return words.map((word) => reason("name", word, node));
  if (isMentioned) return [reason("value", "", node)];
  const meant = meaning !== undefined && meaning > 0.5 ? [reason("meaning", "", node)] : [];
  return near === undefined ? meant : [...meant, reason(near.kind, "", near)];
}

interface Merging {
  readonly inSchemas: readonly FoundTerm[];
  readonly named: readonly SearchHit[];
  readonly isRestricted: boolean;
}

/** Reciprocal rank fusion; its usual constant is for lists of thousands. */
const fusion = 10;

/**
 * Terms matching the whole query come first. Within chosen endpoints their schemas decide, and the index adds what they lack;
 * over the whole catalogue, schemas of likely endpoints and the index have one voice each.
 */
function mergedTerms({ inSchemas, named, isRestricted }: Merging): readonly FoundTerm[] {
  const found = new Map<string, FoundTerm>();
  const add = (term: FoundTerm, score: number): void => {
    const before = found.get(keyOf(term));
    found.set(keyOf(term), { ...(before ?? term), score: (before?.score ?? 0) + score });
  };
  for (const [at, term] of inSchemas.entries()) add(term, 1 / (fusion + at));
  const voice = isRestricted && inSchemas.length > 0 ? 0.001 : 1;
  for (const [at, hit] of named.filter(isTerm).entries()) {
    const isNamed = hit.score >= namedScore;
    const term = { kind: hit.kind, iri: hit.iri, score: 0, why: hit.why, count: countOf(hit) };
    add(term, isNamed ? 1 + 1 / (fusion + at) : voice / (fusion + at));
  }
  return [...found.values()].toSorted((left, right) => right.score - left.score || right.count - left.count);
}

const isTerm = (hit: SearchHit): hit is SearchHit & { kind: Exclude<HitKind, "endpoint">; iri: string } =>
  hit.kind !== "endpoint" && hit.iri !== undefined;

const countOf = ({ endpoints }: SearchHit): number =>
  endpoints.reduce((sum, { count }) => sum + (count?.value ?? 0), 0);
