import type * as RDF from "@rdfjs/types";
import type { Triple } from "../../rdf/triple-index.ts";
import type { Bindings } from "../../results/model.ts";
import { termToText } from "../../results/terms.ts";

/** A triple pattern (SPARQL 1.1 Query, section 18.1.5); blank nodes in it are constants, labels of one execution. */
export interface TriplePattern {
  readonly subject: RDF.Term;
  readonly predicate: RDF.Term;
  readonly object: RDF.Term;
  /** IRIs that the predicate must not be: a negated property set (section 9.1). */
  readonly not?: readonly string[];
  /** Absent: the default graph. */
  readonly graphs?: Graphs | undefined;
}

/** The named graphs in whose merge a pattern is matched: several IRIs or none, or what stands behind one GRAPH. */
export type Graphs = readonly RDF.Term[];

/** The variable of `GRAPH ?g`. */
export const graphVariable = (graphs: Graphs = []): RDF.Term | undefined =>
  graphs.find(({ termType }) => termType === "Variable");

/** A variable of a pattern that is made here. */
export function patternVariable(name: string): RDF.Variable {
  return {
    termType: "Variable",
    value: name,
    equals: (other) => other?.termType === "Variable" && other.value === name,
  };
}

const places = ["subject", "predicate", "object"] as const;

/** The terms of a pattern, those of its graphs last. */
const termsOf = (pattern: TriplePattern): readonly RDF.Term[] => [
  ...places.map((place) => pattern[place]),
  ...(pattern.graphs ?? []),
];

/** Names of a pattern's variables, each once. */
export function variablesOf(pattern: TriplePattern): readonly string[] {
  const names = termsOf(pattern).flatMap(({ termType, value }) => (termType === "Variable" ? [value] : []));
  return [...new Set(names)];
}

/** In how many places of patterns a variable stands. */
export const placesOf = (name: string, patterns: readonly TriplePattern[]): number =>
  patterns
    .flatMap((pattern) => termsOf(pattern))
    .filter(({ termType, value }) => termType === "Variable" && value === name).length;

/** The parts of a pattern that are not variables. */
export function constantParts({ subject, predicate, object }: TriplePattern) {
  return { subject: constant(subject), predicate: constant(predicate), object: constant(object) };
}

const constant = (term: RDF.Term): RDF.Term | undefined => (term.termType === "Variable" ? undefined : term);

/** The pattern with the variables of a solution replaced; undefined when no triple could match it. */
export function substitute(pattern: TriplePattern, values: Bindings): TriplePattern | undefined {
  const fill = (term: RDF.Term): RDF.Term => (term.termType === "Variable" ? (values.get(term.value) ?? term) : term);
  const filled: TriplePattern = {
    ...pattern,
    subject: fill(pattern.subject),
    predicate: fill(pattern.predicate),
    object: fill(pattern.object),
    graphs: pattern.graphs?.map(fill),
  };
  if (filled.graphs?.some(({ termType }) => termType === "Literal")) return undefined;
  if (filled.subject.termType === "Literal" || filled.predicate.termType === "Literal") return undefined;
  return filled.predicate.termType === "BlankNode" ? undefined : filled;
}

/** The solution that a triple is for a pattern; undefined when it does not match. */
export function matchTriple(pattern: TriplePattern, triple: Triple): Bindings | undefined {
  if (pattern.not?.includes(triple.predicate.value)) return undefined;
  const solution = new Map<string, RDF.Term>();
  for (const place of places) {
    const wanted = pattern[place];
    const term: RDF.Term = triple[place];
    const expected = wanted.termType === "Variable" ? solution.get(wanted.value) : wanted;
    if (expected && !expected.equals(term)) return undefined;
    if (wanted.termType === "Variable") solution.set(wanted.value, term);
  }
  return solution;
}

/** A pattern as text; equal for equal patterns. */
export function patternText(pattern: TriplePattern): string {
  const not = pattern.not?.map((iri) => ` !<${iri}>`).join("") ?? "";
  const graphs = pattern.graphs?.map((graph) => termToText(graph)).join(" ");
  return `${places.map((place) => termToText(pattern[place])).join(" ")}${not}${graphs === undefined ? "" : ` GRAPH ${graphs}`}`;
}

/** Constants of a pattern that narrow it, as in `FederatedClause.selectivity`. */
export function patternSelectivity({ subject, predicate, object }: TriplePattern): number {
  const isClass = predicate.value === "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
  const ofSubject = subject.termType === "Variable" ? 0 : 4;
  const ofObject = object.termType === "Variable" ? 0 : 2;
  return ofSubject + (isClass ? ofObject / 4 : ofObject) + (predicate.termType === "Variable" ? 0 : 0.5);
}
