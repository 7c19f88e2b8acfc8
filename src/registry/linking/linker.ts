import type { Catalog } from "../catalog/catalog.ts";
import type { EndpointModel } from "../model/endpoint-models.ts";
import { oneSentence } from "../schema/one-sentence.ts";
import { builtParts, partSentence } from "../schema/part-lines.ts";
import { iriParts, plainText } from "../schema/text.ts";
import type { EndpointStatus, Match, SearchIndex, TermUse } from "../search/search-index.ts";
import type { EngineSearch } from "../values/engine-search.ts";
import { entitiesFor } from "./entities.ts";
import { bestTerms, type FoundTerm, mergedTerms, reason } from "./merge-terms.ts";
import { createQuestionRanking, type QuestionRanking, type RankingSources } from "./question-ranking.ts";
import type { SchemaNode } from "./schema-graph.ts";

interface LinkerOptions extends RankingSources {
  readonly search: SearchIndex;
  readonly catalog: Pick<Catalog, "byId">;
  /** Asks engines for names that were not harvested. */
  readonly engineSearch?: EngineSearch | undefined;
  /** What monitoring says of an endpoint; "unknown" for all when absent. */
  readonly statusOf?: ((id: string) => EndpointStatus) | undefined;
}

/** An endpoint that can perhaps answer a question. */
export interface LinkedEndpoint {
  readonly id: string;
  readonly title: string;
  /** What data is there: what the entry says, else one sentence made of the description; of a shard, what it is a part of. Foreign text. */
  readonly sentence?: string | undefined;
  readonly status: EndpointStatus;
  /** Larger is better; comparable within one answer only. */
  readonly score: number;
  /** Classes, properties and words of the entry that the question has; what is nearest in meaning where it has none. */
  readonly why: readonly Match[];
  /** Where its classes and properties are known from, when it has not been described: "published, as of ...". */
  readonly provenance?: string | undefined;
}

/** A class or property that a question may mean. */
export interface LinkedTerm extends Pick<SchemaNode, "kind" | "iri"> {
  /** Label, else local name. Foreign text. */
  readonly label: string;
  /** Larger is better; comparable within one answer only. */
  readonly score: number;
  readonly why: readonly Match[];
  /** The 20 endpoints with the largest counts, unknown last. */
  readonly endpoints: readonly TermUse[];
  readonly endpointsTotal: number;
}

interface EndpointRequest {
  readonly question: string;
  /** 1 to 100. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

/** What a name may stand for: an entity, or a value of a property; a class; a property. */
export type TermKind = "entity" | LinkedTerm["kind"];

const allKinds: readonly TermKind[] = ["entity", "class", "property"];

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

/** Finds the endpoints and the terms that a question is about. */
export type Linker = ReturnType<typeof createLinker>;

const most = 100;
/** Endpoints whose schemas are looked at when none are named. */
const likelyEndpoints = 5;
/** What the score is worth of an endpoint of which neither a description nor the state is known. */
const unknownShare = 0.5;
/** Of an endpoint that was asked for, however unlikely it is. */
const leastWeight = 0.1;

/** A linker that keeps itself up to date with the catalogue and its descriptions in the background. */
export function createLinker({ statusOf = () => "unknown", engineSearch, ...sources }: LinkerOptions) {
  const { search, catalog, models } = sources;
  const rankings = createQuestionRanking(sources);

  function linkedEndpoint(id: string, score: number, ranked: QuestionRanking): LinkedEndpoint {
    const model = models.get(id);
    return {
      id,
      title: plainText(model?.entry?.title ?? id, 120),
      sentence: model && sentenceOf(model),
      status: statusOf(id),
      score,
      why: endpointReasons(id, ranked),
      provenance: model?.described === undefined ? model?.published?.provenance : undefined,
    };
  }

  /** Whether somebody has looked there yet, be it others. */
  const isKnown = (id: string): boolean => {
    const { described, published } = models.get(id) ?? {};
    return (described ?? published) !== undefined || statusOf(id) !== "unknown";
  };

  const knownFirst = (endpoints: QuestionRanking["endpoints"]): QuestionRanking["endpoints"] =>
    endpoints
      .map(({ id, score }) => ({ id, score: isKnown(id) ? score : unknownShare * score }))
      .toSorted((left, right) => right.score - left.score);

  return {
    /** Endpoints for a question, best first; those that are down stand where they belong. @throws the signal's reason */
    async findEndpoints({ question, limit, signal }: EndpointRequest) {
      const ranked = await rankings.rank(question, signal);
      const { ranking } = ranked;
      const endpoints = knownFirst(ranked.endpoints);
      const there = namedFirst(question, endpoints).filter(({ id }) => catalog.byId(id) !== undefined);
      const shown = there.slice(0, clamped(limit)).map(({ id, score }) => linkedEndpoint(id, score, ranked));
      return { endpoints: shown, total: there.length, ranking };
    },

    /**
     * Classes and properties, and beside them entities and values, for a word, a name or a question, each best first.
     * @throws the signal's reason
     */
    async searchTerms(request: TermRequest) {
      const { query, kinds: wanted = allKinds, endpoints, limit, signal } = request;
      const kinds = wanted.filter((kind) => kind !== "entity");
      const ranked = await rankings.rank(query, signal);
      const { ranking } = ranked;
      const likely = endpoints ?? ranked.endpoints.slice(0, likelyEndpoints).map(({ id }) => id);
      const nearest = ranked.endpoints.map(({ id }) => id);
      const { hits: entities, unanswered } = wanted.includes("entity")
        ? await entitiesFor(request, nearest, { values: sources.values, engineSearch })
        : { hits: [], unanswered: [] };
      const weight = weightsOf(ranked);
      const inSchemas = bestTerms(
        likely.slice(0, most).map((id) => ({ weight: weight(id), terms: ranked.termsOf(id) })),
      );
      const named = search.search({ q: query, kinds, ...(endpoints && { endpoints }), limit: most, offset: 0 });
      const isRestricted = endpoints !== undefined;
      const merged = mergedTerms({ inSchemas, named: named.hits, isRestricted });
      const ofKinds = merged.filter(({ kind }) => kinds.includes(kind));
      const terms = ofKinds.slice(0, clamped(limit)).map((term) => linkedTerm(term, search));
      return { terms, total: ofKinds.length, entities, unanswered, ranking };
    },

    /** Resolves when all that is known now is taken in, vectors included. */
    settled: (): Promise<void> => rankings.settled(),
    close: (): Promise<void> => rankings.close(),
  };
}

/** Who asks by its id means that endpoint. */
const namedFirst = (
  question: string,
  endpoints: QuestionRanking["endpoints"],
): readonly { readonly id: string; readonly score: number }[] => {
  const id = question.trim().toLowerCase();
  const named = endpoints.find((endpoint) => endpoint.id === id);
  return named === undefined ? endpoints : [{ ...named, score: 1 }, ...endpoints.filter((other) => other !== named)];
};

const clamped = (limit: number): number => Math.min(most, Math.max(1, Math.floor(limit) || 1));

/** Scores of terms are comparable within an endpoint only; how likely that is makes them so. */
function weightsOf({ endpoints }: QuestionRanking): (id: string) => number {
  const best = endpoints[0]?.score ?? 1;
  const scores = new Map(endpoints.map(({ id, score }) => [id, score]));
  return (id) => Math.max(leastWeight, (scores.get(id) ?? 0) / best);
}

const longestSentence = 240;

function sentenceOf({ entry, described }: EndpointModel): string | undefined {
  const told = entry?.description && plainText(entry.description, longestSentence);
  const sentence = told ?? oneSentence({ described, entry });
  const part = described && partSentence(builtParts(described));
  return part === undefined ? sentence : `${sentence ?? ""} ${part}`.trim();
}

const mostReasons = 6;
const mostTermReasons = 4;
const mostMentions = 2;

function endpointReasons(id: string, ranked: QuestionRanking): readonly Match[] {
  const terms = ranked.termsOf(id);
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

function linkedTerm({ kind, iri, score, why }: FoundTerm, search: SearchIndex): LinkedTerm {
  const { title = iriParts(iri).local || iri, endpoints = [], endpointsTotal = 0 } = search.term({ kind, iri }) ?? {};
  return { kind, iri, label: plainText(title, 80), score, why, endpoints, endpointsTotal };
}
