import type * as RDF from "@rdfjs/types";
import { dataFactory } from "../../rdf/triple-index.ts";
import { rdf, xsd, dqv, prov } from "../../rdf/vocabularies.ts";
import type { FactStatus } from "./void-description.ts";

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
type Subject = string | RDF.BlankNode;

const decimalDigits = 6;

const nodeOf = (subject: Subject): RDF.NamedNode | RDF.BlankNode =>
  typeof subject === "string" ? dataFactory.namedNode(subject) : subject;

/** An empty writer; `undefined` values write nothing. */
export function createQuadWriter(): QuadWriter {
  const quads: RDF.Quad[] = [];
  const add = (subject: Subject, predicate: string, object: RDF.NamedNode | RDF.BlankNode | RDF.Literal): void => {
    quads.push(dataFactory.quad(nodeOf(subject), dataFactory.namedNode(predicate), object));
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
      if (object !== undefined) add(subject, predicate, nodeOf(object));
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

const namespace = "https://w3id.org/fedway/ns#";

/** Fedway's own terms for how a description was found out; described in this folder's README. */
export const measured = {
  at: `${namespace}at`,
  bytes: `${namespace}bytes`,
  classesComplete: `${namespace}classesComplete`,
  durationMs: `${namespace}durationMs`,
  factStatus: `${namespace}factStatus`,
  describedGraph: `${namespace}describedGraph`,
  graphsComplete: `${namespace}graphsComplete`,
  httpStatus: `${namespace}httpStatus`,
  objectsComplete: `${namespace}objectsComplete`,
  outcome: `${namespace}outcome`,
  position: `${namespace}position`,
  propertiesComplete: `${namespace}propertiesComplete`,
  query: `${namespace}query`,
  requests: `${namespace}requests`,
  rung: `${namespace}rung`,
  source: `${namespace}source`,
  unfinished: `${namespace}unfinished`,
  unknown: `${namespace}unknown`,
  what: `${namespace}what`,
  why: `${namespace}why`,
} as const;

/** Notes how statements are known; statements known alike share one measurement, which keeps documents small. */
export interface StatusNotes {
  add(node: string, predicate: string, known: { readonly status: FactStatus; readonly record: number }): void;
  /** Writes all notes; call once. */
  write(): void;
  /** IRI of the request at a position of the description's records. */
  requestIri(position: number): string;
}

/** The term under which a note names the property it speaks of. */
export const noteSubject = `${rdf.namespace}predicate`;

/** Notes for one document; measurements and requests are named below `base`. */
export function createStatusNotes(writer: QuadWriter, base: string): StatusNotes {
  const nodesByNote = new Map<string, string[]>();
  const requestIri = (position: number): string => `${base}#request-${position + 1}`;
  return {
    requestIri,
    add(node, predicate, { status, record }) {
      const key = `${status} ${record} ${predicate}`;
      const nodes = nodesByNote.get(key);
      if (nodes === undefined) nodesByNote.set(key, [node]);
      else nodes.push(node);
    },
    write() {
      let position = 0;
      for (const [key, nodes] of nodesByNote) {
        const [status = "", record = "", predicate = ""] = key.split(" ");
        position += 1;
        const note = `${base}#measurement-${position}`;
        writer.type(note, dqv.QualityMeasurement);
        writer.link(note, dqv.isMeasurementOf, measured.factStatus);
        writer.link(note, noteSubject, predicate);
        writer.text(note, dqv.value, status);
        writer.link(note, prov.wasGeneratedBy, requestIri(Number(record)));
        for (const node of nodes) writer.link(note, dqv.computedOn, node);
      }
    },
  };
}
