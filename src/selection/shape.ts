import { type AskedPattern, patternKey } from "../plan/source-selection.ts";
import { iriText } from "../rdf/term-text.ts";
import { rdf } from "../rdf/vocabularies.ts";
import { termToText } from "../results/terms.ts";
import type { PatternTerm, PlacedPattern } from "../sparql/patterns.ts";

/** A triple pattern, and the graph that it is matched in; blank nodes are variables. */
export interface Shape {
  readonly subject: PatternTerm;
  readonly predicate: PatternTerm;
  readonly object: PatternTerm;
  readonly graph?: PlacedPattern["graph"] | undefined;
}

/** `patternKey` of a shape. */
export const keyOf = ({ subject, predicate, object, graph }: Shape): string =>
  patternKey(textOf(subject), textOf(predicate), textOf(object), graphText(graph, "?"));

/** The name of a graph as SPARQL; undefined for the default graph. */
const graphText = (graph: Shape["graph"], variable: string): string | undefined =>
  typeof graph === "object" ? iriText(graph.iri) : graph && variable;

/** A constant as N-Triples; undefined for a variable. */
export function textOf(term: PatternTerm): string | undefined {
  if (term.kind === "variable") return undefined;
  return term.kind === "iri" ? iriText(term.iri) : termToText(term.literal);
}

/** A shape as it is asked for. */
export function toAsked(shape: Shape): AskedPattern {
  const [s, p, o] = [shape.subject, shape.predicate, shape.object].map(textOf);
  const text = `${s ?? "?s"} ${p ?? "?p"} ${o ?? "?o"}`;
  const graph = graphText(shape.graph, "?g");
  return { key: keyOf(shape), text: graph === undefined ? text : `GRAPH ${graph} { ${text} }` };
}

/** A place of a pattern that any term may stand in. */
export const anything: PatternTerm = { kind: "variable", name: "" };

/** A pattern that asks for the instances of one class. */
export const isInstance = (
  shape: Shape,
): shape is Shape & { readonly object: { readonly kind: "iri"; readonly iri: string } } =>
  shape.predicate.kind === "iri" && shape.predicate.iri === rdf.type && shape.object.kind === "iri";
