import { sendableCondition } from "../../sparql/sendable-condition.ts";
import type { Bindings } from "../../results/model.ts";
import type { Bound, PushedCondition } from "../demand.ts";
import type { Surroundings } from "../expressions/functions.ts";
import { integer, toNumber } from "../expressions/numbers.ts";
import { numeric, valueOf } from "../expressions/values.ts";
import type { Expression } from "./algebra.ts";
import { termOfRow, testOf } from "./expressions.ts";
import { call, expressionVariables, termOf } from "./operations.ts";

const mirrored: Readonly<Record<string, string>> = { "<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=" };

/**
 * The bounds of a variable that is compared with what other variables have: `?s < ?o + 300` leaves no value from the largest
 * `?o + 300` on. Only numbers are bounds; a solution in which the expression has no value fails the condition.
 */
export function boundsIn(expression: Expression, around: Surroundings): readonly Bound[] {
  if (expression.subType !== "operator") return [];
  const { operator, args } = expression;
  const [left, right] = args;
  const other = mirrored[operator];
  if (!left || !right || other === undefined) return [];
  return [...boundsOf(left, operator, right), ...boundsOf(right, other, left)];

  function boundsOf(compared: Expression, sign: string, by: Expression): readonly Bound[] {
    const variable = compared.subType === "term" && compared.term.termType === "Variable" ? compared.term : undefined;
    const of = [...expressionVariables(by)];
    if (!variable || of.length === 0 || of.includes(variable.value)) return [];
    const valueIn = termOfRow(by, around);
    const within = (rows: readonly Bindings[]): readonly PushedCondition[] => {
      const numbers = numbersOf(rows, valueIn);
      const ends = numbers.length > 0 ? [sign !== ">" && sign !== ">=", sign !== "<" && sign !== "<="] : [];
      return ends.flatMap((isEnd, at) => {
        if (!isEnd) return [];
        const end = termOf(numeric(integer(at === 0 ? above(numbers) : -above(numbers.map((number) => -number)))));
        const bound = call(at === 0 ? "<" : ">", compared, end);
        return [{ variables: [variable.value], holds: testOf(bound, around), text: sendableCondition(bound)?.text }];
      });
    };
    return [{ variable: variable.value, of, within }];
  }
}

/** The numbers that an expression is in solutions; none where it is something else, or too large for a bound. */
function numbersOf(rows: readonly Bindings[], valueIn: ReturnType<typeof termOfRow>): readonly number[] {
  const numbers: number[] = [];
  for (const row of rows) {
    const term = valueIn(row);
    if (!term) continue;
    const value = term.termType === "Literal" ? valueOf(term) : undefined;
    const number = value?.kind === "number" ? toNumber(value.number) : Number.NaN;
    if (!(Math.abs(number) < LARGEST)) return [];
    numbers.push(number);
  }
  return numbers;
}

// Above it there are not enough digits in a bound that every engine reads alike.
const LARGEST = 999_000_000;
const DIGITS_OF_FLOAT = 24;

/** A number above all of them that a 32-bit float holds. */
function above(numbers: readonly number[]): number {
  const largest = numbers.reduce((one, other) => Math.max(one, other));
  const step = 2 ** Math.max(0, Math.ceil(Math.log2(Math.abs(largest) + 2)) - DIGITS_OF_FLOAT);
  return (Math.floor(largest / step) + 1) * step;
}
