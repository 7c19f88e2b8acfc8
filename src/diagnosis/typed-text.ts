import { xsd } from "../rdf/vocabularies.ts";

const numberText = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
const zone = String.raw`(?:Z|[+-]\d\d:\d\d)?`;
const year = String.raw`-?(?:[1-9]\d{4,8}|\d{4})`;
const clock = String.raw`\d\d:\d\d:\d\d(?:\.\d+)?`;

/** Lexical forms (XML Schema 1.1, part 2) of datatypes in whose place people write something else. */
const forms: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    integer: String.raw`[+-]?\d+`,
    decimal: String.raw`[+-]?(?:\d+(?:\.\d*)?|\.\d+)`,
    boolean: "true|false|0|1",
    date: `${year}-\\d\\d-\\d\\d${zone}`,
    dateTime: `${year}-\\d\\d-\\d\\dT${clock}${zone}`,
    time: clock + zone,
    gYear: year + zone,
    gYearMonth: `${year}-\\d\\d${zone}`,
    gMonth: `--\\d\\d${zone}`,
    gMonthDay: `--\\d\\d-\\d\\d${zone}`,
    gDay: `---\\d\\d${zone}`,
  }).map(([name, form]) => [xsd.namespace + name, new RegExp(`^(?:${form})$`)]),
);

const numeric =
  /#(?:integer|decimal|float|double|int|long|short|byte|(?:non)?(?:Negative|Positive|negative|positive)Integer)$/;
export const isNumeric = (datatype: string): boolean => datatype.startsWith(xsd.namespace) && numeric.test(datatype);

/** True if a text is a value of a datatype, as far as the datatype is known. */
export function isValueOf(text: string, datatype: string): boolean {
  const form = forms.get(datatype) ?? (isNumeric(datatype) ? numberText : undefined);
  return form === undefined || (form.test(text) && (!/#date(?:Time)?$/.test(datatype) || isDay(text.slice(0, 10))));
}

/** 31 February is a date of no calendar; years beyond four digits are not checked. */
function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return true;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

/** A text as a datatype writes it; undefined where it has no valid form, or may be either of two days. */
export function textAs(text: string, datatype: string): string | undefined {
  const [only, ...others] = textsAs(text, datatype);
  return others.length === 0 ? only : undefined;
}

/**
 * A text as a datatype writes it: a date of a time, a time of a day, `T` for a blank, the year of a day first. Empty where it has
 * no valid form; two where the month of a day is not known. A day alone begins as a time at `time`.
 */
export function textsAs(text: string, datatype: string, time = "00:00:00"): readonly string[] {
  if (isValueOf(text, datatype)) return [text];
  const trimmed = text.trim();
  const days = daysOf(trimmed);
  return (days.length === 0 ? [trimmed] : days).flatMap((each) => oneTextAs(each, datatype, time) ?? []);
}

function oneTextAs(text: string, datatype: string, atDay: string): string | undefined {
  const [, day, minutes, seconds = ":00", its = ""] =
    /^(\d{4}-\d\d-\d\d)(?:[T\s]\s*(\d\d:\d\d)(:\d\d(?:\.\d+)?)?)?\s*(Z|[+-]\d\d:\d\d)?$/i.exec(text) ?? [];
  const time = minutes === undefined ? atDay : minutes + seconds;
  const ways = [text, ...(day === undefined ? [] : [day, `${day}T${time}${its.toUpperCase()}`])];
  return ways.find((way) => isValueOf(way, datatype));
}

/** Days that a text may mean whose year is not first, or whose parts are not apart by `-`: both readings of 03/04/2018. */
export function daysOf(text: string): readonly string[] {
  const iso = (...parts: readonly string[]): string => parts.map((part) => part.padStart(2, "0")).join("-");
  const [, first = "", second = "", last = ""] = /^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})$/.exec(text) ?? [];
  const ordered = /^(\d{4})[/.](\d{1,2})[/.](\d{1,2})$/.exec(text)?.slice(1);
  const all = ordered === undefined ? [iso(last, second, first), iso(last, first, second)] : [iso(...ordered)];
  return [...new Set(all)].filter((day) => isValueOf(day, `${xsd.namespace}date`));
}
