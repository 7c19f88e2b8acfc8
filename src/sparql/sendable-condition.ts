import type * as RDF from "@rdfjs/types";
import { iriText, isWritable, literalText, stringText } from "../rdf/term-text.ts";
import { xsd } from "../rdf/vocabularies.ts";

/** A condition for an endpoint. */
export interface SendableCondition {
  /** An expression of SPARQL 1.1 with absolute IRIs. */
  readonly text: string;
  readonly variables: readonly string[];
}

/**
 * The sendable part of an expression: a condition that every engine finds true wherever Fedway finds
 * the expression true. Fedway tests the expression again, so a condition that holds more often only costs bytes; one that
 * holds less often would lose rows. Where engines differ, something weaker is sent, or nothing; the table is in
 * `plan/README.md`.
 *
 * @param expression of sparqljs or of the SPARQL algebra: a tree of terms and calls
 */
export function sendableCondition(expression: unknown): SendableCondition | undefined {
  return implied(expression);
}

interface Implied extends SendableCondition {
  /** It is also false wherever the expression is, so that its negation may be sent. */
  readonly isExact: boolean;
}

/** The call of an operator or built-in function by its name in lower case; a list is one argument. */
interface Call {
  readonly operator: string;
  readonly args: readonly unknown[];
}

const isNode = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
const isCall = (tree: unknown): tree is Call =>
  isNode(tree) && typeof tree["operator"] === "string" && Array.isArray(tree["args"]);
const isRdfTerm = (tree: unknown): tree is RDF.Term => isNode(tree) && typeof tree["termType"] === "string";

/** The algebra wraps its terms. */
function termOf(tree: unknown): RDF.Term | undefined {
  const term = isNode(tree) && "term" in tree ? tree["term"] : tree;
  return isRdfTerm(term) ? term : undefined;
}

function implied(tree: unknown): Implied | undefined {
  return isCall(tree) ? rules[tree.operator.toLowerCase()]?.(tree.args.flat()) : undefined;
}

type Rule = (operands: readonly unknown[]) => Implied | undefined;

const rules: Readonly<Record<string, Rule>> = {
  "&&": (operands) => conjunction(operands.map(implied)),
  "||": (operands) => disjunction(operands.map(implied)),
  "!"([operand]) {
    const said = implied(operand);
    return said?.isExact ? { ...said, text: `!(${said.text})` } : undefined;
  },
  "=": (operands) => equality(operands),
  "!=": (operands) => negated(equality(operands, "!=")),
  sameterm: (operands) => equality(operands),
  in: (operands) => membership(operands),
  notin: (operands) => negated(membership(operands, "NOT IN")),
  "<": (operands) => order(operands, "<", ">"),
  ">": (operands) => order(operands, ">", "<"),
  "<=": (operands) => order(operands, "<=", ">="),
  ">=": (operands) => order(operands, ">=", "<="),
  bound: (operands) => termTest("BOUND", operands),
  isiri: (operands) => termTest("isIRI", operands),
  isuri: (operands) => termTest("isIRI", operands),
  isblank: (operands) => termTest("isBlank", operands),
  isliteral: (operands) => termTest("isLiteral", operands),
  langmatches: (operands) => (subjectOf(operands[0]) ? languageTest(operands) : undefined),
  contains: (operands) => textTest("CONTAINS", operands),
  strstarts: (operands) => textTest("STRSTARTS", operands),
  strends: (operands) => textTest("STRENDS", operands),
  regex: (operands) => regex(operands),
};

/** Parts that cannot be expressed are left out: the condition is weaker. */
function conjunction(parts: readonly (Implied | undefined)[]): Implied | undefined {
  const said = parts.flatMap((part) => part ?? []);
  return said.length > 0 ? joined(said, "&&", said.length === parts.length) : undefined;
}

function disjunction(parts: readonly (Implied | undefined)[]): Implied | undefined {
  const said = parts.flatMap((part) => part ?? []);
  return said.length > 0 && said.length === parts.length ? joined(said, "||", true) : undefined;
}

/** Each part once: Virtuoso gives a solution once for each equal alternative. */
function joined(parts: readonly Implied[], operator: string, isWhole: boolean): Implied {
  const texts = [...new Set(parts.map(({ text }) => text))];
  return {
    text: texts.length > 1 ? `(${texts.join(` ${operator} `)})` : texts.join(""),
    variables: [...new Set(parts.flatMap(({ variables }) => variables))],
    isExact: isWhole && parts.every(({ isExact }) => isExact),
  };
}

const negated = (said: Implied | undefined): Implied | undefined => (said?.isExact ? said : undefined);

/** Subject of a condition: a variable, or its text or language tag. */
interface Subject {
  readonly text: string;
  readonly variable: string;
  readonly read: "term" | "str" | "lang";
}

function subjectOf(tree: unknown): Subject | undefined {
  const term = termOf(tree);
  if (term?.termType === "Variable") return { text: `?${term.value}`, variable: term.value, read: "term" };
  const read = isCall(tree) ? tree.operator.toLowerCase() : "";
  const inner = isCall(tree) && (read === "str" || read === "lang") ? subjectOf(tree.args[0]) : undefined;
  if (inner?.read !== "term" || (read !== "str" && read !== "lang")) return undefined;
  return { text: `${read.toUpperCase()}(${inner.text})`, variable: inner.variable, read };
}

const about = ({ variable }: Subject, text: string, isExact: boolean): Implied => ({
  text,
  variables: [variable],
  isExact,
});

interface Sides {
  readonly subject: Subject;
  readonly constant: RDF.Term;
}

/** A subject beside a term that every parser takes back, whichever comes first. */
function sidesOf([left, right]: readonly unknown[]): Sides | undefined {
  const subject = subjectOf(left) ?? subjectOf(right);
  const constant = termOf(subjectOf(left) ? right : left);
  return subject && constant && isWritable(constant) ? { subject, constant } : undefined;
}

function equality(operands: readonly unknown[], operator = "="): Implied | undefined {
  const sides = sidesOf(operands);
  if (!sides) return undefined;
  const { subject, constant } = sides;
  const isTerm = subject.read === "term";
  // Whether "x"@EN is equal to "x"@en, and has the language "en", depends on the engine.
  if (isTagged(constant) && isTerm)
    return about(subject, `STR(${subject.text}) = ${stringText(constant.value)}`, false);
  if (subject.read === "lang" && constant.value !== "") return inexact(languageTest(operands));
  if (!isEqualAlike(sides)) return undefined;
  return about(subject, `${subject.text} ${operator} ${termText(constant)}`, isIri(constant) || !isTerm);
}

/** Engines find the constant equal to the same values. */
function isEqualAlike({ subject, constant }: Sides): boolean {
  const text = simpleText(constant);
  if (text !== undefined) return subject.read !== "str" || !mayBeComputed(text);
  return subject.read === "term" && (isIri(constant) || isPlainNumber(constant));
}

const inexact = (said: Implied | undefined): Implied | undefined => said && { ...said, isExact: false };

function membership([value, ...items]: readonly unknown[], operator = "IN"): Implied | undefined {
  const subject = subjectOf(value);
  const equal = disjunction(items.map((item) => equality([value, item])));
  const terms = items.flatMap((item) => termOf(item) ?? []);
  if (!subject || !equal || subject.read === "lang" || terms.some(isTagged)) return subject && inexact(equal);
  return { ...equal, text: `${subject.text} ${operator} (${[...new Set(terms.map(termText))].join(", ")})` };
}

function order(operands: readonly unknown[], operator: string, mirrored: string): Implied | undefined {
  const { subject, constant } = sidesOf(operands) ?? {};
  if (subject?.read !== "term" || !constant) return undefined;
  const sign = subjectOf(operands[0]) ? operator : mirrored;
  const text = `${subject.text} ${sign} ${termText(constant)}`;
  if (isPlainNumber(constant) || isMoment(constant)) return about(subject, text, false);
  // SPARQL 1.1 has no order of dates, and without time zones some engines have none: an error lets the solution through.
  return isLocal(constant) ? about(subject, `COALESCE(${text}, true)`, false) : undefined;
}

function termTest(name: string, [operand]: readonly unknown[]): Implied | undefined {
  const subject = subjectOf(operand);
  return subject?.read === "term" ? about(subject, `${name}(${subject.text})`, true) : undefined;
}

/** Basic language ranges (RFC 4647, section 2.1); engines differ in others. */
function languageTest(operands: readonly unknown[]): Implied | undefined {
  const { subject, constant } = sidesOf(operands) ?? {};
  const text = simpleText(constant);
  if (subject?.read !== "lang" || text === undefined || !/^(?:\*|[a-z\d-]+)$/iu.test(text)) return undefined;
  return about(subject, `LANGMATCHES(${subject.text}, "${text}")`, true);
}

/** A variable whose value is a text, or the text of any value, and a part of it. */
function textTest(name: string, [whole, part]: readonly unknown[]): Implied | undefined {
  const [subject, text] = [subjectOf(whole), simpleText(termOf(part))];
  if (!subject || subject.read === "lang" || text === undefined) return undefined;
  if (subject.read === "str" && mayBeComputed(text)) return undefined;
  return about(subject, `${name}(${subject.text}, ${stringText(text)})`, true);
}

/** Literal characters of every dialect with anchors; between them may be `.*`. */
const plainPattern = /^\^?(?:[\p{L}\d _,:;=@%&<>~'"-]|\.\*)*\$?$/u;

function regex([whole, pattern, flag, ...others]: readonly unknown[]): Implied | undefined {
  const [text, flags] = [simpleText(termOf(pattern)), flag === undefined ? "" : simpleText(termOf(flag))];
  if (text === undefined || others.length > 0 || !plainPattern.test(text)) return undefined;
  if (flags !== "" && (flags !== "i" || !/^\p{ASCII}*$/u.test(text))) return undefined;
  const subject = subjectOf(whole);
  if (!subject || subject.read === "lang") return undefined;
  // Dialects differ in the line ends that `.` does not match: the parts are sent.
  const parts = text.split(".*").filter((part) => !["", "^", "$"].includes(part));
  return conjunction(parts.map((part) => regexPart(subject, part, flags)));
}

/** Engines differ on `$` before a line end at the end of a text. */
function regexPart(subject: Subject, part: string, flags: string): Implied | undefined {
  if (subject.read === "str" && mayBeComputed(part.replaceAll(/[$^]/gu, ""))) return undefined;
  if (flags === "") return about(subject, `REGEX(${subject.text}, ${stringText(part)})`, !part.endsWith("$"));
  // The only letters beyond ASCII whose other case is in it; not everybody knows.
  const folded = part.replaceAll(/[ks]/giu, (letter) => (/k/iu.test(letter) ? "(k|\u212A)" : "(s|\u017F)"));
  return about(subject, `REGEX(${subject.text}, ${stringText(folded)}, "i")`, false);
}

/**
 * The text could be in STR of a number, boolean, moment or duration, each of which some engines spell anew: the received text
 * need not be the tested one.
 */
const mayBeComputed = (text: string): boolean =>
  /^[-+.:\dTZEePYMDHS]*$/u.test(text) || ["true", "false", "INF", "NaN"].some((word) => word.includes(text));

const isIri = ({ termType }: RDF.Term): boolean => termType === "NamedNode";
const isTagged = (term: RDF.Term): boolean => term.termType === "Literal" && term.language !== "";
const termText = (term: RDF.Term): string => (term.termType === "Literal" ? literalText(term) : iriText(term.value));

const typeOf = (term: RDF.Term | undefined): string | undefined =>
  term?.termType === "Literal" && term.language === "" ? term.datatype.value : undefined;

/** The text of a literal that is nothing but a text. */
const simpleText = (term: RDF.Term | undefined): string | undefined =>
  typeOf(term) === xsd.string ? term?.value : undefined;

/** A number that every type of numbers holds exactly, so that no promotion moves it. */
function isPlainNumber(term: RDF.Term): boolean {
  const number = Number(term.value);
  if (typeOf(term) !== xsd.integer && typeOf(term) !== xsd.decimal) return false;
  return (
    /^[+-]?\d{1,9}(?:\.\d{1,6})?$/u.test(term.value) && Number.isInteger(number * 64) && Math.fround(number) === number
  );
}

const day = String.raw`[12]\d{3}-\d\d-\d\d`;
const time = String.raw`T(?:[01]\d|2[0-3]):\d\d:\d\d`;
const zone = String.raw`(?:Z|[+-]\d\d:\d\d)`;
const zoned = new RegExp(`^${day}${time}${zone}$`, "u");
const local = new RegExp(`^${day}(?:${time})?${zone}?$`, "u");

const isMoment = (term: RDF.Term): boolean => typeOf(term) === xsd.dateTime && zoned.test(term.value);
/** Fedway orders moments of which one has no time zone only where more than 14 hours are between them. */
const isLocal = (term: RDF.Term): boolean =>
  (typeOf(term) === xsd.date || typeOf(term) === xsd.dateTime) && local.test(term.value);
