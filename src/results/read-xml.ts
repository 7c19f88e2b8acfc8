import type { AnswerHead, ScanVerdict, TupleReader } from "./answer-reader.ts";
import type { Bindings } from "./model.ts";
import { judgedBySigns, longestSign, type Sign, signInComment } from "./signs.ts";
import { XmlRows } from "./xml-rows.ts";

/** Expected kind of an XML document. */
interface XmlExpectations {
  /** The root must be `sparql` (SPARQL Query Results XML Format); otherwise any root will do. */
  readonly sparqlResults: boolean;
  /** Attributes of one element; more are a fault. Default unlimited. */
  readonly maxAttributes?: number;
  /** Levels of elements; more are a fault. Default unlimited. */
  readonly maxDepth?: number;
}

/** Where in the document's syntax the scanner is. */
type Mode =
  | "text"
  | "tag-start"
  | "name"
  | "tag"
  | "value"
  | "markup"
  | "comment"
  | "cdata"
  | "instruction"
  | "doctype";

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
/** The bytes that end a comment, a CDATA section and a processing instruction: `-->`, `]]>`, `?>`. */
const closers: Readonly<
  Record<"comment" | "cdata" | "instruction", { readonly byte: number; readonly times: number }>
> = {
  comment: { byte: 0x2d, times: 2 },
  cdata: { byte: 0x5d, times: 2 },
  instruction: { byte: 0x3f, times: 1 },
};
/** Elements below the root of results. */
const parts: ReadonlySet<string> = new Set(["head", "results", "boolean"]);
/** The levels of elements that hold only elements: the root, head and results, rows, and their bindings. */
const maxBetween = 4;
const mostSigns = 20;
const foreignText = "There is text between the elements of the XML document.";
const foreignElement = "The XML document has an element that results have not.";
/** Relevant names have at most eight bytes; one more byte distinguishes a longer name. */
const maxNameBytes = 9;

/**
 * Reads one XML document, results (SPARQL Query Results XML Format, Second Edition) or RDF/XML. Rows are the `result` elements
 * (any prefix) in `results`.
 */
export class XmlReader implements TupleReader {
  /** Index in the last chunk behind the last tag that left at most the root and an element below it open; 0 when none did. */
  soundTo = 0;
  readonly #expected: Required<XmlExpectations>;
  #mode: Mode = "text";
  #depth = 0;
  #rows = 0;
  #name = "";
  #closing = false;
  /** The byte before the current one, inside tags. */
  #previous = 0;
  /** The quote that ends the attribute value. */
  #quote = 0;
  /** Attributes of the tag so far. */
  #attributes = 0;
  /** Consecutive closing bytes seen, or open `<` of a document type declaration. */
  #run = 0;
  #rootSeen = false;
  #rootClosed = false;
  #isSparql = false;
  #hasResults = false;
  #hasBoolean = false;
  /** Elements and attributes: RDF/XML has no more triples, but for lists and reified statements. */
  #triples = 0;
  /** Name of the element below the root. */
  #part = "";
  /** The comment under way, as far as it has come. */
  #comment = "";
  readonly #signs: Sign[] = [];
  readonly #variables = new XmlVariables();
  #anyByte = false;
  #fault: string | undefined;
  /** Made with the first bytes that are read for rows. */
  #parsed: XmlRows | undefined;

  constructor(expected: XmlExpectations) {
    this.#expected = { maxAttributes: Number.POSITIVE_INFINITY, maxDepth: Number.POSITIVE_INFINITY, ...expected };
  }

  get head(): AnswerHead | undefined {
    return this.#parsed?.head;
  }

  read(bytes: Uint8Array): readonly Bindings[] {
    this.#parsed ??= new XmlRows(this);
    return this.#parsed.read(bytes);
  }

  finish(): readonly Bindings[] {
    this.#parsed ??= new XmlRows(this);
    return this.#parsed.finish();
  }

  push(chunk: Uint8Array): void {
    this.soundTo = 0;
    let at = 0;
    while (at < chunk.length && this.#fault === undefined) at = this.#step(chunk, at);
  }

  /** Why the document is broken, as far as is known already. */
  get fault(): string | undefined {
    return this.#fault;
  }

  get form(): TupleReader["form"] {
    if (this.#hasResults) return "bindings";
    return this.#hasBoolean ? "boolean" : undefined;
  }

  get variables(): readonly string[] | undefined {
    return this.#hasResults ? this.#variables.names : undefined;
  }

  end(): ScanVerdict {
    const rows = this.#hasResults ? { rows: this.#rows } : { ...(!this.#isSparql && { atMost: this.#triples }) };
    const detail = this.#fault ?? this.#whatIsMissing();
    if (detail !== undefined) return { complete: false, ...rows, detail };
    return judgedBySigns({ complete: true, ...rows }, this.#signs);
  }

  #whatIsMissing(): string | undefined {
    if (!this.#anyByte) return "The body is empty.";
    if (!this.#rootSeen) return "The XML document has no root element.";
    if (!this.#rootClosed) return "The XML document ends before its root element is closed.";
    if (this.#mode !== "text") return "The XML document ends inside markup.";
    if (this.#hasResults && this.#hasBoolean) return "The XML document has both rows and a boolean.";
    if (this.#isSparql && this.form === undefined) return "The XML document has neither results nor boolean.";
    return undefined;
  }

  #step(bytes: Uint8Array, at: number): number {
    this.#anyByte = true;
    switch (this.#mode) {
      case "text":
        return this.#depth > 0 ? this.#skipText(bytes, at) : this.#betweenElements(bytes, at);
      case "tag":
        return this.#skipTag(bytes, at);
      case "name":
        return this.#readName(bytes, at);
      case "tag-start":
        return this.#startTag(bytes, at);
      case "value":
        return this.#skipValue(bytes, at);
      case "markup":
        return this.#readMarkup(bytes, at);
      case "doctype":
        return this.#skipDoctype(bytes, at);
      default:
        return this.#skipSection(bytes, at, this.#mode);
    }
  }

  #skipText(bytes: Uint8Array, from: number): number {
    const length = bytes.length;
    let at = from;
    if (this.#isBetween) while (at < length && isSpace(bytes[at]!)) at += 1;
    else while (at < length && bytes[at] !== 0x3c) at += 1;
    if (at < length && bytes[at] !== 0x3c) this.#fault = foreignText;
    else if (at < length) this.#mode = "tag-start";
    return at + 1;
  }

  /** Between elements of results, where no text may stand. */
  get #isBetween(): boolean {
    return this.#isSparql && this.#depth <= maxBetween && (this.#part !== "boolean" || this.#depth === 1);
  }

  /** Before and after the root only white space, comments and the like may stand. */
  #betweenElements(bytes: Uint8Array, at: number): number {
    const byte = bytes[at]!;
    if (byte === 0x3c) this.#mode = "tag-start";
    else if (!isSpace(byte) && (this.#rootSeen || byte < 0x80)) {
      this.#fault = this.#rootSeen ? "There is text after the end of the XML document." : "The body is not XML.";
    }
    return at + 1;
  }

  #startTag(bytes: Uint8Array, at: number): number {
    const byte = bytes[at]!;
    this.#name = "";
    this.#previous = 0;
    this.#run = 0;
    this.#attributes = 0;
    this.#variables.start(false);
    this.#closing = byte === 0x2f;
    if (byte === 0x21) this.#mode = "markup";
    else if (byte === 0x3f) this.#mode = "instruction";
    else if (this.#closing) this.#mode = this.#depth === 1 ? "name" : "tag";
    else this.#mode = this.#depth > 2 ? "tag" : "name";
    return byte === 0x21 || byte === 0x3f || byte === 0x2f ? at + 1 : at;
  }

  /** Collects the local name; a prefix ends at the colon. */
  #readName(bytes: Uint8Array, from: number): number {
    let at = from;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at]!;
      if (byte === 0x3e || byte === 0x2f || isSpace(byte)) {
        this.#mode = "tag";
        this.#variables.start(this.#depth === 2 && this.#name === "variable");
        return at;
      }
      if (byte === 0x3a) this.#name = "";
      else if (this.#name.length < maxNameBytes) this.#name += String.fromCharCode(byte);
    }
    return at;
  }

  #skipTag(bytes: Uint8Array, from: number): number {
    const length = bytes.length;
    let at = from;
    let byte = 0;
    while (at < length) {
      byte = bytes[at]!;
      if (byte === 0x3e || byte === 0x22 || byte === 0x27) break;
      at += 1;
    }
    this.#variables.push(bytes, from, at + 1);
    const previous = at > from ? bytes[at - 1]! : this.#previous;
    if (at === length) this.#previous = previous;
    else if (byte === 0x3e) {
      this.#endTag(previous === 0x2f);
      if (this.#depth <= 2) this.soundTo = at + 1;
    } else {
      this.#quote = byte;
      this.#mode = "value";
      this.#attributes += 1;
      const { maxAttributes } = this.#expected;
      if (this.#attributes > maxAttributes) this.#fault = `An element has more than ${maxAttributes} attributes.`;
    }
    return at + 1;
  }

  #skipValue(bytes: Uint8Array, from: number): number {
    const length = bytes.length;
    const quote = this.#quote;
    let at = from;
    while (at < length && bytes[at] !== quote) at += 1;
    this.#variables.push(bytes, from, at + 1);
    if (at < length) {
      this.#mode = "tag";
      this.#previous = quote;
    }
    return at + 1;
  }

  #endTag(selfClosing: boolean): void {
    this.#mode = "text";
    if (this.#closing) this.#depth -= 1;
    else {
      this.#triples += 1 + this.#attributes;
      if (this.#depth <= 2) this.#openElement();
      if (!selfClosing) this.#depth += 1;
    }
    const { maxDepth } = this.#expected;
    if (this.#depth > maxDepth) this.#fault ??= `It is nested more than ${maxDepth} levels deep.`;
    if (this.#depth < 0) this.#fault ??= "The XML document is broken.";
    else if (this.#depth === 0) this.#closeRoot();
  }

  #openElement(): void {
    const name = this.#name;
    if (this.#depth === 0) this.#openRoot(name);
    else if (!this.#isSparql) return;
    else if (this.#depth === 1) {
      this.#part = name;
      this.#hasResults ||= name === "results";
      this.#hasBoolean ||= name === "boolean";
      if (!parts.has(name)) this.#fault ??= foreignElement;
    } else if (name === "result") this.#rows += 1;
    else if (this.#part === "results") this.#fault ??= foreignElement;
    else this.#variables.end();
  }

  #openRoot(name: string): void {
    if (this.#rootSeen) this.#fault ??= "There is text after the end of the XML document.";
    this.#rootSeen = true;
    this.#isSparql = name === "sparql";
    if (this.#expected.sparqlResults && !this.#isSparql) this.#fault ??= "The root of the XML document is not sparql.";
    else if (name === "html") this.#fault ??= "The XML document is a page in HTML.";
  }

  #closeRoot(): void {
    this.#rootClosed = true;
    if (this.#closing && this.#isSparql && this.#name !== "sparql") this.#fault ??= "The XML document is broken.";
  }

  /** After `<!`: a comment, a CDATA section or a declaration. */
  #readMarkup(bytes: Uint8Array, at: number): number {
    const byte = bytes[at]!;
    if (byte === 0x2d) {
      this.#run += 1;
      if (this.#run === 2) this.#enter("comment");
      return at + 1;
    }
    if (byte === 0x5b) {
      this.#enter("cdata");
      if (this.#depth > 0 && this.#isBetween) this.#fault = foreignText;
    } else {
      this.#enter("doctype");
      this.#run = 1;
    }
    return at + 1;
  }

  #enter(mode: Mode): void {
    this.#mode = mode;
    this.#run = 0;
  }

  #skipSection(bytes: Uint8Array, from: number, mode: "comment" | "cdata" | "instruction"): number {
    const { byte: closer, times } = closers[mode];
    let run = this.#run;
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at]!;
      if (byte === 0x3e && run >= times) {
        if (mode === "comment") this.#closeComment(bytes.subarray(from, Math.max(from, at - times)));
        this.#enter("text");
        return at + 1;
      }
      run = byte === closer ? run + 1 : 0;
    }
    this.#run = run;
    if (mode === "comment") this.#keepComment(bytes.subarray(from));
    return bytes.length;
  }

  #keepComment(bytes: Uint8Array): void {
    if (this.#comment.length >= longestSign) return;
    this.#comment += Buffer.from(bytes.subarray(0, longestSign - this.#comment.length)).toString("latin1");
  }

  /** Comments in a document of results may say that it is not whole. */
  #closeComment(bytes: Uint8Array): void {
    this.#keepComment(bytes);
    const sign = this.#isSparql ? signInComment(this.#comment) : undefined;
    this.#comment = "";
    if (sign !== undefined && this.#signs.length < mostSigns) this.#signs.push(sign);
  }

  /** A document type declaration may hold declarations of its own. */
  #skipDoctype(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at += 1) {
      const byte = bytes[at]!;
      if (byte === 0x3c) this.#run += 1;
      else if (byte === 0x3e) this.#run -= 1;
      if (this.#run === 0) {
        this.#enter("text");
        return at + 1;
      }
    }
    return bytes.length;
  }
}

/** The tag of a column; as many columns are counted as are ever read. */
const maxTagBytes = 1_024;
const mostColumns = 10_001;
const nameAttribute = /(?:^|\s)name\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)')/u;

/** Collects the names in `<variable name="x"/>` from tags that pass in pieces. */
class XmlVariables {
  readonly names: string[] = [];
  /** The tag under way as far as it has come, as Latin-1: a character may be split. */
  #tag: string | undefined;

  /** A tag begins. */
  start(isVariable: boolean): void {
    this.#tag = isVariable ? "" : undefined;
  }

  push(bytes: Uint8Array, from: number, to: number): void {
    if (this.#tag === undefined || this.#tag.length > maxTagBytes) return;
    this.#tag += Buffer.from(bytes.subarray(from, Math.min(to, from + maxTagBytes))).toString("latin1");
  }

  /** The tag ends. */
  end(): void {
    if (this.#tag === undefined || this.names.length === mostColumns) return;
    const [, double, single = ""] = nameAttribute.exec(this.#tag) ?? [];
    this.names.push(Buffer.from(double ?? single, "latin1").toString());
  }
}
