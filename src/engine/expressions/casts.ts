import type * as RDF from "@rdfjs/types";
import { isMomentType, momentAs, momentToText, type MomentType } from "./date-times.ts";
import { durationToText, isDurationType } from "./durations.ts";
import { ExpressionError } from "./expression-error.ts";
import { castNumeric, integer, type Numeric, numericToText } from "./numbers.ts";
import { boolean, duration, moment, numeric, string, typedValue, type Value, valueOf } from "./values.ts";
import { whole } from "./decimal.ts";

/** A term as a value of a datatype. @throws ExpressionError where there is no such cast */
export function cast(term: RDF.Term, type: string): RDF.Literal {
  if (type === "string") return string(textForm(term));
  const value = term.termType === "Literal" ? valueOf(term) : undefined;
  const result = value && (value.kind === "string" ? parsed(value.text, type) : converted(value, type));
  if (!result) throw new ExpressionError(`The term cannot be cast to xsd:${type}.`);
  return result;
}

function textForm(term: RDF.Term): string {
  if (term.termType === "NamedNode") return term.value;
  if (term.termType !== "Literal") throw new ExpressionError("The term cannot be cast to xsd:string.");
  const value = valueOf(term);
  switch (value.kind) {
    case "number":
      return numericToText(value.number);
    case "boolean":
      return String(value.value);
    case "moment":
      return momentToText(value.moment, value.type);
    case "duration":
      return durationToText(value.duration, value.type);
    default:
      return term.value;
  }
}

/** Blanks around a text are no part of it (XPath and XQuery Functions and Operators, section 17.1.1). */
function parsed(text: string, type: string): RDF.Literal | undefined {
  const value = typedValue(text.replaceAll(/^[ \t\r\n]+|(?<![ \t\r\n])[ \t\r\n]+$/g, ""), type);
  return value && converted(value, type);
}

function converted(value: Value, type: string): RDF.Literal | undefined {
  if (type === "boolean") return truth(value);
  if (isDurationType(type)) return toDuration(value, type);
  if (isMomentType(type)) return toMoment(value, type);
  const number =
    value.kind === "boolean" ? integer(value.value ? 1 : 0) : value.kind === "number" ? value.number : undefined;
  return number && isNumericType(type) ? numeric(castNumeric(number, type)) : undefined;
}

const isNumericType = (type: string): type is Numeric["type"] =>
  type === "integer" || type === "decimal" || type === "float" || type === "double";

function truth(value: Value): RDF.Literal | undefined {
  if (value.kind === "boolean") return boolean(value.value);
  if (value.kind !== "number") return undefined;
  const { number } = value;
  if ("exact" in number) return boolean(number.exact.unscaled !== 0n);
  return boolean(number.value !== 0 && !Number.isNaN(number.value));
}

function toDuration(value: Value, type: "duration" | "yearMonthDuration" | "dayTimeDuration"): RDF.Literal | undefined {
  if (value.kind !== "duration") return undefined;
  const { months, seconds } = value.duration;
  if (type === "duration") return duration(value.duration, type);
  return type === "yearMonthDuration"
    ? duration({ months, seconds: whole(0) }, type)
    : duration({ months: 0, seconds }, type);
}

/** Other datatypes that a moment of each datatype can be cast to. */
const narrower: Readonly<Partial<Record<MomentType, readonly MomentType[]>>> = {
  dateTime: ["date", "time", "gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay"],
  date: ["dateTime", "gYear", "gYearMonth", "gMonth", "gMonthDay", "gDay"],
};

function toMoment(value: Value, type: MomentType): RDF.Literal | undefined {
  if (value.kind !== "moment") return undefined;
  if (value.type !== type && !narrower[value.type]?.includes(type)) return undefined;
  return moment(momentAs(value.moment, type), type);
}
