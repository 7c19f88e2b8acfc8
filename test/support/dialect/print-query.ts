import { type Aggregate, type Condition, type Gold, type Pattern, prologue } from "./gold-query.ts";

/** The parts of a query as they are written. */
export interface Parts {
  readonly select: string;
  readonly columns: readonly string[];
  readonly between: string;
  readonly where: string;
  readonly patterns: readonly string[];
  readonly filters: readonly string[];
  readonly close: string;
  readonly modifiers: readonly string[];
}

export const callOf = ({ name, isDistinct, argument }: Aggregate): string =>
  `${name}(${isDistinct ? "DISTINCT " : ""}${argument})`;

export const patternText = ({ subject, property, object }: Pattern): string => `${subject} ${property} ${object} .`;

export function conditionText(condition: Condition): string {
  const { variable } = condition;
  switch (condition.kind) {
    case "compare":
      return `${variable} ${condition.operator} ${condition.value}`;
    case "text":
      return `${condition.place}(STR(${variable}), "${condition.text}")`;
    case "range":
      return `${variable} >= ${condition.from} && ${variable} <= ${condition.to}`;
    case "in":
      return `${variable} ${condition.isNot ? "NOT IN" : "IN"} (${condition.values.join(", ")})`;
    case "case": {
      const text = condition.name === "LCASE" ? condition.text.toLowerCase() : condition.text.toUpperCase();
      return `CONTAINS(${condition.name}(${variable}), "${text}")`;
    }
    case "length":
      return `STRLEN(${variable}) ${condition.operator} ${condition.value}`;
    default:
      return `${condition.isNot ? "" : "!"}BOUND(${variable})`;
  }
}

export const aggregateOf = ({ columns }: Gold): Aggregate | undefined =>
  columns.find((each) => typeof each !== "string");

export function havingText(gold: Gold): string {
  const aggregate = aggregateOf(gold);
  return gold.having && aggregate ? `${callOf(aggregate)} ${gold.having.operator} ${gold.having.value}` : "";
}

/** The words of a solution modifier before what it has; nothing where it has nothing. */
export const clause = (words: string, text: string): string => (text === "" ? "" : `${words} ${text}`);

export const orderText = ({ orderBy }: Gold): string =>
  clause("ORDER BY", orderBy.map(({ key, isDescending }) => (isDescending ? `DESC(${key})` : key)).join(" "));

export const sliceText = ({ limit, offset }: Gold): string =>
  `${limit === undefined ? "" : `LIMIT ${limit}`} ${offset === undefined ? "" : `OFFSET ${offset}`}`.trim();

export const groupText = ({ groupBy }: Gold): string => clause("GROUP BY", groupBy.join(" "));

/** A query as SPARQL 1.1 writes it. */
export const partsOf = (gold: Gold): Parts => ({
  select: gold.isDistinct ? "SELECT DISTINCT" : "SELECT",
  columns: gold.columns.map((each) => (typeof each === "string" ? each : `(${callOf(each)} AS ${each.alias})`)),
  between: " ",
  where: "WHERE {",
  patterns: [
    ...gold.patterns.map(patternText),
    ...(gold.optional ? [`OPTIONAL { ${patternText(gold.optional)} }`] : []),
  ],
  filters: gold.conditions.map((each) => `FILTER(${conditionText(each)})`),
  close: "}",
  modifiers: [
    groupText(gold),
    clause("HAVING", havingText(gold) && `(${havingText(gold)})`),
    orderText(gold),
    sliceText(gold),
  ],
});

export function joined({ select, columns, between, where, patterns, filters, close, modifiers }: Parts): string {
  const body = [...patterns, ...filters].map((line) => `  ${line}`);
  const lines = [`${select} ${columns.join(between)}`, where, ...body, close, ...modifiers];
  return prologue + lines.filter((line) => line.trim() !== "").join("\n");
}
