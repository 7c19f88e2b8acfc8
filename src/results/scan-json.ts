import type { AnswerScanner, ScanVerdict } from "./scanner.ts";

/** What a JSON document is expected to be. */
export interface JsonExpectations {
  /** Look for `results.bindings` and `boolean` (SPARQL 1.1 Query Results JSON Format); false for JSON-LD. */
  readonly sparqlResults: boolean;
  /** A document that has neither of them is not an answer. */
  readonly required: boolean;
}

/** Deepest nesting that is followed; a deeper document is reported as malformed. */
const maxDepth = 1024;
/** Longer keys cannot be one of the three that matter. */
const maxKeyBytes = 16;

/** An index behind every chunk. */
const endOfScan = 2 ** 30 - 1;
const rawControl = "A JSON string holds a raw control character.";

const skip = 0;
const quote = 1;
const openObject = 2;
const closeObject = 3;
const openArray = 4;
const closeArray = 5;
const comma = 6;
const colon = 7;
const illegal = 8;

/** Byte to token class outside strings; the letters are those of true, false and null. */
const classOf = new Uint8Array(256).fill(illegal);
for (const byte of Buffer.from(" \t\r\n0123456789+-.eEtrufalsn")) classOf[byte] = skip;
classOf[0x22] = quote;
classOf[0x7b] = openObject;
classOf[0x7d] = closeObject;
classOf[0x5b] = openArray;
classOf[0x5d] = closeArray;
classOf[0x2c] = comma;
classOf[0x3a] = colon;

/** The same where separators are of no interest. */
const deepClassOf = classOf.map((kind) => (kind === comma || kind === colon ? skip : kind));

/** The bytewise end of `endOfString`, for the last three bytes of a chunk. */
function endOfShortString(bytes: DataView, from: number): number {
  const length = bytes.byteLength;
  let at = from;
  while (at < length) {
    const byte = bytes.getUint8(at);
    if (byte === 0x22) return at;
    if (byte < 0x20) return -1;
    at += byte === 0x5c ? 2 : 1;
  }
  return at;
}

/**
 * Index of the quote that ends a string; `length` when the chunk ends inside the string, `length + 1` when it ends
 * right after a backslash, -1 at a raw control character, which no JSON string may hold. Four bytes a step: a
 * difference borrows into the top bit of exactly the first byte that matches.
 */
function endOfString(bytes: DataView, from: number): number {
  const last = bytes.byteLength - 4;
  let at = from;
  while (at <= last) {
    const word = bytes.getUint32(at, true);
    const quotes = word ^ 0x22222222;
    const slashes = word ^ 0x5c5c5c5c;
    const found =
      (((quotes - 0x01010101) & ~quotes) | ((slashes - 0x01010101) & ~slashes) | ((word - 0x20202020) & ~word)) &
      0x80808080;
    if (found === 0) {
      at += 4;
      continue;
    }
    at += (31 - Math.clz32(found & -found)) >> 3;
    const byte = bytes.getUint8(at);
    if (byte === 0x22) return at;
    if (byte !== 0x5c) return -1;
    at += 2;
  }
  return endOfShortString(bytes, at);
}

/**
 * Follows one JSON document. "Deep" is the inside of a value whose keys do not matter, such as `results.bindings`;
 * what lies around is "shallow". A parser that needs the rows' bytes finds their place in the last chunk here, too.
 */
export class JsonScanner implements AnswerScanner {
  readonly #expected: JsonExpectations;
  /** Token class of each open bracket, outermost first. */
  readonly #brackets = new Uint8Array(maxDepth);
  /** Index in the last chunk where rows begin; -1 when it holds none. */
  rowsFrom = -1;
  /** Index in the last chunk of the bracket that ends the rows; -1 when they go on. */
  rowsTo = -1;
  /** Index in the last chunk right after the last row that ended there; -1 when none did. */
  lastRowEnd = -1;
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
  #isAnswer = false;
  #hasBindings = false;
  /** The last string at a level where keys matter, as far as it fits; then, after a colon, the key. */
  #word = "";
  #key = "";
  #inResults = false;
  #byteOrderMark = 0;
  #fault: string | undefined;

  constructor(expected: JsonExpectations) {
    this.#expected = expected;
  }

  push(chunk: Uint8Array): void {
    this.rowsFrom = this.#rowDepth < 0 ? -1 : 0;
    this.rowsTo = -1;
    this.lastRowEnd = -1;
    if (this.#fault !== undefined) return;
    const bytes = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let at = 0;
    while (at < bytes.byteLength && this.#fault === undefined) {
      if (this.#inString) at = this.#resumeString(bytes, at);
      else at = this.#floor >= 0 ? this.#scanDeep(bytes, at) : this.#scanShallow(bytes, at);
    }
  }

  /** Why the document is broken, as far as is known already. */
  get fault(): string | undefined {
    return this.#fault;
  }

  end(): ScanVerdict {
    const rows = this.#hasBindings ? { rows: this.#rows } : {};
    const detail = this.#fault ?? this.#whatIsMissing();
    return detail === undefined ? { complete: true, ...rows } : { complete: false, ...rows, detail };
  }

  #whatIsMissing(): string | undefined {
    if (!this.#started) return "The body is empty.";
    if (this.#inString) return "The JSON document ends inside a string.";
    if (this.#depth > 0) return "The JSON document ends before it is closed.";
    if (this.#expected.required && !this.#isAnswer) return 'The JSON document has neither "results" nor "boolean".';
    return undefined;
  }

  /** Goes on in a string that began in an earlier chunk or, where keys matter, just before `from`. */
  #resumeString(bytes: DataView, from: number): number {
    const start = this.#escaped ? from + 1 : from;
    const end = endOfString(bytes, start);
    if (end < 0) return this.#fail(rawControl);
    const length = bytes.byteLength;
    if (this.#floor < 0) this.#collectWord(bytes, from, Math.min(end, length));
    this.#inString = end >= length;
    this.#escaped = end > length;
    return end + 1;
  }

  /** Keys written with escapes are not recognised; no engine does that. */
  #collectWord(bytes: DataView, from: number, to: number): void {
    for (let at = from; at < to && this.#word.length <= maxKeyBytes; at += 1) {
      this.#word += String.fromCharCode(bytes.getUint8(at));
    }
  }

  /** The hot loop: follows strings and brackets only, until the value that began at the floor is closed. */
  #scanDeep(bytes: DataView, from: number): number {
    const brackets = this.#brackets;
    const length = bytes.byteLength;
    const floor = this.#floor;
    const rowDepth = this.#rowDepth;
    let depth = this.#depth;
    let rows = this.#rows;
    let lastRowEnd = -1;
    let at = from;
    while (at < length) {
      const kind = deepClassOf[bytes.getUint8(at)]!;
      at += 1;
      if (kind === skip) continue;
      if (kind === quote) {
        at = endOfString(bytes, at) + 1;
        if (at === 0) at = this.#fail(rawControl);
      } else if (kind === openObject || kind === openArray) {
        if (depth === maxDepth) at = this.#fail("The JSON document is nested too deeply.");
        brackets[depth] = kind;
        depth += 1;
      } else {
        depth -= 1;
        if (brackets[depth] !== kind - 1) at = this.#fail("The JSON document is broken.");
        else if (depth === floor) break;
        else if (depth === rowDepth) {
          rows += 1;
          lastRowEnd = at;
        }
      }
    }
    this.#rows = rows;
    this.lastRowEnd = lastRowEnd;
    return this.#pauseDeep(at, depth, length);
  }

  #pauseDeep(at: number, depth: number, length: number): number {
    this.#depth = depth;
    this.#inString = at > length;
    this.#escaped = at > length + 1;
    if (depth === this.#floor) {
      if (this.#rowDepth >= 0) this.rowsTo = at - 1;
      this.#floor = -1;
      this.#rowDepth = -1;
    }
    return at;
  }

  /** Where keys matter: the document's own level and that of `results`. */
  #scanShallow(bytes: DataView, from: number): number {
    const byte = bytes.getUint8(from);
    const kind = classOf[byte]!;
    if (kind === quote) {
      this.#word = "";
      this.#inString = true;
      return this.#depth > 0 ? from + 1 : this.#fail("There is text outside the JSON document.");
    }
    if (kind === openObject || kind === openArray) this.#open(kind, from);
    else if (kind === closeObject || kind === closeArray) this.#close(kind);
    else if (kind === illegal) this.#foreignByte(byte);
    else this.#plainByte(kind, byte);
    return from + 1;
  }

  #open(kind: number, at: number): void {
    if (this.#started && this.#depth === 0) {
      this.#fail("There is text after the end of the JSON document.");
      return;
    }
    this.#started = true;
    const keysMatter = this.#expected.sparqlResults && kind === openObject;
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
    this.#isAnswer = true;
  }

  #close(kind: number): void {
    if (this.#depth === 0 || this.#brackets[this.#depth - 1] !== kind - 1) {
      this.#fail("The JSON document is broken.");
      return;
    }
    this.#depth -= 1;
    this.#inResults = false;
    this.#key = "";
  }

  #plainByte(kind: number, byte: number): void {
    if (kind === colon) this.#key = this.#word;
    else if (kind === comma) this.#key = "";
    else if (byte <= 0x20) return;
    else if (this.#depth === 1 && this.#key === "boolean") this.#isAnswer ||= byte === 0x74 || byte === 0x66;
    if (this.#depth === 0) this.#fail("There is text outside the JSON document.");
  }

  /** A byte order mark may open the document (RFC 8259, section 8.1 lets parsers ignore it). */
  #foreignByte(byte: number): void {
    if (!this.#started && byte === [0xef, 0xbb, 0xbf][this.#byteOrderMark]) this.#byteOrderMark += 1;
    else this.#fail(this.#depth === 0 ? "There is text outside the JSON document." : "The JSON document is broken.");
  }

  #fail(detail: string): number {
    this.#fault ??= detail;
    return endOfScan;
  }
}

/** Scans one JSON document; rows are the objects directly in `results.bindings`. */
export function createJsonScanner(expected: JsonExpectations): AnswerScanner {
  return new JsonScanner(expected);
}
