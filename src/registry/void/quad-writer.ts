import type * as RDF from "@rdfjs/types";
import { dataFactory } from "../../rdf/data-factory.ts";
import { rdf, xsd } from "../../rdf/vocabularies.ts";

/** Gathers triples about nodes that are named by IRI. */
export interface QuadWriter {
  readonly quads: readonly RDF.Quad[];
  /** A blank node of its own. */
  blank(): RDF.BlankNode;
  type(subject: Subject, ...types: readonly string[]): void;
  link(subject: Subject, predicate: string, object: Subject | undefined): void;
  text(subject: Subject, predicate: string, value: string | undefined): void;
  /** A whole number as xsd:integer, any other as xsd:decimal. */
  number(subject: Subject, predicate: string, value: number | undefined): void;
  flag(subject: Subject, predicate: string, value: boolean): void;
  /** An ISO 8601 moment. */
  time(subject: Subject, predicate: string, value: string | undefined): void;
}

/** An IRI, or a blank node of the same writer. */
export type Subject = string | RDF.BlankNode;

const decimalDigits = 6;

const node = (subject: Subject): RDF.NamedNode | RDF.BlankNode =>
  typeof subject === "string" ? dataFactory.namedNode(subject) : subject;

/** An empty writer; `undefined` values write nothing. */
export function createQuadWriter(): QuadWriter {
  const quads: RDF.Quad[] = [];
  const add = (subject: Subject, predicate: string, object: RDF.NamedNode | RDF.BlankNode | RDF.Literal): void => {
    quads.push(dataFactory.quad(node(subject), dataFactory.namedNode(predicate), object));
  };
  const typed = (subject: Subject, predicate: string, [value, datatype]: readonly [string, string]): void => {
    add(subject, predicate, dataFactory.literal(value, dataFactory.namedNode(datatype)));
  };
  return {
    quads,
    blank: () => dataFactory.blankNode(),
    type(subject, ...types) {
      for (const type of types) add(subject, rdf.type, dataFactory.namedNode(type));
    },
    link(subject, predicate, object) {
      if (object !== undefined) add(subject, predicate, node(object));
    },
    text(subject, predicate, value) {
      if (value !== undefined) add(subject, predicate, dataFactory.literal(value));
    },
    number(subject, predicate, value) {
      if (value === undefined || !Number.isFinite(value)) return;
      const text = String(value);
      if (Number.isSafeInteger(value)) typed(subject, predicate, [text, xsd.integer]);
      // Decimals have no exponent.
      else typed(subject, predicate, [text.includes("e") ? value.toFixed(decimalDigits) : text, xsd.decimal]);
    },
    flag: (subject, predicate, value) => typed(subject, predicate, [String(value), xsd.boolean]),
    time(subject, predicate, value) {
      if (value !== undefined) typed(subject, predicate, [value, xsd.dateTime]);
    },
  };
}
