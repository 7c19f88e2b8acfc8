import type { Counting } from "../demand.ts";
import type * as Algebra from "./algebra.ts";
import { iri } from "../expressions/values.ts";
import { groupVariables } from "./conjuncts.ts";
import { leafVariables } from "./leaf.ts";
import { patternVariable } from "../sources/triple-pattern.ts";
import { innerName } from "./inner-names.ts";

const xsdInteger = "http://www.w3.org/2001/XMLSchema#integer";

/**
 * GROUP BY over the numbers that endpoints counted, which are added (the sum of none is 0; SPARQL 1.1 Query, section
 * 18.5.1): a UNION has the solutions of all of its branches. Undefined where anything but solutions of leaves is aggregated,
 * or they cannot be counted where they are.
 */
export function countedGroup(
  { input, variables, aggregates }: Algebra.Group,
  countingLeaf: CountingLeaf,
): Algebra.Group | undefined {
  const certain = certainIn(input);
  const counted = aggregates.flatMap((aggregate) => countedOf(aggregate, certain) ?? []);
  if (aggregates.length === 0 || counted.length < aggregates.length) return undefined;
  const counts = new Map([...new Set(counted)].map((what, index) => [what, innerName(`fedway_count${index}`)]));
  const leaves = countingLeaves(input, { by: variables.map(({ value }) => value), counts }, countingLeaf);
  if (!leaves) return undefined;
  // An endpoint may give its counts as numbers of another type, or as texts.
  const sums = aggregates.map((aggregate, index) => {
    const term = patternVariable(counts.get(counted[index] ?? "") ?? "");
    const args = [{ type: "expression", subType: "term", term }] as const;
    const expression = { type: "expression", subType: "named", name: iri(xsdInteger), args } as const;
    return { ...aggregate, aggregator: "sum", distinct: false, expression };
  });
  return { type: "group", input: leaves, variables, aggregates: sums };
}

/** Variables that each solution of a UNION of leaves binds. */
function certainIn(operation: Algebra.Operation): ReadonlySet<string> {
  if (operation.type === "fedway:patterns") {
    return new Set(groupVariables(operation.conjuncts).flatMap(({ name, certain }) => (certain ? [name] : [])));
  }
  if (operation.type === "fedway:leaf") {
    return new Set(leafVariables(operation.clause).flatMap(({ name, certain }) => (certain ? [name] : [])));
  }
  const [first, ...others] = operation.type === "union" ? operation.input.map(certainIn) : [];
  return others.reduce((common, one) => common.intersection(one), new Set(first));
}

/** What COUNT counts: `*`, as for a variable that each solution binds, or another variable. */
function countedOf(
  { aggregator, distinct, expression }: Algebra.BoundAggregate,
  certain: ReadonlySet<string>,
): string | undefined {
  if (aggregator !== "count" || distinct) return undefined;
  if (expression.subType !== "term") return expression.subType === "wildcard" ? "*" : undefined;
  const { termType, value } = expression.term;
  return termType === "Variable" ? (certain.has(value) ? "*" : value) : undefined;
}

type CountingLeaf = (operation: Algebra.Operation, counting: Counting) => Algebra.Operation | undefined;

function countingLeaves(
  operation: Algebra.Operation,
  counting: Counting,
  countingLeaf: CountingLeaf,
): Algebra.Operation | undefined {
  if (operation.type !== "union") return countingLeaf(operation, counting);
  const input = operation.input.flatMap((part) => countingLeaves(part, counting, countingLeaf) ?? []);
  return input.length < operation.input.length ? undefined : { type: "union", input };
}
