import type * as RDF from "@rdfjs/types";
import { type AnswerHead, malformed, type TupleDecoder, variablesOf } from "./decoder.ts";
import type { Bindings } from "./model.ts";
import { blankNodeFromLabel, literalFromParts, nodeFromIri, tripleFromParts } from "./terms.ts";
import { type XmlHandler, XmlReader } from "./xml-reader.ts";

const broken = (what: string): Error => malformed(`The endpoint's XML answer is malformed: ${what}.`);

/** A triple term under construction. */
interface TripleParts {
  role: string;
  readonly parts: Map<string, RDF.Term>;
}

/** SPARQL Query Results XML Format (Second Edition), with `triple` as in SPARQL 1.2. */
export function createXmlDecoder(): TupleDecoder {
  return new XmlDecoder();
}

class XmlDecoder implements TupleDecoder, XmlHandler {
  head: AnswerHead | undefined;
  readonly #reader = new XmlReader(this);
  readonly #path: string[] = [];
  readonly #variables: string[] = [];
  readonly #triples: TripleParts[] = [];
  #headSeen = false;
  #rows: Bindings[] = [];
  #rowCount = 0;
  #row = new Map<string, RDF.Term>();
  #name = "";
  #text = "";
  #attributes: ReadonlyMap<string, string> = new Map();

  push(bytes: Uint8Array): readonly Bindings[] {
    this.#reader.push(bytes);
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  end(): readonly Bindings[] {
    this.#reader.end();
    if (this.head === undefined) throw broken("it has neither results nor boolean");
    return [];
  }

  open(name: string, attributes: ReadonlyMap<string, string>): void {
    const depth = this.#path.length;
    this.#path.push(name);
    this.#text = "";
    this.#attributes = attributes;
    if (depth === 0 && name !== "sparql") throw broken("its root is not sparql");
    if (depth === 1) this.#openSection(name);
    else if (depth === 2) this.#openPart(name, attributes);
    else if (depth === 3 && name === "binding") this.#name = this.#required("name");
    else if (depth > 3) this.#openTerm(name);
  }

  #openSection(name: string): void {
    if (name === "head") this.#headSeen = true;
    if (name === "results") {
      if (!this.#headSeen) throw broken("its results come before its head");
      this.head = { variables: variablesOf(this.#variables) };
    }
  }

  #openPart(name: string, attributes: ReadonlyMap<string, string>): void {
    if (name === "variable" && this.#path[1] === "head") this.#variables.push(attributes.get("name") ?? "");
    if (name === "result") this.#row = new Map();
  }

  #openTerm(name: string): void {
    if (name === "triple") this.#triples.push({ role: "", parts: new Map() });
    const triple = this.#triples.at(-1);
    if (triple !== undefined && (name === "subject" || name === "predicate" || name === "object")) triple.role = name;
  }

  text(text: string): void {
    if (this.#path.length > 1) this.#text += text;
  }

  close(name: string): void {
    this.#path.pop();
    const depth = this.#path.length;
    if (depth === 1 && name === "boolean") this.#boolean();
    else if (depth === 2 && name === "result") this.#closeRow();
    else if (depth > 3) this.#closeTerm(name);
    this.#text = "";
  }

  #boolean(): void {
    const value = this.#text.trim();
    if (value !== "true" && value !== "false") throw broken("its boolean is neither true nor false");
    this.head = { boolean: value === "true" };
  }

  #closeRow(): void {
    this.#rowCount += 1;
    if (this.#path[1] === "results") this.#rows.push(this.#row);
  }

  #closeTerm(name: string): void {
    if (name === "subject" || name === "predicate" || name === "object") return;
    const term = this.#term(name);
    const triple = this.#triples.at(-1);
    if (triple === undefined) this.#row.set(this.#name, term);
    else triple.parts.set(triple.role, term);
  }

  #term(name: string): RDF.Term {
    switch (name) {
      case "uri":
        return nodeFromIri(this.#text.trim());
      case "bnode":
        return blankNodeFromLabel(this.#text.trim());
      case "literal":
        return literalFromParts(this.#text, this.#attributes.get("xml:lang"), this.#attributes.get("datatype"));
      case "triple":
        return this.#closeTriple();
      default:
        throw broken(`row ${this.#rowCount + 1} has an unknown kind of term for ?${this.#name.slice(0, 50)}`);
    }
  }

  #closeTriple(): RDF.Term {
    const parts = this.#triples.pop()?.parts;
    const [subject, predicate, object] = ["subject", "predicate", "object"].map((role) => parts?.get(role));
    const triple = subject && predicate && object ? tripleFromParts(subject, predicate, object) : undefined;
    if (triple === undefined) throw broken(`row ${this.#rowCount + 1} has a triple that is not whole`);
    return triple;
  }

  #required(attribute: string): string {
    const value = this.#attributes.get(attribute);
    if (value === undefined) throw broken(`row ${this.#rowCount + 1} has a binding without a ${attribute}`);
    return value;
  }
}
