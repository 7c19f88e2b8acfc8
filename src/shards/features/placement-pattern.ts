import { compareText } from "../../rdf/canonical.ts";
import { iriText, literalText } from "../../rdf/term-text.ts";
import type { PatternTerm } from "../../sparql/path-steps.ts";
import type { PatternGraph, PlacedPattern } from "../../sparql/query-patterns.ts";
import type { Pattern } from "../problem.ts";

type Place = "subject" | "predicate" | "object";
const pairs: readonly (readonly [Place, Place])[] = [
  ["subject", "predicate"],
  ["subject", "object"],
  ["predicate", "object"],
];

/** A pattern of a query as the placement of triples sees it; terms are written as `rdf/term-text.ts` does. */
export function placementPattern(pattern: Omit<PlacedPattern, "inExists">): Pattern {
  const { subject, predicate, object, exceptPredicates, graph } = pattern;
  const constants = { subject: constantOf(subject), predicate: constantOf(predicate), object: constantOf(object) };
  const equal = pairs.filter(([left, right]) => isSameVariable(pattern[left], pattern[right]));
  return {
    ...(constants.subject !== undefined && { subject: constants.subject }),
    ...(constants.predicate !== undefined && { predicate: constants.predicate }),
    ...(constants.object !== undefined && { object: constants.object }),
    ...(graph !== undefined && { graph: graphText(graph) }),
    ...(exceptPredicates && { exceptPredicates: exceptPredicates.toSorted() }),
    ...(equal.length > 0 && { equal }),
  };
}

const graphText = (graph: PatternGraph): string => (typeof graph === "string" ? graph : iriText(graph.iri));

function constantOf(term: PatternTerm): string | undefined {
  if (term.kind === "variable") return undefined;
  return term.kind === "iri" ? iriText(term.iri) : literalText(term.literal);
}

const isSameVariable = (left: PatternTerm, right: PatternTerm): boolean =>
  left.kind === "variable" && right.kind === "variable" && left.name === right.name;

/** Each pattern once, in an order that does not depend on the query's. */
export function distinctPatterns(patterns: readonly Pattern[]): readonly Pattern[] {
  const byText = new Map(patterns.map((pattern) => [JSON.stringify(pattern), pattern]));
  return [...byText].toSorted(([left], [right]) => compareText(left, right)).map(([, pattern]) => pattern);
}
