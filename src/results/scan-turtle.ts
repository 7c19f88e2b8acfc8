import type { AnswerScanner } from "./scanner.ts";

/** Where in the document's syntax the scanner is; "quotes" = counting the quotes that open a string. */
type Mode = "outside" | "comment" | "iri" | "quotes" | "short" | "long";

/** SPARQL-style directives need no dot. */
const directives = new Set(["prefix", "base", "version"]);
const maxWordBytes = 8;

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/**
 * Scans Turtle (and TriG) only for a plausible end: the last byte outside comments must end a statement. It knows
 * just enough of the syntax never to accuse a valid document; rows stay unknown.
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

  push(chunk: Uint8Array): void {
    for (const byte of chunk) {
      if (this.#escaped) this.#escaped = false;
      else this.#byte(byte);
    }
  }

  end(): { readonly complete: boolean; readonly detail?: string } {
    const ended = this.#statementEnded && (this.#mode === "outside" || this.#mode === "comment");
    return ended ? { complete: true } : { complete: false, detail: "The Turtle document ends inside a statement." };
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
      return;
    }
    if (byte === 0x23) {
      this.#mode = "comment";
      return;
    }
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

/** A scanner for Turtle and TriG. */
export function createTurtleScanner(): AnswerScanner {
  return new TurtleScanner();
}
