import { filterEntries } from "./filter-entries.ts";
import { createState, dropDescription, type IndexState, ownFields, putDescription, putEntry } from "./index-state.ts";
import { runSearch } from "./run-search.ts";
import type { IndexSize, SearchIndex, SearchIndexOptions, SearchLimits } from "./search-index.ts";
import { readSnapshot, writeSnapshot } from "./snapshot.ts";
import { hasAllWords } from "./text-index.ts";
import { queryWords } from "./words.ts";

const defaults: SearchLimits = {
  terms: 200_000,
  termsPerEndpoint: 20_000,
  uses: 500_000,
  // A stored document holds at most 64 MiB.
  snapshotBytes: 60 * 1024 * 1024,
};

/** An empty index. */
export function createSearchIndex(options: SearchIndexOptions = {}): SearchIndex {
  const limits: SearchLimits = { ...defaults, ...options.limits };
  const statusOf = options.statusOf ?? (() => "unknown" as const);
  let state = createState(limits);
  const removeEndpoint = (id: string): void => {
    dropDescription(state, id);
    putEntry(state, id, undefined);
  };
  return {
    setEndpoint: (entry) => putEntry(state, entry.id, entry),
    setEndpoints: (entries) => {
      const ids = new Set(entries.map((entry) => entry.id));
      for (const id of state.endpoints.keys()) if (!ids.has(id)) removeEndpoint(id);
      for (const entry of entries) putEntry(state, entry.id, entry);
    },
    removeEndpoint,
    setDescription: (id, description, notes = {}) => putDescription(state, description, { id, ...notes }),
    removeDescription: (id) => dropDescription(state, id),
    descriptionVersion: (id) => state.endpoints.get(id)?.described?.version,
    search: (request) => runSearch(state, request),
    endpointsMatching: (q) => wholeWordMatches(state, q),
    filterEntries: (catalog, filter) => filterEntries(state, catalog.entries, { filter, statusOf }),
    snapshot: () => writeSnapshot(state),
    restore: (text, current) => {
      const read = readSnapshot(text, current, limits);
      state = read.state;
      return read.restored;
    },
    get size() {
      return sizeOf(state);
    },
  };
}

function wholeWordMatches(state: IndexState, q: string): readonly string[] {
  const words = queryWords(q);
  const hits = state.endpointText.find({ words, how: "whole", fields: ownFields });
  return hits
    .filter((hit) => hasAllWords(hit, words))
    .map(({ key }) => key)
    .toSorted();
}

function sizeOf({ endpoints, table }: IndexState): IndexSize {
  let known = 0;
  let leftOut = 0;
  for (const { entry, described } of endpoints.values()) {
    if (entry !== undefined) known++;
    leftOut += described?.leftOut ?? 0;
  }
  return { endpoints: known, terms: table.terms, uses: table.uses, leftOut };
}
