import { setImmediate as nextTurn } from "node:timers/promises";
import type { Suggestion } from "../../errors/fedway-error.ts";
import type { Finder } from "../../registry/find.ts";
import { type TextEdit, type Query } from "../../sparql/query.ts";
import { type PlacedPattern, termsOf, type UsedTerm } from "../../sparql/patterns.ts";
import { type Offer, type QueryScope, tokensOf } from "./query-scope.ts";
import { classesOfSubject } from "./vocabulary.ts";

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
/** A term that is not proven to be missing is reported only when another one is as like it as this. */
const likelyScore = 0.85;

/** The terms of a scope that its endpoints do not have, each with those that may have been meant. */
export async function unknownTerms(scope: QueryScope, terms: Finder): Promise<readonly UnknownTerm[]> {
  const { ids } = scope;
  if (ids.length === 0) return [];
  const found: UnknownTerm[] = [];
  let compared = 0;
  for (const term of termsOf(scope.patterns)) {
    const has = ids.map((id) => terms.hasTerm(id, term));
    if (has.includes("yes")) continue;
    if (compared++ === mostTerms) break;
    await nextTurn();
    const certain = has.every((each) => each === "no");
    const nearest = terms.nearest(ids, { ...term, near: neighboursOf(term, scope) });
    if (!certain && (nearest[0]?.score ?? 0) < likelyScore) continue;
    const elsewhere = [...terms.endpointsWith(term)].filter((id) => !ids.includes(id)).slice(0, 5);
    found.push({ ...term, endpoints: ids, certain, nearest, elsewhere });
  }
  return found;
}

/** Properties of the classes, and classes of the properties, that the same subjects have in the query. */
function neighboursOf(term: UsedTerm, { patterns, vocabularies }: QueryScope): ReadonlySet<string> {
  const isTerm = ({ predicate, object }: PlacedPattern): boolean =>
    (predicate.kind === "iri" && predicate.iri === term.iri) || (object.kind === "iri" && object.iri === term.iri);
  const subjects = new Set(patterns.filter(isTerm).map(nameOfSubject));
  const beside = patterns.filter((pattern) => subjects.has(nameOfSubject(pattern)) && !isTerm(pattern));
  const classes = new Set(beside.flatMap((pattern) => classesOfSubject(pattern, vocabularies)));
  if (term.kind === "class") return classes;
  const properties = vocabularies.flatMap((each) => [...each.properties]);
  return new Set(properties.flatMap(([iri, { subjects: its }]) => (its.isDisjointFrom(classes) ? [] : [iri])));
}

const nameOfSubject = ({ subject }: PlacedPattern): string => JSON.stringify(subject);

const offeredFrom = 0.5;
/** Of two that are as like, neither is suggested. */
const tiedScore = 0.49;

/** The best of the nearest terms in the place of an unknown one; one change of a prefix where that mends all of its names. */
export function termOffers(parsed: Query, scope: QueryScope, unknown: readonly UnknownTerm[]): readonly Offer[] {
  const offered = unknown.flatMap((term): readonly TermOffer[] => {
    const { iri, nearest } = term;
    const [best, second] = nearest;
    if (best === undefined || best.score < offeredFrom) return [];
    const by = best.term.slice(1, -1);
    const edits = tokensOf(parsed, iri, scope.ranges).map((at) => parsed.termEdit({ from: at, to: at + 1 }, best.term));
    const [change] = edits;
    if (change === undefined) return [];
    const [before, after] = [parsed.textOf(change.range), change.replacement.trim()];
    const score = second?.score === best.score ? tiedScore : best.score;
    const repair = { kind: "term-unknown", before, after, applied: false };
    return [{ iri, by, repair, edits, score, why: best.why }];
  });
  const [first] = offered;
  const edit = prefixEdit(
    parsed,
    offered.filter(({ score }) => score > tiedScore),
    () => true,
  );
  if (first === undefined || edit === undefined) return offered;
  const repair = {
    kind: "prefix-namespace",
    before: parsed.textOf(edit.range),
    after: edit.replacement,
    applied: false,
  };
  return [{ repair, edits: [edit], score: first.score, why: first.why }];
}

type TermOffer = Offer & { readonly iri: string; readonly by: string };

/** Another namespace for one prefix, where that moves each of several terms as wanted, and no name that is right. */
export function prefixEdit(
  { tokens, prologue }: Query,
  moved: readonly { readonly iri: string; readonly by: string }[],
  isRight: (iri: string) => boolean,
): TextEdit | undefined {
  const [first, ...others] = moved;
  const [name, namespace] = [...prologue.prefixes].findLast(([, start]) => first?.iri.startsWith(start)) ?? [];
  const at = tokens.findIndex(({ text }, index) => index < prologue.length && text === name);
  if (first === undefined || others.length === 0 || name === undefined || namespace === undefined || at < 0)
    return undefined;
  const other = first.by.slice(0, first.by.length - (first.iri.length - namespace.length));
  const used = tokens.flatMap((token, index) =>
    index >= prologue.length && token.kind === "pname" && token.text.startsWith(name) ? [prologue.iriOf(token)] : [],
  );
  const isMoved = moved.every(({ iri, by }) => used.includes(iri) && by === other + iri.slice(namespace.length));
  const left = used.filter((iri) => moved.every((each) => each.iri !== iri));
  if (!isMoved || left.some(isRight)) return undefined;
  return { range: { from: at + 1, to: at + 2 }, replacement: `<${other}>` };
}
