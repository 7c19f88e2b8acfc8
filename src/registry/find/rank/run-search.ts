import { mostTopUses, type SearchedTexts, type Term, termKey, type TermTable, termTitle } from "../tables/texts.ts";
import type { HitKind, Match, SearchAnswer, SearchHit, SearchRequest, TermUse, WantedTerm } from "../answers.ts";
import { hasAllWords, type Looking, reasonsOf, type TextHit } from "../tables/text-index.ts";
import { isIri, queryWords } from "../words/question-words.ts";
import { fold, type Word } from "../words/words.ts";
import { iriParts } from "../../../rdf/display-text.ts";
import { wellKnownPrefixes } from "../../../rdf/well-known-prefixes.ts";

const kindOrder: readonly HitKind[] = ["endpoint", "class", "property"];
const mostHits = 1_000;
/** Added at least once to the score of what the whole query names, so that it comes first whatever the words weigh. */
export const namedScore = 1_000;

interface Candidate {
  readonly kind: HitKind;
  readonly key: string;
  readonly score: number;
  readonly named?: Named;
  readonly text?: TextHit | undefined;
}

/** Runs a search; with 20,000 endpoints each step takes some milliseconds. */
export function* searchSteps(state: SearchedTexts, request: SearchRequest): Generator<void, SearchAnswer> {
  const words = queryWords(request.q);
  const kinds = new Set<HitKind>(request.kinds ?? kindOrder);
  const { published } = state;
  const candidatesIn = (texts: SearchedTexts, only: ReadonlySet<HitKind>) =>
    findCandidates(texts, { q: request.q, words, kinds: only, wanted: inEndpoints(texts, request) });
  const own = yield* candidatesIn(state, kinds);
  const terms = kinds.difference(new Set<HitKind>(["endpoint"]));
  const others =
    request.published === true
      ? yield* candidatesIn({ ...state, table: published.table, termText: published.termText }, terms)
      : nothing;
  const [first = own] = [own, others]
    .filter(({ found }) => found.length > 0)
    .toSorted((one, other) => Number(other.matched === "all") - Number(one.matched === "all"));
  const { matched } = first;
  const described = own.matched === matched ? own.found : [];
  yield;
  const known = new Set(described.map(candidateKey));
  const more = others.matched === matched ? others.found.filter((each) => !known.has(candidateKey(each))) : [];
  yield;
  const limit = Math.min(mostHits, Math.max(1, Math.floor(request.limit) || 1));
  const offset = Math.max(0, Math.floor(request.offset) || 0);
  const tables = [state.table, ...(request.published === true ? [published.table] : [])];
  return {
    total: described.length + more.length,
    hits: [...described, ...more]
      .slice(offset, offset + limit)
      .map((candidate) => hitOf(state, { candidate, words, tables })),
    words: words.map(({ whole }) => whole),
    matched,
    complete: isComplete(state),
  };
}

const nothing = { found: [], matched: "some" } as const;

const isComplete = ({ models }: SearchedTexts): boolean =>
  !models.isReading && [...models.all()].every(({ described }) => (described?.leftOut ?? 0) === 0);

interface Wanted {
  readonly q: string;
  readonly words: readonly Word[];
  readonly kinds: ReadonlySet<HitKind>;
  readonly wanted: (candidate: Candidate) => boolean;
}

interface Candidates {
  readonly found: readonly Candidate[];
  readonly matched: SearchAnswer["matched"];
}

/** Documents with all the words, or named by the whole query; failing that, those with some of the words. */
function* findCandidates(state: SearchedTexts, request: Wanted): Generator<void, Candidates> {
  const named = namedCandidates(state, request).filter(request.wanted);
  if (isIri(request.q) && named.length > 0) return { found: named.toSorted(byRank), matched: "all" };
  yield;
  const begun = textCandidates(state, request, "beginnings").filter(request.wanted);
  yield;
  const strict = withAllWords(named, begun, request);
  yield;
  if (strict.length > 0) return { found: strict.toSorted(byRank), matched: "all" };
  // Words with other letters are costly to find and often mean something else, so they are the second choice.
  const some = textCandidates(state, request, "errors").filter(request.wanted);
  yield;
  const all = withAllWords(named, some, request);
  yield;
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

function textCandidates(state: SearchedTexts, { words, kinds }: Wanted, how: Looking["how"]): readonly Candidate[] {
  const looking = { words, how };
  return [
    ...(kinds.has("endpoint") ? state.endpointText.find(looking) : []).map(
      (text): Candidate => ({ kind: "endpoint", key: text.key, score: rounded(text.score), text }),
    ),
    ...(hasTerms(kinds) ? state.termText.find(looking) : []).flatMap((text): Candidate | readonly Candidate[] => {
      const kind = state.table.get(text.key)?.kind;
      return kind === undefined || !kinds.has(kind) ? [] : { kind, key: text.key, score: rounded(text.score), text };
    }),
  ];
}

const hasTerms = (kinds: Wanted["kinds"]): boolean => kinds.has("class") || kinds.has("property");

/** The order in which documents came leaves traces in the last digits; they must not decide. */
const rounded = (score: number): number => Math.round(score * 1_000) / 1_000;

function namedCandidates(state: SearchedTexts, { q, kinds }: Wanted): readonly Candidate[] {
  const named = [
    ...(kinds.has("endpoint") ? namedEndpoints(state, q) : []),
    ...(hasTerms(kinds) ? namedTerms(state, q) : []),
  ];
  return named
    .filter(({ kind }) => kinds.has(kind))
    .map((each) => ({ kind: each.kind, key: each.key, score: namedScore * each.tier, named: each }));
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

function inEndpoints(state: SearchedTexts, { endpoints }: SearchRequest): (candidate: Candidate) => boolean {
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

function hitOf(
  { models }: SearchedTexts,
  { candidate, words, tables }: { candidate: Candidate; words: readonly Word[]; tables: readonly TermTable[] },
): SearchHit {
  const { kind, key, score } = candidate;
  const why = reasonsFor(candidate, words);
  if (kind === "endpoint") {
    const title = models.get(key)?.entry?.title ?? key;
    return { kind, id: key, title, score, why, endpoints: [], endpointsTotal: 0 };
  }
  const [term] = tables.flatMap((table) => table.get(key) ?? []);
  const uses = tables.map((table) => table.topUses(key));
  const iri = term?.iri ?? key.slice(2);
  return {
    kind,
    iri,
    title: term === undefined ? iri : termTitle(term),
    score,
    why,
    endpoints: uses.flatMap(({ top }) => top).slice(0, mostTopUses),
    endpointsTotal: uses.reduce((sum, { total }) => sum + total, 0),
  };
}

function reasonsFor({ named, text }: Candidate, words: readonly Word[]): readonly Match[] {
  return [...(named === undefined ? [] : [named.why]), ...(text === undefined ? [] : reasonsOf(text, words))];
}

/** Endpoints found by a text for a list of entries, best first, with what computes their reasons. */
export function* rankedEndpoints(state: SearchedTexts, q: string): Generator<void, RankedIds> {
  const words = queryWords(q);
  const kinds = new Set<HitKind>(["endpoint"]);
  const { found } = yield* findCandidates(state, { q, words, kinds, wanted: () => true });
  yield;
  return new Map(found.map((candidate) => [candidate.key, () => reasonsFor(candidate, words)]));
}

type RankedIds = ReadonlyMap<string, () => readonly Match[]>;

/** Something that the whole query names; tier 2: by IRI, `prefix:name` or id, tier 1: by its local name or title. */
interface Named {
  readonly kind: HitKind;
  readonly key: string;
  readonly tier: 1 | 2;
  readonly why: Match;
}

const longestName = 2_048;
const mostNamesakes = 200;
const namespaceOf = new Map([...wellKnownPrefixes].map(([namespace, prefix]) => [prefix.toLowerCase(), namespace]));
const curie = /^([\p{L}][\p{L}\p{N}_.-]{0,30}):([^\s/:][^\s:]{0,200})$/u;

/** The query without white space around it and without `<>`. */
function bareName(q: string): string {
  const name = q.trim().slice(0, longestName);
  return name.startsWith("<") && name.endsWith(">") ? name.slice(1, -1) : name;
}

/** The IRIs that a name is when it is one, or `prefix:name` with a well-known prefix. */
export function irisWritten(q: string): readonly string[] {
  const name = bareName(q);
  const [, prefix, local = ""] = curie.exec(name) ?? [];
  const namespace = prefix === undefined ? undefined : namespaceOf.get(prefix.toLowerCase());
  return [name, ...(namespace === undefined ? [] : [namespace + local])];
}

/** Classes and properties that the whole query names. */
function namedTerms({ table }: SearchedTexts, q: string): readonly Named[] {
  const name = bareName(q);
  if (name === "") return [];
  const [, prefix, local = ""] = curie.exec(name) ?? [];
  const exact = irisWritten(name).flatMap((iri) => [termKey("class", iri), termKey("property", iri)]);
  const found = exact.flatMap((key) => table.get(key) ?? []);
  const namesakes = prefix === undefined ? table.named(name) : prefixedNamesakes(table.named(local), prefix);
  const others = namesakes.slice(0, mostNamesakes).flatMap((key) => table.get(key) ?? []);
  return [
    ...found.map((term) => namedTerm(term, 2, { field: "iri", term: name, matched: term.iri })),
    ...others
      .filter((term) => !found.includes(term))
      .map((term) => namedTerm(term, 1, { field: "name", term: name, matched: term.iri })),
  ];
}

const namedTerm = ({ kind, key }: Term, tier: Named["tier"], why: Match): Named => ({ kind, key, tier, why });

/** A prefix that is not well known is at least part of its namespace most of the time. */
function prefixedNamesakes(keys: readonly string[], prefix: string): readonly string[] {
  const wanted = prefix.toLowerCase();
  return keys.filter((key) => {
    const { namespace } = iriParts(key);
    return (
      namespace.toLowerCase().includes(wanted) || wellKnownPrefixes.get(namespace.slice(2))?.toLowerCase() === wanted
    );
  });
}

/** Endpoints whose id, URL or title is the whole query. */
function namedEndpoints({ models }: SearchedTexts, q: string): readonly Named[] {
  const name = bareName(q);
  if (name === "") return [];
  const folded = fold(name);
  const url = bareUrl(name);
  const found: Named[] = [];
  for (const { id, entry } of models.all()) {
    if (entry === undefined) continue;
    const add = (field: "id" | "url" | "title", matched: string): void =>
      void found.push({
        kind: "endpoint",
        key: id,
        tier: field === "title" ? 1 : 2,
        why: { field, term: name, matched },
      });
    if (id === folded) add("id", id);
    else if (url !== "" && bareUrl(entry.url) === url) add("url", entry.url);
    else if (entry.title.length <= name.length * 4 && fold(entry.title) === folded) add("title", entry.title);
  }
  return found;
}

/** An http(s) URL without scheme and trailing slash; empty for everything else. */
function bareUrl(text: string): string {
  return /^https?:\/\/(.+?)\/?$/i.exec(text)?.[1]?.toLowerCase() ?? "";
}

/** The IRIs that a name may stand for: itself when known, `prefix:name`, or the terms with this local name. */
export function irisNamed(state: SearchedTexts, kind: Term["kind"], name: string): readonly string[] {
  const { table } = state;
  const named = namedTerms(state, name).filter((each) => each.kind === kind);
  const best = named.filter(({ tier }) => tier === 2);
  const iris = (best.length > 0 ? best : named).flatMap(({ key }) => table.get(key)?.iri ?? []);
  const same = iris.filter((iri) => iriParts(iri).local === bareName(name));
  return same.length > 0 ? same : iris;
}

/** A class or property with the endpoints that have it, then those of which others have published it. */
export interface TermUses {
  readonly title?: string;
  readonly endpoints: readonly TermUse[];
  readonly endpointsTotal: number;
}

/** The endpoints of a class or property, the largest counts first; undefined when no endpoint is known to have it. */
export function usesOfTerm({ table, published }: SearchedTexts, wanted: WantedTerm): TermUses | undefined {
  const key = termKey(wanted.kind, wanted.iri);
  const term = table.get(key);
  const { top, total } = table.topUses(key);
  const others = published.usesOf(wanted);
  if (term === undefined && others.length === 0) return undefined;
  const endpoints = [...top, ...others].slice(0, mostTopUses);
  return { ...(term && { title: termTitle(term) }), endpoints, endpointsTotal: total + others.length };
}
