import { type GroupedHit, coveringFirst, groupHits } from "./group-hits.ts";
import { reachOf } from "./covering.ts";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { EndpointStatus, Match } from "../answers.ts";
import type { EndpointTables } from "../tables/endpoint-tables.ts";
import { clamped, type QuestionRanking, rankQuestion } from "./question-ranking.ts";
import type { DescribedSchema } from "../../model/described-schema.ts";
import type { EndpointModel, EndpointModels } from "../../model/endpoint-models.ts";
import type { KnownCount, TermKind } from "../../model/schema.ts";
import { oneSentence } from "../../schema/one-sentence.ts";
import { builtParts, partSentence } from "../../schema/part-lines.ts";
import { iriParts, plainText } from "../../../rdf/display-text.ts";
import type { ValueHit } from "../tables/value-index.ts";
import { publishedKey } from "../../catalog/published/published-facts.ts";
import type { PublishedShape } from "../../catalog/published/shapes-file.ts";
import { bestShapes } from "./rank-shapes.ts";
import { reason } from "./rank-terms.ts";
import { itemAt } from "../../../values.ts";

/** A search for endpoints. */
export interface EndpointRequest {
  readonly question: string;
  /** 1 to 100. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

/** Factors of the score: for endpoints with published terms only, and for those without even a known state. */
const knownShares = { published: 0.7, unknown: 0.5 } as const;

/** An endpoint or federation in its place, before it is looked up. */
interface RankedHit {
  /** Of the endpoint, or of the members of a federation that have something of the question. */
  readonly ids: readonly string[];
  readonly isFederation: boolean;
  lookUp(): LinkedEndpoint;
  /** Only the `why` of the hit. */
  reasons(): LinkedEndpoint["why"];
}

/** Endpoints for a question, best first; those that are down stand where they belong. @throws the signal's reason */
export async function rankedFor(
  tables: EndpointTables,
  { question, limit, signal }: EndpointRequest,
  statusOf: (id: string) => EndpointStatus,
) {
  const { models, catalog } = tables;
  const ranked = await rankQuestion(tables, question, signal);
  const { ranking, complete, isForeign, federations } = ranked;
  await nextTurn();
  const there = knownFirst(tables, ranked, statusOf).filter(
    ({ id }) => (catalog.byId(id) ?? federations.model(id)) !== undefined,
  );
  const grouped = groupHits(there, ranked, tables);
  const covering = complete ? await coveringFirst(grouped, ranked, tables) : { hits: grouped, together: 1 };
  const named = keyNamed(question, ranked);
  const hits = named === undefined ? covering.hits : namedFirst(named, covering.hits);
  const together = named === undefined ? covering.together : 1;
  const shown = hits.slice(0, clamped(limit)).map((hit): RankedHit => {
    const isFederation = federations.idOf(hit.key) !== undefined;
    const ids = isFederation ? (hit.members ?? []) : [hit.key];
    return {
      ids,
      isFederation,
      lookUp: () => ({
        ...linkedHit(hit, ranked, models, statusOf),
        isWeak: hit.key !== named && reachOf(hit.key, ranked, models).sure.size === 0,
      }),
      reasons: () => endpointReasons(hit.key, ranked, ranked.termsOf(hit.key)),
    };
  });
  return { hits: shown, total: hits.length, together, ranking, complete, isForeign };
}

/** Published knowledge counts less than the endpoint's own description. */
function knownFirst(
  { models }: EndpointTables,
  { endpoints, federations }: QuestionRanking,
  statusOf: (id: string) => EndpointStatus,
): QuestionRanking["endpoints"] {
  const knownShare = (id: string): number => {
    const { described, published } = federations.model(id) ?? models.get(id) ?? {};
    if (described !== undefined) return 1;
    return published === undefined && statusOf(id) === "unknown" ? knownShares.unknown : knownShares.published;
  };
  return endpoints
    .map(({ id, score }) => ({ id, score: knownShare(id) * score }))
    .toSorted((left, right) => right.score - left.score);
}

/** Key of the endpoint or federation whose id the question is. */
function keyNamed(question: string, { endpoints, federations }: QuestionRanking): string | undefined {
  const id = question.trim().toLowerCase();
  if (endpoints.some((endpoint) => endpoint.id === id)) return id;
  return federations.model(federations.keyOf(id)) && federations.keyOf(id);
}

const namedFirst = (key: string, hits: readonly GroupedHit[]): readonly GroupedHit[] => [
  { key, score: 1 },
  ...hits.filter((hit) => hit.key !== key),
];

/** A class or property of a hit, with its neighbours in the schema. */
interface HitTerm {
  readonly kind: TermKind;
  readonly iri: string;
  /** Instances or triples; of a federation the sum where its members are shards of one build, else the largest of theirs. */
  readonly count: KnownCount | undefined;
  /** Of a property: classes that have it, the likeliest first, and classes of its values. */
  readonly domains: readonly string[];
  readonly ranges: readonly string[];
  /** The one that all values have. */
  readonly datatype?: string | undefined;
}

/** An endpoint, or a federation of several, that can perhaps answer a question. */
export interface LinkedEndpoint {
  /** Of the federation, where it is one. */
  readonly id: string;
  /** Of a federation: all its endpoints, and those that have something of the question. */
  readonly federation?: { readonly members: number; readonly matching: readonly string[] } | undefined;
  readonly title: string;
  /**
   * One sentence about the data: the entry's own, else one made of the description; for a shard, its whole. Foreign text.
   */
  readonly sentence?: string | undefined;
  readonly status: EndpointStatus;
  /** Larger is better; comparable within one answer only. */
  readonly score: number;
  /** Classes, properties and words of the entry that the question has; the nearest ones in meaning where it has none. */
  readonly why: readonly Match[];
  /** Classes and properties that the question may mean, best first. */
  readonly terms: readonly HitTerm[];
  /** Values and names in the data that the question names. */
  readonly mentions: readonly ValueHit[];
  /** It has no word of the question as it stands: a guess by words that are alike or mean the same. */
  readonly isWeak: boolean;
  /** Where its classes and properties are known from, when it has not been described: "published, as of ...". */
  readonly provenance?: string | undefined;
  /** Of one that has not been described: published shapes that say most of the question, best first. */
  readonly shapes: readonly PublishedShape[];
}

/** A hit with what a reader chooses by, and with the terms that the question may mean there. */
function linkedHit(
  { key, score, members = [] }: GroupedHit,
  ranked: QuestionRanking,
  models: EndpointModels,
  statusOf: (id: string) => EndpointStatus,
): Omit<LinkedEndpoint, "isWeak"> {
  const terms = ranked.termsOf(key);
  const shared = {
    score,
    why: endpointReasons(key, ranked, terms),
    mentions: ranked.mentionsOf(key).slice(0, mostMentions),
  };
  const listed = ranked.federations.entry(key);
  if (listed !== undefined) {
    const { described, known = [] } = ranked.federations.model(key) ?? {};
    return {
      ...shared,
      ...federationTexts(listed, described),
      federation: { members: listed.members.length, matching: members },
      status: worstOf(listed.members.map(statusOf)),
      shapes: [],
      terms: hitTerms(terms, ranked.graph(key), { described, models, ids: known }),
    };
  }
  const model = models.get(key);
  const { entry, described } = model ?? {};
  return {
    ...shared,
    id: key,
    title: plainText(entry?.title ?? key, 120),
    sentence: model && sentenceOf(model),
    status: statusOf(key),
    terms: hitTerms(mostUsedFirst(terms, model), ranked.graph(key), { described, models, ids: [key] }),
    ...publishedOf(model, terms),
  };
}

function publishedOf({ described, published }: Partial<EndpointModel> = {}, terms: ScoredTerms) {
  if (described !== undefined || published === undefined) return { shapes: [] };
  const shapes = bestShapes(published.shapes ?? [], terms, mostShapes).map(({ shape }) => shape);
  return { provenance: published.provenance, shapes };
}

type Listed = NonNullable<ReturnType<QuestionRanking["federations"]["entry"]>>;

const federationTexts = ({ federation }: Listed, described: DescribedSchema | undefined) => ({
  id: federation.id,
  title: plainText(federation.title, 120),
  sentence: federation.description ?? (described && oneSentence({ described })),
});

function worstOf(states: readonly EndpointStatus[]): EndpointStatus {
  return (["down", "flapping", "degraded", "up"] as const).find((state) => states.includes(state)) ?? "unknown";
}

const mostHitTerms = 40;
const mostShapes = 3;

type ScoredTerms = ReturnType<QuestionRanking["termsOf"]>;

/** Terms that queries need whatever the words of the question are. */
const mostUsed = 6;

/** Of an endpoint that is known from publications alone, the terms that published queries use most before all others. */
function mostUsedFirst(terms: ScoredTerms, { described, published }: Partial<EndpointModel> = {}): ScoredTerms {
  if (described !== undefined) return terms;
  const usesOf = ({ node: { kind, iri } }: ScoredTerms[number]): number =>
    published?.terms.get(publishedKey(kind, iri))?.uses ?? 0;
  const used = terms
    .filter((term) => usesOf(term) > 0)
    .toSorted((one, other) => usesOf(other) - usesOf(one))
    .slice(0, mostUsed);
  return [...used, ...terms.filter((term) => !used.includes(term))];
}

/** The schema of an endpoint or federation, and the described endpoints that it is of. */
interface HitSchema {
  readonly described: DescribedSchema | undefined;
  readonly models: EndpointModels;
  readonly ids: readonly string[];
}

function hitTerms(
  scored: ScoredTerms,
  graph: ReturnType<QuestionRanking["graph"]>,
  { described, models, ids }: HitSchema,
): readonly HitTerm[] {
  const { nodes = [] } = graph ?? {};
  const scores = new Map(scored.map(({ node, score }) => [node, score]));
  const irisAt = (places: readonly number[]): readonly string[] =>
    places
      .map((place) => itemAt(nodes, place))
      .toSorted((one, other) => (scores.get(other) ?? 0) - (scores.get(one) ?? 0))
      .map(({ iri }) => iri);
  return scored.slice(0, mostHitTerms).map(({ node: { kind, iri, count, domains, ranges } }) => ({
    kind,
    iri,
    count: described === undefined ? claimed(count) : described.term(kind, iri)?.count,
    domains: irisAt(domains),
    ranges: irisAt(ranges),
    datatype: kind === "property" ? datatypeAt(iri, ids, models) : undefined,
  }));
}

const claimed = (value: number): KnownCount | undefined => (value < 0 ? undefined : { value, status: "claimed" });

/** The one that all values have at all of these endpoints that are known to have the property. */
function datatypeAt(property: string, ids: readonly string[], models: EndpointModels): string | undefined {
  const known = ids.flatMap((id) => models.get(id)?.described?.countsOf(property) ?? []);
  const [first] = known;
  return known.every(({ datatype }) => datatype === first?.datatype) ? first?.datatype : undefined;
}

const longestSentence = 240;

function sentenceOf({ entry, described }: EndpointModel): string | undefined {
  const told = entry?.description && plainText(entry.description, longestSentence);
  const sentence = told ?? oneSentence({ described, entry });
  const part = described && partSentence(builtParts(described.built));
  return part === undefined ? sentence : `${sentence ?? ""} ${part}`.trim();
}

const mostReasons = 6;
const mostTermReasons = 4;
const mostMentions = 2;

function endpointReasons(id: string, ranked: QuestionRanking, terms: ScoredTerms): readonly Match[] {
  const ofTerms = terms
    .flatMap(({ node, words }) => words.slice(0, 1).map((word) => reason(node.kind, word, node)))
    .slice(0, mostTermReasons);
  const seen = new Set(ofTerms.map(({ term }) => term));
  const others = ranked.wordsOf(id).filter((word) => !seen.has(word));
  const named = ranked.mentionsOf(id).slice(0, mostMentions);
  const all = [
    ...ofTerms,
    ...named.map(({ label, property }) => ({ field: "value", term: label, matched: iriParts(property).local })),
    ...others.map((word) => ({ field: "text", term: word, matched: word })),
  ];
  const [nearest] = terms;
  if (all.length > 0 || nearest?.meaning === undefined) return all.slice(0, mostReasons);
  return [reason("meaning", "", nearest.node)];
}
