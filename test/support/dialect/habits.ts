import { createRandom, type Random } from "../random.ts";
import { type Aggregate, type Condition, type Gold, goldQuery } from "./gold-query.ts";
import {
  aggregateOf,
  callOf,
  clause,
  conditionText,
  groupText,
  havingText,
  joined,
  orderText,
  type Parts,
  partsOf,
  patternText,
  sliceText,
} from "./print-query.ts";

/** Parts of a query as somebody writes them who thinks in another language. */
type Habit = (gold: Gold, parts: Parts, random: Random) => Partial<Parts>;

const bare = (name: string): string => name.replace(/^\?/, "");

/** Columns: the aggregate, or the variables, in another form. */
const aggregate =
  (write: (call: string, each: Aggregate) => string): Habit =>
  ({ columns }) => ({
    columns: columns.map((each) => (typeof each === "string" ? each : write(callOf(each), each))),
  });
const variables =
  (write: (name: string) => string): Habit =>
  ({ columns }, { columns: written }) => ({
    columns: columns.map((each, at) => (typeof each === "string" ? write(each) : (written[at] ?? ""))),
  });

/** Conditions of one kind in another form. */
const condition =
  <Kind extends Condition["kind"]>(
    kind: Kind,
    write: (each: Extract<Condition, { kind: Kind }>) => string | undefined,
    around = (text: string): string => `FILTER(${text})`,
  ): Habit =>
  ({ conditions }, { filters }) => ({
    filters: conditions.map((each, at) => {
      const isMeant = (one: Condition): one is Extract<Condition, { kind: Kind }> => one.kind === kind;
      const text = isMeant(each) ? write(each) : undefined;
      return text === undefined ? (filters[at] ?? "") : around(text);
    }),
  });
const everyCondition =
  (write: (text: string) => string): Habit =>
  ({ conditions }) => ({ filters: conditions.map((each) => write(conditionText(each))) });
const allConditions = ({ conditions }: Gold, sign: string): string => conditions.map(conditionText).join(sign);

/** Solution modifiers in another form or order. */
type Modifiers = Readonly<Record<"group" | "having" | "order" | "slice", string>>;
const modifiersOf = (gold: Gold): Modifiers => ({
  group: groupText(gold),
  having: clause("HAVING", havingText(gold) && `(${havingText(gold)})`),
  order: orderText(gold),
  slice: sliceText(gold),
});
const modifiers =
  (change: (gold: Gold, random: Random) => Partial<Modifiers>): Habit =>
  (gold, _, random) => {
    const { group, having, order, slice } = { ...modifiersOf(gold), ...change(gold, random) };
    return { modifiers: [group, having, order, slice] };
  };
const keys = (write: (key: Gold["orderBy"][number], random: Random) => string, between = " "): Habit =>
  modifiers(({ orderBy }, random) => ({
    order: clause("ORDER BY", orderBy.map((key) => write(key, random)).join(between)),
  }));

const patterns =
  (write: (line: string, at: number) => string): Habit =>
  (_, { patterns: lines }) => ({ patterns: lines.map(write) });
const optional =
  (write: (pattern: string) => string): Habit =>
  (gold) => ({
    patterns: [...gold.patterns.map(patternText), ...(gold.optional ? [write(patternText(gold.optional))] : [])],
  });

const masked = ({ place, text }: Extract<Condition, { kind: "text" }>): string =>
  `${place === "STRSTARTS" ? "" : "%"}${text}${place === "STRENDS" ? "" : "%"}`;

export const habits: Readonly<Record<string, Habit>> = {
  "ORDER BY ?x DESC": keys(
    ({ key, isDescending }, random) => `${key}${isDescending ? " DESC" : random.chance(0.5) ? " ASC" : ""}`,
  ),
  "ORDER BY ?x DESC, ?y": keys(({ key, isDescending }) => `${key}${isDescending ? " DESC" : ""}`, ", "),
  "ORDER BY DESC ?x": keys(({ key, isDescending }) => `${isDescending ? "DESC" : "ASC"} ${key}`),
  "ORDER BY COUNT(?x) DESC": (gold, parts, random) => {
    const each = aggregateOf(gold);
    return each === undefined
      ? {}
      : keys(({ key, isDescending }) => `${key === "?total" ? callOf(each) : key}${isDescending ? " DESC" : ""}`)(
          gold,
          parts,
          random,
        );
  },
  "COUNT(?x) AS ?n": aggregate((call, { alias }) => `${call} AS ${alias}`),
  "COUNT(?x)": aggregate((call) => call),
  "(COUNT(?x))": aggregate((call) => `(${call})`),
  "(COUNT(?x) AS n)": aggregate((call, { alias }) => `(${call} AS ${bare(alias)})`),
  'COUNT(?x) AS "n"': aggregate((call, { alias }) => `${call} AS "${bare(alias)}"`),
  "(?n AS COUNT(?x))": aggregate((call, { alias }) => `(${alias} AS ${call})`),
  "COUNT(?x AS ?n)": aggregate((call, { alias }) => `${call.slice(0, -1)} AS ${alias})`),
  "(COUNT(?x)) AS ?n": aggregate((call, { alias }) => `(${call}) AS ${alias}`),
  "(COUNT(?x) ?n)": aggregate((call, { alias }) => `(${call} ${alias})`),
  "?n = COUNT(?x)": aggregate((call, { alias }) => `${alias} = ${call}`),
  "(?n = COUNT(?x))": aggregate((call, { alias }) => `(${alias} = ${call})`),
  "COUNT DISTINCT ?x": aggregate((call, each) =>
    each.isDistinct ? `(${each.name} DISTINCT ${each.argument} AS ?total)` : `(${call} AS ?total)`,
  ),
  "SELECT DISTINCT COUNT(?x)": ({ columns: [first, second] }) =>
    typeof first === "object" && first.isDistinct && second === undefined
      ? { select: "SELECT DISTINCT", columns: [`COUNT(${first.argument}) AS ${first.alias}`] }
      : {},
  "SELECT ?a, ?b": () => ({ between: ", " }),
  "SELECT TOP n": (gold, { columns }) => {
    const { limit, offset, isDistinct } = gold;
    if (limit === undefined || offset !== undefined) return {};
    const { group, having, order } = modifiersOf(gold);
    return {
      select: `SELECT ${isDistinct ? "DISTINCT " : ""}TOP ${limit}`,
      columns,
      modifiers: [group, having, order],
    };
  },
  "SELECT name": variables(bare),
  "SELECT `name`": variables((name) => `\`${bare(name)}\``),
  'SELECT "name"': variables((name) => `"${bare(name)}"`),
  "SELECT t.name": variables((name) => `t.${bare(name)}`),
  "no GROUP BY": modifiers(() => ({ group: "" })),
  "GROUP BY ?x, ?y": modifiers(({ groupBy }) => ({ group: clause("GROUP BY", [...groupBy, ...groupBy].join(", ")) })),
  "HAVING COUNT(?x) > n": modifiers((gold) => ({ having: clause("HAVING", havingText(gold)) })),
  "HAVING ?n > n": modifiers(({ having }) => ({
    having: having ? `HAVING ?total ${having.operator} ${having.value}` : "",
  })),
  "HAVING before GROUP BY": (gold) => {
    const { group, having, order, slice } = modifiersOf(gold);
    return { modifiers: [having, group, order, slice] };
  },
  "FILTER(COUNT(?x) > n)": (gold, { filters }) => {
    const { group, order, slice } = modifiersOf(gold);
    const having = havingText(gold);
    return having === "" ? {} : { filters: [...filters, `FILTER(${having})`], modifiers: [group, order, slice] };
  },
  "FILTER behind GROUP BY": modifiers((gold) => ({
    having: clause("FILTER", havingText(gold) && `(${havingText(gold)})`),
  })),
  "LIMIT before ORDER BY": (gold) => {
    const { group, having, order, slice } = modifiersOf(gold);
    return { modifiers: [group, having, slice, order] };
  },
  "LIMIT a, b": modifiers(({ limit, offset }) => ({
    slice: limit === undefined ? "" : `LIMIT ${offset ?? 0}, ${limit}`,
  })),
  "FETCH FIRST n ROWS ONLY": modifiers(({ limit, offset }, random) => {
    const rows = `${offset === undefined ? "" : `OFFSET ${offset} ROWS `}FETCH ${random.pick(["FIRST", "NEXT"])} ${limit} ROWS ONLY`;
    return { slice: limit === undefined ? "" : rows };
  }),
  "a semicolon at the end": (_, parts) => ({ modifiers: [...parts.modifiers, ";"] }),
  "modifiers in the group": (_, parts) => ({ close: "", modifiers: [...parts.modifiers, "}"] }),
  "WHERE without braces": () => ({ where: "WHERE", close: "" }),
  "WHERE ( ... )": () => ({ where: "WHERE (", close: ")" }),
  "condition without FILTER": everyCondition((text) => `${text} .`),
  "FILTER without brackets": everyCondition((text) => `FILTER ${text}`),
  "AND condition": everyCondition((text) => `AND ${text}`),
  "FILTER(a AND b)": (gold) =>
    gold.conditions.length < 2 ? {} : { filters: [`FILTER(${allConditions(gold, " AND ")})`] },
  "FILTER behind the group": (_, { filters, modifiers: rest }) => ({ filters: [], modifiers: [...filters, ...rest] }),
  "a second WHERE": (gold, { modifiers: rest }) => ({
    filters: [],
    modifiers: [clause("WHERE", allConditions(gold, " AND ")), ...rest],
  }),
  "a value compared in a pattern": (gold, { patterns: lines, filters }) => {
    const found = gold.conditions.find((each) => each.kind === "compare");
    if (found === undefined) return {};
    const own = new RegExp(`\\${found.variable} \\.$`);
    return {
      patterns: lines.map((line) => line.replace(own, `${conditionText(found)} .`)),
      filters: filters.filter((_, at) => gold.conditions[at] !== found),
    };
  },
  "==": condition("compare", (each) => (each.operator === "=" ? `${each.variable} == ${each.value}` : undefined)),
  "<>": condition("compare", (each) => (each.operator === "!=" ? `${each.variable} <> ${each.value}` : undefined)),
  "=> and =<": condition("compare", (each) =>
    /^[<>]=$/.test(each.operator) ? `${each.variable} =${each.operator.charAt(0)} ${each.value}` : undefined,
  ),
  LIKE: condition("text", (each) => `${each.variable} LIKE '${masked(each)}'`),
  "LIKE without FILTER": condition(
    "text",
    (each) => `${each.variable} LIKE "${masked(each)}"`,
    (text) => text,
  ),
  BETWEEN: condition("range", ({ variable, from, to }) => `${variable} BETWEEN ${from} AND ${to}`),
  "BETWEEN without FILTER": condition(
    "range",
    ({ variable, from, to }) => `${variable} BETWEEN ${from} AND ${to}`,
    (text) => text,
  ),
  "IN without FILTER": condition("in", conditionText, (text) => text),
  "IN [ ... ]": condition("in", (each) => conditionText(each).replace("(", "[").replace(/\)$/, "]")),
  "NOT ?x IN": condition("in", (each) => (each.isNot ? `NOT ${conditionText({ ...each, isNot: false })}` : undefined)),
  "IS NULL": condition("unbound", ({ variable, isNot }) => `${variable} IS ${isNot ? "NOT " : ""}NULL`),
  "= NULL": condition("unbound", ({ variable, isNot }) => `${variable} ${isNot ? "!=" : "="} NULL`),
  "LOWER and UPPER": condition("case", (each) =>
    conditionText(each).replace("LCASE", "LOWER").replace("UCASE", "UPPER"),
  ),
  LENGTH: condition("length", (each) => conditionText(each).replace("STRLEN", "LENGTH")),
  "DATE '...'": condition("compare", ({ variable, operator, value }) =>
    value.endsWith("date") ? `${variable} ${operator} DATE '${value.slice(1, 11)}'` : undefined,
  ),
  '"..."xsd:date': condition("compare", ({ variable, operator, value }) =>
    value.endsWith("date") ? `${variable} ${operator} ${value.replace("^^", "")}` : undefined,
  ),
  ":city#name": patterns((line) => line.replace("\\#", "#")),
  JOIN: patterns((line, at) => (at === 0 ? line.replace(/ \.$/, "") : at === 1 ? `JOIN ${line}` : line)),
  "LEFT JOIN": optional((pattern) => `LEFT JOIN ${pattern}`),
  "OPTIONAL without braces": optional((pattern) => `OPTIONAL ${pattern}`),
  "AND between patterns": patterns((line, at) => (at === 0 ? line.replace(/ \.$/, " AND") : line)),
  "no dots": (gold, { patterns: lines }) => ({
    patterns: lines.map((line, at) => (at < gold.patterns.length ? line.replace(/ \.$/, "") : line)),
  }),
  "-- comment": (_, { select }) => ({ select: `-- what is asked\n${select}` }),
};

export interface BrokenQuery {
  readonly kind: string;
  readonly gold: string;
  readonly text: string;
}

/** Right queries with one habit each: those that the habit changes, and whose answer says something. */
export function brokenQueries(
  seed: number,
  perKind: number,
  isUseful: (gold: string) => boolean,
): readonly BrokenQuery[] {
  return Object.entries(habits).flatMap(([kind, habit]) => {
    const random = createRandom(seed);
    const made: BrokenQuery[] = [];
    for (let tries = 0; tries < 400 && made.length < perKind; tries++) {
      const value = goldQuery(random);
      const parts = partsOf(value);
      const gold = joined(parts);
      const text = joined({ ...parts, ...habit(value, parts, random) });
      if (text !== gold && isUseful(gold)) made.push({ kind, gold, text });
    }
    return made;
  });
}
