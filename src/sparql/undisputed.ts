import type * as RDF from "@rdfjs/types";
import { xsd } from "../rdf/vocabularies.ts";

/** The call of an operator or built-in function by its name in lower case, as sparqljs has it; a list is one argument. */
interface Call {
  readonly operator: string;
  readonly args: readonly unknown[];
}

const isNode = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
const isTerm = (tree: unknown): tree is RDF.Term => isNode(tree) && typeof tree["termType"] === "string";
const isCall = (tree: unknown): tree is Call =>
  isNode(tree) && typeof tree["operator"] === "string" && Array.isArray(tree["args"]);
const operands = ({ args }: Call): readonly unknown[] => args.flat();

const isVariable = (tree: unknown): boolean => isTerm(tree) && tree.termType === "Variable";
const isIri = (tree: unknown): boolean => isTerm(tree) && tree.termType === "NamedNode";

/**
 * True for a condition that every endpoint finds true wherever this service does, so that it may be tested there first and
 * here again: an endpoint that finds it true more often costs bytes, one that finds it true less often would lose rows. In
 * doubt it is disputed: spellings of numbers, collations, letters outside of ASCII, time zones, arithmetic, and everything
 * that is not in the tables below. `||` and `&&` keep the property, `!` needs a condition that is false alike, too.
 *
 * @param tree an expression of sparqljs, or another tree of terms and `Call`s
 */
export function isUndisputed(tree: unknown): boolean {
  if (!isCall(tree)) return false;
  if (tree.operator === "||" && repeats(operands(tree))) return false;
  if (tree.operator === "&&" || tree.operator === "||") return operands(tree).every((arg) => isUndisputed(arg));
  return isAlike(tree) || (trueAlike[tree.operator]?.(operands(tree)) ?? false);
}

/** Virtuoso gives a solution once for each equal alternative. */
const repeats = (alternatives: readonly unknown[]): boolean =>
  new Set(alternatives.map((one) => JSON.stringify(one))).size < alternatives.length;

type Test = (operands: readonly unknown[]) => boolean;

const isOrder: Test = ([left, right]) =>
  eitherWay(left, right, (a, b) => isVariable(a) && (isPlainNumber(b) || isMoment(b)));

const trueAlike: Readonly<Record<string, Test>> = {
  "=": ([left, right]) => eitherWay(left, right, isEqualAnywhere),
  in: ([left, ...items]) => !repeats(items) && items.every((item) => isEqualAnywhere(left, item)),
  "<": isOrder,
  ">": isOrder,
  "<=": isOrder,
  ">=": isOrder,
  sameterm: ([left, right]) => eitherWay(left, right, (a, b) => isVariable(a) && isConstant(b)),
};

/** True and false alike wherever it has a value. */
function isAlike(tree: unknown): boolean {
  if (!isCall(tree)) return false;
  if (["!", "&&", "||"].includes(tree.operator)) return operands(tree).every((arg) => isAlike(arg));
  return alike[tree.operator]?.(operands(tree)) ?? false;
}

const isTermTest: Test = ([term]) => isVariable(term);

const isDistinguished: Test = ([left, right]) =>
  eitherWay(left, right, (a, b) => (isVariable(a) && isIri(b)) || isTextOf(a, b));

const isTextTest: Test = ([text, part, ...others]) =>
  others.length === 0 && (isTextOf(text, part) || (isVariable(text) && simpleText(part) !== undefined));

const alike: Readonly<Record<string, Test>> = {
  bound: isTermTest,
  isiri: isTermTest,
  isuri: isTermTest,
  isblank: isTermTest,
  isliteral: isTermTest,
  "=": isDistinguished,
  "!=": isDistinguished,
  notin: ([left, ...items]) => isVariable(left) && items.every((item) => isIri(item)),
  contains: isTextTest,
  strstarts: isTextTest,
  strends: isTextTest,
  langmatches: ([tag, range]) => isCallOf(tag, "lang") && simpleText(range) !== undefined,
  regex: (args) => isTextTest(args) && plainPattern.test(simpleText(args[1]) ?? "?"),
};

/** Letters, digits and blanks, which mean themselves in every dialect, with anchors and `.*`. */
const plainPattern = /^\^?(?:[A-Za-z0-9 _-]|\.\*)*\$?$/u;

/** `STR(?x)` or `LANG(?x)` beside a simple literal. */
function isTextOf(tree: unknown, text: unknown): boolean {
  const constant = simpleText(text);
  if (constant === undefined) return false;
  // How a number or a moment is spelled, each engine has its own way.
  return isCallOf(tree, "lang") || (isCallOf(tree, "str") && !/^[+\-.\d]/u.test(constant));
}

const isCallOf = (tree: unknown, name: string): boolean =>
  isCall(tree) && tree.operator === name && isVariable(operands(tree)[0]);

/** Equal to the same terms everywhere. */
const isEqualAnywhere = (variable: unknown, item: unknown): boolean =>
  isVariable(variable) && (isConstant(item) || isPlainNumber(item));

const isConstant = (tree: unknown): boolean => isIri(tree) || simpleText(tree) !== undefined || isTaggedText(tree);

const literalOf = (tree: unknown): RDF.Literal | undefined =>
  isTerm(tree) && tree.termType === "Literal" ? tree : undefined;

/** The text of a literal that is nothing but a text. */
function simpleText(tree: unknown): string | undefined {
  const literal = literalOf(tree);
  return literal?.language === "" && literal.datatype.value === xsd.string ? literal.value : undefined;
}

function isTaggedText(tree: unknown): boolean {
  const language = literalOf(tree)?.language ?? "";
  return language !== "" && language === language.toLowerCase();
}

/** A number that every type of numbers holds exactly, so that no promotion moves it. */
function isPlainNumber(tree: unknown): boolean {
  const { datatype, value = "" } = literalOf(tree) ?? {};
  if (datatype?.value !== xsd.integer && datatype?.value !== xsd.decimal) return false;
  return /^[+-]?\d{1,9}(?:\.\d{1,6})?$/u.test(value) && Number.isInteger(Number(value) * 64);
}

/** SPARQL 1.1 orders `xsd:dateTime`, but not `xsd:date`. */
function isMoment(tree: unknown): boolean {
  const { datatype, value = "" } = literalOf(tree) ?? {};
  if (datatype?.value !== xsd.dateTime) return false;
  return /^[12]\d{3}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d:\d\d(?:Z|[+-]\d\d:\d\d)$/u.test(value);
}

const eitherWay = (left: unknown, right: unknown, holds: (a: unknown, b: unknown) => boolean): boolean =>
  holds(left, right) || holds(right, left);
