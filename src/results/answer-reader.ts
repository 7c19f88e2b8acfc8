import type * as RDF from "@rdfjs/types";
import { FedwayError, libraryMessage } from "../errors/fedway-error.ts";
import type { OnBadTerm } from "../rdf/turtle.ts";
import type { Bindings } from "./model.ts";
import type { Duplex } from "node:stream";

/** Head of an answer: the columns, or the answer of ASK. */
export interface AnswerHead {
  readonly variables?: readonly string[];
  readonly boolean?: boolean;
}

/**
 * Turns the bytes of one answer into items. Bytes may be split anywhere; an unfinished item stays inside
 * and is bounded by the caller, which counts the bytes that bring no item. Broken input throws `ENDPOINT_MALFORMED`.
 */
export interface AnswerDecoder<T> {
  push(bytes: Uint8Array): readonly T[] | Promise<readonly T[]>;
  /** The rest, once the last byte has been pushed. */
  end(): readonly T[] | Promise<readonly T[]>;
}

/**
 * Between two steps of a long parse: throws when the parse is to end, gives a promise when the event loop is to have
 * its turn before the next step.
 */
export type Pause = () => Promise<void> | undefined;

/** The decoder of a graph answer. */
export type GraphDecoder = AnswerDecoder<RDF.Quad>;

/** How a graph is decoded. */
export interface GraphDecoderOptions {
  readonly baseIri?: string | undefined;
  /** Makes the terms; default that of n3. */
  readonly factory?: RDF.DataFactory | undefined;
  /** Taken between the steps of what is not parsed piece by piece. */
  readonly pause?: Pause;
  /** Without it a term that is none ends the document. */
  readonly onBadTerm?: OnBadTerm | undefined;
  /** Blank nodes of Turtle and TriG get the label that is written; default one of the parser's own before it. */
  readonly keepLabels?: boolean;
}

/** Verdict of a scanner once the last byte has passed. */
export interface ScanVerdict {
  /** False when the document is certainly cut off, followed by foreign text, or no answer at all. */
  readonly complete: boolean;
  /** Solutions or triples seen; absent where the format does not tell without being parsed. Never a guess. */
  readonly rows?: number;
  /** Triples at most, where they are not counted one by one; absent where nothing is known. */
  readonly atMost?: number;
  /** One sentence about why the document is not complete. */
  readonly detail?: string;
  /** Words of the document that say so. */
  readonly words?: string;
  /** Words of a whole document that say that rows are missing. */
  readonly partial?: string;
  /** Rows that the document says there are. */
  readonly total?: number;
}

/** Looks at the decoded bytes of one answer as they pass by; keeps its head and O(1) state, and never a chunk. */
export interface AnswerScanner {
  /** Form of the answer, as soon as it shows; undefined for graphs, and where it does not show. */
  readonly form?: "bindings" | "boolean" | undefined;
  /** The columns, once they have passed; undefined before, and where the document does not name them. */
  readonly variables?: readonly string[] | undefined;
  /** Index in the last chunk behind the last whole item that ended there; 0 when none did. */
  readonly soundTo?: number;
  /** The next bytes, split anywhere (also inside a UTF-8 character). Never throws. */
  push(chunk: Uint8Array): void;
  /** The verdict; call once, after the last chunk. */
  end(): ScanVerdict;
}

/**
 * Reads one answer to SELECT or ASK: scans its bytes as they pass by, or gives its rows, too. A reader does one of the two, and
 * never both.
 */
export interface TupleReader extends AnswerScanner {
  /** Known before the first row. */
  readonly head: AnswerHead | undefined;
  /** The next bytes, and the rows that end in them. @throws FedwayError `ENDPOINT_MALFORMED`, `ANSWER_TOO_LARGE` */
  read(bytes: Uint8Array): readonly Bindings[];
  /** The rest, once the last byte has been read. @throws FedwayError as `read` */
  finish(): readonly Bindings[] | Promise<readonly Bindings[]>;
}

const maxReasonLength = 200;

/** The error of an answer that is not what its media type promises; the message says what and where. */
export function malformed(message: string, cause?: unknown): FedwayError {
  return new FedwayError("ENDPOINT_MALFORMED", message, { fault: "malformed", cause });
}

/** Columns of an answer; each of them costs something in each row. */
const maxVariables = 10_000;

/** The columns of an answer. @throws FedwayError `ANSWER_TOO_LARGE` */
export function variablesOf(names: readonly string[]): readonly string[] {
  if (names.length <= maxVariables) return names;
  throw new FedwayError("ANSWER_TOO_LARGE", `The endpoint's answer has more than ${maxVariables} variables.`, {
    fault: "too-large",
  });
}

/** Any thrown value as such an error; errors that already say what happened pass unchanged. */
export function asMalformed(what: string, thrown: unknown): FedwayError {
  if (thrown instanceof FedwayError) return thrown;
  // XML parsers begin with a bare "4:6: ".
  const reason = (libraryMessage(thrown) ?? "unreadable")
    .slice(0, maxReasonLength)
    .replace(/^(\d+):(\d+): /u, "line $1, column $2: ");
  return malformed(`The endpoint's ${what} answer is malformed: ${reason}`, thrown);
}

/** Decodes UTF-8 that may be split inside characters; a byte order mark is dropped. */
export interface Utf8Reader {
  read(bytes: Uint8Array): string;
  end(): string;
}

/** A strict reader: bytes that are not UTF-8 throw `ENDPOINT_MALFORMED`. */
export function createUtf8Reader(what: string): Utf8Reader {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decode = (bytes: Uint8Array, stream: boolean): string => {
    try {
      return decoder.decode(bytes, { stream });
    } catch (error) {
      throw malformed(`The endpoint's ${what} answer is not UTF-8 text.`, error);
    }
  };
  return { read: (bytes) => decode(bytes, true), end: () => decode(new Uint8Array(0), false) };
}

/** The part of the parsers' transform streams that is used; they come from another stream library than Node's. */
type ParserStream = Pick<Duplex, "write" | "end" | "destroy" | "on" | "once" | "off">;

/** Drives a parser that is a transform stream, one step at a time. */
export class QuadTransform {
  readonly #name: string;
  readonly #parser: ParserStream;
  #quads: RDF.Quad[] = [];
  #error: unknown;

  /** @param name of the format, for errors */
  constructor(name: string, parser: ParserStream) {
    this.#name = name;
    this.#parser = parser;
    parser.on("data", (quad: RDF.Quad) => this.#quads.push(quad));
    parser.on("error", (error: unknown) => {
      this.#error ??= error;
    });
  }

  /** Terms decoded from these bytes. @throws FedwayError `ENDPOINT_MALFORMED`, or the error that ended the parser */
  async write(bytes: Uint8Array): Promise<readonly RDF.Quad[]> {
    await this.#settled((done) => this.#parser.write(Buffer.from(bytes), () => done()));
    return this.#take();
  }

  async end(): Promise<readonly RDF.Quad[]> {
    await this.#settled((done) => {
      this.#parser.once("end", done);
      this.#parser.end();
    });
    return this.#take();
  }

  destroy(): void {
    this.#parser.destroy();
  }

  /** Waits for one step, but never longer than the parser lives. */
  #settled(step: (done: () => void) => void): Promise<void> {
    // Nothing follows an error.
    if (this.#error !== undefined) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.#parser.off("error", done);
        this.#parser.off("close", done);
        resolve();
      };
      this.#parser.once("error", done);
      this.#parser.once("close", done);
      step(done);
    });
  }

  #take(): readonly RDF.Quad[] {
    if (this.#error !== undefined) {
      this.#parser.destroy();
      throw asMalformed(this.#name, this.#error);
    }
    const quads = this.#quads;
    this.#quads = [];
    return quads;
  }
}
