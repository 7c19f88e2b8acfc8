import { plus, parseMoment, utcSeconds, type Moment } from "./date-times.ts";
import {
  add,
  compareDecimals,
  type Decimal,
  decimalToText,
  floor,
  multiply,
  negated,
  parseDecimal,
  subtract,
  whole,
  zero,
} from "./decimal.ts";
import { ExpressionError } from "./expression-error.ts";

/** A duration of months and seconds (XML Schema Datatypes, section 3.3.6). */
export interface Duration {
  readonly months: number;
  readonly seconds: Decimal;
}

const durationText =
  /^(-)?P(?!$)(?:(\d{1,9})Y)?(?:(\d{1,9})M)?(?:(\d{1,15})D)?(?:T(?!$)(?:(\d{1,15})H)?(?:(\d{1,15})M)?(?:(\d{1,15}(?:\.\d{1,50})?)S)?)?$/;
/** Parts excluded from the two narrower datatypes of durations. */
const excluded = { yearMonthDuration: /[DT]/, dayTimeDuration: /Y|^[^T]*M/ } as const;
export type DurationType = "duration" | "yearMonthDuration" | "dayTimeDuration";

export const isDurationType = (name: string): name is DurationType =>
  name === "duration" || name === "yearMonthDuration" || name === "dayTimeDuration";

/** The duration that a text is; undefined when it is none of the datatype. */
export function parseDuration(text: string, type: DurationType): Duration | undefined {
  const parts = durationText.exec(text);
  if (!parts) return undefined;
  const [, sign, years = "0", months = "0", days = "0", hours = "0", minutes = "0", seconds = "0"] = parts;
  const isPart = type === "duration" || !excluded[type].test(text);
  if (!isPart) return undefined;
  const duration: Duration = {
    months: 12 * Number(years) + Number(months),
    seconds: add(
      whole(BigInt(days) * 86_400n + BigInt(hours) * 3_600n + BigInt(minutes) * 60n),
      parseDecimal(seconds) ?? zero,
    ),
  };
  return sign ? negatedDuration(duration) : duration;
}

export const negatedDuration = ({ months, seconds }: Duration): Duration => ({
  months: months === 0 ? 0 : -months,
  seconds: negated(seconds),
});

/** The sum of two durations. @throws ExpressionError when months and seconds have different signs */
export function addDurations(a: Duration, b: Duration): Duration {
  const sum = { months: a.months + b.months, seconds: add(a.seconds, b.seconds) };
  if ((sum.months < 0 && sum.seconds.unscaled > 0n) || (sum.months > 0 && sum.seconds.unscaled < 0n)) {
    throw new ExpressionError("The months and the seconds of a duration have different signs.");
  }
  return sum;
}

const part = (count: bigint | number, name: string): string => (BigInt(count) === 0n ? "" : `${count}${name}`);

/** The canonical text of a duration. */
export function durationToText({ months, seconds }: Duration, type: DurationType): string {
  const isNegative = months < 0 || seconds.unscaled < 0n;
  const [month, time] = [Math.abs(months), seconds.unscaled < 0n ? negated(seconds) : seconds];
  const total = floor(time);
  const rest = subtract(time, whole(total - (total % 60n)));
  const clock =
    part((total / 3_600n) % 24n, "H") +
    part((total / 60n) % 60n, "M") +
    (rest.unscaled === 0n ? "" : `${decimalToText(rest)}S`);
  const date = part(Math.floor(month / 12), "Y") + part(month % 12, "M") + part(total / 86_400n, "D");
  const text = date + (clock === "" ? "" : `T${clock}`);
  return `${isNegative ? "-" : ""}P${text === "" ? (type === "yearMonthDuration" ? "0M" : "T0S") : text}`;
}

const references: readonly Moment[] = ["1696-09-01", "1697-02-01", "1903-03-01", "1903-07-01"].flatMap((text) => {
  const moment = parseMoment(`${text}Z`, "date");
  return moment ? [moment] : [];
});

/** The order of two durations (XML Schema Datatypes, section 3.2.6.2); undefined where it depends on the months' lengths. */
export function compareDurations(a: Duration, b: Duration): number | undefined {
  if (a.months === b.months) return compareDecimals(a.seconds, b.seconds);
  const [first, ...others] = references.map((start) =>
    compareDecimals(utcSeconds(plus(start, a)), utcSeconds(plus(start, b))),
  );
  return first !== 0 && others.every((order) => order === first) ? first : undefined;
}

/** A duration's sort key: a month counts as thirty days. */
export const roughSeconds = ({ months, seconds }: Duration): Decimal =>
  add(multiply(whole(months), whole(30 * 86_400)), seconds);
