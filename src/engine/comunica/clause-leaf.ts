import type { ComunicaDataFactory } from "@comunica/types";
import type * as RDF from "@rdfjs/types";
import { type Algebra, AlgebraFactory } from "@comunica/utils-algebra";
import type { ClauseVariable } from "../../plan/federated-clause.ts";

const CONS = "urn:fedway:cons";
const NIL = "urn:fedway:nil";

/** What a leaf shows of what it stands for. */
export interface LeafVariables {
  readonly iri: string;
  readonly variables: readonly ClauseVariable[];
}

/**
 * A SERVICE clause or a group of patterns as a leaf of Comunica's algebra: one quad pattern whose subject is a list of the clause's variables,
 * as nested quoted triples. All of Comunica's visitors see the variables, none sees the body.
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
