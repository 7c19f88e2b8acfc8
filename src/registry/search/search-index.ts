import type { Catalog, CatalogEntry, EndpointInterface } from "../catalog/catalog.ts";
import type { FactStatus, VoidDescription } from "../void/void-description.ts";
import { filterEntries, hasTerm } from "./filter-entries.ts";
import type { Suggestion } from "../../errors/fedway-error.ts";
import { createState, dropDescription, type IndexState, ownFields, putDescription, putEntry } from "./index-state.ts";
import { nearestTerms } from "./nearest-terms.ts";
import { rankedEndpoints, runSearch } from "./run-search.ts";
import { readSnapshot, writeSnapshot } from "./snapshot.ts";
import { type Term, termKey, termTitle } from "./term-table.ts";
import { hasAllWords } from "./text-index.ts";
import { queryWords } from "./words.ts";

/** What can be found. */
export type HitKind = "endpoint" | "class" | "property";

/** Why something was found: a word of the query and the indexed word or value it met in a field. */
export interface Match {
  readonly field: string;
  readonly term: string;
  readonly matched: string;
}

/** An endpoint that has a class or property; the count is of instances or triples, absent when unknown. */
export interface TermUse {
  readonly id: string;
  readonly count?: { readonly value: number; readonly status: FactStatus };
}

/** One thing found. */
export interface SearchHit {
  readonly kind: HitKind;
  /** Only for classes and properties. */
  readonly iri?: string | undefined;
  /** Only for endpoints. */
  readonly id?: string | undefined;
  /** Title of the endpoint; label, else local name, of a class or property. */
  readonly title: string;
  /** Larger is better; comparable within one answer only. */
  readonly score: number;
  readonly why: readonly Match[];
  /** Only for classes and properties: the 20 endpoints with the largest counts, unknown last. */
  readonly endpoints: readonly TermUse[];
  readonly endpointsTotal: number;
}

/** A search. */
export interface SearchRequest {
  /** Words, an IRI, `prefix:name` or an id. 500 characters and 12 words are looked at (2,048 characters of an IRI). */
  readonly q: string;
  /** All kinds when absent. */
  readonly kinds?: readonly HitKind[];
  /** Only these endpoints, and classes and properties that they have. */
  readonly endpoints?: readonly string[];
  /** 1 to 1,000. */
  readonly limit: number;
  readonly offset: number;
}

/** What a search found, best first; ties in the order of kind, then id or IRI. */
export interface SearchAnswer {
  readonly total: number;
  readonly hits: readonly SearchHit[];
  /** Words that were searched for. */
  readonly words: readonly string[];
  /** "some": nothing has all the words, so that the hits have only some of them. */
  readonly matched: "all" | "some";
  /** False: classes or properties of some descriptions were left out of the index for their number or length. */
  readonly complete: boolean;
}

/** What monitoring says of an endpoint; "unknown" is not "down". */
export type EndpointStatus = "up" | "down" | "unknown";

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

/** How a description is put into the index. */
export interface DescriptionNotes {
  /** Tells this state of the description from others, for `restore`; `finishedAt` when absent. */
  readonly version?: string;
}

/** What `restore` made of a snapshot. */
export interface Restored {
  /** False: it was unreadable, damaged or of another format, and the index was built anew from the entries. */
  readonly usable: boolean;
  /** Endpoints whose description must be set again. */
  readonly missing: readonly string[];
}

/** What the catalogue and the store hold now. */
export interface CurrentState {
  readonly entries: readonly CatalogEntry[];
  /** Versions of the stored descriptions by endpoint id. */
  readonly descriptions: ReadonlyMap<string, string>;
}

/** Limits of the index. */
export interface SearchLimits {
  /** Distinct classes and properties. */
  readonly terms: number;
  readonly termsPerEndpoint: number;
  readonly uses: number;
  /** Bytes of a snapshot in UTF-8. */
  readonly snapshotBytes: number;
}

/** How an index is made. */
interface SearchIndexOptions {
  /** "unknown" for all when absent. */
  readonly statusOf?: (id: string) => EndpointStatus;
  readonly limits?: Partial<SearchLimits>;
}

const defaults: SearchLimits = {
  terms: 200_000,
  termsPerEndpoint: 20_000,
  uses: 500_000,
  // A stored document holds at most 64 MiB.
  snapshotBytes: 60 * 1024 * 1024,
};

/** Full-text index over the catalogue and its descriptions; in memory, synchronous, bounded. */
export type SearchIndex = ReturnType<typeof createSearchIndex>;

/** An empty index. */
export function createSearchIndex(options: SearchIndexOptions = {}) {
  const limits: SearchLimits = { ...defaults, ...options.limits };
  const statusOf = options.statusOf ?? (() => "unknown" as const);
  let state = createState(limits);
  let version = 0;
  /** Removes the entry and its description. */
  const removeEndpoint = (id: string): void => {
    dropDescription(state, id);
    putEntry(state, id, undefined);
  };
  return {
    /** Adds or replaces; nothing happens for the entry it has already. */
    setEndpoint: (entry: CatalogEntry): void => putEntry(state, entry.id, entry),
    /** Sets these and removes all others, with their descriptions. */
    setEndpoints(entries: readonly CatalogEntry[]): void {
      const ids = new Set(entries.map((entry) => entry.id));
      for (const id of state.endpoints.keys()) if (!ids.has(id)) removeEndpoint(id);
      for (const entry of entries) putEntry(state, entry.id, entry);
    },
    removeEndpoint,
    setDescription(id: string, description: VoidDescription, notes: DescriptionNotes = {}): void {
      version++;
      putDescription(state, description, { id, ...notes });
    },
    removeDescription(id: string): void {
      version++;
      dropDescription(state, id);
    },
    /** Grows with every change of a description. */
    get version(): number {
      return version;
    },
    /** Whether an endpoint has a class or property, by its description; "no" only where that has all of them. */
    hasTerm: (id: string, term: Pick<Term, "kind" | "iri">): "yes" | "no" | "unknown" => hasTerm(state, id, term),
    /** At most three classes or properties of these endpoints that are most like a term, best first. */
    nearest: (ids: readonly string[], term: Parameters<typeof nearestTerms>[2]): readonly Suggestion[] =>
      nearestTerms(state, ids, term),
    /** Ids of the endpoints that are known to have a class or property. */
    endpointsWith: ({ kind, iri }: Pick<Term, "kind" | "iri">): Iterable<string> =>
      state.table.endpointsOf(termKey(kind, iri)).keys(),
    /** Ids of the endpoints whose text, or whose terms' names, have words of `q`, best first. */
    endpointsFound: (q: string): Iterable<string> => rankedEndpoints(state, q).keys(),
    /** What is known of a class or property in all endpoints; undefined when none is known to have it. */
    term: ({ kind, iri }: Pick<Term, "kind" | "iri">): KnownTerm | undefined => knownTerm(state, termKey(kind, iri)),
    /** How many classes and properties an endpoint is known to have; undefined when it has not been described. */
    termCounts: (id: string): TermCounts | undefined => termCounts(state, id),
    /** Version of the indexed description, by default the time when it was finished; undefined when there is none. */
    descriptionVersion: (id: string): string | undefined => state.endpoints.get(id)?.described?.version,
    search: (request: SearchRequest): SearchAnswer => runSearch(state, request),
    /** Ids of the endpoints whose own text has every word of `q` as a whole word, in id order; for federations by query. */
    endpointsMatching: (q: string): readonly string[] => wholeWordMatches(state, q),
    /** Entries of the catalogue that meet a filter. @throws FedwayError `REQUEST_INVALID` when a local name is ambiguous */
    filterEntries: (catalog: Pick<Catalog, "entries">, filter: EntryFilter): EntryPage =>
      filterEntries(state, catalog.entries, { filter, statusOf }),
    /** The index as JSON for `restore`; undefined when it is too large to be stored as one document. */
    snapshot: (): string | undefined => writeSnapshot(state),
    /** Replaces the whole index by a snapshot, brought up to date with these entries. Never throws. */
    restore(text: string, current: CurrentState): Restored {
      const read = readSnapshot(text, current, limits);
      state = read.state;
      version++;
      return read.restored;
    },
    get size() {
      return sizeOf(state);
    },
  };
}

/** A class or property with the endpoints that have it. */
type KnownTerm = Pick<SearchHit, "title" | "endpoints" | "endpointsTotal">;

function knownTerm({ table }: IndexState, key: string): KnownTerm | undefined {
  const term = table.get(key);
  if (term === undefined) return undefined;
  const { top, total } = table.topUses(key);
  return { title: termTitle(term), endpoints: top, endpointsTotal: total };
}

/** Numbers of known terms; without `complete` there may be more. */
export interface TermCounts {
  readonly classes: number;
  readonly properties: number;
  readonly complete: boolean;
}

function termCounts({ endpoints }: IndexState, id: string): TermCounts | undefined {
  const described = endpoints.get(id)?.described;
  if (described === undefined) return undefined;
  const { keys, classesComplete, propertiesComplete } = described;
  const classes = keys.filter((key) => key.startsWith(termKey("class", ""))).length;
  return { classes, properties: keys.length - classes, complete: classesComplete && propertiesComplete };
}

function wholeWordMatches(state: IndexState, q: string): readonly string[] {
  const words = queryWords(q);
  const hits = state.endpointText.find({ words, how: "whole", fields: ownFields });
  return hits
    .filter((hit) => hasAllWords(hit, words))
    .map(({ key }) => key)
    .toSorted();
}

/** Entries, distinct terms, pairs of a term and an endpoint that has it, and terms that the limits kept out. */
function sizeOf({ endpoints, table }: IndexState) {
  let known = 0;
  let leftOut = 0;
  for (const { entry, described } of endpoints.values()) {
    if (entry !== undefined) known++;
    leftOut += described?.leftOut ?? 0;
  }
  return { endpoints: known, terms: table.terms, uses: table.uses, leftOut };
}
