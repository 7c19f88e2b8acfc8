import {
  add,
  compareDecimals,
  type Decimal,
  decimalOfNumber,
  decimalToNumber,
  decimalToText,
  divide,
  floor,
  multiply,
  negated,
  parseDecimal,
  parseWhole,
  subtract,
  truncate,
  whole,
} from "./decimal.ts";
import { ExpressionError } from "./expression-error.ts";

/** Integers and decimals are exact, of any size up to 4,096 digits; floats are doubles rounded to single precision. */
export type Numeric =
  | { readonly type: "integer" | "decimal"; readonly exact: Decimal }
  | { readonly type: "float" | "double"; readonly value: number };

/** The datatypes derived from integer, with their least and greatest values (XML Schema Datatypes, section 3.4.13 and on). */
const integerBounds: Readonly<Record<string, readonly [least: bigint | undefined, most: bigint | undefined]>> = {
  integer: [undefined, undefined],
  long: [-(2n ** 63n), 2n ** 63n - 1n],
  int: [-(2n ** 31n), 2n ** 31n - 1n],
  short: [-(2n ** 15n), 2n ** 15n - 1n],
  byte: [-128n, 127n],
  nonNegativeInteger: [0n, undefined],
  positiveInteger: [1n, undefined],
  nonPositiveInteger: [undefined, 0n],
  negativeInteger: [undefined, -1n],
  unsignedLong: [0n, 2n ** 64n - 1n],
  unsignedInt: [0n, 2n ** 32n - 1n],
  unsignedShort: [0n, 2n ** 16n - 1n],
  unsignedByte: [0n, 255n],
};

const doubleText = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const specialDoubles: ReadonlyMap<string, number> = new Map([
  ["INF", Number.POSITIVE_INFINITY],
  ["+INF", Number.POSITIVE_INFINITY],
  ["-INF", Number.NEGATIVE_INFINITY],
  ["NaN", Number.NaN],
]);

/** The number that a text is in a datatype of XML Schema, named without its namespace; undefined when it is none. */
export function parseNumeric(text: string, datatype: string): Numeric | undefined {
  if (datatype === "decimal") {
    const exact = parseDecimal(text);
    return exact && { type: "decimal", exact };
  }
  if (datatype !== "double" && datatype !== "float") return parseInteger(text, datatype);
  const value = specialDoubles.get(text) ?? (doubleText.test(text) ? Number(text) : undefined);
  return value === undefined ? undefined : inexact(datatype, value);
}

function parseInteger(text: string, datatype: string): Numeric | undefined {
  const bounds = Object.hasOwn(integerBounds, datatype) ? integerBounds[datatype] : undefined;
  const exact = bounds && parseWhole(text);
  if (!bounds || !exact) return undefined;
  const [least, most] = bounds;
  const isInside = (least === undefined || exact.unscaled >= least) && (most === undefined || exact.unscaled <= most);
  return isInside ? { type: "integer", exact } : undefined;
}

export const integer = (value: bigint | number): Numeric => ({ type: "integer", exact: whole(value) });
export const decimal = (exact: Decimal): Numeric => ({ type: "decimal", exact });

/** A float or a double. */
export const inexact = (type: "float" | "double", value: number): Numeric => ({
  type,
  value: type === "float" ? Math.fround(value) : value,
});

/** The nearest double. */
export const toNumber = (number: Numeric): number => ("exact" in number ? decimalToNumber(number.exact) : number.value);

/** As XPath casts it to a string (XPath and XQuery Functions and Operators, section 17.1.2). */
export function numericToText(number: Numeric): string {
  if ("exact" in number) return decimalToText(number.exact);
  const { type, value } = number;
  if (value === 0 || !Number.isFinite(value)) return specialText(value);
  const shortest = type === "float" ? shortestFloat(value) : value;
  const size = Math.abs(value);
  if (size >= 1e-6 && size < 1e6) return decimalToText(decimalOfNumber(shortest));
  const [mantissa = "", exponent = ""] = shortest.toExponential().split("e");
  return `${mantissa.includes(".") ? mantissa : `${mantissa}.0`}E${exponent.replace("+", "")}`;
}

function specialText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  return value < 0 ? "-INF" : "INF";
}

/** The double with the fewest digits that is this float in single precision. */
function shortestFloat(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const candidate = Number(value.toPrecision(digits));
    if (Math.fround(candidate) === value) return candidate;
  }
  return Number(value.toPrecision(9));
}

const ranks = { integer: 0, decimal: 1, float: 2, double: 3 } as const;
const widerOf = (a: Numeric, b: Numeric): Numeric["type"] => (ranks[a.type] > ranks[b.type] ? a.type : b.type);

interface Operation {
  readonly exact: (a: Decimal, b: Decimal) => Decimal;
  readonly inexact: (a: number, b: number) => number;
}

const operations = {
  "+": { exact: add, inexact: (a, b) => a + b },
  "-": { exact: subtract, inexact: (a, b) => a - b },
  "*": { exact: multiply, inexact: (a, b) => a * b },
  "/": { exact: divide, inexact: (a, b) => a / b },
} as const satisfies Readonly<Record<string, Operation>>;

/** Arithmetic in the wider of both types; the quotient of integers is a decimal (SPARQL 1.1 Query, section 17.3). */
export function calculate(operator: keyof typeof operations, a: Numeric, b: Numeric): Numeric {
  const type = widerOf(a, b);
  const operation: Operation = operations[operator];
  if ("exact" in a && "exact" in b) {
    return {
      type: type === "integer" && operator === "/" ? "decimal" : exactType(type),
      exact: operation.exact(a.exact, b.exact),
    };
  }
  const wide = type === "float" ? "float" : "double";
  return inexact(wide, operation.inexact(promoted(a, wide), promoted(b, wide)));
}

const exactType = (type: Numeric["type"]): "integer" | "decimal" => (type === "integer" ? "integer" : "decimal");
const promoted = (number: Numeric, type: "float" | "double"): number =>
  type === "float" ? Math.fround(toNumber(number)) : toNumber(number);

/** Negative, zero or positive; NaN when one of them is NaN. */
export function compareNumbers(a: Numeric, b: Numeric): number {
  if ("exact" in a && "exact" in b) return compareDecimals(a.exact, b.exact);
  const type = widerOf(a, b) === "float" ? "float" : "double";
  const [left, right] = [promoted(a, type), promoted(b, type)];
  return left === right ? 0 : left < right ? -1 : left > right ? 1 : Number.NaN;
}

const half: Decimal = { unscaled: 5n, scale: 1 };

interface Rounding {
  readonly exact: (value: Decimal) => Decimal;
  readonly inexact: (value: number) => number;
}

/** Functions of one number that keep its type. */
const roundings = {
  abs: { exact: (value) => (value.unscaled < 0n ? negated(value) : value), inexact: Math.abs },
  ceil: { exact: (value) => whole(-floor(negated(value))), inexact: Math.ceil },
  floor: { exact: (value) => whole(floor(value)), inexact: Math.floor },
  // Halves are rounded up, those below zero too, as Math.round does.
  round: { exact: (value) => whole(floor(add(value, half))), inexact: Math.round },
  uminus: { exact: negated, inexact: (value) => -value },
  uplus: { exact: (value) => value, inexact: (value) => value },
} as const satisfies Readonly<Record<string, Rounding>>;

/** ABS, CEIL, FLOOR, ROUND and the signs. */
export function rounded(name: keyof typeof roundings, number: Numeric): Numeric {
  const rounding: Rounding = roundings[name];
  if ("exact" in number) return { type: number.type, exact: rounding.exact(number.exact) };
  return inexact(number.type, rounding.inexact(number.value));
}

/** A number in another datatype (XPath and XQuery Functions and Operators, section 17.1.3). */
export function castNumeric(number: Numeric, type: Numeric["type"]): Numeric {
  if (type === "float" || type === "double") return inexact(type, toNumber(number));
  const exact = "exact" in number ? number.exact : exactValue(number.value);
  return type === "integer" ? integer(truncate(exact)) : decimal(exact);
}

function exactValue(value: number): Decimal {
  if (!Number.isFinite(value)) throw new ExpressionError("Neither NaN nor INF is a decimal.");
  return decimalOfNumber(value);
}
