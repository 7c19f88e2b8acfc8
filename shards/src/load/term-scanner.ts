/** How a term has to be written anew; `asIs` when it is canonical where it lies. */
export const rewriting = { asIs: 0, iri: 1, literal: 2, blank: 3 } as const;

/** The terms of one statement: where they lie, and which of them are not canonical. */
export interface LineTerms {
  /** Three, or four with a graph. */
  readonly count: number;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly rewritings: Uint8Array;
  /** Behind the quotation mark that closes the object; 0 when it is no literal. */
  readonly quoteEnd: number;
  /** Where the dot has to be. */
  readonly dotAt: number;
  /** Terms and what lies between them are canonical. */
  readonly isCanonical: boolean;
}

const less = 0x3c;
const greater = 0x3e;
const quote = 0x22;
const backslash = 0x5c;
const underscore = 0x5f;
const colon = 0x3a;
const at_ = 0x40;
const caret = 0x5e;
const hyphen = 0x2d;
const dot = 0x2e;

const asciiClass = (members: RegExp, others: number): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, byte) =>
    byte < 128 ? Number(members.test(String.fromCharCode(byte))) : others,
  );

/** What may stand in an IRI as it is; bytes of longer characters too. */
const iriBytes = asciiClass(/[^\p{Cc} <>"{}|^`\\]/u, 1);
iriBytes[0x7f] = 1;
const schemeBytes = asciiClass(/[A-Za-z0-9+.-]/u, 0);
const letters = asciiClass(/[A-Za-z]/u, 0);
const upperLetters = asciiClass(/[A-Z]/u, 0);
const alphanumerics = asciiClass(/[A-Za-z0-9]/u, 0);
/** What may stand in a literal as it is. */
const plainBytes = asciiClass(/[^"\\\p{Cc}]/u, 1);
const labelBytes = asciiClass(/[A-Za-z0-9_:.-]/u, 1);
/** Escapes that are canonical: `\t \b \n \r \f \" \\`. */
const plainEscapes = asciiClass(/[tbnrf"\\]/u, 0);

const labelBase =
  "A-Za-z\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff\\u200c\\u200d\\u2070-\\u218f" +
  "\\u2c00-\\u2fef\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd\\u{10000}-\\u{effff}_:0-9";
const labelRest = `${labelBase}\\u00b7\\u0300-\\u036f\\u203f\\u2040\\-`;
/** BLANK_NODE_LABEL without `_:`. */
const labelPattern = new RegExp(`^[${labelBase}](?:[${labelRest}.]*[${labelRest}])?$`, "u");

const maxLabelBytes = 65_536;
const xsdString = Buffer.from("<http://www.w3.org/2001/XMLSchema#string>");

/** Finds and checks the terms of a statement. It holds the last result, which the next scan overwrites. */
export class TermScanner implements LineTerms {
  count = 0;
  readonly starts = new Int32Array(4);
  readonly ends = new Int32Array(4);
  readonly rewritings = new Uint8Array(4);
  quoteEnd = 0;
  dotAt = 0;
  isCanonical = true;
  readonly #graphs: boolean;
  #bytes: Buffer = Buffer.alloc(0);
  #end = 0;

  constructor(graphs: boolean) {
    this.#graphs = graphs;
  }

  /**
   * Scans the statement that begins at `from`; the line ends before `end`.
   * @throws SyntaxFault
   */
  scan(bytes: Buffer, from: number, end: number): LineTerms {
    this.#bytes = bytes;
    this.#end = end;
    this.isCanonical = true;
    this.quoteEnd = 0;
    let at = this.#between(this.#node(from, 0));
    if (bytes[at] !== less) throw new SyntaxFault("a predicate is expected: an IRI in angle brackets");
    at = this.#between(this.#node(at, 1));
    at = this.#between(bytes[at] === quote && at < end ? this.#literal(at) : this.#node(at, 2));
    this.count = 3;
    if (this.#graphs && at < end && bytes[at] !== dot) {
      at = this.#between(this.#node(at, 3));
      this.count = 4;
    }
    this.dotAt = at;
    return this;
  }

  /** Behind the white space at `from`; one space is canonical. */
  #between(from: number): number {
    const at = this.#afterSpace(from);
    if (at !== from + 1 || this.#bytes[from] !== 0x20) this.isCanonical = false;
    return at;
  }

  #afterSpace(from: number): number {
    const bytes = this.#bytes;
    let at = from;
    while (at < this.#end && (bytes[at] === 0x20 || bytes[at] === 0x09)) at += 1;
    return at;
  }

  #node(from: number, index: number): number {
    const first = from < this.#end ? this.#bytes[from] : 0;
    if (first === less) return this.#found(index, from, this.#iri(from, index));
    if (first === underscore) return this.#found(index, from, this.#blank(from, index));
    const kind = index === 2 ? "an IRI, a blank node or a literal" : "an IRI or a blank node";
    throw new SyntaxFault(`${nameOf[index] ?? "a term"} is expected: ${kind}`);
  }

  #found(index: number, from: number, end: number): number {
    this.starts[index] = from;
    this.ends[index] = end;
    return end;
  }

  #iri(from: number, index: number): number {
    const bytes = this.#bytes;
    const end = this.#end;
    this.rewritings[index] = rewriting.asIs;
    const schemeEnd = this.#schemeEnd(from + 1);
    let at = schemeEnd;
    while (at < end && iriBytes[bytes[at]!] === 1) at += 1;
    const closer = at < end ? bytes[at]! : 0;
    if (closer === backslash) return this.#escapedIri(from, index);
    if (closer !== greater) throw iriFault(at < end ? closer : undefined);
    if (schemeEnd === from + 1) throw new SyntaxFault("IRIs have to be absolute");
    return at + 1;
  }

  /** Behind the scheme and its colon, or `from` if there is none. */
  #schemeEnd(from: number): number {
    const bytes = this.#bytes;
    if (letters[bytes[from]!] !== 1) return from;
    let at = from + 1;
    while (at < this.#end && schemeBytes[bytes[at]!] === 1) at += 1;
    return at < this.#end && bytes[at] === colon ? at + 1 : from;
  }

  /** An IRI with `\u` somewhere: what it stands for is checked when it is written anew. */
  #escapedIri(from: number, index: number): number {
    this.isCanonical = false;
    this.rewritings[index] = rewriting.iri;
    const close = this.#bytes.indexOf(greater, from);
    if (close < 0 || close >= this.#end) throw new SyntaxFault("an IRI is not closed");
    return close + 1;
  }

  #blank(from: number, index: number): number {
    const bytes = this.#bytes;
    this.isCanonical = false;
    this.rewritings[index] = rewriting.blank;
    let at = from + 2;
    while (at < this.#end && labelBytes[bytes[at]!] === 1) at += 1;
    while (bytes[at - 1] === dot) at -= 1;
    if (at - from > maxLabelBytes) throw new SyntaxFault("a blank node's label is too long");
    const label = at > from + 2 && bytes[from + 1] === colon ? bytes.toString("utf8", from + 2, at) : "";
    if (!labelPattern.test(label)) throw new SyntaxFault("a blank node has no proper label");
    return at;
  }

  #literal(from: number): number {
    this.rewritings[2] = rewriting.asIs;
    const close = this.#closingQuote(from + 1);
    this.quoteEnd = close + 1;
    const next = this.#afterSpace(close + 1);
    const first = next < this.#end ? this.#bytes[next] : 0;
    if (first !== at_ && first !== caret) return this.#found(2, from, close + 1);
    if (next > close + 1) this.#rewriteLiteral();
    return this.#found(2, from, first === at_ ? this.#language(next + 1) : this.#datatype(next + 2));
  }

  #closingQuote(from: number): number {
    const bytes = this.#bytes;
    const end = this.#end;
    let at = from;
    while (at < end) {
      if (plainBytes[bytes[at]!] === 1) at += 1;
      else if (bytes[at] === quote) return at;
      else if (bytes[at] === backslash) {
        if (at + 1 >= end || plainEscapes[bytes[at + 1]!] !== 1) this.#rewriteLiteral();
        at += 2;
      } else {
        // A raw carriage return ends the line; other control characters are written as escapes.
        if (bytes[at] === 0x0d) break;
        this.#rewriteLiteral();
        at += 1;
      }
    }
    throw new SyntaxFault("a literal is not closed");
  }

  #rewriteLiteral(): void {
    this.isCanonical = false;
    this.rewritings[2] = rewriting.literal;
  }

  #language(from: number): number {
    const bytes = this.#bytes;
    let at = from;
    let allowed = letters;
    for (;;) {
      const part = at;
      while (at < this.#end && allowed[bytes[at]!] === 1) {
        if (upperLetters[bytes[at]!] === 1) this.#rewriteLiteral();
        at += 1;
      }
      if (at === part) throw new SyntaxFault("a language tag is not complete");
      if (at >= this.#end || bytes[at] !== hyphen) return at;
      at += 1;
      allowed = alphanumerics;
    }
  }

  #datatype(from: number): number {
    const bytes = this.#bytes;
    const iriAt = this.#afterSpace(from);
    if (bytes[from - 1] !== caret || iriAt >= this.#end || bytes[iriAt] !== less) {
      throw new SyntaxFault("a datatype is expected: an IRI in angle brackets");
    }
    // The object's own place is free until its end is known.
    const before = this.rewritings[2]!;
    const at = this.#iri(iriAt, 2);
    const isIriAnew = this.rewritings[2] === rewriting.iri;
    this.rewritings[2] = before;
    const isString = at - iriAt === xsdString.length && xsdString.compare(bytes, iriAt, at) === 0;
    if (isIriAnew || isString || iriAt > from) this.#rewriteLiteral();
    return at;
  }
}

const nameOf = ["a subject", "a predicate", "an object", "a graph name"];

/** @param byte what stands where an IRI should go on or end; undefined at the end of the line */
function iriFault(byte: number | undefined): SyntaxFault {
  if (byte === undefined) return new SyntaxFault("an IRI is not closed");
  if (byte === less) return new SyntaxFault("an IRI is expected; triple terms are not read");
  return new SyntaxFault(`an IRI may not have the character U+${byte.toString(16).toUpperCase().padStart(4, "0")}`);
}

/** What is wrong with a line; who reads the file adds its name and the number of the line. */
export class SyntaxFault extends Error {
  override readonly name = "SyntaxFault";
}
