import type * as RDF from "@rdfjs/types";
import { createHash, randomUUID } from "node:crypto";
import { resolveReference } from "../../rdf/resolve-reference.ts";
import { castTypes } from "../../rdf/vocabularies.ts";
import { cast } from "./casts.ts";
import { compare, equals } from "./compare.ts";
import { type Moment, type MomentType, zoneToText, between, plus } from "./date-times.ts";
import { type Duration, addDurations, negatedDuration, type DurationType } from "./durations.ts";
import { whole } from "./decimal.ts";
import { ExpressionError } from "./expression-error.ts";
import { matches, replace } from "./regular-expressions.ts";
import { after, before, checkedTag, compatible, concat, encodeForUri, languageMatches, substring } from "./strings.ts";
import { decimal, integer, inexact, rounded, calculate } from "./numbers.ts";
import {
  boolean,
  duration,
  iri,
  isTriple,
  literal,
  literalOf,
  numberOf,
  numeric,
  simpleText,
  string,
  tagged,
  textOf,
  tripleOf,
  truthOf,
  typed,
  valueOf,
  xsd,
  moment,
  type Value,
} from "./values.ts";

/** Context of functions in their query. */
export interface Surroundings {
  /** BASE. */
  readonly base: string | undefined;
  /** The moment that NOW gives, as xsd:dateTime. */
  readonly now: string;
}

/** Computes a term. @throws ExpressionError when there is none */
export type TermFunction = (args: readonly RDF.Term[], around: Surroundings) => RDF.Term;

const of1 =
  (compute: (a: RDF.Term) => RDF.Term): TermFunction =>
  ([a]) =>
    compute(argument(a));
const of2 =
  (compute: (a: RDF.Term, b: RDF.Term) => RDF.Term): TermFunction =>
  ([a, b]) =>
    compute(argument(a), argument(b));

function argument(term: RDF.Term | undefined): RDF.Term {
  if (!term) throw new ExpressionError("An argument is missing.");
  return term;
}

const withDay: readonly MomentType[] = ["dateTime", "date"];
const withTime: readonly MomentType[] = ["dateTime", "time"];

/** Functions of terms by their names in the algebra (SPARQL 1.1 Query, section 17); casts by their IRIs. */
export const termFunctions: ReadonlyMap<string, TermFunction> = new Map<string, TermFunction>([
  ...Object.entries({
    "=": of2((a, b) => boolean(equals(a, b))),
    "!=": of2((a, b) => boolean(!equals(a, b))),
    "<": of2((a, b) => boolean(compare(a, b) < 0)),
    ">": of2((a, b) => boolean(compare(a, b) > 0)),
    "<=": of2((a, b) => boolean(compare(a, b) <= 0)),
    ">=": of2((a, b) => boolean(compare(a, b) >= 0)),
    "+": of2((a, b) => combine("+", a, b)),
    "-": of2((a, b) => combine("-", a, b)),
    "*": of2((a, b) => combine("*", a, b)),
    "/": of2((a, b) => combine("/", a, b)),
    "!": of1((a) => boolean(!truthOf(a))),
    sameterm: of2((a, b) => boolean(a.equals(b))),
    isiri: of1((a) => boolean(a.termType === "NamedNode")),
    isuri: of1((a) => boolean(a.termType === "NamedNode")),
    isblank: of1((a) => boolean(a.termType === "BlankNode")),
    isliteral: of1((a) => boolean(a.termType === "Literal")),
    isnumeric: of1((a) => boolean(a.termType === "Literal" && valueOf(a).kind === "number")),
    str: of1((a) => string(strOf(a))),
    lang: of1((a) => string(literal(a).language)),
    datatype: of1((a) => literal(a).datatype),
    iri: iriFunction,
    uri: iriFunction,
    strdt: of2((a, b) => literalOf(simpleText(a), namedNode(b))),
    strlang: of2((a, b) => tagged(simpleText(a), checkedTag(simpleText(b)))),
    haslang: of1((a) => boolean(a.termType === "Literal" && a.language !== "")),
    haslangdir: of1((a) => boolean(a.termType === "Literal" && directionOf(a) !== "")),
    langdir: of1((a) => string(directionOf(literal(a)))),
    strlangdir: directed,
    istriple: of1((a) => boolean(isTriple(a))),
    triple: ([a, b, c]) => tripleOf(argument(a), argument(b), argument(c)),
    subject: of1((a) => tripleTerm(a).subject),
    predicate: of1((a) => tripleTerm(a).predicate),
    object: of1((a) => tripleTerm(a).object),
    uuid: () => iri(`urn:uuid:${randomUUID()}`),
    struuid: () => string(randomUUID()),
  } satisfies Record<string, TermFunction>),
  ...Object.entries({
    strlen: of1((a) => numeric(integer(Array.from(textOf(a).text).length))),
    substr: ([a, b, c]) => substring(argument(a), argument(b), c),
    ucase: ofText((text) => text.toUpperCase()),
    lcase: ofText((text) => text.toLowerCase()),
    strstarts: ofPair((text, sought) => text.startsWith(sought)),
    strends: ofPair((text, sought) => text.endsWith(sought)),
    contains: ofPair((text, sought) => text.includes(sought)),
    strbefore: of2(before),
    strafter: of2(after),
    encode_for_uri: of1((a) => string(encodeForUri(textOf(a).text))),
    concat,
    langmatches: of2((a, b) => boolean(languageMatches(a, b))),
    regex: ([a, b, c]) => boolean(matches(textOf(argument(a)).text, simpleText(argument(b)), c && simpleText(c))),
    replace: ([a, b, c, d]) => {
      const { text, tag } = textOf(argument(a));
      return tagged(replace(text, simpleText(argument(b)), simpleText(argument(c)), d && simpleText(d)), tag);
    },
  } satisfies Record<string, TermFunction>),
  ...(["abs", "ceil", "floor", "round", "uminus", "uplus"] as const).map(
    (name) => [name, of1((a) => numeric(rounded(name, numberOf(a))))] as const,
  ),
  ["rand", () => numeric(inexact("double", Math.random()))],
  ["now", (_, { now }) => typed(now, "dateTime")],
  ...Object.entries({
    year: ofMoment(withDay, ({ year }) => numeric(integer(year))),
    month: ofMoment(withDay, ({ month }) => numeric(integer(month))),
    day: ofMoment(withDay, ({ day }) => numeric(integer(day))),
    hours: ofMoment(withTime, ({ hours }) => numeric(integer(hours))),
    minutes: ofMoment(withTime, ({ minutes }) => numeric(integer(minutes))),
    seconds: ofMoment(withTime, ({ seconds }) => numeric(decimal(seconds))),
    timezone: ofMoment(undefined, (value) => duration(zoneDuration(value), "dayTimeDuration")),
    tz: ofMoment(undefined, (value) => string(zoneToText(value))),
  } satisfies Record<string, TermFunction>),
  ...["md5", "sha1", "sha256", "sha384", "sha512"].map(
    (name) => [name, of1((a) => string(createHash(name).update(simpleText(a)).digest("hex")))] as const,
  ),
  ...[...castTypes].map((type) => [xsd + type, of1((a) => cast(a, type))] as const),
]);

function strOf(term: RDF.Term): string {
  if (term.termType === "Literal" || term.termType === "NamedNode") return term.value;
  throw new ExpressionError("A blank node has no text.");
}

function namedNode(term: RDF.Term): RDF.NamedNode {
  if (term.termType !== "NamedNode") throw new ExpressionError("The argument is no IRI.");
  return term;
}

const directionOf = ({ direction }: RDF.Literal): string => direction ?? "";

/** STRLANGDIR (SPARQL 1.2 Query): a literal with a base direction. */
function directed([text, tag, direction]: readonly RDF.Term[]): RDF.Literal {
  const [value, language] = [simpleText(argument(text)), checkedTag(simpleText(argument(tag)))];
  const base = simpleText(argument(direction));
  if (base !== "ltr" && base !== "rtl") throw new ExpressionError('A base direction is "ltr" or "rtl".');
  return tagged(value, `${language}--${base}`);
}

function tripleTerm(term: RDF.Term): RDF.Quad {
  if (!isTriple(term)) throw new ExpressionError("The argument is no triple term.");
  return term;
}

const inIri = /^[^\p{Cc} <>"{}|^`\\]*$/u;

/** Resolved against BASE (section 17.4.2.8); without one, a relative reference is no IRI. */
function iriFunction([term]: readonly RDF.Term[], { base }: Surroundings): RDF.Term {
  if (term?.termType === "NamedNode") return term;
  const resolved = resolveReference(simpleText(argument(term)), base);
  if (resolved === undefined || !inIri.test(resolved)) throw new ExpressionError("The text is no IRI.");
  return iri(resolved);
}

function ofText(change: (text: string) => string): TermFunction {
  return of1((term) => {
    const { text, tag } = textOf(term);
    return tagged(change(text), tag);
  });
}

function ofPair(test: (text: string, sought: string) => boolean): TermFunction {
  return of2((a, b) => {
    const { text, sought } = compatible(a, b);
    return boolean(test(text, sought));
  });
}

function ofMoment(types: readonly MomentType[] | undefined, part: (moment: Moment) => RDF.Term): TermFunction {
  return of1((term) => {
    const value = valueOf(literal(term));
    if (value.kind === "moment" && (!types || types.includes(value.type))) return part(value.moment);
    throw new ExpressionError("The argument has no such part.");
  });
}

function zoneDuration({ zone }: Moment): Duration {
  if (zone === undefined) throw new ExpressionError("There is no time zone.");
  return { months: 0, seconds: whole(zone * 60) };
}

/** Arithmetic of numbers, moments and durations (XPath and XQuery Functions and Operators, sections 4.2, 8.4 and 9.8). */
function combine(operator: "+" | "-" | "*" | "/", a: RDF.Term, b: RDF.Term): RDF.Literal {
  const [left, right] = [valueOf(literal(a)), valueOf(literal(b))];
  if (left.kind === "number" && right.kind === "number") return numeric(calculate(operator, left.number, right.number));
  const result = operator === "+" || operator === "-" ? combineTimes(operator, left, right) : undefined;
  if (!result) throw new ExpressionError("The operator does not take such terms.");
  return result;
}

function combineTimes(operator: "+" | "-", left: Value, right: Value): RDF.Literal | undefined {
  if (right.kind === "duration") {
    const { type } = right;
    return withDuration(left, type, operator === "-" ? negatedDuration(right.duration) : right.duration);
  }
  if (operator === "+") return left.kind === "duration" ? withDuration(right, left.type, left.duration) : undefined;
  if (left.kind !== "moment" || right.kind !== "moment" || left.type !== right.type) return undefined;
  if (!isShiftable(left.type, "dayTimeDuration")) return undefined;
  return duration(between(left.moment, right.moment), "dayTimeDuration");
}

function withDuration(value: Value, type: DurationType, added: Duration): RDF.Literal | undefined {
  if (value.kind === "duration") {
    return duration(addDurations(value.duration, added), value.type === type ? type : "duration");
  }
  if (value.kind !== "moment" || !isShiftable(value.type, type)) return undefined;
  return moment(plus(value.moment, added), value.type);
}

/** A time of day has no months. */
const isShiftable = (type: string, by: string): boolean =>
  type === "dateTime" || type === "date" || (type === "time" && by === "dayTimeDuration");
