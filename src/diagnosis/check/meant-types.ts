import type * as RDF from "@rdfjs/types";
import type { Repair } from "../../errors/fedway-error.ts";
import { iriText, literalText, stringText } from "../../rdf/term-text.ts";
import { languageTypes, rdf, xsd } from "../../rdf/vocabularies.ts";
import { literalFromParts } from "../../results/terms.ts";
import type { Query, TextEdit, TokenRange } from "../../sparql/query.ts";
import type { Constraint, JoinedPattern, PatternTerm } from "../../sparql/patterns.ts";
import type { Offer } from "./query-scope.ts";
import { daysOf, isNumeric, textsAs } from "../typed-text.ts";
import type { TermType } from "./term-types.ts";
import { type Contradiction, isType, type TypeChecker, typesOf } from "./type-check.ts";

interface Known {
  readonly parsed: Query;
  readonly constraints: readonly Constraint[];
  /** Of all that is likely. */
  readonly checker: TypeChecker;
}

/** Patterns in the place of one, and how that is written. */
interface Rewriting {
  readonly kind: Repair["kind"];
  readonly added: readonly JoinedPattern[];
  readonly after: string;
  readonly why: string;
}

/** Offered to be looked at, never suggested. */
const possible = 0.45;
/** Suggested. */
const likely = 0.85;
const mostForms = 3;
const mostOffered = 6;
const mostTerms = 500;

/**
 * Likely meanings of a contradiction, each fitting all other constraints: a constant as the property has them, the
 * property turned round; where facts are certain also another class or property, or a node between that was skipped.
 */
export function meantBy(found: Contradiction, known: Known, isCertain: boolean): readonly Offer[] {
  const constants = otherForms(found, known);
  if (constants.length > 0) return constants;
  const sides = [...new Set([found.one.of, found.other.of])].filter((each) => each.kind === "pattern");
  const turned = sides.flatMap((side) => fitting(side, turnedRound, known));
  const isTurned = turned.length > 0;
  const others = (side: JoinedPattern) => fitting(side, isType(side) ? otherClasses : otherSteps, known);
  const meant = isTurned || !isCertain ? turned : inTurn(sides.map(others));
  const isLikely = meant.length === 1 && !areKeysUnlike(found);
  const score = isTurned ? 0.8 : isLikely ? 0.7 : possible;
  return meant
    .slice(0, mostOffered)
    .map(({ repair, edits, why }, rank) => ({ repair, edits, why, score: score - rank / 100 }));
}

/** The first of each list, then the second of each: another class and a node between are both shown. */
const inTurn = <T>(lists: readonly (readonly T[])[]): readonly T[] =>
  Array.from({ length: Math.max(0, ...lists.map(({ length }) => length)) }, (_, at) =>
    lists.flatMap((list) => list.slice(at, at + 1)),
  ).flat();

/** Literals are joined with what has none: by what key they were meant to be joined is not known. */
function areKeysUnlike({ name = "", one, other }: Contradiction): boolean {
  const [mine = [], its = []] = [one, other].map(({ of, choices }) =>
    choices.flatMap((choice) => typesOf(of, choice, name)),
  );
  return (areLiterals(mine) && areNoLiterals(its)) || (areLiterals(its) && areNoLiterals(mine));
}

const areLiterals = (types: readonly TermType[]): boolean => types.every(({ iris }) => iris?.length === 0);
const areNoLiterals = (types: readonly TermType[]): boolean => types.every(({ literals }) => literals?.length === 0);

type Rewrite = (pattern: JoinedPattern, written: string, known: Known) => readonly Rewriting[];

/** Rewritings of a pattern that fit all other constraints. */
function fitting(pattern: JoinedPattern, rewrite: Rewrite, known: Known): readonly Omit<Offer, "score">[] {
  const { parsed, checker, constraints } = known;
  const { predicate, object } = pattern;
  const [range, behind] = isType(pattern) ? [object.range, undefined] : [predicate.range, object.range];
  // Which way the steps behind `^` and `!` lead is not changed.
  if (range === undefined || /^[\^!]$/.test(parsed.tokens[range.from - 1]?.text ?? "")) return [];
  const others = constraints.filter((each) => each !== pattern);
  const written = parsed.textOf(range);
  const rest = behind?.from === range.to ? ` ${parsed.textOf(behind)}` : "";
  return rewrite(pattern, written, known)
    .filter(({ added }) => checker.fit(added, others))
    .map(({ kind, after, why }) => {
      const edit = parsed.termEdit(range, after);
      const repair = { kind, before: written + rest, after: edit.replacement.trim() + rest, applied: false };
      return { repair, edits: [edit], why };
    });
}

const turnedRound: Rewrite = (pattern, written) => {
  const { subject, object } = pattern;
  if (isType(pattern) || object.term.kind === "literal") return [];
  const added = [{ ...pattern, subject: object, object: subject }];
  const why = "by its description the property leads the other way";
  return [{ kind: "direction-reversed", added, after: `^${written}`, why }];
};

const otherClasses: Rewrite = (pattern, _, known) =>
  termsOf(pattern, "classes", known).map((iri) => ({
    kind: "class",
    added: [{ ...pattern, object: placedIri(iri) }],
    after: iriText(iri),
    why: "the class has all of the properties",
  }));

const middle: JoinedPattern["subject"] = { term: { kind: "variable", name: "_:between" } };

/** Properties of the same name, and those that lead from the subject, or to the object, by a node between. */
const otherSteps: Rewrite = (pattern, written, known) => {
  const { subject, object, predicate } = pattern;
  const own = predicate.term.kind === "iri" ? predicate.term.iri : "";
  return termsOf(pattern, "properties", known).flatMap((iri): readonly Rewriting[] => {
    if (iri === rdf.type) return [];
    const name = iriText(iri);
    const step = (from: JoinedPattern["subject"], to: JoinedPattern["subject"]): JoinedPattern => ({
      ...pattern,
      subject: from,
      predicate: placedIri(iri),
      object: to,
    });
    const [before, after] = [
      { ...pattern, subject: middle },
      { ...pattern, object: middle },
    ];
    const ways = [
      { added: [step(subject, middle), before], after: `${name}/${written}` },
      { added: [step(middle, subject), before], after: `^${name}/${written}` },
      { added: [after, step(middle, object)], after: `${written}/${name}` },
      { added: [after, step(object, middle)], after: `${written}/^${name}` },
    ].map(({ added, after: text }) => ({ kind: "node-skipped", added, after: text, why: "a node is between" }));
    const isNamesake = iri !== own && lastName(iri) === lastName(own);
    const namesake = { kind: "property", added: [step(subject, object)], after: name, why: "it fits, of this name" };
    return isNamesake ? ways.concat(namesake) : ways;
  });
};

function termsOf(pattern: JoinedPattern, kind: "classes" | "properties", { checker }: Known): readonly string[] {
  const iris = checker
    .endpoints(pattern)
    .flatMap(({ vocabulary }) => Array.from<string>(vocabulary?.[kind].keys() ?? []));
  return [...new Set(iris)].slice(0, mostTerms);
}

const placedIri = (iri: string): JoinedPattern["subject"] => ({ term: { kind: "iri", iri } });
const lastName = (iri: string): string => /(?<![^/#:])[^/#:]*$/u.exec(iri)?.[0] ?? iri;

/** A constant in the forms that the values of its property have. */
function otherForms(found: Contradiction, { parsed, checker }: Known): readonly Offer[] {
  const placed = constantOf(found);
  if (placed === undefined) return [];
  const { pattern, constant, range, operator } = placed;
  const vocabularies = checker.endpoints(pattern).flatMap(({ vocabulary }) => vocabulary ?? []);
  const iri = iriIn(pattern.predicate.term);
  const facts = vocabularies.flatMap(({ properties }) => properties.get(iri) ?? []);
  if (facts.some(({ objects }) => objects.size > 0)) return [];
  const datatypes = new Set(facts.flatMap((each) => Array.from(each.datatypes)));
  const languages = new Set(vocabularies.flatMap((each) => Array.from(each.languages)));
  const literal = constant.kind === "literal" ? constant.literal : literalFromParts(nameIn(constant.iri));
  const forms = formsOf(literal.value, { datatypes, languages, isWholeDay: isBoundAfterDay(parsed, range, operator) });
  if (constant.kind === "literal" && forms.includes(literalText(literal))) return [];
  const score = isGuess(literal, datatypes, operator) ? possible : likely;
  const kind = literal.language === "" ? "datatype" : "language";
  const edits = forms.map((form) => ({ edit: parsed.termEdit(range, form), score }));
  return [...timesOf(literal, datatypes, { parsed, range, operator }), ...edits].map((each, rank) => ({
    repair: { kind, before: parsed.textOf(each.edit.range), after: each.edit.replacement.trim(), applied: false },
    edits: [each.edit],
    score: each.score - rank / 100,
    why: "the property has no values of this kind by its description",
  }));
}

/** A number in the place of a text, a day of which the month is not known, or one in that of a time, of which it is a bound and hardly one. */
const isGuess = ({ value, datatype }: RDF.Literal, datatypes: ReadonlySet<string>, operator: string): boolean =>
  (isNumeric(datatype.value) && [...datatypes].every(isText)) ||
  daysOf(value.trim()).length > 1 ||
  (datatypes.has(xsd.dateTime) && !/[<>]/.test(operator) && !/\d:\d/.test(value));

interface Placed {
  readonly parsed: Query;
  readonly range: TokenRange;
  readonly operator: string;
}

/** All times of a day where the property has times alone. */
function timesOf({ value }: RDF.Literal, datatypes: ReadonlySet<string>, { parsed, range, operator }: Placed) {
  const isTimes = datatypes.size === 1 && datatypes.has(xsd.dateTime) && operator === "=";
  const day = isTimes ? dayOf(value) : undefined;
  return day === undefined ? [] : onDay(parsed, range, day).map((edit) => ({ edit, score: likely }));
}

/** The one day that a text means. */
function dayOf(text: string): string | undefined {
  const [day, ...others] = textsAs(text, xsd.date);
  return others.length === 0 && text.trim().length <= 10 ? day : undefined;
}

/**
 * Times of a day, whatever their zone: by their text, in the place of a comparison `?time = day`, or of a day at the end of a
 * triple. Empty where neither is written.
 */
function onDay({ tokens }: Query, { from, to }: TokenRange, day: string): readonly TextEdit[] {
  const test = (variable: string): string => `STRSTARTS(STR(${variable}), ${stringText(day)})`;
  const variableAt = (at: number): string | undefined => /^[?$].*/.exec(tokens[at]?.text ?? "")?.[0];
  const isEqual = (at: number): boolean => tokens[at]?.text === "=";
  const [left, right] = [variableAt(from - 2), variableAt(to + 1)];
  if (isEqual(from - 1) && left) return [{ range: { from: from - 2, to }, replacement: test(left) }];
  if (isEqual(to) && right) return [{ range: { from, to: to + 2 }, replacement: test(right) }];
  const isEnd = /^[.}]$/.test(tokens[to]?.text ?? "");
  const time = ["?time", "?timeOfDay", "?itsTime"].find((name) => tokens.every(({ text }) => text !== name));
  if (!isEnd || time === undefined) return [];
  return [{ range: { from, to }, replacement: `${time} FILTER(${test(time)}) ` }];
}

/** The constant of a contradiction, and the pattern that has no such value; two patterns contradict each other by a variable. */
function constantOf({ name, one, other }: Contradiction) {
  const pattern = [one.of, other.of].find((each) => each.kind === "pattern");
  const compared = [one.of, other.of].find((each) => each.kind === "comparison");
  const placed = compared?.constant ?? (name === undefined ? pattern?.object : undefined);
  if (pattern === undefined || placed?.range === undefined || placed.term.kind === "variable") return undefined;
  return { pattern, constant: placed.term, range: placed.range, operator: compared?.operator ?? "=" };
}

const iriIn = (term: PatternTerm): string => (term.kind === "iri" ? term.iri : "");

const isText = (datatype: string): boolean => datatype === xsd.string || languageTypes.has(datatype);

/** The text that somebody made an IRI of. */
function nameIn(iri: string): string {
  const name = lastName(iri).replaceAll("_", " ");
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

interface Wanted {
  readonly datatypes: ReadonlySet<string>;
  readonly languages: ReadonlySet<string>;
  /** A day stands for its end. */
  readonly isWholeDay: boolean;
}

/** Values are after the constant, or up to it; it may stand on either side. */
const isBoundAfterDay = ({ tokens }: Query, { from }: TokenRange, operator: string): boolean =>
  (tokens[from - 1]?.text === operator ? /^(?:>|<=)$/ : /^(?:<|>=)$/).test(operator);

/** The forms of a text that are valid as the property has its values. */
function formsOf(value: string, { datatypes, languages, isWholeDay }: Wanted): readonly string[] {
  const time = isWholeDay ? "23:59:59.999" : undefined;
  const forms = [...datatypes].flatMap((iri) => {
    if (iri === rdf.langString) return [...languages].map((tag) => `${stringText(value)}@${tag}`);
    // SPARQL 1.1 cannot write a base direction.
    if (iri === rdf.dirLangString) return [];
    return textsAs(value, iri, time).map((text) => {
      if (iri === xsd.string) return stringText(text);
      return iri === xsd.integer ? text : `${stringText(text)}^^<${iri}>`;
    });
  });
  return forms.slice(0, mostForms);
}
