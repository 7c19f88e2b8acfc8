import { itemAt } from "../../values.ts";
import type { Aggregate, Column, Draft, Inner, Test } from "./draft.ts";
import type { Schema } from "./schema.ts";

/** A query's parts, so that it can be counted: a prologue stands before all, a body can be a subquery. */
export interface DraftQuery {
  readonly prologue: string;
  readonly body: string;
  /** The pattern alone, without what the columns, groups and limits make of it. */
  readonly pattern: string;
}

/** The whole query. */
export const textOf = ({ prologue, body }: DraftQuery): string => prologue + body;

interface Writing {
  readonly schema: Schema;
  readonly prefixes: Set<string>;
  /** Patterns stand in SERVICE groups. */
  readonly isFederated: boolean;
  /** Columns that are written under another name: those of a pattern that is compared. */
  readonly renamed: ReadonlyMap<string, string>;
}

/**
 * Writes what steps have made.
 * @param isAlone the query names its endpoint also where there is only one, for use outside of Fedway
 */
export function writeDraft(draft: Draft, schema: Schema, isAlone = false): DraftQuery {
  const isFederated = schema.sources.length > 1;
  const writing: Writing = { schema, prefixes: new Set(), isFederated, renamed: new Map() };
  const inside = patternText(draft, writing);
  const wrapped = isAlone && !isFederated;
  const pattern = wrapped ? `SERVICE <${itemAt(schema.sources, 0).id}> {\n${inside}\n}` : inside;
  const body = `SELECT ${draft.distinct ? "DISTINCT " : ""}${headText(draft)}\nWHERE {\n${pattern}\n}${tailText(draft)}`;
  const prologue = [...writing.prefixes].toSorted().map((prefix) => `${schema.table.declaration(prefix)}\n`);
  return { prologue: prologue.join(""), body, pattern };
}

const variable = (name: string, { renamed }: Writing): string => `?${renamed.get(name) ?? name}`;

function termText(iri: string, { schema, prefixes }: Writing): string {
  const short = schema.table.short(iri);
  for (const prefix of short.prefixes) prefixes.add(prefix);
  return short.text;
}

/** Triples by endpoint, in the order in which endpoints were chosen; conditions beside the triples that bind their columns. */
function patternText(draft: Draft, writing: Writing): string {
  const groups = Map.groupBy(draft.triples, ({ at }) => at);
  const conditions = draft.conditions.map((tests) => ({
    columns: columnsOf(tests),
    text: conditionText(tests, draft.columns, writing),
  }));
  const parts: string[] = [];
  const placed = new Set<object>();
  for (const [at, triples] of groups) {
    const lines = triples.map(({ subject, predicate, object }) => {
      const value = predicate === "a" ? termText(object, writing) : variable(object, writing);
      return `${variable(subject, writing)} ${predicate === "a" ? "a" : termText(predicate, writing)} ${value} .`;
    });
    const bound = new Set(triples.flatMap(({ subject, object }) => [subject, object]));
    const own = conditions.filter(
      (each) => !placed.has(each) && [...each.columns].every((column) => bound.has(column)),
    );
    for (const each of own) placed.add(each);
    parts.push(grouped(at, [...lines, ...own.map(({ text }) => text)], writing));
  }
  for (const each of conditions) if (!placed.has(each)) parts.push(`  ${each.text}`);
  for (const inner of draft.inner) parts.push(innerText(inner, draft.columns, writing));
  return parts.join("\n");
}

function grouped(at: string, lines: readonly string[], { schema, isFederated }: Writing): string {
  const source = schema.sources.findIndex(({ id }) => id === at);
  const inGraph = schema.sources[source]?.description.namedGraphs !== undefined;
  const open = `${isFederated ? `SERVICE <${at}> { ` : ""}${inGraph ? `GRAPH ?graph${source} { ` : ""}`;
  const close = `${inGraph ? " }" : ""}${isFederated ? " }" : ""}`;
  if (open === "") return lines.map((line) => `  ${line}`).join("\n");
  return [`  ${open.trimEnd()}`, ...lines.map((line) => `    ${line}`), `  ${close.trim()}`].join("\n");
}

const columnsOf = (tests: readonly Test[]): ReadonlySet<string> =>
  new Set(tests.flatMap(({ column, other }) => (other === undefined ? [column] : [column, other])));

function conditionText(tests: readonly Test[], columns: readonly Column[], writing: Writing): string {
  return `FILTER(${tests.map((test) => testText(test, columns, writing)).join(" || ")})`;
}

function testText({ column, operator, value = "", other }: Test, columns: readonly Column[], writing: Writing): string {
  const name = variable(column, writing);
  if (other !== undefined) return `${name} ${operator} ${variable(other, writing)}`;
  if (operator === "contains") return `CONTAINS(LCASE(STR(${name})), ${JSON.stringify(value.toLowerCase())})`;
  const kind = columns.find((each) => each.variable === column)?.kind;
  if (kind === "number" && isNumber(value)) return `${name} ${operator} ${value}`;
  return `STR(${name}) ${operator} ${JSON.stringify(value)}`;
}

/** A number as SPARQL writes one. */
export const isNumber = (value: string): boolean => /^-?\d{1,15}(?:\.\d{1,15})?$/.test(value);

function innerText({ opened, closed, draft }: Inner, columns: readonly Column[], writing: Writing): string {
  if (opened.step === "except") {
    const renamed = new Map([...writing.renamed, [closed.column, opened.column]]);
    // The only variable that both sides have is the column. Engines evaluate MINUS once, and NOT EXISTS often once a row.
    return `  MINUS {\n${patternText(draft, { ...writing, renamed })}\n  }`;
  }
  const figure = `figure_${closed.column}`;
  const select = `SELECT (${aggregateText(closed.aggregate ?? { function: "count", distinct: false }, "")} AS ?${figure})`;
  const test = testText({ column: opened.column, operator: opened.operator, other: figure }, columns, writing);
  return `  { ${select} WHERE {\n${patternText(draft, writing)}\n  } }\n  FILTER(${test})`;
}

/** Without columns that were chosen to be shown: the keys of groups, else all values, else the nodes. */
function headText(draft: Draft): string {
  const values = draft.columns.filter(({ kind }) => kind !== "node");
  const all = (values.length > 0 ? values : draft.columns).map((column) => column.variable);
  const items = draft.shown.length > 0 ? draft.shown : draft.groups.length > 0 ? draft.groups : all;
  return items.map((item) => (typeof item === "string" ? `?${item}` : aggregateText(item))).join(" ");
}

function aggregateText(
  { function: name, distinct, column }: Aggregate,
  as = aliasOf({ function: name, distinct, column }),
): string {
  const call = `${name.toUpperCase()}(${distinct ? "DISTINCT " : ""}${column === undefined ? "*" : `?${column}`})`;
  return as === "" ? call : `(${call} AS ?${as})`;
}

const aliasOf = ({ function: name, distinct, column = "rows" }: Aggregate): string =>
  `${name}_${distinct ? "distinct_" : ""}${column}`;

function tailText({ groups, having, order, limit }: Draft): string {
  const tests = having.map(({ aggregate, operator, value }) => `${aggregateText(aggregate, "")} ${operator} ${value}`);
  const keys = order.map(
    ({ by, descending }) =>
      `${descending ? "DESC" : "ASC"}(${typeof by === "string" ? `?${by}` : aggregateText(by, "")})`,
  );
  return [
    groups.length > 0 ? `\nGROUP BY ${groups.map((name) => `?${name}`).join(" ")}` : "",
    tests.length > 0 ? `\nHAVING(${tests.join(" && ")})` : "",
    keys.length > 0 ? `\nORDER BY ${keys.join(" ")}` : "",
    limit === undefined ? "" : `\nLIMIT ${limit}`,
  ].join("");
}
