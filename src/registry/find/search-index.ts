import { atOnce, inTurns } from "../../clock.ts";
import type { Catalog, CatalogEntry, EndpointInterface } from "../catalog/catalog.ts";
import type { EndpointModels } from "../model/endpoint-models.ts";
import type { TermKind } from "../model/schema.ts";
import type { Match, SearchAnswer, SearchHit } from "./rank/search-answer.ts";
import { filterSteps, hasTerm } from "./rank/filter-entries.ts";
import type { Suggestion } from "../../errors/fedway-error.ts";
import { indexed, type IndexState, ownFields } from "./tables/index-state.ts";
import { nearestTerms } from "./rank/nearest-terms.ts";
import { rankedEndpoints, searchSteps } from "./rank/run-search.ts";
import { mostTopUses, termKey, termTitle } from "./tables/term-table.ts";
import { hasAllWords } from "./tables/text-index.ts";
import { iriParts } from "../../rdf/display-text.ts";
import { queryWords } from "./words/question-words.ts";

export type { Match, SearchAnswer, SearchHit, TermUse } from "./rank/search-answer.ts";

/** Kinds of search hits. */
export type HitKind = "endpoint" | "class" | "property";

/** A search. */
export interface SearchRequest {
  /** Words, an IRI, `prefix:name` or an id. 500 characters and 12 words are looked at (2,048 characters of an IRI). */
  readonly q: string;
  /** All kinds when absent. */
  readonly kinds?: readonly HitKind[];
  /** Only these endpoints, and classes and properties that they have. */
  readonly endpoints?: readonly string[];
  /** Also classes and properties that others have published of endpoints without a description, last; see `readPublished`. */
  readonly published?: boolean;
  /** 1 to 1,000. */
  readonly limit: number;
  readonly offset: number;
}

/** Monitored state of an endpoint; "unknown" is not "down". */
export type EndpointStatus = "up" | "degraded" | "flapping" | "down" | "unknown";

/** Which catalogue entries are wanted; all conditions hold together. */
export interface EntryFilter {
  readonly q?: string;
  /** IRI, `prefix:name`, or local name that only one known class has. */
  readonly class?: string;
  readonly property?: string;
  /** A whole keyword, whatever its case and accents. */
  readonly keyword?: string;
  readonly status?: EndpointStatus;
  readonly interface?: EndpointInterface;
  /** 1 to 1,000. */
  readonly limit: number;
  readonly offset: number;
}

/** One entry with the reasons why it is in the list. */
export interface EntryHit {
  readonly entry: CatalogEntry;
  readonly status: EndpointStatus;
  readonly why: readonly Match[];
}

/** Catalogue entries, best first with `q`, else in id order. */
export interface EntryPage {
  readonly total: number;
  readonly hits: readonly EntryHit[];
  /** Entries that meet the other conditions and may have the class or property: their description is missing or incomplete. */
  readonly undecided: number;
  /** IRIs that the given names stand for; absent where no description has such a name. */
  readonly class?: string;
  readonly property?: string;
}

interface SearchIndexOptions {
  /** "unknown" for all when absent. */
  readonly statusOf?: (id: string) => EndpointStatus;
}

/** A class or property that is looked up. */
interface WantedTerm {
  readonly kind: TermKind;
  readonly iri: string;
}

/** Full-text index over the models of endpoints; in memory, synchronous, always up to date with them. */
export type SearchIndex = ReturnType<typeof createSearchIndex>;

/** An index over these models, which it follows. */
export function createSearchIndex(models: EndpointModels, options: SearchIndexOptions = {}) {
  const statusOf = options.statusOf ?? (() => "unknown" as const);
  const state = indexed(models);
  return {
    /** Grows with every change of known terms. */
    get version(): number {
      return models.version;
    },
    /** Looks up a class or property in an endpoint's description; "no" only where the description is complete. */
    hasTerm: (id: string, term: WantedTerm): "yes" | "no" | "unknown" => hasTerm(state, id, term),
    /** At most three classes or properties of these endpoints that are most like a term, best first. */
    nearest: (ids: readonly string[], term: Parameters<typeof nearestTerms>[2]): readonly Suggestion[] =>
      nearestTerms(state, ids, term),
    /** Ids of the endpoints that are known to have a class or property. */
    endpointsWith: ({ kind, iri }: WantedTerm): Iterable<string> => models.described(kind, iri),
    /** Ids of the endpoints whose text, or whose terms' names, have words of `q`, best first. */
    endpointsFound: (q: string): Iterable<string> => atOnce(rankedEndpoints(state, q)).keys(),
    /** Namespaces in which these endpoints, or any, have a class or property of this local name. */
    namespacesWith: (local: string, endpoints?: readonly string[]): readonly string[] =>
      namespacesWith(state, local, endpoints),
    /** A class or property in all endpoints; undefined when no endpoint is known to have it. */
    term: (term: WantedTerm): FoundTerm | undefined => foundTerm(state, term),
    /** How many classes and properties an endpoint is known to have; undefined when it has not been described. */
    termCounts: (id: string): TermCounts | undefined => termCounts(state, id),
    /** Version of the description, by default the time when it was finished; undefined when there is none. */
    descriptionVersion: (id: string): string | undefined => models.get(id)?.version,
    search: (request: SearchRequest): SearchAnswer => atOnce(searchSteps(state, request)),
    /** The same, with turns of the event loop for others: with 20,000 endpoints it takes 80 ms. */
    searchInTurns: (request: SearchRequest): Promise<SearchAnswer> => inTurns(searchSteps(state, request)),
    /** Has published terms indexed, for searches that want them. */
    readPublished: (): Promise<void> => state.published.read(),
    /** Ids of the endpoints whose own text has every word of `q` as a whole word, in id order; for federations by query. */
    endpointsMatching: (q: string): readonly string[] => wholeWordMatches(state, q),
    /** Entries of the catalogue that meet a filter. @throws FedwayError `REQUEST_INVALID` when a local name is ambiguous */
    filterEntries: (catalog: Pick<Catalog, "entries">, filter: EntryFilter): EntryPage =>
      atOnce(filterSteps(state, catalog.entries, { filter, statusOf })),
    /** The same, with turns of the event loop for others. */
    filterEntriesInTurns: (catalog: Pick<Catalog, "entries">, filter: EntryFilter): Promise<EntryPage> =>
      inTurns(filterSteps(state, catalog.entries, { filter, statusOf })),
  };
}

function namespacesWith(state: IndexState, local: string, endpoints?: readonly string[]): readonly string[] {
  const wanted = { q: local, kinds: ["class", "property"], limit: 50, offset: 0 } as const;
  const { hits } = atOnce(searchSteps(state, endpoints === undefined ? wanted : { ...wanted, endpoints }));
  // A local name may have the separators of IRIs itself, as in `:city\\#name`.
  const isNamed = (iri: string): boolean => iri.endsWith(local) && iriParts(iri).local === iriParts(local).local;
  return hits.flatMap(({ iri = "" }) => (isNamed(iri) ? [iri.slice(0, iri.length - local.length)] : []));
}

/** A class or property with the endpoints that have it, then those of which others have published it. */
type FoundTerm = Pick<SearchHit, "endpoints" | "endpointsTotal"> & { readonly title?: string };

function foundTerm({ table, published }: IndexState, wanted: WantedTerm): FoundTerm | undefined {
  const key = termKey(wanted.kind, wanted.iri);
  const term = table.get(key);
  const { top, total } = table.topUses(key);
  const others = published.usesOf(wanted);
  if (term === undefined && others.length === 0) return undefined;
  const endpoints = [...top, ...others].slice(0, mostTopUses);
  return { ...(term && { title: termTitle(term) }), endpoints, endpointsTotal: total + others.length };
}

/** Numbers of known terms; without `complete` there may be more. */
export interface TermCounts {
  readonly classes: number;
  readonly properties: number;
  readonly complete: boolean;
}

function termCounts({ models }: IndexState, id: string): TermCounts | undefined {
  const described = models.get(id)?.described;
  if (described === undefined) return undefined;
  const { class: classes, property: properties } = described.counts();
  return { classes, properties, complete: described.classesComplete && described.propertiesComplete };
}

function wholeWordMatches(state: IndexState, q: string): readonly string[] {
  const words = queryWords(q);
  const hits = state.endpointText.find({ words, how: "whole", fields: ownFields });
  return hits
    .filter((hit) => hasAllWords(hit, words))
    .map(({ key }) => key)
    .toSorted();
}
