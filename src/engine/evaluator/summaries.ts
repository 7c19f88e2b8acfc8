import type * as RDF from "../../rdf/term.ts";
import type { Bindings } from "../../results/model.ts";
import type { PartialAggregate, Summary, Top } from "../demand.ts";
import { compareNumbers, integer, type Numeric } from "../expressions/numbers.ts";
import { numeric, valueOf } from "../expressions/values.ts";
import { patternVariable } from "../sources/triple-pattern.ts";
import type * as Algebra from "./algebra.ts";
import { termToText } from "../../results/terms.ts";
import { innerName } from "./inner-names.ts";
import { certainIn } from "./keyed-operation.ts";
import { type LeafClause, leafOf } from "./leaf.ts";
import { call, termOf } from "./operations.ts";

// Where solutions are those of leaves, put together by UNION or not, their endpoints can summarise them: an answer is then
// a row a group, or the first solutions of each, in the place of all. Whether an endpoint may is decided by its leaf
// (`../demand.ts`). Undefined where no summary is possible.

/**
 * GROUP BY over what endpoints computed for their parts of each group: numbers are added, of the least the least is taken
 * (SPARQL 1.1 Query, section 18.5.1).
 */
export function summarisedGroup({ input, variables, aggregates }: Algebra.Group): Algebra.Operation | undefined {
  const certain = certainIn(input);
  const partials = new Map<string, PartialAggregate>();
  const partialOf = (name: PartialAggregate["name"], of: string): string => {
    const as = innerName(`fedway_part${partials.size}`);
    const known = partials.get(`${name} ${of}`) ?? { name, of, as };
    partials.set(`${name} ${of}`, known);
    return known.as;
  };
  const merged = aggregates.map((aggregate) => mergedAggregate(aggregate, { certain, partialOf }));
  if (aggregates.length === 0 || merged.some((one) => one === undefined)) return undefined;
  const by = variables.map(({ value }) => value);
  const hasExtremes = aggregates.some(({ aggregator }) => aggregator === "min" || aggregator === "max");
  // An endpoint without solutions has a row for its one group of none, with an extreme that is no value.
  const count = by.length === 0 && hasExtremes ? partialOf("COUNT", "*") : undefined;
  const aggregated: Summary = { by, aggregates: [...partials.values()] };
  const leaves = summarisedLeaves(input, (clause) => clause.summarising?.(aggregated));
  if (!leaves) return undefined;
  const some = count === undefined ? leaves : someOf(leaves, count);
  const all = merged.flatMap((one) => one?.aggregates ?? []);
  const distinct = new Map(all.map((one) => [one.variable.value, one]));
  const group: Algebra.Operation = { type: "group", input: some, variables, aggregates: [...distinct.values()] };
  return merged.reduce<Algebra.Operation>(
    (operation, one) => (one?.extend ? { type: "extend", input: operation, ...one.extend } : operation),
    group,
  );
}

interface MergedAggregate {
  readonly aggregates: readonly Algebra.BoundAggregate[];
  /** Computed of them. */
  readonly extend?: Pick<Algebra.Extend, "variable" | "expression">;
}

interface Merging {
  /** Variables that each solution binds. */
  readonly certain: ReadonlySet<string>;
  /** The variable for a part that endpoints compute. */
  readonly partialOf: (name: PartialAggregate["name"], of: string) => string;
}

/** How an aggregate is computed of those of parts. */
function mergedAggregate(
  aggregate: Algebra.BoundAggregate,
  { certain, partialOf }: Merging,
): MergedAggregate | undefined {
  const { aggregator, distinct, variable } = aggregate;
  const of = aggregatedIn(aggregate.expression);
  const isExtreme = aggregator === "min" || aggregator === "max";
  if (of === undefined || (distinct && !isExtreme)) return undefined;
  switch (aggregator) {
    case "count":
      return { aggregates: [aggregateOf("sum", variable, partialOf("COUNT", certain.has(of) ? "*" : of))] };
    case "sum":
      return { aggregates: [aggregateOf("sum", variable, partialOf("SUM", of))] };
    case "min":
    case "max":
      return { aggregates: [aggregateOf(aggregator, variable, partialOf(aggregator === "min" ? "MIN" : "MAX", of))] };
    case "avg": {
      const [sum, count] = [allOf(partialOf("SUM", of)), allOf(partialOf("COUNT", "*"))];
      const [sumTerm, countTerm] = [termOf(sum.variable), termOf(count.variable)];
      // The average of nothing is 0.
      const expression = call("if", call("=", countTerm, zero), zero, call("/", sumTerm, countTerm));
      return { aggregates: [sum, count], extend: { variable, expression } };
    }
    default:
      return undefined;
  }
}

const zero = termOf(numeric(integer(0)));

/** An aggregate over what endpoints computed. */
function aggregateOf(aggregator: string, variable: RDF.Variable, part: string): Algebra.BoundAggregate {
  const expression = termOf(patternVariable(part));
  return { type: "expression", subType: "aggregate", aggregator, distinct: false, expression, variable };
}

/** The sum of a part under a name of its own. */
const allOf = (part: string): Algebra.BoundAggregate => aggregateOf("sum", patternVariable(`${part}_all`), part);

/** Those of the rows whose endpoints have solutions. */
const someOf = (input: Algebra.Operation, count: string): Algebra.Operation => ({
  type: "filter",
  input,
  expression: call(">", termOf(patternVariable(count)), zero),
});

/** ORDER BY of which only the first rows are wanted, over the first ones of each leaf. */
export function summarisedOrder({ limit, ...order }: Algebra.OrderBy): Algebra.OrderBy | undefined {
  const [first, ...others] = order.expressions;
  if (limit === undefined || !first) return undefined;
  const isDescending = first.subType === "operator" && first.operator === "desc";
  const variable = aggregatedIn(isDescending ? first.args[0] : first);
  if (variable === undefined || variable === "*") return undefined;
  const top: Top = { order: variable, descending: isDescending, rows: limit };
  const wanted: Top = others.length === 0 ? top : { ...top, withTies: (ask) => tiedRows(top, ask) };
  const input = summarisedLeaves(order.input, (clause) => clause.summarising?.(wanted));
  return input && { ...order, limit, input };
}

function summarisedLeaves(
  operation: Algebra.Operation,
  summary: (clause: LeafClause) => LeafClause | undefined,
): Algebra.Operation | undefined {
  if (operation.type === "fedway:leaf") {
    const made = summary(operation.clause);
    return made && leafOf(made);
  }
  if (operation.type !== "union") return undefined;
  const input = operation.input.flatMap((part) => summarisedLeaves(part, summary) ?? []);
  return input.length < operation.input.length ? undefined : { type: "union", input };
}

type Batches = AsyncIterable<readonly Bindings[]>;

/**
 * The first solutions of one endpoint and all that equal the last of them. One more than are wanted is requested, which shows whether
 * there are others. Of several endpoints each has its own cut: their answers together say nothing of what one has left out.
 * @param ask solutions that the endpoint summarises so; undefined: all of them
 */
async function* tiedRows(top: Top, ask: (top: Top | undefined) => Batches): Batches {
  const rows: Bindings[] = [];
  for await (const batch of ask({ ...top, rows: top.rows + 1 })) rows.push(...batch);
  const numbers = rows.length <= top.rows ? [] : rows.map((row) => numberIn(row, top.order));
  const known = numbers.filter((number) => number !== undefined);
  const bound = tiedNumber(known, top);
  // What a description called a number and is none has its place in the order of all solutions.
  if (known.length < numbers.length) yield* ask(undefined);
  else if (bound === undefined) yield rows;
  else yield* ask({ ...top, bound: termToText(numeric(bound)) });
}

function numberIn(row: Bindings, name: string): Numeric | undefined {
  const term = row.get(name);
  const value = term?.termType === "Literal" ? valueOf(term) : undefined;
  return value?.kind === "number" ? value.number : undefined;
}

/** The last number that is wanted, where the next one equals it. */
function tiedNumber(numbers: readonly Numeric[], { rows, descending }: Top): Numeric | undefined {
  const sign = descending ? -1 : 1;
  const sorted = numbers.toSorted((one, other) => sign * compareNumbers(one, other));
  const [last, next] = [sorted[rows - 1], sorted[rows]];
  return last && next && compareNumbers(last, next) === 0 ? last : undefined;
}

/** A variable, or `*`. */
function aggregatedIn(expression: Algebra.Expression | undefined): string | undefined {
  if (expression?.subType === "wildcard") return "*";
  return expression?.subType === "term" && expression.term.termType === "Variable" ? expression.term.value : undefined;
}
