import { setImmediate as nextTurn } from "node:timers/promises";
import type { Catalog } from "../catalog/catalog.ts";
import { iriParts, plainText } from "../../rdf/display-text.ts";
import type { EndpointStatus, Match, SearchIndex, TermUse } from "./search-index.ts";
import type { EngineSearch } from "./read/engine-search.ts";
import { entitiesFor } from "./rank/entities.ts";
import { type GroupedHit, groupHits } from "./rank/group-hits.ts";
import { linkedHit } from "./rank/linked-hit.ts";
import { bestTerms, type FoundTerm, mergedTerms } from "./rank/merge-terms.ts";
import { createQuestionRanking, type QuestionRanking, type RankingSources } from "./rank/question-ranking.ts";
import type { FederationModel } from "../model/federation-model.ts";
import type { SchemaNode } from "./tables/schema-graph.ts";

interface LinkerOptions extends RankingSources {
  readonly search: SearchIndex;
  readonly catalog: Catalog;
  /** Asks engines for names that were not harvested. */
  readonly engineSearch?: EngineSearch | undefined;
  /** Monitored state of an endpoint; "unknown" for all when absent. */
  readonly statusOf?: ((id: string) => EndpointStatus) | undefined;
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

/** Possible meanings of a name: an entity or a value of a property; a class; a property. */
type TermKind = "entity" | LinkedTerm["kind"];

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
/** Factors of the score: for endpoints with published terms only, and for those without even a known state. */
const knownShares = { published: 0.7, unknown: 0.5 } as const;
/** Of an endpoint that was asked for, however unlikely it is. */
const leastWeight = 0.1;

/** A linker that keeps itself up to date with the catalogue and its descriptions in the background. */
export function createLinker({ statusOf = () => "unknown", engineSearch, ...sources }: LinkerOptions) {
  const { search, catalog, models } = sources;
  const rankings = createQuestionRanking(sources);
  const known = { models, statusOf };

  /** Published knowledge counts less than the endpoint's own description. */
  const knownShare = (id: string, { federations }: QuestionRanking): number => {
    const { described, published } = federations.model(id) ?? models.get(id) ?? {};
    if (described !== undefined) return 1;
    return published === undefined && statusOf(id) === "unknown" ? knownShares.unknown : knownShares.published;
  };

  const knownFirst = (ranked: QuestionRanking): QuestionRanking["endpoints"] =>
    ranked.endpoints
      .map(({ id, score }) => ({ id, score: knownShare(id, ranked) * score }))
      .toSorted((left, right) => right.score - left.score);

  return {
    /** Endpoints for a question, best first; those that are down stand where they belong. @throws the signal's reason */
    async findEndpoints({ question, limit, signal }: EndpointRequest) {
      const ranked = await rankings.rank(question, signal);
      const { ranking } = ranked;
      await nextTurn();
      const there = knownFirst(ranked).filter(
        ({ id }) => (catalog.byId(id) ?? ranked.federations.model(id)) !== undefined,
      );
      const hits = namedFirst(question, groupHits(there, { ranked, models, catalog }), ranked);
      const shown = hits.slice(0, clamped(limit)).map((hit) => linkedHit(hit, ranked, known));
      return { endpoints: shown, total: hits.length, ranking, complete: ranked.complete };
    },

    /**
     * Classes and properties, and beside them entities and values, for a word, a name or a question, each best first.
     * @throws the signal's reason
     */
    async searchTerms(request: TermRequest) {
      const { query, kinds: wanted = allKinds, endpoints, limit, signal } = request;
      const kinds = wanted.filter((kind) => kind !== "entity");
      const ranked = await rankings.rank(query, signal);
      const { ranking, complete } = ranked;
      const ids = ranked.endpoints.map(({ id }) => id).filter((id) => catalog.byId(id) !== undefined);
      const likely = endpoints ?? ids.slice(0, likelyEndpoints);
      const { hits: entities, unanswered } = wanted.includes("entity")
        ? await entitiesFor(request, ids, { values: sources.values, engineSearch })
        : { hits: [], unanswered: [] };
      const weight = weightsOf(ranked);
      const inSchemas = bestTerms(
        likely.slice(0, most).map((id) => ({ weight: weight(id), terms: ranked.termsOf(id) })),
      );
      const named = await search.searchInTurns({
        q: query,
        kinds,
        ...(endpoints && { endpoints }),
        limit: most,
        offset: 0,
      });
      const isRestricted = endpoints !== undefined;
      const merged = mergedTerms({ inSchemas, named: named.hits, isRestricted });
      const ofKinds = merged.filter(({ kind }) => kinds.includes(kind));
      const terms = ofKinds.slice(0, clamped(limit)).map((term) => linkedTerm(term, search));
      return { terms, total: ofKinds.length, entities, unanswered, ranking, complete };
    },

    /** The merged model of a federation; undefined while nothing is known of its members. */
    federation: (id: string): FederationModel | undefined => rankings.federation(id),
    /** Resolves when all that is known now is taken in, vectors included. */
    settled: (): Promise<void> => rankings.settled(),
    close: (): Promise<void> => rankings.close(),
  };
}

/** Puts an endpoint or federation first that the question names by its id. */
const namedFirst = (
  question: string,
  hits: readonly GroupedHit[],
  { endpoints, federations }: QuestionRanking,
): readonly GroupedHit[] => {
  const id = question.trim().toLowerCase();
  const isEndpoint = endpoints.some((endpoint) => endpoint.id === id);
  const key = isEndpoint ? id : federations.model(federations.keyOf(id)) && federations.keyOf(id);
  return key === undefined ? hits : [{ key, score: 1 }, ...hits.filter((hit) => hit.key !== key)];
};

const clamped = (limit: number): number => Math.min(most, Math.max(1, Math.floor(limit) || 1));

/** Scores of terms are comparable within an endpoint only; how likely that is makes them so. */
function weightsOf({ endpoints }: QuestionRanking): (id: string) => number {
  const best = endpoints[0]?.score ?? 1;
  const scores = new Map(endpoints.map(({ id, score }) => [id, score]));
  return (id) => Math.max(leastWeight, (scores.get(id) ?? 0) / best);
}

function linkedTerm({ kind, iri, score, why }: FoundTerm, search: SearchIndex): LinkedTerm {
  const { title = iriParts(iri).local || iri, endpoints = [], endpointsTotal = 0 } = search.term({ kind, iri }) ?? {};
  return { kind, iri, label: plainText(title, 80), score, why, endpoints, endpointsTotal };
}
