import type * as RDF from "@rdfjs/types";
import { type AnswerHead, asMalformed, malformed, type Pause, type TupleDecoder, variablesOf } from "./decoder.ts";
import { HeldJson, jsonText, maxJsonDepth } from "./json-structure.ts";
import type { Bindings } from "./model.ts";
import { JsonScanner } from "./scan-json.ts";
import { blankNodeFromLabel, literalFromCell, maxTripleDepth, nodeFromIri, tripleFromParts } from "./terms.ts";

/** One JSON object of unknown content. */
type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw asMalformed("JSON", error);
  }
};

/**
 * SPARQL 1.1 Query Results JSON Format. A scanner finds the rows' bytes; whole rows are parsed a chunk at a time, what
 * lies around them (the "envelope") when the rows begin and again at the end. Where `results` comes before `head`, the
 * rows are held back until the end of the document, as bytes, within the caller's bound; a document without `head`
 * gets the variables of its rows, in order of appearance.
 */
export class JsonDecoder implements TupleDecoder {
  head: AnswerHead | undefined;
  readonly #scanner = new JsonScanner("results");
  readonly #pause: Pause;
  readonly #envelope = new HeldJson();
  /** The beginning of a row that is not whole yet. */
  readonly #pending = new HeldJson("[");
  /** Whole rows that wait for the head. */
  readonly #waiting = new HeldJson("[");
  #rows = 0;
  #first = true;

  constructor(pause: Pause) {
    this.#pause = pause;
  }

  push(bytes: Uint8Array): readonly Bindings[] {
    this.#scanner.push(bytes);
    const { deepest, rowsFrom, rowsTo, lastRowEnd } = this.#scanner;
    const tooDeep = `The JSON document is nested more than ${maxJsonDepth} levels deep.`;
    const fault = this.#scanner.fault ?? (deepest > maxJsonDepth ? tooDeep : undefined);
    if (fault !== undefined) throw malformed(`The endpoint's JSON answer is malformed: ${fault}`);
    if (rowsFrom < 0) {
      this.#envelope.add(bytes);
      return [];
    }
    if (rowsFrom > 0) {
      this.#envelope.add(bytes.subarray(0, rowsFrom));
      this.#takeHead();
    }
    const end = rowsTo < 0 ? bytes.length : rowsTo;
    const rows = this.#takeRows(bytes.subarray(rowsFrom, end), lastRowEnd - rowsFrom);
    if (rowsTo >= 0) this.#envelope.add(bytes.subarray(rowsTo));
    return rows;
  }

  end(): readonly Bindings[] | Promise<readonly Bindings[]> {
    const verdict = this.#scanner.end();
    if (!verdict.complete) throw malformed(`The endpoint's JSON answer is malformed: ${verdict.detail}`);
    if (jsonText(this.#pending.take()).trim() !== "") {
      throw malformed("The endpoint's JSON answer is malformed: a row is not an object.");
    }
    const document = parseJson(jsonText(this.#envelope.take()));
    if (this.head !== undefined) return [];
    if (this.#scanner.form === "boolean") {
      this.head = { boolean: isObject(document) && document["boolean"] === true };
      return [];
    }
    this.#takeHead();
    return this.#waitingRows();
  }

  #takeHead(): void {
    const { variables } = this.#scanner;
    if (variables !== undefined) this.head = { variables: variablesOf(variables) };
  }

  async #waitingRows(): Promise<readonly Bindings[]> {
    const rows: (readonly Bindings[])[] = [];
    for (const part of this.#waiting.take()) {
      await this.#pause();
      rows.push(this.#parseText(jsonText([part])));
    }
    const all = rows.flat();
    this.head ??= { variables: variablesOf([...new Set(all.flatMap((row) => [...row.keys()]))]) };
    return all;
  }

  /** `wholeTo`: end of the last whole row in `bytes`, negative when there is none. */
  #takeRows(bytes: Uint8Array, wholeTo: number): readonly Bindings[] {
    if (wholeTo < 0) {
      if (bytes.length > 0) this.#pending.add(bytes);
      return [];
    }
    const whole = [...this.#pending.take(), bytes.subarray(0, wholeTo)];
    this.#pending.add(bytes.subarray(wholeTo));
    if (this.head !== undefined) return this.#parseText(jsonText(whole));
    this.#waiting.add(Buffer.concat(whole));
    return [];
  }

  #parseText(text: string): readonly Bindings[] {
    const list = this.#first ? text : text.replace(/^\s*,/, "");
    this.#first = false;
    const values = parseJson(`[${list}]`);
    return Array.isArray(values) ? values.map((value: unknown) => this.#row(value)) : [];
  }

  #row(value: unknown): Bindings {
    this.#rows += 1;
    if (!isObject(value)) throw malformed(`Row ${this.#rows} of the endpoint's JSON answer is not an object.`);
    const row = new Map<string, RDF.Term>();
    for (const name of Object.keys(value)) {
      const term = termFromJson(value[name]);
      if (term === undefined) {
        throw malformed(`Row ${this.#rows} of the endpoint's JSON answer has no RDF term for ?${name.slice(0, 50)}.`);
      }
      row.set(name, term);
    }
    return row;
  }
}

const stringOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** The term of one cell; undefined when it is none. `typed-literal` is Virtuoso's word for a literal, others have `literal-typed` and `lang`. */
export function termFromJson(cell: unknown, depth = 0): RDF.Term | undefined {
  if (!isObject(cell)) return undefined;
  const value = cell["value"];
  if (cell["type"] === "triple") return tripleFromJson(value, depth);
  if (typeof value !== "string") return undefined;
  switch (cell["type"]) {
    case "uri":
      return nodeFromIri(value);
    case "literal":
    case "typed-literal":
    case "literal-typed":
      return literalFromCell({
        value,
        language: stringOf(cell["xml:lang"]) ?? stringOf(cell["lang"]),
        direction: stringOf(cell["its:dir"]),
        datatype: stringOf(cell["datatype"]),
      });
    case "bnode":
      return blankNodeFromLabel(value);
    default:
      return undefined;
  }
}

function tripleFromJson(value: unknown, depth: number): RDF.Term | undefined {
  if (!isObject(value) || depth > maxTripleDepth) return undefined;
  // RDF4J has the initials, in its own format (application/x-sparqlstar-results+json).
  const parts = [value["subject"] ?? value["s"], value["predicate"] ?? value["p"], value["object"] ?? value["o"]];
  const [subject, predicate, object] = parts.map((part) => termFromJson(part, depth + 1));
  return subject && predicate && object ? tripleFromParts(subject, predicate, object) : undefined;
}
