import { editDistance } from "../../errors/nearest.ts";
import type { Suggestion } from "../../errors/fedway-error.ts";
import { bracketedIri, iriParts, nameWords } from "../../registry/schema/text.ts";
import type { KnownTerms } from "../../plan/plan-request.ts";
import type { ParsedQuery } from "../../sparql/parse-query.ts";
import type { PlacedPattern } from "../../sparql/query-patterns.ts";
import type { UsedTerm } from "../../sparql/used-terms.ts";
import { classesOfSubject } from "./pattern-evidence.ts";
import { type Offer, type QueryScope, termsOf, tokensOf, written } from "./query-scope.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** A class or property that none of the endpoints has that are asked about it. */
export interface UnknownTerm extends UsedTerm {
  /** Catalogue ids of the endpoints that are asked, at most 200. */
  readonly endpoints: readonly string[];
  /** Their descriptions have all classes and properties; false: they may have more than is described. */
  readonly certain: boolean;
  /** At most three, best first. */
  readonly nearest: readonly Suggestion[];
  /** Other endpoints of the catalogue that have it, at most five. */
  readonly elsewhere: readonly string[];
}

const mostTerms = 10;
const mostNearest = 3;
/** A term that is not proven to be missing is told only when another one is as like it as this. */
const likelyScore = 0.85;

/** The terms of a scope that its endpoints do not have, each with those that may have been meant. */
export function unknownTerms(scope: QueryScope, terms: KnownTerms): readonly UnknownTerm[] {
  const { ids, vocabulary } = scope;
  if (ids.length === 0) return [];
  const found: UnknownTerm[] = [];
  for (const term of termsOf(scope)) {
    if (found.length === mostTerms) break;
    const has = ids.map((id) => terms.hasTerm(id, term));
    if (has.includes("yes")) continue;
    const certain = has.every((each) => each === "no");
    const nearest = vocabulary ? nearestTerms(term, vocabulary, neighboursOf(term, scope)) : [];
    if (!certain && (nearest[0]?.score ?? 0) < likelyScore) continue;
    const elsewhere = [...terms.endpointsWith(term)].filter((id) => !ids.includes(id)).slice(0, 5);
    found.push({ ...term, endpoints: ids, certain, nearest, elsewhere });
  }
  return found;
}

/** Properties of the classes, and classes of the properties, that the same subjects have in the query. */
function neighboursOf(term: UsedTerm, { patterns, vocabulary }: QueryScope): ReadonlySet<string> {
  const near = new Set<string>();
  if (vocabulary === undefined) return near;
  const isTerm = ({ predicate, object }: PlacedPattern): boolean =>
    (predicate.kind === "iri" && predicate.iri === term.iri) || (object.kind === "iri" && object.iri === term.iri);
  const subjects = new Set(patterns.filter(isTerm).map(nameOfSubject));
  const beside = patterns.filter((pattern) => subjects.has(nameOfSubject(pattern)) && !isTerm(pattern));
  const classes = new Set(beside.flatMap((pattern) => Array.from(classesOfSubject(pattern, vocabulary))));
  if (term.kind === "class") return classes;
  for (const [iri, { subjects: having }] of vocabulary.properties) {
    if ([...classes].some((each) => having.has(each))) near.add(iri);
  }
  return near;
}

const nameOfSubject = ({ subject }: PlacedPattern): string => JSON.stringify(subject);

const neighbourBonus = 0.04;

/** The known terms of the same kind that are most like one, best first; of those equally like it the more frequent. */
function nearestTerms(term: UsedTerm, vocabulary: Vocabulary, near: ReadonlySet<string>): readonly Suggestion[] {
  const isClass = term.kind === "class";
  const known = isClass ? vocabulary.classes.keys() : vocabulary.properties.keys();
  const count = (iri: string): number =>
    (isClass ? vocabulary.classes.get(iri)?.entities : vocabulary.properties.get(iri)?.triples) ?? 0;
  const scored: { iri: string; score: number; why: string }[] = [];
  for (const iri of known) {
    const like = likeness(term.iri, iri);
    if (like === undefined) continue;
    const bonus = near.has(iri) ? neighbourBonus : 0;
    scored.push({
      iri,
      score: Math.min(0.99, like.score + bonus),
      why: like.why + (bonus > 0 ? nearWhy(isClass) : ""),
    });
  }
  return scored
    .toSorted(
      (one, other) => other.score - one.score || count(other.iri) - count(one.iri) || (one.iri < other.iri ? -1 : 1),
    )
    .slice(0, mostNearest)
    .map(({ iri, score, why }) => ({ term: bracketedIri(iri), score: Math.round(score * 100) / 100, why }));
}

const nearWhy = (isClass: boolean): string => (isClass ? ", has these properties" : ", of the same class");

interface Likeness {
  readonly score: number;
  readonly why: string;
}

const folded = (iri: string): string =>
  iri
    .replace(/^https:/, "http:")
    .replaceAll("#", "/")
    .toLowerCase();
const wordsOf = (name: string): string =>
  nameWords(name)
    .map((word) => word.toLowerCase())
    .join(" ");
/** Without endings of the plural and of verbs. */
const stem = (words: string): string =>
  words.replaceAll(/(?:ies|y)\b/g, "i").replaceAll(/(?<=\w{3})(?:e?s|ed|ing)\b/g, "");

/** How like two IRIs are; undefined when they are not. */
function likeness(wanted: string, candidate: string): Likeness | undefined {
  if (folded(wanted) === folded(candidate)) return { score: 0.95, why: sameButFor(wanted, candidate) };
  const [one, other] = [iriParts(wanted), iriParts(candidate)];
  if (one.local === "" || other.local === "") return undefined;
  const sameSpace = one.namespace === other.namespace;
  const space = sameSpace ? 1 : spaceFactor(one.namespace, other.namespace);
  if (one.local === other.local) return { score: 0.95 * space, why: "same name in another namespace" };
  const [words, otherWords] = [wordsOf(one.local), wordsOf(other.local)];
  if (words.replaceAll(" ", "") === otherWords.replaceAll(" ", "")) {
    return { score: 0.93 * space, why: "same name but for case and separators" };
  }
  if (stem(words) === stem(otherWords)) return { score: 0.9 * space, why: "same word in another form" };
  return misspelt(one.local, other.local, space) ?? sharedWords(words, otherWords, space);
}

function sameButFor(wanted: string, candidate: string): string {
  const isScheme = wanted.replace(/^https?:/, "") === candidate.replace(/^https?:/, "");
  return isScheme ? "the same but for http or https" : "the same but for case or separators";
}

/** A namespace that is nearly the same was probably meant. */
function spaceFactor(one: string, other: string): number {
  const [left, right] = [folded(one), folded(other)];
  if (left === right) return 0.99;
  return editDistance(left, right, 2) <= 2 ? 0.98 : 0.92;
}

function misspelt(one: string, other: string, space: number): Likeness | undefined {
  const [left, right] = [one.slice(0, 128).toLowerCase(), other.slice(0, 128).toLowerCase()];
  const cap = Math.max(1, Math.floor(Math.max(left.length, right.length) / 3));
  const distance = areSwapped(left, right) ? 1 : editDistance(left, right, cap);
  if (distance > cap) return undefined;
  const share = distance / Math.max(left.length, right.length);
  return { score: (0.93 - share) * space, why: `${distance} ${distance === 1 ? "letter differs" : "letters differ"}` };
}

/** Two neighbouring letters changed places, which is one mistake. */
function areSwapped(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return one[at] === other[at + 1] && one[at + 1] === other[at] && one.slice(at + 2) === other.slice(at + 2);
}

function sharedWords(one: string, other: string, space: number): Likeness | undefined {
  const [left, right] = [new Set(stem(one).split(" ")), new Set(stem(other).split(" "))];
  const shared = [...left].filter((word) => word.length > 2 && right.has(word)).length;
  if (shared === 0) return undefined;
  return { score: 0.6 * (shared / Math.max(left.size, right.size)) * space, why: "shares a word" };
}

const offeredFrom = 0.5;

/** The best of the nearest terms in the place of an unknown one. */
export function termOffers(parsed: ParsedQuery, scope: QueryScope, unknown: readonly UnknownTerm[]): readonly Offer[] {
  return unknown.flatMap(({ iri, nearest }) => {
    const [best] = nearest;
    if (best === undefined || best.score < offeredFrom) return [];
    const after = written(parsed, best.term.slice(1, -1));
    const places = tokensOf(parsed, iri, scope.ranges);
    const edits = places.map((at) => ({ range: { from: at, to: at + 1 }, replacement: ` ${after} ` }));
    const before = parsed.tokens[places[0] ?? -1]?.text ?? bracketedIri(iri);
    if (edits.length === 0) return [];
    return [
      { repair: { kind: "term-unknown", before, after, applied: false }, edits, score: best.score, why: best.why },
    ];
  });
}
