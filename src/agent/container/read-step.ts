import { type Aggregate, aggregates, type Building, operators, refused, type Step, type Test } from "./draft.ts";
import type { Options } from "./options.ts";
import { isNumber } from "./write-query.ts";

/** Steps as they are named in calls; `open` and `undo` are no steps of a query. */
export const stepNames = [
  "class",
  "property",
  "path",
  "filter",
  "or",
  "show",
  "aggregate",
  "group",
  "having",
  "order",
  "limit",
  "distinct",
  "except",
  "compare",
  "end",
] as const;

/** A step as it is asked for: the number of a choice, and a value where one is needed. */
export interface AskedStep {
  readonly step: (typeof stepNames)[number];
  readonly choice?: number | undefined;
  readonly value?: string | undefined;
}

type Reader = (asked: AskedStep, options: Options, building: Building) => Step;

/** The step that is meant. @throws FedwayError `STEP_REFUSED` for a number that is not in its list, or a value that cannot be read */
export const readStep: Reader = (asked, options, building) => readers[asked.step](asked, options, building);

const readers: Readonly<Record<AskedStep["step"], Reader>> = {
  class: ({ choice }, { classes }) => {
    const { at, class: iri } = chosen(classes, choice, "class");
    return { step: "class", at, class: iri };
  },
  property: ({ choice }, { properties }) => ({ step: "property", ...chosen(properties, choice, "property") }),
  path: ({ choice }, { paths }) => ({ step: "path", ...chosen(paths, choice, "path") }),
  filter: (asked, options) => ({ step: "filter", test: testOf(asked, options) }),
  or: (asked, options) => ({ step: "or", test: testOf(asked, options) }),
  show: (asked, options) => ({ step: "show", column: columnOf(asked, options) }),
  group: (asked, options) => ({ step: "group", column: columnOf(asked, options) }),
  aggregate: (asked, options) => ({ step: "aggregate", aggregate: aggregateOf(asked, options) }),
  having: (asked, options) => {
    const [, words = "", operator, value = ""] = comparison.exec(asked.value?.trim() ?? "") ?? [];
    const wanted = operators.find((each) => each === operator && each !== "contains");
    if (wanted === undefined || !isNumber(value))
      throw refused("The condition cannot be read.", 'Give a value such as "count > 3".');
    const aggregate = aggregateOf({ ...asked, value: words }, options);
    return { step: "having", aggregate, operator: wanted, value: Number(value) };
  },
  order: (asked, options) => {
    const { value = "" } = asked;
    const descending = /\bdesc/i.test(value);
    const isFigure = asked.choice === undefined || asked.choice === 0 || functionIn(value) !== undefined;
    return { step: "order", by: isFigure ? aggregateOf(asked, options) : columnOf(asked, options), descending };
  },
  limit: ({ choice, value }) => {
    const rows = choice ?? Number(value);
    if (!Number.isInteger(rows) || rows < 1 || rows > 10_000)
      throw refused("The limit cannot be read.", "Give a number from 1 to 10000.");
    return { step: "limit", rows };
  },
  distinct: () => ({ step: "distinct" }),
  except: (asked, options) => ({ step: "except", column: columnOf(asked, options) }),
  compare: (asked, options) => {
    const operator = operators.find((each) => each === asked.value?.trim() && each !== "contains");
    if (operator === undefined)
      throw refused("The comparison cannot be read.", `Give one of ${operators.slice(0, -1).join(" ")} as value.`);
    return { step: "compare", column: columnOf(asked, options), operator };
  },
  end: (asked, options, { opened }) => {
    if (opened?.step === "except") return { step: "end", column: columnOf(asked, options) };
    const aggregate = aggregateOf(asked, options);
    return { step: "end", column: aggregate.column ?? "rows", aggregate };
  },
};

const comparison = /^([a-z\s]*)(<=|>=|!=|=|<|>)\s*(\S+)$/i;
const test = /^(<=|>=|!=|=|<|>|contains\b)\s*(.*)/is;
const longestValue = 500;

function chosen<T>(items: readonly T[], choice: number | undefined, what: string): T {
  const item = choice === undefined ? undefined : items[choice - 1];
  if (item !== undefined) return item;
  if (items.length === 0) throw refused(`There is no ${what} to choose.`, "Choose a class first.");
  throw refused(`There is no ${what} ${choice ?? "without a number"}.`, `Give a choice from 1 to ${items.length}.`);
}

const columnOf = ({ choice }: AskedStep, { columns }: Options): string => chosen(columns, choice, "column").variable;

function testOf(asked: AskedStep, options: Options): Test {
  const column = columnOf(asked, options);
  const given = asked.value?.trim() ?? "";
  const [, word = "=", rest = given] = test.exec(given) ?? [];
  const operator = operators.find((each) => each === word.toLowerCase());
  if (operator === undefined || rest === "" || rest.length > longestValue) {
    throw refused(
      "The condition cannot be read.",
      'Give a value such as "> 20", "= France", "contains son" or "= ?name2".',
    );
  }
  const other = options.columns.find(({ variable }) => `?${variable}` === rest);
  if (other && operator !== "contains") return { column, operator, other: other.variable };
  return { column, operator, value: unquoted(rest) };
}

const unquoted = (value: string): string => /^(["'])(.*)\1$/s.exec(value)?.[2] ?? value;

function functionIn(value: string): Aggregate["function"] | undefined {
  const words = new Set(value.toLowerCase().match(/\w+/g));
  return aggregates.find((each) => words.has(each));
}

/** The number of rows when neither a function nor a column is named. */
function aggregateOf(asked: AskedStep, options: Options): Aggregate {
  const { choice = 0, value = "" } = asked;
  const name = functionIn(value) ?? "count";
  const distinct = /\bdistinct\b/i.test(value);
  if (choice === 0 && name !== "count")
    throw refused(`${name} needs a column.`, "Give the number of a column as choice.");
  return { function: name, distinct, ...(choice !== 0 && { column: columnOf(asked, options) }) };
}
