import type * as RDF from "@rdfjs/types";
import { dataFactory } from "../../rdf/triple-index.ts";
import { rdf, xsd, dqv, fedway, prov } from "../../rdf/vocabularies.ts";
import type { Known } from "./facts.ts";

/** An IRI, or a blank node of the same writer. */
type Subject = string | RDF.BlankNode;

const decimalDigits = 6;

const nodeOf = (subject: Subject): RDF.NamedNode | RDF.BlankNode =>
  typeof subject === "string" ? dataFactory.namedNode(subject) : subject;

/** Gathers triples about nodes that are named by IRI; undefined values write nothing. */
export class QuadWriter {
  #quads: RDF.Quad[] = [];
  readonly #literals = new Map<string, RDF.Literal>();

  /** Returns and clears the quads written since the last call. */
  take(): readonly RDF.Quad[] {
    const quads = this.#quads;
    this.#quads = [];
    return quads;
  }

  /** A blank node of its own. */
  blank(): RDF.BlankNode {
    return dataFactory.blankNode();
  }

  type(subject: Subject, ...types: readonly string[]): void {
    for (const type of types) this.#add(subject, rdf.type, dataFactory.namedNode(type));
  }

  link(subject: Subject, predicate: string, object: Subject | undefined): void {
    if (object !== undefined) this.#add(subject, predicate, nodeOf(object));
  }

  text(subject: Subject, predicate: string, value: string | undefined): void {
    if (value !== undefined) this.#add(subject, predicate, dataFactory.literal(value));
  }

  /** A whole number as xsd:integer, any other as xsd:decimal. */
  number(subject: Subject, predicate: string, value: number | undefined): void {
    if (value === undefined || !Number.isFinite(value)) return;
    const text = String(value);
    if (Number.isSafeInteger(value)) this.#typed(subject, predicate, [text, xsd.integer]);
    // Decimals have no exponent.
    else this.#typed(subject, predicate, [text.includes("e") ? value.toFixed(decimalDigits) : text, xsd.decimal]);
  }

  flag(subject: Subject, predicate: string, value: boolean): void {
    this.#typed(subject, predicate, [String(value), xsd.boolean]);
  }

  /** An ISO 8601 moment. */
  time(subject: Subject, predicate: string, value: string): void {
    this.#typed(subject, predicate, [value, xsd.dateTime]);
  }

  #typed(subject: Subject, predicate: string, [value, datatype]: readonly [string, string]): void {
    const key = `${value} ${datatype}`;
    // Many counts are alike.
    const term = this.#literals.get(key) ?? dataFactory.literal(value, dataFactory.namedNode(datatype));
    this.#literals.set(key, term);
    this.#add(subject, predicate, term);
  }

  #add(subject: Subject, predicate: string, object: RDF.NamedNode | RDF.BlankNode | RDF.Literal): void {
    this.#quads.push(dataFactory.quad(nodeOf(subject), dataFactory.namedNode(predicate), object));
  }
}

/** Notes how statements are known; statements known alike share one measurement, which keeps documents small. */
export class StatusNotes {
  readonly #nodesByNote = new Map<string, string[]>();
  readonly #base: string;

  /** Measurements and requests are named below `base`. */
  constructor(base: string) {
    this.#base = base;
  }

  /** IRI of the request at a position of the description's records. */
  requestIri(position: number): string {
    return `${this.#base}#request-${position + 1}`;
  }

  add(node: string, predicate: string, { status, record }: Known): void {
    const key = `${status} ${record} ${predicate}`;
    const nodes = this.#nodesByNote.get(key);
    if (nodes === undefined) this.#nodesByNote.set(key, [node]);
    else nodes.push(node);
  }

  /** The quads of all notes, a part at a time. */
  *write(writer: QuadWriter): Generator<RDF.Quad> {
    let position = 0;
    for (const [key, nodes] of this.#nodesByNote) {
      const [status = "", record = "", predicate = ""] = key.split(" ");
      position += 1;
      const note = `${this.#base}#measurement-${position}`;
      writer.type(note, dqv.QualityMeasurement);
      writer.link(note, dqv.isMeasurementOf, fedway.factStatus);
      writer.link(note, rdf.predicate, predicate);
      writer.text(note, dqv.value, status);
      writer.link(note, prov.wasGeneratedBy, this.requestIri(Number(record)));
      for (const node of nodes) {
        writer.link(note, dqv.computedOn, node);
        yield* writer.take();
      }
    }
  }
}
