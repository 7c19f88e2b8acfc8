import type * as RDF from "@rdfjs/types";
import type { Suggestion } from "../../errors/fedway-error.ts";
import { rdf } from "../../rdf/vocabularies.ts";
import { stringText } from "../../rdf/term-text.ts";
import type { TextEdit, TokenRange, Query } from "../../sparql/query.ts";
import type { PatternTerm, TripleText } from "../../sparql/patterns.ts";
import { isPlainString, literalFromParts, nodeFromIri, termToText } from "../../results/terms.ts";
import { scopesOf, tokensOf } from "../check/query-scope.ts";
import { differences, isSameMeant, type Likeness, likeness, localName, wordsOf } from "./alike.ts";
import {
  atEndpoint,
  type Finding,
  type Inquiry,
  repairOf,
  shownPart,
  shownTerm,
  solvedBy,
  writtenTerm,
} from "./inquiry.ts";
import type { TermsWanted } from "./prober.ts";
import { mending } from "./mending.ts";
import { type QueryPart, renderParts, withTriple } from "./query-parts.ts";
import { answered, type Claim, none } from "./statements.ts";

/** Part of a triple pattern that may be wrong. */
type Place = "subject" | "predicate" | "object" | "class" | "direction";

/** A triple pattern with one thing changed; the terms found in its place give the query solutions. */
export interface Variation {
  readonly part: QueryPart;
  readonly place: Place;
  readonly range: TokenRange;
  /** Undefined for the direction. */
  readonly written: RDF.Term | undefined;
  readonly wanted: TermsWanted;
}

/** A change that gives the query solutions. */
export interface Candidate {
  readonly variation: Variation;
  readonly likeness: Likeness;
  /** Undefined for the direction. */
  readonly found: RDF.Term | undefined;
}

const mostTerms = 100;
const placeholder = "fedwayTerm0";

type TriplePart = QueryPart & { readonly triple: TripleText };

/** The variations of a triple pattern among the parts that it is asked with. */
export function variationsOf(part: QueryPart, among: readonly QueryPart[]): readonly Variation[] {
  const { triple } = part;
  if (triple === undefined) return [];
  const own = { ...part, triple };
  const ends = (["object", "subject"] as const).flatMap((end) => variationsAt(own, end, among));
  return [...ends, ...directionOf(own, among), ...predicateOf(own, among)];
}

function variationsAt(part: TriplePart, end: "subject" | "object", among: readonly QueryPart[]): readonly Variation[] {
  const { [end]: written, predicate } = part.triple;
  const term = constantOf(written.term);
  const { range } = written;
  if (term === undefined || range === undefined) return [];
  const isClass = end === "object" && iriOf(predicate) === rdf.type;
  const place = isClass ? "class" : end;
  const all = { group: renderParts(relaxed(among, range)), of: `?${placeholder}`, most: mostTerms };
  const alike = { ...all, group: renderParts(relaxed(among, range, alikeFilter(term))) };
  return (isClass ? [all] : [alike, all]).map((wanted) => ({ part, place, range, written: term, wanted }));
}

function directionOf(part: TriplePart, among: readonly QueryPart[]): readonly Variation[] {
  const { triple } = part;
  const { range, text } = triple.predicate;
  const isPossible = triple.object.term?.kind !== "literal" && triple.predicate.term?.kind === "iri";
  if (!isPossible || range === undefined || iriOf(triple.predicate) === rdf.type) return [];
  const turned = { text: `^${text}`, range, term: undefined };
  const wanted = { group: renderParts(replacedAt(among, range, { term: turned })), of: "1", most: 1 };
  return [{ part, place: "direction", range, written: undefined, wanted }];
}

function predicateOf(part: TriplePart, among: readonly QueryPart[]): readonly Variation[] {
  const { predicate } = part.triple;
  const term = constantOf(predicate.term);
  const { range } = predicate;
  if (term === undefined || range === undefined || term.value === rdf.type) return [];
  const wanted = { group: renderParts(relaxed(among, range)), of: `?${placeholder}`, most: mostTerms };
  return [{ part, place: "predicate", range, written: term, wanted }];
}

/** The parts with a variable in the place of a constant; `condition` is asked of it beside its pattern. */
const relaxed = (among: readonly QueryPart[], range: TokenRange, condition?: string): readonly QueryPart[] =>
  replacedAt(among, range, {
    term: { text: `?${placeholder}`, term: { kind: "variable", name: placeholder } },
    condition,
  });

function replacedAt(
  among: readonly QueryPart[],
  range: TokenRange,
  { term, condition }: { readonly term: TripleText["subject"]; readonly condition?: string | undefined },
): readonly QueryPart[] {
  return among.flatMap((part) => {
    const { triple } = part;
    const at = (["subject", "predicate", "object"] as const).find((place) => triple && isAt(triple[place], range));
    if (triple === undefined || at === undefined) return [part];
    const changed = withTriple(part, { ...triple, [at]: term });
    return condition === undefined ? [changed] : [{ ...changed, text: `${changed.text} FILTER(${condition})` }];
  });
}

const isAt = (term: TripleText["subject"], { from, to }: TokenRange): boolean =>
  term.range?.from === from && term.range.to === to;

/** Terms whose text has the beginning or the longest word of this one's, in any case. */
function alikeFilter(term: RDF.Term): string {
  const name = (term.termType === "NamedNode" ? localName(term.value) : term.value).trim().toLowerCase();
  const words = name.split(/[^\p{L}\p{N}]+/u).toSorted((left, right) => right.length - left.length);
  const start = name.slice(0, Math.max(3, Math.ceil(name.length / 2)));
  const pieces = new Set([start, words[0] ?? ""].filter((piece) => piece !== ""));
  const text = `LCASE(STR(?${placeholder}))`;
  const has = [...pieces].map((piece) => `CONTAINS(${text}, ${stringText(piece)})`);
  return has.length === 0 ? `STR(?${placeholder}) = ""` : has.join(" || ");
}

/** Candidates among the values found in the place of a term, best first. */
export function candidatesOf(
  variation: Variation,
  found: readonly RDF.Term[] | undefined,
  also: readonly string[],
): readonly Candidate[] {
  if (found === undefined || found.length === 0) return [];
  const { place, written } = variation;
  if (written === undefined) return [{ variation, found: undefined, likeness: { kind: "direction", score: 0.9 } }];
  const isTerm = place === "predicate" || place === "class";
  const fitting = found.filter(
    ({ termType, value }) => termType === "NamedNode" || (termType === "Literal" && place === "object" && value !== ""),
  );
  const others = fitting.filter(
    (term) =>
      !(place === "predicate" && term.value === rdf.type) && // Some engines hold a string with and without its datatype as two terms: the other one may have the solutions.
      (!term.equals(written) || isPlainString(term)),
  );
  // The fewer terms fit, the more it says that one does.
  const rarity = isTerm ? (place === "class" ? 0.55 : 0.45) / Math.max(1, others.length) : 0;
  return others
    .map((term): Candidate => {
      const alike = likeness(written, term);
      const hinted = isTerm ? Math.max(0, ...also.map((name) => 0.75 * nameLikeness(name, term))) : 0;
      const score = Math.min(0.99, Math.max(alike.score, hinted) + rarity);
      const kind = hinted > alike.score ? "hint" : alike.kind;
      return { variation, found: term, likeness: { kind, score } };
    })
    .filter(({ likeness: { score } }) => score > 0)
    .toSorted((left, right) => right.likeness.score - left.likeness.score);
}

/**
 * True if a change keeps the question. Another value asks for something else, and so does another property, unless it is named
 * alike; of one that has solutions itself, written alike.
 */
export function isRepair(
  { variation: { part, place, written }, found, likeness: alike }: Candidate,
  empty: readonly QueryPart[],
): boolean {
  if (written === undefined || found === undefined || place === "class") return true;
  if (place !== "predicate") return isSameMeant(written, found, alike);
  return alike.kind !== "other" && (empty.includes(part) || (alike.kind !== "words" && alike.kind !== "hint"));
}

function nameLikeness(name: string, term: RDF.Term): number {
  const [left, right] = [wordsOf(name), wordsOf(localName(term.value))];
  if (left === "" || right === "") return 0;
  if (left === right) return 1;
  return likeness(literalFromParts(left), literalFromParts(right)).score;
}

/** Names that say what the term of a pattern is meant for: those of the variables at its ends. */
export function hintsOf({ part, place }: Variation): readonly string[] {
  const { subject, object } = part.triple ?? {};
  const ends = place === "class" ? [subject] : [object];
  return ends.flatMap((end) => (end?.term?.kind === "variable" ? [end.term.name] : []));
}

/** Where the patterns that are asked together with a place write an IRI. */
function placesOf(query: Query, iri: string, { from, to }: TokenRange): readonly TokenRange[] {
  const scopes = scopesOf(query, () => ({ ids: [], vocabularies: [] }));
  const scope = scopes.find(({ ranges }) => ranges.some((range) => range.from <= from && to <= range.to));
  return tokensOf(query, iri, scope?.ranges ?? []).map((at) => ({ from: at, to: at + 1 }));
}

/** A literal with its datatype or language. */
const typedText = (inquiry: Inquiry, term: RDF.Term): string =>
  term.termType === "Literal" && term.language === ""
    ? `${stringText(term.value)}^^${writtenTerm(inquiry.query, nodeFromIri(term.datatype.value))}`
    : writtenTerm(inquiry.query, term);

/** How the best of some candidates is written, and shown. */
function changeOf(
  inquiry: Inquiry,
  { variation: { part, place, range, written }, found, likeness: { kind } }: Candidate,
) {
  if (found === undefined || written === undefined) {
    const was = part.triple?.predicate.text ?? "";
    return { code: "EMPTY_DIRECTION", kind: "direction", was, would: `^${was}`, replacement: `^${was}` } as const;
  }
  const { was, would, replacement } = changedText(inquiry, { written, found, range });
  return place === "predicate" || place === "class"
    ? ({ code: "EMPTY_TERM", kind: `term-${kind}`, was, would, replacement } as const)
    : ({ code: "EMPTY_VALUE", kind: `value-${kind}`, was, would, replacement } as const);
}

/** A term and what replaces it, with their datatypes where they would be shown alike. */
function changedText(
  inquiry: Inquiry,
  { written, found, range }: { readonly written: RDF.Term; readonly found: RDF.Term; readonly range: TokenRange },
) {
  const [was, would] = [shownTerm(inquiry.query, written), shownTerm(inquiry.query, found)];
  const replacement = writtenTerm(inquiry.query, found);
  if (was !== would) return { was, would, replacement };
  if (!found.equals(written))
    return { was: typedText(inquiry, written), would: typedText(inquiry, found), replacement };
  const text = inquiry.query.textOf(range);
  const other = text.includes("^^") ? replacement : typedText(inquiry, found);
  return { was: text, would: other, replacement: other };
}

/**
 * The finding that the best of some candidates stands for; its change is a repair where the whole query has solutions with it.
 * @throws BudgetSpent
 */
export async function candidateFinding(
  inquiry: Inquiry,
  [best, ...others]: readonly [Candidate, ...Candidate[]],
  isEmptyAlone: boolean,
): Promise<Finding> {
  const { part, range } = best.variation;
  const change = changeOf(inquiry, best);
  const { code, kind, was, would, replacement } = change;
  const everywhere = code === "EMPTY_TERM" && isEmptyAlone ? editsEverywhere(inquiry, best, replacement) : [];
  const ways = [...everywhere, [{ range, replacement }]].map((edits) => ({ edits }));
  const [way] = await mending(inquiry, ways);
  const [{ edits } = { edits: [] }] = way ? [way] : ways;
  return {
    code,
    claims: [
      emptyClaim(inquiry, part, isEmptyAlone),
      {
        text: `with ${would} instead of ${was} the query has some (${differences[best.likeness.kind]})`,
        grounds: solvedBy(inquiry, edits),
      },
      ...(way ? [] : placeClaim(inquiry, best)),
    ],
    part,
    fitting: part.triple && best.found && withTriple(part, withTerm(part.triple, range, best.found)),
    repairs: way ? [repairOf(inquiry, kind, edits)] : [],
    edits,
    suggestions: suggestionsOf([best, ...others]),
    next: way
      ? `Replace ${was} by ${would}; the query then has solutions (checked).`
      : "Choose among the suggested terms, and look at the other patterns too.",
  };
}

function emptyClaim(inquiry: Inquiry, part: QueryPart, isEmptyAlone: boolean): Claim {
  const text = `${shownPart(part)} has no solutions ${atEndpoint(inquiry, part)}`;
  if (isEmptyAlone) return { text, grounds: [none([part])] };
  return { text: `${text} with the rest of the query`, grounds: [none(inquiry.parts)] };
}

/** A term that the endpoint does not have is wrong wherever it is asked for it; empty where that is one place. */
function editsEverywhere(
  { query }: Inquiry,
  { variation: { written, range } }: Candidate,
  replacement: string,
): readonly (readonly TextEdit[])[] {
  const places = written?.termType === "NamedNode" ? placesOf(query, written.value, range) : [];
  return places.length > 1 ? [places.map((each) => ({ range: each, replacement }))] : [];
}

/** A term that does occur in the place of the written one. */
export function placeClaim(inquiry: Inquiry, candidate: Candidate | undefined): readonly Claim[] {
  const { found, variation } = candidate ?? {};
  const { written, wanted } = variation ?? {};
  if (found === undefined || written === undefined || wanted === undefined) return [];
  const { was, would } = changedText(inquiry, { written, found, range: variation?.range ?? { from: 0, to: 0 } });
  const group = `${wanted.group} FILTER(sameTerm(${wanted.of}, ${termToText(found)}))`;
  return [{ text: `${would} occurs in the place of ${was}`, grounds: [answered({ group })] }];
}

/** The best terms of one place. */
export function suggestionsOf(candidates: readonly Candidate[], most = 3): readonly Suggestion[] {
  const [first] = candidates;
  const seen = new Map<string, Suggestion>();
  for (const { found, likeness: alike, variation } of candidates) {
    if (found === undefined || variation.range !== first?.variation.range) continue;
    const term = termToText(found);
    const score = Math.round(100 * alike.score) / 100;
    if (!seen.has(term)) seen.set(term, { term, score, why: differences[alike.kind] });
  }
  return [...seen.values()].slice(0, most);
}

/** A constant as an RDF term; undefined for variables and paths. */
function constantOf(term: PatternTerm | undefined): RDF.Term | undefined {
  if (term?.kind === "iri") return nodeFromIri(term.iri);
  return term?.kind === "literal" ? term.literal : undefined;
}

const iriOf = ({ term }: { readonly term: PatternTerm | undefined }): string | undefined =>
  term?.kind === "iri" ? term.iri : undefined;

function withTerm(triple: TripleText, range: TokenRange, found: RDF.Term): TripleText {
  const at = (["subject", "predicate", "object"] as const).find((place) => isAt(triple[place], range));
  if (at === undefined || found.termType !== "NamedNode") return triple;
  return { ...triple, [at]: { text: termToText(found), term: { kind: "iri", iri: found.value } } };
}
