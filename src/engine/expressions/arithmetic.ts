import type * as RDF from "@rdfjs/types";
import { between, plus } from "./date-times.ts";
import { addDurations, negatedDuration, type Duration, type DurationType } from "./durations.ts";
import { ExpressionError } from "./expression-error.ts";
import { calculate } from "./numbers.ts";
import { duration, literal, moment, numeric, type Value, valueOf } from "./values.ts";

/** Arithmetic of numbers, moments and durations (XPath and XQuery Functions and Operators, sections 4.2, 8.4 and 9.8). */
export function combine(operator: "+" | "-" | "*" | "/", a: RDF.Term, b: RDF.Term): RDF.Literal {
  const [left, right] = [valueOf(literal(a)), valueOf(literal(b))];
  if (left.kind === "number" && right.kind === "number") return numeric(calculate(operator, left.number, right.number));
  const result = operator === "+" || operator === "-" ? combineTimes(operator, left, right) : undefined;
  if (!result) throw new ExpressionError("The operator does not take such terms.");
  return result;
}

function combineTimes(operator: "+" | "-", left: Value, right: Value): RDF.Literal | undefined {
  if (right.kind === "duration") {
    const { type } = right;
    return withDuration(left, type, operator === "-" ? negatedDuration(right.duration) : right.duration);
  }
  if (operator === "+") return left.kind === "duration" ? withDuration(right, left.type, left.duration) : undefined;
  if (left.kind !== "moment" || right.kind !== "moment" || left.type !== right.type) return undefined;
  if (!isShiftable(left.type, "dayTimeDuration")) return undefined;
  return duration(between(left.moment, right.moment), "dayTimeDuration");
}

function withDuration(value: Value, type: DurationType, added: Duration): RDF.Literal | undefined {
  if (value.kind === "duration") {
    return duration(addDurations(value.duration, added), value.type === type ? type : "duration");
  }
  if (value.kind !== "moment" || !isShiftable(value.type, type)) return undefined;
  return moment(plus(value.moment, added), value.type);
}

/** A time of day has no months. */
const isShiftable = (type: string, by: string): boolean =>
  type === "dateTime" || type === "date" || (type === "time" && by === "dayTimeDuration");
