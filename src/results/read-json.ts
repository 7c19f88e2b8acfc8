import type * as RDF from "@rdfjs/types";
import { parsedJson } from "../values.ts";
import {
  type AnswerHead,
  asMalformed,
  malformed,
  type Pause,
  type ScanVerdict,
  type TupleReader,
  variablesOf,
} from "./answer-reader.ts";
import { HeldJson, jsonText, maxJsonDepth } from "./json-structure.ts";
import type { Bindings } from "./model.ts";
import { isTelling, judgedBySigns, longestSign, type Sign, signOf } from "./signs.ts";
import { blankNodeFromLabel, literalFromCell, maxTripleDepth, nodeFromIri, tripleFromParts } from "./terms.ts";

/**
 * Required content of a document: `results.bindings` or `boolean` (SPARQL 1.1 Query Results JSON Format), or a key
 * of which JSON-LD can make triples.
 */
type JsonExpectation = "results" | "graph" | "anything";

/** Longer keys cannot be one of those that matter. */
const maxKeyBytes = 16;
/** More than 10,000 columns with long names. */
const maxHeadBytes = 1_048_576;
/** Keys matter in the document itself and in `results`, and a deep value opens there. */
const maxShallowDepth = 3;
/** Keys of results, which say nothing of whether they are whole. */
const ownKeys: ReadonlySet<string> = new Set(["head", "results", "bindings", "boolean", "distinct", "ordered"]);
/** Members that say something of the answer; more are not looked at. */
const mostSigns = 20;
/** An index behind every chunk. */
const endOfScan = 2 ** 30 - 1;
const rawControl = "A JSON string holds a raw control character.";
const brokenDocument = "The JSON document is broken: it holds bytes that are no JSON, or its brackets do not match.";

const openObject = 0x7b;
const closeObject = 0x7d;
const openArray = 0x5b;
const closeArray = 0x5d;
const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;

/** Bytes of white space, numbers, true, false and null. */
const isPlain = new Uint8Array(256);
for (const byte of Buffer.from(" \t\r\n0123456789+-.eEtrufalsn")) isPlain[byte] = 1;

/**
 * Index of the quote that ends a string; `length` when the chunk ends inside the string, `length + 1` when it ends
 * right after a backslash, -1 at a raw control character, which no JSON string may hold.
 */
function endOfString(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at]!;
    if (byte === quote) return at;
    if (byte < 0x20) return -1;
    at += byte === backslash ? 2 : 1;
  }
  return at;
}

/** Index of the quote that ends a string in a deep value; beyond the bytes when it goes on, one further after a backslash. */
function endOfDeepString(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  let at = from;
  while (at < length) {
    const byte = bytes[at]!;
    if (byte === quote) return at;
    at += byte === backslash ? 2 : 1;
  }
  return at;
}

/**
 * Reads one JSON document, results (SPARQL 1.1 Query Results JSON Format) or a graph. Rows are the objects directly in
 * `results.bindings`. "Deep" is the inside of a value whose keys do not matter, such as `results.bindings`; what lies around is
 * "shallow".
 */
export class JsonReader implements TupleReader {
  readonly #expected: JsonExpectation;
  /** Made with the first bytes that are read for rows. */
  #parsed: JsonRows | undefined;
  readonly #pause: Pause;
  /** The open brackets where keys matter, outermost first. */
  readonly #brackets = new Uint8Array(maxShallowDepth);
  /** Index in the last chunk where rows begin; -1 when it holds none. */
  rowsFrom = -1;
  /** Index in the last chunk of the bracket that ends the rows; -1 when they go on. */
  rowsTo = -1;
  /** Index in the last chunk right after the last row that ended there; -1 when none did. */
  lastRowEnd = -1;
  /** Levels of the deepest value. */
  deepest = 0;
  /** `head.vars`, once they have passed. */
  variables: readonly string[] | undefined;
  #depth = 0;
  /** Depth at which the deep value ends; -1 while keys matter. */
  #floor = -1;
  /** An object opened at this depth is a row; -1 outside `results.bindings`. */
  #rowDepth = -1;
  #rows = 0;
  #inString = false;
  /** The chunk before ended right after a backslash. */
  #escaped = false;
  #started = false;
  #hasBoolean = false;
  #hasBindings = false;
  /** The value that is kept until it is whole, as far as it has come: `head`, or a member that may say that rows are missing. */
  #kept: { readonly name: string; text: string } | undefined;
  readonly #signs: Sign[] = [];
  /** Keys of the document itself: there is one, and one that JSON-LD makes something of. */
  #hasKey = false;
  #hasGraphKey = false;
  #hasGraph = false;
  /** The last string at a level where keys matter, as far as it fits; then, after a colon, the key. */
  #word = "";
  #key = "";
  #inResults = false;
  #byteOrderMark = 0;
  #fault: string | undefined;

  /** @param pause taken between the steps of a long parse */
  constructor(expected: JsonExpectation, pause: Pause = () => undefined) {
    this.#expected = expected;
    this.#pause = pause;
  }

  get head(): AnswerHead | undefined {
    return this.#parsed?.head;
  }

  read(bytes: Uint8Array): readonly Bindings[] {
    this.push(bytes);
    this.#parsed ??= new JsonRows(this, this.#pause);
    return this.#parsed.read(bytes);
  }

  finish(): readonly Bindings[] | Promise<readonly Bindings[]> {
    this.#parsed ??= new JsonRows(this, this.#pause);
    return this.#parsed.finish();
  }

  push(chunk: Uint8Array): void {
    this.rowsFrom = this.#rowDepth < 0 ? -1 : 0;
    this.rowsTo = -1;
    this.lastRowEnd = -1;
    if (this.#fault !== undefined) return;
    let at = 0;
    while (at < chunk.length && this.#fault === undefined) {
      if (this.#floor >= 0) at = this.#scanDeep(chunk, at);
      else at = this.#inString ? this.#resumeString(chunk, at) : this.#scanShallow(chunk, at);
    }
  }

  /** Why the document is broken, as far as is known already. */
  get fault(): string | undefined {
    return this.#fault;
  }

  get form(): TupleReader["form"] {
    if (this.#hasBindings) return "bindings";
    return this.#hasBoolean ? "boolean" : undefined;
  }

  get soundTo(): number {
    return Math.max(0, this.lastRowEnd);
  }

  end(): ScanVerdict {
    const rows = this.#hasBindings ? { rows: this.#rows } : {};
    const detail = this.#fault ?? this.#whatIsMissing();
    if (detail !== undefined) return { complete: false, ...rows, detail };
    // In JSON-LD they are properties of a node, unless its graph stands beside them.
    const isUnsigned = this.#signs.length === 0 || (this.form === undefined && !this.#hasGraph);
    return isUnsigned ? { complete: true, ...rows } : judgedBySigns({ complete: true, ...rows }, this.#signs);
  }

  #whatIsMissing(): string | undefined {
    if (!this.#started) return "The body is empty.";
    if (this.#inString) return "The JSON document ends inside a string.";
    if (this.#depth > 0) return "The JSON document ends before it is closed.";
    if (this.#hasBindings && this.#hasBoolean) return "The JSON document has both rows and a boolean.";
    if (this.form !== undefined) return undefined;
    if (this.#expected === "results") return 'The JSON document has neither "results" nor "boolean".';
    const isGraph = this.#expected === "anything" || this.#hasGraphKey || !this.#hasKey;
    return isGraph ? undefined : "The JSON document is no JSON-LD.";
  }

  /** Goes on in a string where keys matter; it began just before `from` or in an earlier chunk. */
  #resumeString(bytes: Uint8Array, from: number): number {
    const start = this.#escaped ? from + 1 : from;
    const end = endOfString(bytes, start);
    if (end < 0) return this.#fail(rawControl);
    const { length } = bytes;
    this.#collectWord(bytes, from, Math.min(end, length));
    this.#keep(bytes.subarray(from, Math.min(end + 1, length)));
    this.#inString = end >= length;
    this.#escaped = end > length;
    return end + 1;
  }

  /** Keys written with escapes are not recognised; no engine does that. */
  #collectWord(bytes: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to && this.#word.length <= maxKeyBytes; at += 1) {
      this.#word += String.fromCharCode(bytes[at]!);
    }
  }

  /** The hot path, in local variables: follows strings and brackets only, until the value that began at the floor is closed. */
  #scanDeep(chunk: Uint8Array, from: number): number {
    const { length } = chunk;
    const floor = this.#floor;
    const rowDepth = this.#rowDepth;
    let depth = this.#depth;
    let isBroken = false;
    let rows = 0;
    let rowEnd = this.lastRowEnd;
    let { deepest } = this;
    let at = this.#inString ? endOfDeepString(chunk, this.#escaped ? from + 1 : from) + 1 : from;
    while (at < length && depth > floor) {
      const byte = chunk[at]!;
      at += 1;
      // Square brackets differ from curly ones in this bit only.
      const bracket = byte | 0x20;
      if (byte === quote) at = endOfDeepString(chunk, at) + 1;
      else if (bracket === openObject) {
        depth += 1;
        if (depth > deepest) deepest = depth;
      } else if (bracket === closeObject) {
        depth -= 1;
        if (depth === rowDepth) {
          rows += 1;
          rowEnd = at;
        }
      } else if (byte === backslash) {
        isBroken = true;
        break;
      }
    }
    this.#depth = depth;
    this.deepest = deepest;
    this.#rows += rows;
    this.lastRowEnd = rowEnd;
    if (isBroken) return this.#fail(brokenDocument);
    // A string without an end in this chunk goes on in the next one; its last byte may be a backslash.
    this.#inString = at > length;
    this.#escaped = at > length + 1;
    const end = Math.min(at, length);
    this.#pauseDeep(chunk, from, end);
    return end;
  }

  #pauseDeep(chunk: Uint8Array, from: number, end: number): void {
    this.#keep(chunk.subarray(from, end));
    if (this.#depth > this.#floor) return;
    if (chunk[end - 1] !== this.#brackets[this.#depth]! + 2) {
      this.#fail(brokenDocument);
      return;
    }
    if (this.#rowDepth >= 0) this.rowsTo = end - 1;
    this.#floor = -1;
    this.#rowDepth = -1;
  }

  /** Where keys matter: the document's own level and that of `results`. */
  #scanShallow(bytes: Uint8Array, from: number): number {
    const byte = bytes[from]!;
    if (this.#kept !== undefined) this.#seeKept(bytes, from);
    if (byte === quote) {
      this.#word = "";
      this.#inString = true;
      return this.#depth > 0 ? from + 1 : this.#fail("There is text outside the JSON document.");
    }
    if (byte === openObject || byte === openArray) this.#open(byte, from);
    else if (byte === closeObject || byte === closeArray) this.#close(byte);
    else if (byte === comma || byte === colon || isPlain[byte] === 1) this.#plainByte(byte);
    else this.#foreignByte(byte);
    return from + 1;
  }

  #open(kind: number, at: number): void {
    if (this.#started && this.#depth === 0) {
      this.#fail("There is text after the end of the JSON document.");
      return;
    }
    this.#started = true;
    const keysMatter = kind === openObject;
    if (this.#depth === 1 && keysMatter && this.#key === "results") this.#inResults = true;
    else if (this.#depth > 0 || !keysMatter) this.#enterDeep(kind, at);
    this.#brackets[this.#depth] = kind;
    this.#depth += 1;
    this.#key = "";
  }

  #enterDeep(kind: number, at: number): void {
    this.#floor = this.#depth;
    if (!this.#inResults || this.#key !== "bindings" || kind !== openArray) return;
    if (this.#hasBindings) this.#fail('The JSON document has "bindings" twice.');
    this.rowsFrom = at + 1;
    this.#rowDepth = this.#depth + 1;
    this.#hasBindings = true;
  }

  /** A comma or a bracket ends the value. */
  #seeKept(bytes: Uint8Array, at: number): void {
    const byte = bytes[at];
    if (byte === comma || byte === closeObject || byte === closeArray) this.#readKept();
    else this.#keep(bytes.subarray(at, at + 1));
  }

  /** Byte by byte as Latin-1, so that a character may be split. */
  #keep(bytes: Uint8Array): void {
    const kept = this.#kept;
    if (kept === undefined) return;
    const isHead = kept.name === "head";
    const room = (isHead ? maxHeadBytes + 1 : longestSign) - kept.text.length;
    if (room > 0) kept.text += Buffer.from(bytes.subarray(0, room)).toString("latin1");
    if (isHead && kept.text.length > maxHeadBytes && /^\s*\{/u.test(kept.text))
      this.#fail(`The head of the JSON document is larger than ${maxHeadBytes} bytes.`);
  }

  #readKept(): void {
    if (this.#kept === undefined) return;
    const { name } = this.#kept;
    const text = Buffer.from(this.#kept.text, "latin1").toString();
    this.#kept = undefined;
    if (name === "head") {
      const names = namesIn(text);
      if (Array.isArray(names) && names.every((each) => typeof each === "string")) this.variables = names;
      else if (names !== undefined) this.#fail('"head.vars" is not a list of names.');
      return;
    }
    const sign = signOf(name, text);
    if (sign !== undefined && this.#signs.length < mostSigns) this.#signs.push(sign);
  }

  #close(kind: number): void {
    if (this.#depth === 0 || this.#brackets[this.#depth - 1] !== kind - 2) {
      this.#fail(brokenDocument);
      return;
    }
    this.#depth -= 1;
    this.#inResults = false;
    this.#key = "";
  }

  #plainByte(byte: number): void {
    if (byte === colon) this.#startValue();
    else if (byte === comma) this.#key = "";
    else if (byte <= 0x20) return;
    else if (this.#depth === 1 && this.#key === "boolean") this.#hasBoolean ||= byte === 0x74 || byte === 0x66;
    if (this.#depth === 0) this.#fail("There is text outside the JSON document.");
  }

  #startValue(): void {
    this.#key = this.#word;
    const isKept = ownKeys.has(this.#key) ? this.#depth === 1 && this.#key === "head" : isTelling(this.#key);
    this.#kept = isKept ? { name: this.#key, text: "" } : undefined;
    if (this.#depth !== 1) return;
    this.#hasKey = true;
    this.#hasGraph ||= this.#key === "@graph";
    this.#hasGraphKey ||= /[@:]/u.test(this.#key);
  }

  /** A byte order mark may open the document (RFC 8259, section 8.1 lets parsers ignore it). */
  #foreignByte(byte: number): void {
    if (!this.#started && byte === [0xef, 0xbb, 0xbf][this.#byteOrderMark]) this.#byteOrderMark += 1;
    else this.#fail(this.#depth === 0 ? "There is text outside the JSON document." : brokenDocument);
  }

  #fail(detail: string): number {
    this.#fault ??= detail;
    return endOfScan;
  }
}

/** The head's `vars`; undefined where it has none. */
function namesIn(head: string): unknown {
  // The document's parser reports the fault.
  const value = parsedJson(head);
  return typeof value === "object" && value !== null && "vars" in value ? value.vars : undefined;
}

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
 * Makes rows of the bytes whose place a reader has found: whole rows are parsed a chunk at a time, what
 * lies around them (the "envelope") when the rows begin and again at the end. Where `results` comes before `head`, the
 * rows are held back until the end of the document, as bytes, within the caller's bound; a document without `head`
 * gets the variables of its rows, in order of appearance.
 */
class JsonRows {
  head: AnswerHead | undefined;
  readonly #reader: JsonReader;
  readonly #pause: Pause;
  readonly #envelope = new HeldJson();
  /** The beginning of a row that is not whole yet. */
  readonly #pending = new HeldJson("[");
  /** Whole rows that wait for the head. */
  readonly #waiting = new HeldJson("[");
  #rows = 0;
  #first = true;

  constructor(reader: JsonReader, pause: Pause) {
    this.#reader = reader;
    this.#pause = pause;
  }

  /** The rows that end in a chunk that the reader has scanned. */
  read(bytes: Uint8Array): readonly Bindings[] {
    const { deepest, rowsFrom, rowsTo, lastRowEnd } = this.#reader;
    const tooDeep = `The JSON document is nested more than ${maxJsonDepth} levels deep.`;
    const fault = this.#reader.fault ?? (deepest > maxJsonDepth ? tooDeep : undefined);
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

  finish(): readonly Bindings[] | Promise<readonly Bindings[]> {
    const verdict = this.#reader.end();
    if (!verdict.complete) throw malformed(`The endpoint's JSON answer is malformed: ${verdict.detail}`);
    if (jsonText(this.#pending.take()).trim() !== "") {
      throw malformed("The endpoint's JSON answer is malformed: a row is not an object.");
    }
    const document = parseJson(jsonText(this.#envelope.take()));
    if (this.head !== undefined) return [];
    if (this.#reader.form === "boolean") {
      this.head = { boolean: isObject(document) && document["boolean"] === true };
      return [];
    }
    this.#takeHead();
    return this.#waitingRows();
  }

  #takeHead(): void {
    const { variables } = this.#reader;
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
