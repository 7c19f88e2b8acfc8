import { FedwayError } from "../errors/fedway-error.ts";
import { parsedJson } from "../values.ts";
import { createUtf8Reader } from "./answer-reader.ts";

/** Bounds of a JSON text. */
interface JsonBounds {
  /** Levels of objects and arrays. */
  readonly maxDepth: number;
  /** Values that are held at a time, each counted as its depth and eight more: about the words of memory it takes. */
  readonly maxLoad: number;
}

/** Bytes of JSON's structure. */
export const jsonByte = { quote: 0x22, comma: 0x2c, colon: 0x3a, openArray: 0x5b, openObject: 0x7b } as const;

const loadOfValue = 8;
/** Longer keys are none that anybody looks for. */
const maxWordBytes = 16;

/**
 * Follows the structure of one JSON text byte by byte, before it is parsed: bounds its nesting and the number of its
 * values, and knows whether its brackets match and it is whole.
 */
export class JsonStructure {
  /** Why the text is not read. */
  fault: string | undefined;
  /** That was reached. */
  line = 1;
  protected depth = 0;
  /** The last string directly in the outermost object or array, as far as it fits; escapes as they are written. */
  protected word = "";
  /** The byte before the one that is visited; of a string its closing quote, blanks left out. */
  protected before = 0;
  readonly #bounds: JsonBounds;
  /** The open brackets, outermost first. */
  readonly #brackets: Uint8Array;
  #offset = 0;
  #load = 0;
  #inString = false;
  #escaped = false;
  #started = false;

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds;
    this.#brackets = new Uint8Array(bounds.maxDepth);
  }

  /** Bytes that have been pushed. */
  get length(): number {
    return this.#offset;
  }

  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && this.fault === undefined; at += 1) {
      const byte = bytes[at]!;
      if (this.#inString) this.#string(byte);
      else {
        this.#outside(byte, this.#offset + at);
        this.#leave(byte);
      }
    }
    this.#offset += bytes.length;
  }

  /** True after the first bracket. */
  get hasBegun(): boolean {
    return this.#started;
  }

  /** The missing part if the document ends now. */
  end(): string | undefined {
    if (this.fault !== undefined) return this.fault;
    if (!this.#started) return "The body is empty.";
    if (this.#inString) return "The JSON document ends inside a string.";
    return this.depth > 0 ? "The JSON document ends before it is closed." : undefined;
  }

  /** A bracket, comma or colon; brackets at the depth of what they enclose. */
  protected visit(_byte: number, _position: number): void {}

  /** Forgets the bytes that came so far. */
  protected forgetLoad(): void {
    this.#load = 0;
  }

  #string(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === 0x5c) this.#escaped = true;
    else if (byte === jsonByte.quote) {
      this.#inString = false;
      return;
    }
    if (this.depth === 1 && this.word.length < maxWordBytes) this.word += String.fromCharCode(byte);
  }

  #outside(byte: number, position: number): void {
    if (byte === jsonByte.quote) this.#beginString();
    else if (byte === jsonByte.openObject || byte === jsonByte.openArray) this.#open(byte, position);
    else if (byte === jsonByte.openObject + 2 || byte === jsonByte.openArray + 2) this.#close(byte, position);
    else if (byte === jsonByte.comma || byte === jsonByte.colon) {
      if (byte === jsonByte.comma) this.#weigh();
      this.visit(byte, position);
    } else if (this.depth === 0 && !isBlank(byte)) this.#foreignByte(byte, position);
  }

  #leave(byte: number): void {
    if (!isBlank(byte)) this.before = byte;
    else if (byte === 0x0a) this.line += 1;
  }

  #beginString(): void {
    this.#inString = true;
    this.word = "";
    if (this.depth === 0) this.fault = outsideText;
  }

  /** A byte order mark may open the document. */
  #foreignByte(byte: number, position: number): void {
    if (this.#started || byte !== byteOrderMark[position]) this.fault = outsideText;
  }

  #open(byte: number, position: number): void {
    if (this.depth === 0 && this.#started) this.fault = "There is text after the end of the JSON document.";
    this.#started = true;
    this.#brackets[this.depth] = byte;
    this.depth += 1;
    if (this.depth > this.#bounds.maxDepth) {
      this.fault ??= `The JSON document is nested more than ${this.#bounds.maxDepth} levels deep.`;
    }
    this.#weigh();
    this.visit(byte, position);
  }

  #close(byte: number, position: number): void {
    // A closing bracket is two behind the opening one.
    if (this.depth === 0 || this.#brackets[this.depth - 1] !== byte - 2) {
      this.fault = "The JSON document is broken: its brackets do not match.";
      return;
    }
    this.visit(byte, position);
    this.depth -= 1;
  }

  #weigh(): void {
    this.#load += this.depth + loadOfValue;
    if (this.#load > this.#bounds.maxLoad) this.fault ??= "The JSON document has too many values that belong together.";
  }
}

/** Some ten thousand values: as many as four megabytes can hold take a second to be parsed and looked at. */
const requestBounds = { maxDepth: 64, maxLoad: 100_000 };

/** Why the JSON of a request is not parsed; undefined when it may be, though it may still be no JSON. */
export function requestFault(bytes: Uint8Array): string | undefined {
  const structure = new JsonStructure(requestBounds);
  structure.push(bytes);
  const isScalar = structure.fault === outsideText && !structure.hasBegun;
  return isScalar ? "The JSON document does not begin with { or [." : structure.fault;
}

/** Value of a JSON text that another service sent; undefined where it is none, or is nested more deeply than `requestFault` allows. */
export function foreignJson(text: string): unknown {
  const structure = new JsonStructure({ ...requestBounds, maxLoad: Number.POSITIVE_INFINITY });
  structure.push(Buffer.from(text));
  return structure.fault === undefined || !structure.hasBegun ? parsedJson(text) : undefined;
}

const outsideText = "There is text outside the JSON document.";
const byteOrderMark = [0xef, 0xbb, 0xbf];
const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** As much is held without a look at what it is. */
const freeBytes = 1024 * 1024;
/** Levels of JSON in answers and in JSON-LD. A level of data is two of them where JSON-LD is expanded. */
export const maxJsonDepth = 128;
const bounds = { maxDepth: maxJsonDepth, maxLoad: 4_000_000 };

/** The text of whole byte ranges: they never begin or end inside a character. */
export const jsonText = (parts: readonly Uint8Array[]): string => {
  const reader = createUtf8Reader("JSON");
  return reader.read(parts.length === 1 ? parts[0]! : Buffer.concat(parts)) + reader.end();
};

/**
 * Bytes of JSON that will be parsed together. A long literal is welcome, but a few megabytes of brackets become a
 * gigabyte of objects: texts beyond 1 MiB are bounded in depth and number of values.
 */
export class HeldJson {
  readonly #opening: string;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #structure: JsonStructure | undefined;

  /** @param opening text that goes before the bytes where they are not a whole document */
  constructor(opening = "") {
    this.#opening = opening;
  }

  get parts(): readonly Uint8Array[] {
    return this.#parts;
  }

  /** Takes a copy. @throws FedwayError `ANSWER_TOO_LARGE` */
  add(bytes: Uint8Array): void {
    this.#parts.push(bytes.slice());
    this.#bytes += bytes.length;
    if (this.#bytes <= freeBytes) return;
    this.#follow(bytes);
    const { fault } = this.#structure!;
    if (fault !== undefined) {
      throw new FedwayError("ANSWER_TOO_LARGE", `The endpoint's JSON answer is not read: ${fault}`, {
        fault: "too-large",
      });
    }
  }

  /** All that was added, which is held no longer. */
  take(): readonly Uint8Array[] {
    const parts = this.#parts;
    this.#parts = [];
    this.#bytes = 0;
    this.#structure = undefined;
    return parts;
  }

  #follow(bytes: Uint8Array): void {
    if (this.#structure !== undefined) {
      this.#structure.push(bytes);
      return;
    }
    this.#structure = new JsonStructure(bounds);
    this.#structure.push(Buffer.from(this.#opening));
    for (const part of this.#parts) this.#structure.push(part);
  }
}
