import {
  add,
  compareDecimals,
  type Decimal,
  decimalToText,
  floor,
  parseDecimal,
  subtract,
  whole,
  zero,
} from "./decimal.ts";
import type { Duration } from "./durations.ts";
import { ExpressionError } from "./expression-error.ts";

/** Fields of xsd:dateTime and its parts; which of them count depends on the datatype. */
export interface Moment {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: Decimal;
  /** Minutes east of UTC; undefined without a time zone. */
  readonly zone: number | undefined;
}

const dateText = String.raw`(?<year>-?(?:[1-9]\d{4,8}|\d{4}))-(?<month>\d\d)-(?<day>\d\d)`;
const timeText = String.raw`(?<hours>\d\d):(?<minutes>\d\d):(?<seconds>\d\d(?:\.\d+)?)`;
const zoneText = String.raw`(?<zone>Z|[+-]\d\d:\d\d)?`;
const pattern = (text: string): RegExp => new RegExp(`^${text}${zoneText}$`);

/** The datatypes of moments, without their namespace. */
const shapes = {
  dateTime: pattern(`${dateText}T${timeText}`),
  date: pattern(dateText),
  time: pattern(timeText),
  gYear: pattern(String.raw`(?<year>-?(?:[1-9]\d{4,8}|\d{4}))`),
  gYearMonth: pattern(String.raw`(?<year>-?(?:[1-9]\d{4,8}|\d{4}))-(?<month>\d\d)`),
  gMonth: pattern(String.raw`--(?<month>\d\d)`),
  gMonthDay: pattern(String.raw`--(?<month>\d\d)-(?<day>\d\d)`),
  gDay: pattern(String.raw`---(?<day>\d\d)`),
} as const;
export type MomentType = keyof typeof shapes;

export const isMomentType = (name: string): name is MomentType => Object.hasOwn(shapes, name);

/** Fields that a datatype does not have: a leap year, so that --02-29 is a day. */
const noMoment: Moment = { year: 1972, month: 1, day: 1, hours: 0, minutes: 0, seconds: zero, zone: undefined };
const longestText = 100;

/** The moment that a text is; undefined when it is none. */
export function parseMoment(text: string, type: MomentType): Moment | undefined {
  const groups = text.length > longestText ? undefined : shapes[type].exec(text)?.groups;
  if (!groups) return undefined;
  const field = (name: "year" | "month" | "day" | "hours" | "minutes"): number => {
    const digits = groups[name];
    return digits === undefined ? noMoment[name] : Number(digits);
  };
  const moment: Moment = {
    year: field("year"),
    month: field("month"),
    day: field("day"),
    hours: field("hours"),
    minutes: field("minutes"),
    seconds: parseDecimal(groups["seconds"] ?? "0") ?? zero,
    zone: parseZone(groups["zone"]),
  };
  if (!isLegal(moment)) return undefined;
  if (moment.hours < 24) return moment;
  // The end of a day is the beginning of the next.
  return type === "time"
    ? { ...moment, hours: 0 }
    : plus({ ...moment, hours: 0 }, { months: 0, seconds: whole(daySeconds) });
}

function parseZone(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (text === "Z") return 0;
  const minutes = Number(text.slice(4));
  const zone = 60 * Number(text.slice(1, 3)) + minutes;
  return minutes > 59 || zone > 14 * 60 ? Number.NaN : text.startsWith("-") ? -zone : zone;
}

function isLegal({ year, month, day, hours, minutes, seconds, zone }: Moment): boolean {
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return false;
  if (hours === 24) return minutes === 0 && seconds.unscaled === 0n && !Number.isNaN(zone);
  return hours < 24 && minutes < 60 && floor(seconds) < 60n && !Number.isNaN(zone);
}

const isLeap = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
const daysOf = (year: number, month: number): number =>
  month === 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;

const padded = (value: number, digits = 2): string =>
  `${value < 0 ? "-" : ""}${String(Math.abs(value)).padStart(digits, "0")}`;

/** The canonical text of a moment in a datatype. */
export function momentToText(moment: Moment, type: MomentType): string {
  const { year, month, day, hours, minutes, seconds } = moment;
  const secondsText = decimalToText(seconds);
  const date = `${padded(year, 4)}-${padded(month)}-${padded(day)}`;
  const time = `${padded(hours)}:${padded(minutes)}:${/^\d(?:\.|$)/.test(secondsText) ? "0" : ""}${secondsText}`;
  const text = {
    dateTime: `${date}T${time}`,
    date,
    time,
    gYear: padded(year, 4),
    gYearMonth: `${padded(year, 4)}-${padded(month)}`,
    gMonth: `--${padded(month)}`,
    gMonthDay: `--${padded(month)}-${padded(day)}`,
    gDay: `---${padded(day)}`,
  }[type];
  return text + zoneToText(moment);
}

/** The time zone as TZ gives it: `Z`, `-05:00` or nothing. */
export function zoneToText({ zone }: Moment): string {
  if (zone === undefined) return "";
  if (zone === 0) return "Z";
  const size = Math.abs(zone);
  return `${zone < 0 ? "-" : "+"}${padded(Math.floor(size / 60))}:${padded(size % 60)}`;
}

/** A moment as one of another datatype: only the fields of that one are kept. */
export function momentAs(moment: Moment, type: MomentType): Moment {
  const { year, month, day, hours, minutes, seconds, zone } = moment;
  const kept: Readonly<Record<MomentType, Partial<Moment>>> = {
    dateTime: { year, month, day, hours, minutes, seconds },
    date: { year, month, day },
    time: { hours, minutes, seconds },
    gYear: { year },
    gYearMonth: { year, month },
    gMonth: { month },
    gMonthDay: { month, day },
    gDay: { day },
  };
  return { ...noMoment, ...kept[type], zone };
}

const daySeconds = 86_400;

/** Days from 1970-01-01 (the proleptic Gregorian calendar; the year 0 is 1 BC). */
function dayNumber(year: number, month: number, day: number): number {
  const y = month > 2 ? year : year - 1;
  const era = Math.floor(y / 400);
  const ofEra = y - era * 400;
  const ofYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  return era * 146_097 + ofEra * 365 + Math.floor(ofEra / 4) - Math.floor(ofEra / 100) + ofYear - 719_468;
}

/** The fields of a day by its number. */
function dayOf(number: number): Pick<Moment, "year" | "month" | "day"> {
  const shifted = number + 719_468;
  const era = Math.floor(shifted / 146_097);
  const ofEra = shifted - era * 146_097;
  const y = Math.floor(
    (ofEra - Math.floor(ofEra / 1_460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  );
  const ofYear = ofEra - (365 * y + Math.floor(y / 4) - Math.floor(y / 100));
  const shiftedMonth = Math.floor((5 * ofYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return {
    year: y + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: ofYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1,
  };
}

/** Seconds from 1970-01-01T00:00:00 in the moment's own zone. */
function localSeconds({ year, month, day, hours, minutes, seconds }: Moment): Decimal {
  return add(whole(dayNumber(year, month, day) * daySeconds + hours * 3_600 + minutes * 60), seconds);
}

/** Seconds from 1970-01-01T00:00:00Z; a moment without a time zone counts as one with this zone. */
export const utcSeconds = (moment: Moment, otherwise = 0): Decimal =>
  subtract(localSeconds(moment), whole((moment.zone ?? otherwise) * 60));

const farthest = 14 * 60;

/**
 * The order of two moments (XML Schema Datatypes, section 3.2.7.4); undefined where it depends on a time zone that one of
 * them does not have. That of the server would do no good: the same query would have other answers elsewhere.
 */
export function compareMoments(a: Moment, b: Moment): number | undefined {
  if ((a.zone === undefined) === (b.zone === undefined)) return compareDecimals(utcSeconds(a), utcSeconds(b));
  const [west, east] = [-farthest, farthest].map((zone) => compareDecimals(utcSeconds(a, zone), utcSeconds(b, zone)));
  return west === east && west !== 0 ? west : undefined;
}

/** A moment and a duration (XML Schema Datatypes, appendix E). */
export function plus(moment: Moment, { months, seconds }: Duration): Moment {
  const month = moment.month - 1 + months;
  const year = moment.year + Math.floor(month / 12);
  const inYear = month - 12 * Math.floor(month / 12) + 1;
  const day = Math.min(moment.day, daysOf(year, inYear));
  const local = add(localSeconds({ ...moment, year, month: inYear, day }), seconds);
  const days = Number(floor(local) / BigInt(daySeconds)) - (floor(local) % BigInt(daySeconds) < 0n ? 1 : 0);
  const ofDay = subtract(local, whole(days * daySeconds));
  const clock = Number(floor(ofDay));
  const date = dayOf(days);
  if (!(Math.abs(date.year) < mostYears)) throw new ExpressionError("A year has more than nine digits.");
  return {
    ...date,
    hours: Math.floor(clock / 3_600),
    minutes: Math.floor(clock / 60) % 60,
    seconds: subtract(ofDay, whole(Math.floor(clock / 60) * 60)),
    zone: moment.zone,
  };
}

const mostYears = 1e9;

/** The time from `b` to `a`. @throws ExpressionError where only one of them has a time zone */
export function between(a: Moment, b: Moment): Duration {
  if ((a.zone === undefined) !== (b.zone === undefined)) {
    throw new ExpressionError("Only one of two moments has a time zone.");
  }
  return { months: 0, seconds: subtract(utcSeconds(a), utcSeconds(b)) };
}
