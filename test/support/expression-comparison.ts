import sparqljs, { type Expression, type SelectQuery, type SparqlQuery } from "sparqljs";
import type * as RDF from "@rdfjs/types";
import { createOracle } from "./oracle.ts";
import { type CanonicalAnswer, canonicalText, toAnswer } from "./canonical-answer.ts";
import { testEngine, toBounds, toFederatedPlan } from "./engine-answer.ts";
import type { ExpressionCase } from "./expression-generator.ts";
import type { Bindings, QueryResult } from "../../src/results/model.ts";
import { termToText } from "../../src/results/terms.ts";

const engine = testEngine();
const oxigraph = createOracle(new Map());

const evaluated = (query: string): Promise<QueryResult> =>
  engine.execute(toFederatedPlan(query), { ...toBounds(), signal: AbortSignal.timeout(120_000) });

/** Our answer to a query that needs no endpoint, its rows in any order. */
export const ourAnswer = async (query: string): Promise<CanonicalAnswer> =>
  toAnswer(await evaluated(query), false, asOxigraphWrites);

const written = new Map<string, string>();

/** Oxigraph gives literals in canonical form ("01" as "1", "1"^^xsd:byte as an integer, "PT36H" as "P1DT12H"): so do we here. */
function asOxigraphWrites(term: RDF.Term): string {
  const text = termToText(term);
  if (term.termType !== "Literal") return canonicalText(text);
  const known = written.get(text);
  if (known !== undefined) return known;
  const answer = oxigraph.answer(`SELECT ?x { VALUES ?x { ${text} } }`);
  const canonical = answer.kind === "bindings" ? (answer.rows[0] ?? "").slice("?x=".length) : "";
  written.set(text, canonical);
  return canonical;
}

/** Oxigraph's answer; undefined when it refuses the query. */
export function oxigraphAnswer(query: string): CanonicalAnswer | undefined {
  try {
    return oxigraph.answer(query);
  } catch {
    return undefined;
  }
}

/** One call of a function or operator with values for arguments, on which two engines differ. */
export interface DifferingCall {
  /** The function in small letters, a cast by its IRI. */
  readonly name: string;
  /** Undefined: no value. */
  readonly args: readonly (RDF.Term | undefined)[];
  /** Canonical texts; "-" for no value. */
  readonly ours: string;
  readonly oxigraphs: string;
}

/**
 * What a case's answers differ in: the innermost calls on which the engines differ although they agree on the arguments;
 * where there are none, the grouping or aggregate around the expression, with all values that it had.
 */
export async function differencesOf(value: ExpressionCase): Promise<DifferingCall[]> {
  const { placement, expression, rows } = value;
  const isTested = placement === "filter" || placement === "optional" || placement === "having";
  const group = placement === "having" ? "GROUP BY ?a" : "";
  const found: DifferingCall[] = [];
  for (const row of rows) {
    found.push(...(await differingCalls(value, { tested: isTested ? `!(${expression})` : expression, row, group })));
  }
  return found.length > 0 ? found : [await around(value)];
}

interface Probe {
  readonly tested: string;
  readonly row: string;
  readonly group: string;
}

async function differingCalls({ prologue }: ExpressionCase, { tested, row, group }: Probe): Promise<DifferingCall[]> {
  const text = `${prologue} SELECT (${tested} AS ?z) { ${row} } ${group}`;
  const parsed = new sparqljs.Parser({ skipUngroupedVariableCheck: true }).parse(text) as SelectQuery;
  const [first] = parsed.variables;
  if (!first || !("expression" in first)) return [];
  // Within an aggregate there are solutions, outside of it there are groups.
  const calls = new Map(
    callsOf(first.expression)
      .filter(({ name }) => group === "" || !aggregateNames.has(name))
      .map((call) => [textOf(call, parsed), call]),
  );
  const found: DifferingCall[] = [];
  for (const call of calls.values()) {
    const differing = await differingOn(call, parsed);
    if (differing) found.push(differing);
  }
  return found;
}

const aggregateNames: ReadonlySet<string> = new Set("count sum min max avg sample group_concat".split(" "));

async function around({ placement, expression, functions, prologue, rows }: ExpressionCase): Promise<DifferingCall> {
  const args: (RDF.Term | undefined)[] = [];
  for (const row of rows) {
    const shown = placement === "having" ? "?a ?b ?c ?d" : `(${expression} AS ?z) ?a`;
    const result = await evaluated(`${prologue} SELECT ${shown} { ${row} }`);
    if (result.kind !== "bindings") continue;
    for await (const found of result.rows) args.push(...result.variables.map((name) => found.get(name)));
  }
  const aggregate = functions.findLast((name) => aggregateNames.has(name.toLowerCase()));
  const name = placement === "aggregate" && aggregate ? aggregate.toLowerCase() : placement;
  return { name, args, ours: "?", oxigraphs: "?" };
}

interface Call {
  readonly name: string;
  readonly whole: Expression;
  readonly args: readonly Expression[];
}

/** Inner calls before outer ones. */
function callsOf(expression: Expression): Call[] {
  if (!("type" in expression)) return [];
  const args = expression.type === "aggregate" ? [] : argumentsOf(expression);
  return [...args.flatMap(callsOf), { name: nameOf(expression), whole: expression, args }];
}

function nameOf(expression: Expression): string {
  const {
    operator,
    aggregation,
    function: called,
  } = expression as {
    operator?: string;
    aggregation?: string;
    function?: { value: string };
  };
  return (operator ?? aggregation ?? called?.value ?? "").toLowerCase();
}

function argumentsOf(expression: Expression): Expression[] {
  const { args = [], expression: only } = expression as { args?: readonly unknown[]; expression?: unknown };
  const all = [...args, ...(only === undefined ? [] : [only])].flat() as (Expression & {
    readonly type?: string;
    readonly termType?: string;
  })[];
  return all.filter((arg) => arg.type !== "group" && arg.type !== "bgp" && arg.termType !== "Wildcard");
}

const printer = new sparqljs.Generator({ allPrefixes: false });

function textOf({ whole, args }: Call, query: SelectQuery): string {
  const variables = [whole, ...args].map((expression, at) => ({
    expression: printable(expression),
    variable: { termType: "Variable", value: `z${at}` },
  }));
  return printer.stringify({ ...query, variables } as unknown as SparqlQuery);
}

/** The printer leaves out the brackets around what stands before IN. */
function printable(expression: Expression): Expression {
  if (!("args" in expression) || !("operator" in expression)) return expression;
  const args = (expression.args as Expression[]).map((arg) =>
    "operator" in arg || "function" in arg ? printable(arg) : arg,
  );
  const [tested, ...list] = args;
  const isList = expression.operator === "in" || expression.operator === "notin";
  if (!isList || !tested || !("operator" in tested)) return { ...expression, args };
  return { ...expression, args: [{ type: "operation", operator: "coalesce", args: [tested] }, ...list] };
}

async function differingOn(call: Call, query: SelectQuery): Promise<DifferingCall | undefined> {
  const text = textOf(call, query);
  const theirs = oxigraphAnswer(text);
  const result = await evaluated(text);
  if (theirs?.kind !== "bindings" || result.kind !== "bindings") return undefined;
  let row: Bindings | undefined;
  for await (const only of result.rows) row ??= only;
  const [value, ...args] = [call.whole, ...call.args].map((_, at) => row?.get(`z${at}`));
  const [ours, ...shown] = [value, ...args].map((term) => (term ? asOxigraphWrites(term) : "-"));
  const [oxigraphs, ...others] = cells(theirs.rows[0] ?? "", call);
  if (ours === undefined || oxigraphs === undefined || ours === oxigraphs) return undefined;
  return shown.every((cell, at) => cell === others[at]) ? { name: call.name, args, ours, oxigraphs } : undefined;
}

/** The columns of a canonical row. */
function cells(row: string, { args }: Call): string[] {
  const texts = new Map(
    row.split(/ (?=\?z\d+=)/).map((cell) => [cell.slice(1, cell.indexOf("=")), cell.slice(cell.indexOf("=") + 1)]),
  );
  return ["z0", ...args.map((_, at) => `z${at + 1}`)].map((name) => texts.get(name) ?? "-");
}
