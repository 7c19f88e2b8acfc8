/**
 * RDF terms as the RDF/JS data model has them (https://rdf.js.org/data-model-spec/), so that terms of any RDF/JS library are
 * assignable to these types, and the other way round.
 */
export type Term = NamedNode | BlankNode | Literal | Variable | DefaultGraph | BaseQuad;

interface Comparable {
  equals(other: Term | null | undefined): boolean;
}

export interface NamedNode extends Comparable {
  termType: "NamedNode";
  value: string;
}

export interface BlankNode extends Comparable {
  termType: "BlankNode";
  value: string;
}

export interface Literal extends Comparable {
  termType: "Literal";
  value: string;
  language: string;
  direction?: "ltr" | "rtl" | "" | null;
  datatype: NamedNode;
}

export interface Variable extends Comparable {
  termType: "Variable";
  value: string;
}

interface DefaultGraph extends Comparable {
  termType: "DefaultGraph";
  value: "";
}

interface BaseQuad extends Comparable {
  termType: "Quad";
  value: "";
  subject: Term;
  predicate: Term;
  object: Term;
  graph: Term;
}

/** A triple in the default graph or a named one. */
export interface Quad extends BaseQuad {
  subject: NamedNode | BlankNode | Quad | Variable;
  predicate: NamedNode | Variable;
  object: NamedNode | Literal | BlankNode | Quad | Variable;
  graph: DefaultGraph | NamedNode | BlankNode | Variable;
}
