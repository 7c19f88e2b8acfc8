import { isUtf8 } from "node:buffer";
import { type LineSyntax, parseLine, SyntaxFault } from "./parse-line.ts";
import type { BadLines } from "./read-bytes.ts";
import { type Statement, statementOf, type Visit } from "./statement.ts";

/** Places of bad lines that are kept. */
const mostBad = 10;

// Over bytes as characters of Latin-1: those of longer characters lie above 0x7f.
const iri = String.raw`<[A-Za-z][A-Za-z0-9+.\-]*:[^\0-\x20<>"{}|^\x60\\]*>`;
const plain = String.raw`[^"\\\0-\x1f\x7f]*`;
const datatype = String.raw`\^\^(?!<http://www\.w3\.org/2001/XMLSchema#string>)${iri}`;
// Literals with more escapes are parsed: each escape takes room on the stack of the expression.
const literal = String.raw`"${plain}(?:\\[tbnrf"\\]${plain}){0,1000}"(?:@[a-z]+(?:-[a-z0-9]+)*|${datatype})?`;
const canonicalLine = (graph: string): string => String.raw`(${iri}) (${iri}) (${iri}|${literal})${graph} \.\n`;
const canonicalTriple = new RegExp(canonicalLine(""), "y");
const canonicalQuad = new RegExp(canonicalLine(`(?: ${iri})?`), "y");

/**
 * Reads N-Triples and N-Quads (RDF 1.1), which have to be UTF-8. A line that is canonical already, which one regular
 * expression finds, is handed on where it lies; others are parsed and written anew.
 */
export class LineScanner {
  /** Lines that are done with. */
  lines = 0;
  readonly #bad: BadLines["first"][number][] = [];
  #badCount = 0;
  readonly #syntax: LineSyntax;
  readonly #skips: boolean;
  readonly #canonical: RegExp;
  readonly #statement: Statement = statementOf(["", "", ""]);
  readonly #visit: Visit;

  /**
   * @param options `skips`: bad lines are left out
   * @param visit called for each statement
   */
  constructor(options: LineSyntax & { readonly skips?: boolean }, visit: Visit) {
    this.#syntax = options;
    this.#skips = options.skips === true;
    this.#visit = visit;
    this.#canonical = options.graphs ? canonicalQuad : canonicalTriple;
  }

  /** Lines that were left out. */
  get badLines(): BadLines | undefined {
    return this.#badCount === 0 ? undefined : { count: this.#badCount, first: this.#bad };
  }

  /** Scans whole lines; the last one of a file may lack its line feed. @throws SyntaxFault */
  scan(bytes: Buffer): void {
    const canonical = this.#canonical;
    const text = bytes.toString("latin1");
    const isText = isUtf8(bytes);
    this.#statement.bytes = bytes;
    for (let at = 0; at < bytes.length; this.lines += 1) {
      canonical.lastIndex = at;
      const found = isText ? canonical.exec(text) : null;
      if (found === null) {
        const feed = text.indexOf("\n", at);
        const end = feed < 0 ? bytes.length : feed;
        this.#parse(bytes.subarray(at, end));
        at = end + 1;
      } else {
        this.#take(at, found);
        at = canonical.lastIndex;
      }
    }
  }

  #take(at: number, [line, subject = "", predicate = "", object = ""]: RegExpExecArray): void {
    const statement = this.#statement;
    statement.start = at;
    statement.subjectEnd = at + subject.length;
    statement.predicateEnd = statement.subjectEnd + 1 + predicate.length;
    statement.objectEnd = statement.predicateEnd + 1 + object.length;
    statement.end = at + line.length;
    this.#visit(statement);
  }

  /** One line, or several that only carriage returns part. */
  #parse(bytes: Buffer): void {
    try {
      if (!isUtf8(bytes)) throw new SyntaxFault("this is not UTF-8 text");
      for (const line of bytes.toString("utf8").split("\r")) {
        const terms = parseLine(line, this.#syntax);
        if (terms.length > 0) this.#visit(statementOf(terms));
      }
    } catch (error) {
      if (!this.#skips || !(error instanceof SyntaxFault)) throw error;
      this.#badCount += 1;
      if (this.#bad.length < mostBad) this.#bad.push({ line: this.lines + 1, reason: error.message });
    }
  }
}
