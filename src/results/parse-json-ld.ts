import type * as RDF from "@rdfjs/types";
import { JsonLdParser } from "jsonld-streaming-parser";
import { DataFactory } from "n3";
import { type GraphDecoder, type GraphDecoderOptions, malformed } from "./decoder.ts";
import { type ElementRange, JsonLdCutter } from "./json-ld-cutter.ts";
import { QuadTransform } from "./quad-transform.ts";

/** A level of data is two of them where the document is expanded. */
const bounds = { maxDepth: 128, maxLoad: 8_000_000 };
/** Documents up to this length are cut only when all of them is known. */
const shortBytes = 1024 * 1024;
/** What the parser gets at once. */
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
    if (this.#cutter.fault !== undefined) throw broken(this.#cutter.fault);
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

/** A remote context would be a request that nobody allowed. */
const refusingLoader = {
  load: (url: string): Promise<never> =>
    Promise.reject(malformed(`The endpoint's JSON-LD answer needs the remote context ${url.slice(0, 200)}.`)),
};

/** The JSON-LD parser says null for "no datatype", which n3 does not understand. */
const nullTolerant = (factory: RDF.DataFactory): RDF.DataFactory => ({
  ...factory,
  literal: (value, kind) =>
    typeof kind === "string" || (kind && "termType" in kind) ? factory.literal(value, kind) : factory.literal(value),
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
      ...(baseIri !== undefined && { baseIRI: baseIri }),
    });
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

/** Makes one of the parser's own steps wait for another one. */
function before(owner: unknown, name: string, step: (given: readonly unknown[]) => Promise<void> | undefined): void {
  const own: unknown = isObject(owner) ? Reflect.get(owner, name) : undefined;
  if (!isObject(owner) || typeof own !== "function") throw new TypeError(`The JSON-LD parser has changed: no ${name}.`);
  Reflect.set(owner, name, (...given: readonly unknown[]): unknown => {
    const turn = step(given);
    const go = (): unknown => Reflect.apply(own, owner, given);
    return turn === undefined ? go() : turn.then(go);
  });
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
