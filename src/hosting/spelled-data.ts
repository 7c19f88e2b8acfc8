import { randomBytes } from "node:crypto";
import { keepsSpelling, storedByValue } from "../rdf/spellings.ts";
import { xsd } from "../rdf/vocabularies.ts";

/** N-Quads of which as many bytes are loaded at once, up to the end of a line. */
const sliceLength = 4 * 1024 * 1024;
/**
 * Literals that a store takes by value: text, and the name of their datatype behind the namespace of `xsd`. Linear: no quote that
 * is escaped begins one, and of long texts no more is held than where they begin.
 */
const valueLiteral = new RegExp(
  String.raw`(?<!\\)"([^"\\\n]*(?:\\.[^"\\\n]*){0,20})"[ \t]*\^\^[ \t]*<${xsd.namespace.replaceAll(".", String.raw`\.`)}(${storedByValue.join("|")})>`,
  "g",
);
const predicateOfLine = /[ \t]*(?:<[^<>\n]*>|_:[^ \t\n<]+)[ \t]*<([^<>\n]*)>/y;

/** A datatype, or a number that may not be the shortest text of its value. */
const spelledConstant = /\^\^|\b0\d|\.\d|\de|\+\d/iu;

/**
 * Data whose literals a store of values is to give back as they were spelled. It gets `"01"^^<mark...integer>` for
 * `"01"^^xsd:integer`, which it takes for a text, and the mark is taken out of its answers. Queries are written for that by
 * `spelledQuery`.
 */
export class SpelledData {
  /** Begins no IRI of the data: it is random, and no answer shows it. */
  readonly mark = `x${randomBytes(8).toString("hex")}:`;
  /** Predicates of triples with marked literals; undefined: any. */
  predicates: Set<string> | undefined = new Set();

  /** False for queries that no marked literal can matter to. */
  concerns(query: string): boolean {
    return this.predicates?.size !== 0 || spelledConstant.test(query);
  }

  /** N-Quads in UTF-8 with their literals marked, in slices that end with a line. */
  *marked(contents: Iterable<Buffer>): Generator<string> {
    for (const content of contents) {
      for (let from = 0; from < content.length; ) {
        const last = content.length - from <= sliceLength ? -1 : content.indexOf("\n", from + sliceLength);
        const to = last < 0 ? content.length : last + 1;
        yield this.#markedSlice(content.toString("utf8", from, to));
        from = to;
      }
      yield "\n";
    }
  }

  #markedSlice(text: string): string {
    const pieces: string[] = [];
    let from = 0;
    for (const { 0: literal, 1: lexical = "", 2: name = "", index } of text.matchAll(valueLiteral)) {
      if (keepsSpelling(lexical, xsd.namespace + name)) continue;
      const datatypeAt = index + literal.length - 1 - name.length - xsd.namespace.length;
      pieces.push(text.slice(from, datatypeAt), this.mark);
      from = datatypeAt;
      this.#noteLine(text, index);
    }
    return pieces.length === 0 ? text : pieces.join("") + text.slice(from);
  }

  #noteLine(text: string, at: number): void {
    predicateOfLine.lastIndex = text.lastIndexOf("\n", at) + 1;
    const [line = "\\", predicate = ""] = predicateOfLine.exec(text) ?? [];
    // Escapes, and lines that a carriage return ends, are for the store's parser.
    if (/[\\\r]/u.test(line) || text.slice(predicateOfLine.lastIndex, at).includes("\r")) this.predicates = undefined;
    else this.predicates?.add(predicate);
  }

  /** An answer without the mark, in the same memory. */
  unmarked(answer: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    const bytes = Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength);
    let [from, to] = [0, 0];
    for (;;) {
      const found = bytes.indexOf(this.mark, from, "latin1");
      const end = found < 0 ? bytes.length : found;
      if (to < from) bytes.copyWithin(to, from, end);
      to += end - from;
      if (found < 0) return answer.subarray(0, to);
      from = found + this.mark.length;
    }
  }
}
