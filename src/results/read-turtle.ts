import type * as RDF from "@rdfjs/types";
import { TurtleReader } from "../rdf/turtle.ts";
import {
  type AnswerScanner,
  asMalformed,
  createUtf8Reader,
  type GraphDecoder,
  type GraphDecoderOptions,
  type ScanVerdict,
} from "./answer-reader.ts";

/** Where in the document's syntax the scanner is; "quotes" = counting the quotes that open a string. */
type Mode = "outside" | "comment" | "iri" | "quotes" | "short" | "long";

/** SPARQL-style directives need no dot. */
const directives = new Set(["prefix", "base", "version"]);
const maxWordBytes = 8;
/** Before the first prefix is declared, terms are written in full. A byte order mark may come first. */
const firstTerm = /^(?:\xef\xbb\xbf)?(?:[@<_[(]|(?:prefix|base|version)(?![a-z]))/iu;
const firstOfTrig = /^(?:\xef\xbb\xbf)?(?:[@<_[({]|(?:prefix|base|version|graph)(?![a-z]))/iu;

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

const openList = 0x28;
/** Bytes outside of terms behind which, or in which, one more triple ends: `.`, `;`, `,`, `[` and `{`. */
const endsTriple = new Uint8Array(256);
for (const byte of Buffer.from(".;,[{")) endsTriple[byte] = 1;

/**
 * Scans Turtle (and TriG) only for a plausible end: the last byte outside comments must end a statement. It knows
 * just enough of the syntax never to accuse a valid document; rows stay unknown, but for a document without statements.
 */
class TurtleScanner implements AnswerScanner {
  #mode: Mode = "outside";
  #escaped = false;
  /** The quote character of the string under way and how many of them in a row were seen. */
  #quote = 0;
  #run = 0;
  /** First word of the statement under way, as far as it fits. */
  #word = "";
  #inWord = true;
  #statementEnded = true;
  /** Nothing but white space and comments was seen. */
  #isBlank = true;
  readonly #first: RegExp;
  /** The first characters of the document, up to white space. */
  #opening = "";
  #opens = false;
  /** Ends of triples outside of terms, and what else may hold one. */
  #triples = 0;
  /** Items of a list are triples without an end of their own. */
  #hasList = false;

  constructor(first: RegExp) {
    this.#first = first;
  }

  push(chunk: Uint8Array): void {
    for (const byte of chunk) {
      if (this.#escaped) this.#escaped = false;
      else this.#byte(byte);
    }
  }

  end(): ScanVerdict {
    const ended = this.#statementEnded && (this.#mode === "outside" || this.#mode === "comment");
    if (ended && this.#isBlank) return { complete: true, rows: 0 };
    if (!this.#isBlank && !this.#first.test(this.#opening))
      return { complete: false, detail: "The body is not Turtle." };
    const atMost = this.#hasList ? {} : { atMost: this.#triples };
    return ended
      ? { complete: true, ...atMost }
      : { complete: false, detail: "The Turtle document ends inside a statement." };
  }

  #byte(byte: number): void {
    switch (this.#mode) {
      case "outside":
        return this.#outside(byte);
      case "comment":
        if (byte === 0x0a || byte === 0x0d) this.#mode = "outside";
        return;
      case "iri":
        return this.#iri(byte);
      case "quotes":
        return this.#openingQuotes(byte);
      default:
        return this.#string(byte);
    }
  }

  #outside(byte: number): void {
    if (isSpace(byte)) {
      this.#inWord &&= this.#word === "";
      this.#opens = false;
      return;
    }
    if (byte === 0x23) {
      this.#mode = "comment";
      return;
    }
    this.#keepOpening(byte);
    this.#count(byte);
    this.#statementEnded = byte === 0x2e || byte === 0x7d;
    this.#escaped = byte === 0x5c;
    if (byte === 0x3c) this.#mode = "iri";
    else if (byte === 0x22 || byte === 0x27) {
      this.#mode = "quotes";
      this.#quote = byte;
      this.#run = 1;
    } else if (this.#statementEnded || byte === 0x7b) this.#startStatement();
    else if (this.#inWord && this.#word.length < maxWordBytes) this.#word += String.fromCharCode(byte);
  }

  #count(byte: number): void {
    if (endsTriple[byte] === 1) this.#triples += 1;
    this.#hasList ||= byte === openList;
  }

  #keepOpening(byte: number): void {
    this.#opens ||= this.#isBlank;
    this.#isBlank = false;
    if (this.#opens && this.#opening.length < maxWordBytes) this.#opening += String.fromCharCode(byte);
  }

  #startStatement(): void {
    this.#word = "";
    this.#inWord = true;
  }

  /** White space in an "IRI" means that `<` was an operator, such as the `<<` of RDF 1.2. */
  #iri(byte: number): void {
    if (byte === 0x3e) this.#closeTerm();
    else if (isSpace(byte)) this.#mode = "outside";
  }

  #closeTerm(): void {
    this.#mode = "outside";
    this.#statementEnded = directives.has(this.#word.toLowerCase());
    if (this.#statementEnded) this.#startStatement();
    else this.#inWord = false;
  }

  #openingQuotes(byte: number): void {
    if (byte === this.#quote) {
      this.#run += 1;
      if (this.#run === 3) {
        this.#mode = "long";
        this.#run = 0;
      }
      return;
    }
    if (this.#run === 2) {
      this.#closeTerm();
      this.#outside(byte);
      return;
    }
    this.#mode = "short";
    this.#run = 0;
    this.#string(byte);
  }

  #string(byte: number): void {
    if (byte !== this.#quote) {
      this.#run = 0;
      this.#escaped = byte === 0x5c;
      return;
    }
    this.#run += 1;
    if (this.#run === (this.#mode === "long" ? 3 : 1)) this.#closeTerm();
  }
}

export const createTurtleScanner = (): AnswerScanner => new TurtleScanner(firstTerm);
export const createTrigScanner = (): AnswerScanner => new TurtleScanner(firstOfTrig);

const lineFeed = 0x0a;
const dot = 0x2e;
const hash = 0x23;

/** Follows one line byte by byte; only lines that are split or do not simply end in a dot need it. */
class LineFollower {
  #first = 0;
  #last = 0;
  /** The byte that closes the term under way; 0 outside. */
  #closer = 0;
  #escaped = false;
  #comment = false;

  feed(chunk: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to && !this.#comment; at += 1) {
      const byte = chunk[at]!;
      if (this.#closer === 0) this.#outside(byte);
      else if (this.#escaped) this.#escaped = false;
      else if (byte === 0x5c) this.#escaped = true;
      else if (byte === this.#closer) this.#closer = 0;
    }
  }

  #outside(byte: number): void {
    if (isSpace(byte)) return;
    if (byte === hash) {
      this.#comment = true;
      return;
    }
    if (byte === 0x3c) this.#closer = 0x3e;
    else if (byte === 0x22) this.#closer = 0x22;
    this.#first ||= byte;
    this.#last = byte;
  }

  /** Ends the line. */
  take(): "blank" | "statement" | "broken" {
    // A line that begins with V is the version directive of RDF 1.2, which has no dot.
    const blank = this.#first === 0 || this.#first === 0x56;
    const isTerm = this.#first === 0x3c || this.#first === 0x5f || this.#first === 0xef;
    const closed = isTerm && this.#last === dot && this.#closer === 0;
    this.#first = 0;
    this.#last = 0;
    this.#closer = 0;
    this.#escaped = false;
    this.#comment = false;
    if (blank) return "blank";
    return closed ? "statement" : "broken";
  }
}

/** Scans N-Triples and N-Quads: rows are the statements, one a line, each ended by a dot. */
export function createNTriplesScanner(): AnswerScanner {
  const line = new LineFollower();
  let split = false;
  let rows = 0;
  let lines = 0;
  let brokenLine = 0;
  let soundTo = 0;

  const closeLine = (): void => {
    lines += 1;
    const kind = line.take();
    if (kind === "statement") rows += 1;
    else if (kind === "broken") brokenLine ||= lines;
  };

  const push = (chunk: Uint8Array): void => {
    const length = chunk.length;
    let at = 0;
    soundTo = 0;
    while (at < length) {
      const found = chunk.indexOf(lineFeed, at);
      const end = found < 0 ? length : found;
      const first = chunk[at];
      if (!split && found > at && chunk[end - 1] === dot && (first === 0x3c || first === 0x5f)) {
        lines += 1;
        rows += 1;
      } else {
        line.feed(chunk, at, end);
        split = found < 0;
        if (!split) closeLine();
      }
      at = end + 1;
      if (brokenLine === 0 && !split) soundTo = at;
    }
  };

  const end = (): ScanVerdict => {
    if (split) closeLine();
    if (brokenLine === 0) return { complete: true, rows };
    return { complete: false, rows, detail: `Line ${brokenLine} is not a whole statement.` };
  };

  return {
    push,
    end,
    get soundTo() {
      return soundTo;
    },
  };
}

/** Turtle, TriG and N-Triples; triples come out with the chunk that ends them. */
export class TurtleDecoder implements GraphDecoder {
  readonly #name: string;
  readonly #utf8;
  readonly #reader: TurtleReader;

  constructor(name: "Turtle" | "TriG" | "N-Triples", options: GraphDecoderOptions) {
    const { baseIri, factory, onBadTerm, keepLabels = false } = options;
    this.#name = name;
    this.#utf8 = createUtf8Reader(name);
    const labels = keepLabels && { blankNodePrefix: "" };
    this.#reader = new TurtleReader({ format: name, baseIRI: baseIri, factory, ...labels }, onBadTerm);
  }

  push(bytes: Uint8Array): readonly RDF.Quad[] {
    const text = this.#utf8.read(bytes);
    return this.#parsed(() => this.#reader.push(text));
  }

  end(): readonly RDF.Quad[] {
    const text = this.#utf8.end();
    return this.#parsed(() => [...this.#reader.push(text), ...this.#reader.end()]);
  }

  #parsed(parse: () => readonly RDF.Quad[]): readonly RDF.Quad[] {
    try {
      return parse();
    } catch (error) {
      throw asMalformed(this.#name, error);
    }
  }
}
