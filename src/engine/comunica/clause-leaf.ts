import type { ComunicaDataFactory } from "@comunica/types";
import type * as RDF from "@rdfjs/types";
import { type Algebra, AlgebraFactory } from "@comunica/utils-algebra";
import type { ClauseVariable } from "../../plan/federated-clause.ts";

const CONS = "urn:fedway:cons";
const NIL = "urn:fedway:nil";

/** A clause's variables that evaluation has replaced by terms (EXISTS and correlated OPTIONAL substitute row by row). */
export type Substitution = ReadonlyMap<string, RDF.Term>;

/** What a leaf shows of what it stands for. */
export interface LeafVariables {
  readonly iri: string;
  readonly variables: readonly ClauseVariable[];
}

/**
 * A SERVICE clause or a group of patterns as a leaf of Comunica's algebra: one quad pattern whose subject is a list of the clause's variables,
 * as nested quoted triples. All of Comunica's visitors (scope, substitution) see the variables, none sees the body.
 */
export function toLeaf(clause: LeafVariables, dataFactory: ComunicaDataFactory): Algebra.Pattern {
  const nil = dataFactory.namedNode(NIL);
  const cons = dataFactory.namedNode(CONS);
  const list = clause.variables.reduceRight<RDF.Quad_Subject>(
    (rest, variable) => dataFactory.quad(dataFactory.variable(variable.name), cons, rest),
    nil,
  );
  return new AlgebraFactory(dataFactory).createPattern(list, dataFactory.namedNode(clause.iri), nil);
}

/** Reads back which variables of a leaf have been replaced by terms since `toLeaf`. */
export function substitutionOf(leaf: Algebra.Pattern, clause: LeafVariables): Substitution {
  const substitution = new Map<string, RDF.Term>();
  let list: RDF.Term = leaf.subject;
  for (const { name } of clause.variables) {
    if (list.termType !== "Quad") throw new Error(`The leaf of ${clause.iri} lost its variables`);
    if (list.subject.termType !== "Variable") substitution.set(name, list.subject);
    list = list.object;
  }
  return substitution;
}
