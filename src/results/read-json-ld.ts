import type * as RDF from "@rdfjs/types";
import { JsonLdParser } from "jsonld-streaming-parser";
import { DataFactory } from "n3";
import { type GraphDecoder, type GraphDecoderOptions, malformed, QuadTransform } from "./answer-reader.ts";
import { jsonByte, JsonStructure, maxJsonDepth } from "./json-structure.ts";

const bounds = { maxDepth: maxJsonDepth, maxLoad: 8_000_000 };
/** Documents up to this length are cut only when all of them is known. */
const shortBytes = 1024 * 1024;
/** Bytes passed to the parser at once. */
const stepBytes = 16 * 1024;
/** Terms and other entries of one context, with those of the context around it. */
const maxContextEntries = 10_000;
/** Entries of all contexts of a document together; contexts within terms count each time that the term is used. */
const maxContextWork = 5_000_000;

/** JSON-LD, long lists of nodes in parts; remote contexts are refused. */
export class JsonLdDecoder implements GraphDecoder {
  readonly #options: GraphDecoderOptions;
  readonly #cutter = new JsonLdCutter(bounds);
  #held: Uint8Array[] = [];
  /** Position of the first byte that is held. */
  #heldFrom = 0;
  #context: Buffer | undefined;

  constructor(options: GraphDecoderOptions) {
    this.#options = options;
  }

  push(bytes: Uint8Array): readonly RDF.Quad[] | Promise<readonly RDF.Quad[]> {
    this.#cutter.push(bytes);
    if (this.#cutter.fault !== undefined) throw broken(`${this.#cutter.fault} (line ${this.#cutter.line})`);
    this.#held.push(bytes.slice());
    return this.#cutter.isList && this.#cutter.length > shortBytes ? this.#parseRanges() : [];
  }

  async end(): Promise<readonly RDF.Quad[]> {
    const missing = this.#cutter.end();
    if (missing !== undefined) throw broken(missing);
    return this.#cutter.isList ? await this.#parseRanges() : await this.#parseDocument(Buffer.concat(this.#held));
  }

  async #parseRanges(): Promise<readonly RDF.Quad[]> {
    const ranges = this.#cutter.takeRanges();
    const last = ranges.at(-1);
    if (last === undefined) return [];
    const bytes = Buffer.concat(this.#held);
    const from = this.#heldFrom;
    const { context } = this.#cutter;
    if (context !== undefined) this.#context ??= bytes.subarray(context.from - from, context.to - from);
    this.#held = [bytes.subarray(last.to - from)];
    this.#heldFrom = last.to;
    const quads: (readonly RDF.Quad[])[] = [];
    for (const range of ranges) quads.push(await this.#parseDocument(this.#documentOf(range, bytes, from)));
    return quads.flat();
  }

  #documentOf(range: ElementRange, bytes: Buffer, from: number): Buffer {
    const elements = bytes.subarray(range.from - from, range.to - from);
    const context = this.#context === undefined ? [] : [Buffer.from('"@context":'), this.#context, Buffer.from(",")];
    if (!this.#cutter.isGraph) return Buffer.concat([Buffer.from("["), elements, Buffer.from("]")]);
    return Buffer.concat([Buffer.from("{"), ...context, Buffer.from('"@graph":['), elements, Buffer.from("]}")]);
  }

  async #parseDocument(bytes: Buffer): Promise<readonly RDF.Quad[]> {
    const parser = new QuadTransform("JSON-LD", new PausingParser(this.#options));
    const quads: (readonly RDF.Quad[])[] = [];
    for (let at = 0; at < bytes.length; at += stepBytes) {
      quads.push(await parser.write(bytes.subarray(at, at + stepBytes)));
      await this.#options.pause?.();
    }
    quads.push(await parser.end());
    return quads.flat();
  }
}

const broken = (detail: string): Error => malformed(`The endpoint's JSON-LD answer is malformed: ${detail}`);

/** A remote context would be a request that was never allowed. */
const refusingLoader = {
  load: (url: string): Promise<never> =>
    Promise.reject(malformed(`The endpoint's JSON-LD answer needs the remote context ${url.slice(0, 200)}.`)),
};

/**
 * The JSON-LD parser says null for "no datatype", which n3 does not understand. A direction without a language is none (JSON-LD
 * 1.1 API, Object to RDF).
 */
const nullTolerant = (factory: RDF.DataFactory): RDF.DataFactory => ({
  ...factory,
  literal: (value, kind) =>
    typeof kind === "string" || (kind && ("termType" in kind || kind.language !== ""))
      ? factory.literal(value, kind)
      : factory.literal(value),
});

/**
 * The parser works through a whole document without ever waiting. This one takes a pause before each look at a key and
 * at each context, and bounds what contexts cost.
 */
class PausingParser extends JsonLdParser {
  #contextWork = 0;

  constructor({ baseIri, factory = DataFactory, pause = () => undefined }: GraphDecoderOptions) {
    super({
      dataFactory: nullTolerant(factory),
      documentLoader: refusingLoader,
      baseIRI: baseIri ?? "",
    });
    keepDigits(this, factory);
    before(Reflect.get(this, "util"), "unaliasKeyword", pause);
    before(Reflect.get(this, "parsingContext"), "parseContext", (contexts) => {
      this.#weighContext(contexts);
      return pause();
    });
  }

  /** Past the stream's buffer, which takes longer than the parser where a node has very many values. */
  override push(quad: unknown): boolean {
    return quad === null ? super.push(null) : this.emit("data", quad);
  }

  /** A context with the one that it is merged into. */
  #weighContext(contexts: readonly unknown[]): void {
    const entries = entriesIn(contexts.slice(0, 2), maxContextEntries);
    this.#contextWork += entries;
    if (entries > maxContextEntries) throw broken(`it has a context of more than ${maxContextEntries} entries.`);
    if (this.#contextWork > maxContextWork) throw broken("it has too many contexts.");
  }
}

/**
 * Integers from 2^53 on keep their datatype and their digits: the parser's JSON reader makes strings of them, and rounds those
 * below zero. Up to 1e21 they pass through the parser as bigints; larger numbers are doubles (JSON-LD 1.1 API, Object to RDF).
 */
function keepDigits(parser: object, factory: RDF.DataFactory): void {
  const reader = Reflect.get(parser, "jsonParser");
  replace(reader, "numberReviver", (own, given) => {
    const [text] = given;
    if (typeof text !== "string" || !/^-?[0-9]{16,}$/u.test(text)) return own(given);
    const exact = text.length > 22 ? Number(text) : BigInt(text);
    const onToken = Reflect.get(reader, "onToken");
    Reflect.set(reader, "onToken", (token: unknown) => Reflect.apply(onToken, reader, [token, exact]));
    const fault = own(given);
    Reflect.deleteProperty(reader, "onToken");
    return fault;
  });
  replace(Reflect.get(parser, "util"), "valueToTerm", async (own, given) => {
    const [context, key, value, ...rest] = given;
    if (typeof value !== "bigint") return await own(given);
    const terms: unknown = await own([context, key, Number(value), ...rest]);
    const isRounded = (term: unknown): term is RDF.Literal =>
      isObject(term) && Reflect.get(term, "value") === Number(value).toString();
    return Array.isArray(terms)
      ? terms.map((term) => (isRounded(term) ? factory.literal(value.toString(), term.datatype) : term))
      : terms;
  });
}

/** Makes one of the parser's own steps wait for another one. */
function before(owner: unknown, name: string, step: (given: readonly unknown[]) => Promise<void> | undefined): void {
  replace(owner, name, (own, given) => {
    const turn = step(given);
    return turn === undefined ? own(given) : turn.then(() => own(given));
  });
}

type Step = (given: readonly unknown[]) => unknown;

/** Puts a step in the place of one of the parser's own, which it is given. */
function replace(owner: unknown, name: string, step: (own: Step, given: readonly unknown[]) => unknown): void {
  const own: unknown = isObject(owner) ? Reflect.get(owner, name) : undefined;
  if (!isObject(owner) || typeof own !== "function") throw new TypeError(`The JSON-LD parser has changed: no ${name}.`);
  Reflect.set(owner, name, (...given: readonly unknown[]): unknown =>
    step((passed) => Reflect.apply(own, owner, passed), given),
  );
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Entries of an object or array and of all in it, counted up to a little more than `most`. */
function entriesIn(value: unknown, most: number): number {
  if (typeof value !== "object" || value === null) return 0;
  let entries = 1;
  for (const inner of Object.values(value)) {
    entries += 1 + entriesIn(inner, most - entries);
    if (entries > most) break;
  }
  return entries;
}

/** Some elements of the document's list: from the first byte to the one behind the last. */
interface ElementRange {
  readonly from: number;
  readonly to: number;
}

/** At which part of the document the cutter is; "whole" = this document cannot be cut. */
type Part = "start" | "head" | "list" | "tail" | "whole";

const minRangeBytes = 8 * 1024;

/**
 * Finds where a JSON-LD document can be cut into documents that mean the same together: between the elements of an
 * outermost array, and of a `@graph` that stands alone or behind one `@context`. These are the forms in which
 * engines write graphs; the parser would hold all of them, and for some takes time with the square of their length.
 */
class JsonLdCutter extends JsonStructure {
  #part: Part = "start";
  #elementDepth = 0;
  #key = "";
  #context: ElementRange | undefined;
  #rangeFrom = 0;
  #ranges: ElementRange[] = [];
  #taken = false;

  /** The value of `@context`; undefined when there is none. */
  get context(): ElementRange | undefined {
    return this.#context;
  }

  /** The elements are those of a `@graph`, not of an array. */
  get isGraph(): boolean {
    return this.#elementDepth === 2;
  }

  /** The document so far consists of elements; at its end, it can be cut. */
  get isList(): boolean {
    return this.#part === "list" || this.#part === "tail";
  }

  /** The ranges that are complete, each once. From the first call on, the document must go on as a list. */
  takeRanges(): readonly ElementRange[] {
    this.#taken = true;
    const ranges = this.#ranges;
    this.#ranges = [];
    return ranges;
  }

  protected override visit(byte: number, position: number): void {
    // The parser takes both for nothing.
    const isGap = this.before === jsonByte.colon || this.before === jsonByte.comma;
    if (isGap && byte !== jsonByte.openArray && byte !== jsonByte.openObject) {
      this.fault = "The JSON document is broken: a value is missing.";
    }
    if (this.#part === "list") this.#inList(byte, position);
    else if (this.depth === 1 && this.#part !== "whole") this.#outermost(byte, position);
    else if (this.depth === 2 && this.#part === "head" && this.#key === "@graph") this.#graphValue(byte, position);
  }

  #outermost(byte: number, position: number): void {
    if (this.#part === "start") {
      if (byte === jsonByte.openArray) this.#beginList(position);
      else this.#part = "head";
    } else if (this.#part === "tail") this.#behindList(byte);
    else if (byte === jsonByte.colon) this.#beginValue(position);
    else this.#endValue(byte, position);
  }

  #beginValue(position: number): void {
    this.#key = this.word;
    const isContext = this.#key === "@context" && this.#context === undefined;
    if (isContext) this.#context = { from: position + 1, to: position + 1 };
    else if (this.#key !== "@graph") this.#part = "whole";
  }

  /** A `@graph` comes here only when its value is no array. */
  #endValue(byte: number, position: number): void {
    if (this.#key !== "@context" || byte !== jsonByte.comma) this.#part = "whole";
    else if (this.#context !== undefined) this.#context = { from: this.#context.from, to: position };
  }

  #graphValue(byte: number, position: number): void {
    if (byte === jsonByte.openArray) this.#beginList(position);
    else this.#part = "whole";
  }

  #beginList(position: number): void {
    this.#part = "list";
    this.#elementDepth = this.depth;
    this.#rangeFrom = position + 1;
  }

  #inList(byte: number, position: number): void {
    if (this.depth !== this.#elementDepth) return;
    const isEnd = byte === jsonByte.openArray + 2;
    if (!isEnd && (byte !== jsonByte.comma || position - this.#rangeFrom < this.#rangeBytes)) return;
    this.#ranges.push({ from: this.#rangeFrom, to: position });
    this.#rangeFrom = position + 1;
    this.forgetLoad();
    if (isEnd) this.#part = "tail";
  }

  /** The context is read with each range, so a long one makes them longer. */
  get #rangeBytes(): number {
    const { from, to } = this.#context ?? { from: 0, to: 0 };
    return Math.max(minRangeBytes, 4 * (to - from));
  }

  /** More keys make a named graph of the elements, or a node. */
  #behindList(byte: number): void {
    if (byte !== jsonByte.comma) return;
    if (!this.#taken) this.#part = "whole";
    else this.fault = 'The JSON document has more keys behind a long "@graph"; they must stand before it.';
  }
}
