import { namedEndpoints, namedTerms, type Named } from "./exact-names.ts";
import type { IndexState } from "./index-state.ts";
import type { HitKind, Match, SearchAnswer, SearchHit, SearchRequest } from "./search-index.ts";
import { termTitle } from "./term-table.ts";
import { hasAllWords, type Looking, reasonsOf, type TextHit } from "./text-index.ts";
import { isIri, queryWords, type Word } from "./words.ts";

const kindOrder: readonly HitKind[] = ["endpoint", "class", "property"];
const mostHits = 1_000;
/** Added to the score of what the whole query names, so that it comes first whatever the words weigh. */
const tierScore = 1_000;

interface Candidate {
  readonly kind: HitKind;
  readonly key: string;
  readonly score: number;
  readonly named?: Named;
  readonly text?: TextHit;
}

/** Runs a search. */
export function runSearch(state: IndexState, request: SearchRequest): SearchAnswer {
  const words = queryWords(request.q);
  const kinds = new Set<HitKind>(request.kinds ?? kindOrder);
  const { found, matched } = findCandidates(state, { q: request.q, words, kinds, wanted: inEndpoints(state, request) });
  const limit = Math.min(mostHits, Math.max(1, Math.floor(request.limit) || 1));
  const offset = Math.max(0, Math.floor(request.offset) || 0);
  return {
    total: found.length,
    hits: found.slice(offset, offset + limit).map((candidate) => hitOf(state, candidate, words)),
    words: words.map(({ whole }) => whole),
    matched,
    complete: state.endpoints.values().every(({ described }) => (described?.leftOut ?? 0) === 0),
  };
}

interface Wanted {
  readonly q: string;
  readonly words: readonly Word[];
  readonly kinds: ReadonlySet<HitKind>;
  readonly wanted: (candidate: Candidate) => boolean;
}

interface Found {
  /** Best first. */
  readonly found: readonly Candidate[];
  readonly matched: SearchAnswer["matched"];
}

/** What has all the words or is named by the whole query; where there is none, what has some of the words. */
function findCandidates(state: IndexState, request: Wanted): Found {
  const named = namedCandidates(state, request).filter(request.wanted);
  if (isIri(request.q) && named.length > 0) return { found: named.toSorted(byRank), matched: "all" };
  const strict = withAllWords(named, textCandidates(state, request, "beginnings").filter(request.wanted), request);
  if (strict.length > 0) return { found: strict.toSorted(byRank), matched: "all" };
  // Words with other letters are costly to find and often mean something else, so they are the second choice.
  const some = textCandidates(state, request, "errors").filter(request.wanted);
  const all = withAllWords(named, some, request);
  if (all.length > 0 || some.length === 0) return { found: all.toSorted(byRank), matched: "all" };
  return { found: some.toSorted(byRank), matched: "some" };
}

function withAllWords(
  named: readonly Candidate[],
  texts: readonly Candidate[],
  { words }: Wanted,
): readonly Candidate[] {
  return merged(
    named,
    texts.filter(({ text }) => text !== undefined && hasAllWords(text, words)),
  );
}

function textCandidates(state: IndexState, { words, kinds }: Wanted, how: Looking["how"]): readonly Candidate[] {
  const looking = { words, how };
  const endpoints = kinds.has("endpoint") ? state.endpointText.find(looking) : [];
  const terms = kinds.has("class") || kinds.has("property") ? state.termText.find(looking) : [];
  return [
    ...endpoints.map((text): Candidate => ({ kind: "endpoint", key: text.key, score: rounded(text.score), text })),
    ...terms.flatMap((text): Candidate | readonly Candidate[] => {
      const kind = state.table.get(text.key)?.kind;
      return kind === undefined || !kinds.has(kind) ? [] : { kind, key: text.key, score: rounded(text.score), text };
    }),
  ];
}

/** The order in which documents came leaves traces in the last digits; they must not decide. */
const rounded = (score: number): number => Math.round(score * 1_000) / 1_000;

function namedCandidates(state: IndexState, { q, kinds }: Wanted): readonly Candidate[] {
  const endpoints = kinds.has("endpoint") ? namedEndpoints(state, q) : [];
  const terms = kinds.has("class") || kinds.has("property") ? namedTerms(state, q) : [];
  return [
    ...endpoints.map(
      (named): Candidate => ({ kind: "endpoint", key: named.key, score: tierScore * named.tier, named }),
    ),
    ...terms.flatMap((named): Candidate | readonly Candidate[] => {
      const kind = state.table.get(named.key)?.kind;
      return kind === undefined || !kinds.has(kind)
        ? []
        : { kind, key: named.key, score: tierScore * named.tier, named };
    }),
  ];
}

/** One candidate for what is both named and found by words. */
function merged(named: readonly Candidate[], texts: readonly Candidate[]): readonly Candidate[] {
  const byKey = new Map(texts.map((candidate) => [candidateKey(candidate), candidate]));
  for (const candidate of named) {
    const same = byKey.get(candidateKey(candidate));
    byKey.set(candidateKey(candidate), { ...same, ...candidate, score: candidate.score + (same?.score ?? 0) });
  }
  return [...byKey.values()];
}

const candidateKey = ({ kind, key }: Candidate): string => (kind === "endpoint" ? `e:${key}` : key);

function inEndpoints(state: IndexState, { endpoints }: SearchRequest): (candidate: Candidate) => boolean {
  if (endpoints === undefined) return () => true;
  const wanted = new Set(endpoints);
  return ({ kind, key }) =>
    kind === "endpoint" ? wanted.has(key) : wanted.values().some((id) => state.table.usedBy(key, id));
}

function byRank(left: Candidate, right: Candidate): number {
  return (
    right.score - left.score ||
    kindOrder.indexOf(left.kind) - kindOrder.indexOf(right.kind) ||
    (left.key < right.key ? -1 : 1)
  );
}

function hitOf(state: IndexState, candidate: Candidate, words: readonly Word[]): SearchHit {
  const { kind, key, score } = candidate;
  const why = reasonsFor(candidate, words);
  if (kind === "endpoint") {
    const title = state.endpoints.get(key)?.entry?.title ?? key;
    return { kind, id: key, title, score, why, endpoints: [], endpointsTotal: 0 };
  }
  const term = state.table.get(key);
  const { top, total } = state.table.topUses(key);
  const iri = term?.iri ?? key.slice(2);
  return {
    kind,
    iri,
    title: term === undefined ? iri : termTitle(term),
    score,
    why,
    endpoints: top,
    endpointsTotal: total,
  };
}

function reasonsFor({ named, text }: Candidate, words: readonly Word[]): readonly Match[] {
  return [...(named === undefined ? [] : [named.why]), ...(text === undefined ? [] : reasonsOf(text, words))];
}

/** Endpoints found by a text for a list of entries, best first; their reasons are told on demand. */
export function rankedEndpoints(state: IndexState, q: string): ReadonlyMap<string, () => readonly Match[]> {
  const words = queryWords(q);
  const { found } = findCandidates(state, { q, words, kinds: new Set<HitKind>(["endpoint"]), wanted: () => true });
  return new Map(found.map((candidate) => [candidate.key, () => reasonsFor(candidate, words)]));
}
