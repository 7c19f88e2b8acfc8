import type * as RDF from "@rdfjs/types";
import type { Algebra } from "@comunica/utils-algebra";
import { termToText } from "../../results/terms.ts";

/**
 * A FILTER expression for an endpoint that lets every solution through for which the expression is true here; undefined
 * where engines could differ. Where the endpoint finds an error, the solution comes: the FILTER is looked at again here.
 */
export function conditionText(expression: Algebra.Expression): string | undefined {
  const text = trueText(expression);
  return text && `COALESCE(${text}, true)`;
}

type Args = readonly Algebra.Expression[];

/** A text that is true, or an error, wherever the expression is true. */
function trueText(expression: Algebra.Expression): string | undefined {
  const { operator, args } = callOf(expression);
  return trueTexts[operator]?.(args, operator) ?? exactText(expression);
}

const trueTexts: Readonly<Record<string, (args: Args, operator: string) => string | undefined>> = {
  // What cannot be said is left out: less is asked.
  "&&"(args) {
    const said = args.flatMap((arg) => trueText(arg) ?? []);
    return said.length > 0 ? `(${said.join(" && ")})` : undefined;
  },
  "||": (args) => every(args.map(trueText), (texts) => `(${texts.join(" || ")})`),
  "=": (args) => comparison("=", args) ?? readComparison(args),
  "<": (args) => comparison("<", args),
  ">": (args) => comparison(">", args),
  "<=": (args) => comparison("<=", args),
  ">=": (args) => comparison(">=", args),
  in: (args) => list("IN", args, (term) => isIri(term) || isPlain(term) || isExactNumber(term)),
  contains: (args, operator) => call(operator, args, isPlain),
  strstarts: (args, operator) => call(operator, args, isPlain),
  strends: (args, operator) => call(operator, args, isPlain),
  regex: (args) => regex(args),
};

/** A text that has the very value of the expression, or none. */
function exactText(expression: Algebra.Expression): string | undefined {
  const { operator, args } = callOf(expression);
  switch (operator) {
    case "!":
      return every(args.map(exactText), ([text]) => `!(${text ?? ""})`);
    case "&&":
    case "||":
      return every(args.map(exactText), (texts) => `(${texts.join(` ${operator} `)})`);
    case "=":
    case "!=":
      return every(
        args.map((arg) => variableText(arg) ?? termText(arg, isIri)),
        ([left, right]) =>
          args.some((arg) => termText(arg, isIri)) ? `${left ?? ""} ${operator} ${right ?? ""}` : undefined,
      );
    case "notin":
      return list("NOT IN", args, isIri);
    case "isiri":
    case "isuri":
    case "isblank":
    case "isliteral":
      return every(args.map(variableText), ([name]) => `${operator}(${name ?? ""})`);
    case "langmatches":
      return call(operator, args, isPlain);
    default:
      return undefined;
  }
}

function callOf(expression: Algebra.Expression): { operator: string; args: readonly Algebra.Expression[] } {
  const { operator = "", args = [] } = expression as Partial<Algebra.OperatorExpression>;
  return { operator: operator.toLowerCase(), args };
}

/** The text of all parts; undefined when one has none. */
function every(
  parts: readonly (string | undefined)[],
  join: (texts: readonly string[]) => string | undefined,
): string | undefined {
  const texts = parts.flatMap((part) => part ?? []);
  return texts.length === parts.length ? join(texts) : undefined;
}

const mirrored: Readonly<Record<string, string>> = { "=": "=", "<": ">", ">": "<", "<=": ">=", ">=": "<=" };

/** The variable side of a comparison, the constant one, and how the first compares with the second. */
function sidesOf(operator: string, [left, right]: Args) {
  if (!left || !right) return undefined;
  const isMirrored = termOf(left) !== undefined && termOf(left)?.termType !== "Variable";
  return isMirrored
    ? { value: right, constant: left, sign: mirrored[operator] ?? operator }
    : { value: left, constant: right, sign: operator };
}

/** A variable compared with a constant that every engine reads alike. */
function comparison(operator: string, args: Args): string | undefined {
  const sides = sidesOf(operator, args);
  const name = sides && variableText(sides.value);
  const isSafe = operator === "=" ? isPlain : isDate;
  const text = sides && termText(sides.constant, (term) => isExactNumber(term) || isSafe(term));
  return name && text && `${name} ${sides.sign} ${text}`;
}

/** What is read off a variable, equal to a constant. */
function readComparison(args: Args): string | undefined {
  const sides = sidesOf("=", args);
  const read = sides && callOf(sides.value);
  const isSafe = read && readConstants[read.operator];
  const name = read?.args[0] && variableText(read.args[0]);
  const text = isSafe && termText(sides.constant, isSafe);
  return name && text && `${read.operator}(${name}) = ${text}`;
}

function list(
  operator: string,
  [tested, ...items]: readonly Algebra.Expression[],
  isSafe: (term: RDF.Term) => boolean,
): string | undefined {
  const name = tested && variableText(tested);
  return (
    name &&
    every(
      items.map((item) => termText(item, isSafe)),
      (texts) => `${name} ${operator} (${texts.join(", ")})`,
    )
  );
}

/** A function of a variable, or of its text or language, and constants. */
function call(
  operator: string,
  [subject, ...rest]: readonly Algebra.Expression[],
  isSafe: (term: RDF.Term) => boolean,
): string | undefined {
  const value = subject && (variableText(subject) ?? readText(subject));
  return (
    value &&
    every(
      rest.map((arg) => termText(arg, isSafe)),
      (texts) => `${operator}(${[value, ...texts].join(", ")})`,
    )
  );
}

function readText(expression: Algebra.Expression): string | undefined {
  const { operator, args } = callOf(expression);
  const name = args.length === 1 && args[0] ? variableText(args[0]) : undefined;
  return name && ["str", "lang"].includes(operator) ? `${operator}(${name})` : undefined;
}

// What all dialects of regular expressions read alike.
const plainPattern = /^\^?[A-Za-z0-9 _,:;=@%&<>~'"-]+\$?$/u;

function regex(args: readonly Algebra.Expression[]): string | undefined {
  const [, pattern, flags] = args.map((arg) => termOf(arg));
  if (!pattern || !isPlain(pattern) || !plainPattern.test(pattern.value)) return undefined;
  if (args.length > 2 && (!flags || !["", "i"].includes(flags.value))) return undefined;
  return call("regex", args, isPlain);
}

const termOf = (expression: Algebra.Expression): RDF.Term | undefined =>
  expression.subType === "term" ? (expression as Algebra.TermExpression).term : undefined;

function variableText(expression: Algebra.Expression): string | undefined {
  const term = termOf(expression);
  return term?.termType === "Variable" ? `?${term.value}` : undefined;
}

function termText(expression: Algebra.Expression, isSafe: (term: RDF.Term) => boolean): string | undefined {
  const term = termOf(expression);
  return term && isSafe(term) ? termToText(term) : undefined;
}

const XSD = "http://www.w3.org/2001/XMLSchema#";
const isIri = ({ termType }: RDF.Term): boolean => termType === "NamedNode";

const typeOf = (term: RDF.Term): string | undefined =>
  term.termType === "Literal" && term.language === "" && term.datatype.value.startsWith(XSD)
    ? term.datatype.value.slice(XSD.length)
    : undefined;

const isPlain = (term: RDF.Term): boolean => typeOf(term) === "string";
const isLowerCase = (term: RDF.Term): boolean => isPlain(term) && term.value === term.value.toLowerCase();
const isDate = (term: RDF.Term): boolean =>
  ["date", "dateTime"].includes(typeOf(term) ?? "") && /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d)?Z?$/u.test(term.value);
/** What may be compared with a text, a language, a datatype. */
const readConstants: Readonly<Record<string, (term: RDF.Term) => boolean>> = {
  str: isPlain,
  lang: isLowerCase,
  datatype: isIri,
};

const isNumber = (term: RDF.Term): boolean =>
  ["integer", "decimal", "double", "float"].includes(typeOf(term) ?? "") &&
  /^-?\d{1,7}(?:\.\d{1,6})?$/u.test(term.value);

/** The same number in every numeric datatype, so that no conversion can tell it from itself. */
const isExactNumber = (term: RDF.Term): boolean =>
  isNumber(term) && Math.fround(Number(term.value)) === Number(term.value) && Number.isInteger(Number(term.value) * 64);
