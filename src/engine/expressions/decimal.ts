import { ExpressionError } from "./expression-error.ts";

/** `unscaled` / 10^`scale`, exact; without zeros at its end, so that equal values are equal in both. */
export interface Decimal {
  readonly unscaled: bigint;
  readonly scale: number;
}

// XML Schema asks for 18 digits. The bound keeps a chain of products from growing for ever.
const mostDigits = 4_096;
const quotientScale = 18;
const decimalText = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))$/;

const wholeText = /^[+-]?\d+$/;

const tens = (count: number): bigint => 10n ** BigInt(count);
const abs = (value: bigint): bigint => (value < 0n ? -value : value);

export const zero: Decimal = { unscaled: 0n, scale: 0 };

/** A whole number. */
export const whole = (value: bigint | number): Decimal => bounded({ unscaled: BigInt(value), scale: 0 });

/** The value of `[+-]digits[.digits]`; undefined for other texts, and for one of more than 4,096 digits. */
export function parseDecimal(text: string): Decimal | undefined {
  if (text.length > mostDigits) return undefined;
  const parts = decimalText.exec(text);
  if (!parts) return undefined;
  const [, sign, integral = "", fraction = parts[4] ?? ""] = parts;
  const digits = fraction.replace(/(?<!0)0+$/, "");
  const unscaled = BigInt(integral + digits);
  return { unscaled: sign === "-" ? -unscaled : unscaled, scale: digits.length };
}

/** The value of `[+-]digits`; undefined for other texts, and for one of more than 4,096 digits. */
export const parseWhole = (text: string): Decimal | undefined =>
  text.length <= mostDigits && wholeText.test(text) ? { unscaled: BigInt(text), scale: 0 } : undefined;

/** As XPath casts it to a string: digits without an exponent, and no point behind whole numbers. */
export function decimalToText({ unscaled, scale }: Decimal): string {
  const digits = abs(unscaled)
    .toString()
    .padStart(scale + 1, "0");
  const sign = unscaled < 0n ? "-" : "";
  if (scale === 0) return sign + digits;
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** The nearest double. */
export const decimalToNumber = (value: Decimal): number => Number(decimalToText(value));

/** The exact value of a finite double's shortest text. */
export function decimalOfNumber(value: number): Decimal {
  const [mantissa = "0", exponent = "0"] = value.toExponential().split("e");
  const { unscaled, scale } = parseDecimal(mantissa) ?? zero;
  const shifted = scale - Number(exponent);
  return shifted >= 0 ? normal(unscaled, shifted) : whole(unscaled * tens(-shifted));
}

export const negated = ({ unscaled, scale }: Decimal): Decimal => ({ unscaled: -unscaled, scale });

export function add(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return normal(raised(a, scale) + raised(b, scale), scale);
}

export const subtract = (a: Decimal, b: Decimal): Decimal => add(a, negated(b));

export const multiply = (a: Decimal, b: Decimal): Decimal => normal(a.unscaled * b.unscaled, a.scale + b.scale);

/** The quotient, cut behind 18 digits of its fraction or as many as the operands have. @throws ExpressionError for a division by zero */
export function divide(a: Decimal, b: Decimal): Decimal {
  if (b.unscaled === 0n) throw new ExpressionError("A decimal is divided by zero.");
  const scale = Math.max(quotientScale, a.scale, b.scale);
  return normal(raised(a, scale + b.scale) / b.unscaled, scale);
}

export function compareDecimals(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale);
  const [left, right] = [raised(a, scale), raised(b, scale)];
  return left === right ? 0 : left < right ? -1 : 1;
}

/** The largest whole number that is not greater. */
export function floor({ unscaled, scale }: Decimal): bigint {
  const quotient = unscaled / tens(scale);
  return unscaled < 0n && unscaled % tens(scale) !== 0n ? quotient - 1n : quotient;
}

/** The whole number towards zero. */
export const truncate = ({ unscaled, scale }: Decimal): bigint => unscaled / tens(scale);

const raised = ({ unscaled, scale }: Decimal, to: number): bigint =>
  to === scale ? unscaled : unscaled * tens(to - scale);

function normal(unscaled: bigint, scale: number): Decimal {
  let [value, places] = [unscaled, scale];
  for (; places > 0 && value % 10n === 0n; places--) value /= 10n;
  return bounded({ unscaled: value, scale: places });
}

const largest = tens(mostDigits);

function bounded(value: Decimal): Decimal {
  if (value.scale > mostDigits || abs(value.unscaled) >= largest) {
    throw new ExpressionError(`A number has more than ${mostDigits} digits.`);
  }
  return value;
}
