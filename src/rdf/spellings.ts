import { xsd } from "./vocabularies.ts";

/** A number that is written as a store of values writes it. */
const wholeNumber = /^(?:0|-?[1-9]\d{0,17})$/;
const decimalNumber = /^(?:0|-?(?:0\.\d{0,17}[1-9]|[1-9]\d{0,17}(?:\.\d{0,17}[1-9])?))$/;
/** Six digits are the same number in 32 bits. */
const singleNumber = /^(?!-?0$)(?=.{1,6}$)-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/;
const zone = String.raw`(?:Z|[+-](?!00:00)\d\d:\d\d)?$`;
const clock = String.raw`(?!24)\d\d:\d\d:\d\d(?:\.\d{0,8}[1-9])?`;
const duration =
  /^-?P(?=[\dT])(?:[1-9]\d{0,8}Y)?(?:(?:[1-9]|1[01])M)?(?:[1-9]\d{0,8}D)?(?:T(?=\d)(?:(?:[1-9]|1\d|2[0-3])H)?(?:(?:[1-9]|[1-5]\d)M)?(?:(?:[1-9]|[1-5]\d)(?:\.\d{0,8}[1-9])?S|0\.\d{0,8}[1-9]S)?)?$/;

const date = String.raw`(?!-0000)-?\d{4}-\d\d-\d\d`;

const matching = (pattern: RegExp) => (text: string) => pattern.test(text);
const dated = (pattern: string) => matching(new RegExp(`^${pattern}${zone}`));
/** JavaScript, like Rust, writes the shortest digits that are the same number in 64 bits; exponents are written out there. */
const isPlainDouble = (text: string): boolean => String(Number(text)) === text && !text.includes("e") && text !== "NaN";

const keptOf: ReadonlyMap<string, (text: string) => boolean> = new Map(
  Object.entries({
    integer: matching(wholeNumber),
    decimal: matching(decimalNumber),
    double: isPlainDouble,
    float: matching(singleNumber),
    boolean: (text: string) => text === "true" || text === "false",
    dateTime: dated(`${date}T${clock}`),
    time: dated(clock),
    date: dated(date),
    gYear: dated(String.raw`(?!-0000)-?\d{4}`),
    gYearMonth: dated(String.raw`(?!-0000)-?\d{4}-\d\d`),
    gMonth: dated(String.raw`--\d\d`),
    gMonthDay: dated(String.raw`--\d\d-\d\d`),
    gDay: dated(String.raw`---\d\d`),
    duration: matching(duration),
    dayTimeDuration: matching(duration),
    yearMonthDuration: matching(duration),
  }),
);
/** Oxigraph takes their values for those of another datatype. */
const derived = (
  "byte short int long unsignedByte unsignedShort unsignedInt unsignedLong nonNegativeInteger nonPositiveInteger " +
  "negativeInteger positiveInteger dateTimeStamp"
).split(" ");

/** Names of datatypes in `xsd` whose literals Oxigraph stores by value. */
export const storedByValue: readonly string[] = [...keptOf.keys(), ...derived];
const derivedNames: ReadonlySet<string> = new Set(derived);

/**
 * False for literals that Oxigraph 0.5.11 would write in another way than they came, `"01"` as `1`, and for some that it would
 * write as they came.
 */
export function keepsSpelling(text: string, datatype: string): boolean {
  if (!datatype.startsWith(xsd.namespace)) return true;
  const name = datatype.slice(xsd.namespace.length);
  return keptOf.get(name)?.(text) ?? !derivedNames.has(name);
}
