import type * as RDF from "@rdfjs/types";
import { DataFactory } from "n3";
import { FedwayError } from "../errors/fedway-error.ts";
import { boundedFactory, type OnBadTerm } from "../rdf/turtle.ts";
import {
  type AnswerHead,
  type AnswerScanner,
  type GraphDecoder,
  type GraphDecoderOptions,
  malformed,
  type Pause,
  type ScanVerdict,
  type TupleReader,
} from "./answer-reader.ts";
import type { ResultFormat } from "./formats.ts";
import { ByteSource, createPause, ItemReader, type ParseLimits, createItemStream } from "./item-reader.ts";
import type { AnswerKind, Bindings, QueryResult } from "./model.ts";
import { bareMediaType, formatOf } from "./negotiation.ts";
import { JsonReader } from "./read-json.ts";
import { JsonLdDecoder } from "./read-json-ld.ts";
import { RdfXmlDecoder } from "./read-rdf-xml.ts";
import { CsvReader, TsvReader } from "./read-records.ts";
import { createNTriplesScanner, createTrigScanner, createTurtleScanner, TurtleDecoder } from "./read-turtle.ts";
import { XmlReader } from "./read-xml.ts";

/** Known facts about the bytes of an answer. */
export interface ParseOptions {
  readonly mediaType: string;
  readonly kind: AnswerKind;
  /** The columns in their order (`columnsInOrder`). */
  readonly columns?: readonly string[] | undefined;
  readonly limits?: ParseLimits | undefined;
  /** Relative IRIs of graph documents are resolved against it; without it they are kept or refused as the format says. */
  readonly baseIri?: string | undefined;
  /** A graph document may have named graphs. */
  readonly namedGraphs?: boolean | undefined;
  /** Called for each statement of a graph that is left out since a term in it is none; without it such a term ends the answer. */
  readonly onBadTerm?: OnBadTerm | undefined;
  /** Called between the steps of a long parse; throws to end it, for instance because its deadline has passed. */
  readonly check?: (() => void) | undefined;
}

type TupleFormat = "json" | "xml" | "csv" | "tsv" | "boolean";

const tupleReaders: Readonly<Record<TupleFormat, (pause: Pause) => TupleReader>> = {
  json: (pause) => new JsonReader("results", pause),
  xml: () => new XmlReader({ sparqlResults: true, maxDepth: 64 }),
  csv: () => new CsvReader(),
  tsv: () => new TsvReader(),
  boolean: () => new BooleanReader(),
};

/** Decoders of graphs by format. Remote contexts of JSON-LD and document type declarations of RDF/XML are refused. */
export const graphDecoders = {
  turtle: (options: GraphDecoderOptions): GraphDecoder => new TurtleDecoder("Turtle", options),
  trig: (options: GraphDecoderOptions): GraphDecoder => new TurtleDecoder("TriG", options),
  ntriples: ({ factory, onBadTerm }: GraphDecoderOptions): GraphDecoder =>
    new TurtleDecoder("N-Triples", { factory, onBadTerm }),
  jsonld: (options: GraphDecoderOptions): GraphDecoder => new JsonLdDecoder(options),
  rdfxml: (options: GraphDecoderOptions): GraphDecoder => new RdfXmlDecoder(options),
} as const;

const scanners: ReadonlyMap<string, () => AnswerScanner> = new Map([
  ["application/sparql-results+json", () => new JsonReader("results")],
  ["application/x-sparqlstar-results+json", () => new JsonReader("results")],
  ["application/json", () => new JsonReader("anything")],
  ["application/ld+json", () => new JsonReader("graph")],
  ["application/sparql-results+xml", () => new XmlReader({ sparqlResults: true })],
  ["application/xml", () => new XmlReader({ sparqlResults: false })],
  ["text/xml", () => new XmlReader({ sparqlResults: false })],
  ["application/rdf+xml", () => new XmlReader({ sparqlResults: false })],
  ["text/csv", () => new CsvReader()],
  ["text/tab-separated-values", () => new TsvReader()],
  ["application/n-triples", createNTriplesScanner],
  ["application/n-quads", createNTriplesScanner],
  ["text/turtle", createTurtleScanner],
  ["application/x-turtle", createTurtleScanner],
  ["application/trig", createTrigScanner],
]);

/** For media types nothing is known about: any document counts as complete, its rows as unknown. */
const blindScanner: AnswerScanner = { push() {}, end: () => ({ complete: true }) };

/**
 * A scanner for one answer whose bytes pass by.
 * @param mediaType parameters and case are ignored
 */
export function createAnswerScanner(mediaType: string): AnswerScanner {
  return scanners.get(bareMediaType(mediaType))?.() ?? blindScanner;
}

/** `text/boolean`: the word alone. */
class BooleanReader implements TupleReader {
  head: AnswerHead | undefined;
  #text = "";

  push(bytes: Uint8Array): void {
    this.#text = (this.#text + Buffer.from(bytes).toString("latin1")).trim().toLowerCase().slice(0, 10);
  }

  end(): ScanVerdict {
    const complete = this.#text === "true" || this.#text === "false";
    return complete ? { complete } : { complete, detail: "The body is no boolean." };
  }

  read(bytes: Uint8Array): readonly Bindings[] {
    this.push(bytes);
    return [];
  }

  finish(): readonly Bindings[] {
    if (!this.end().complete) throw malformed("The endpoint's answer is no boolean.");
    this.head = { boolean: this.#text === "true" };
    return [];
  }
}

const isTupleFormat = (name: ResultFormat["name"]): name is TupleFormat => Object.hasOwn(tupleReaders, name);

/**
 * Parses an answer as it arrives. Resolves when the columns are known (SELECT), the value is (ASK), or at once
 * (graphs). Leaving the stream early releases `bytes`; so does every failure.
 * @throws FedwayError `ENDPOINT_NOT_SPARQL`, `ENDPOINT_MALFORMED`, `ANSWER_TOO_LARGE`, and whatever `bytes` fails with;
 * the streams of the result fail with the same
 */
export async function parseAnswer(bytes: AsyncIterable<Uint8Array>, options: ParseOptions): Promise<QueryResult> {
  const source = new ByteSource(bytes);
  try {
    const format = formatOf(options.mediaType, options.kind)?.name;
    if (format === undefined) throw notSparql(options);
    if (isTupleFormat(format)) return await parseTuples(source, format, options);
    if (!isGraphFormat(format)) throw notSparql(options);
    return { kind: "quads", quads: parseGraph(source, format, options) };
  } catch (error) {
    await source.release(error);
    throw error;
  }
}

function notSparql(options: ParseOptions): FedwayError {
  const type = options.mediaType.slice(0, 100);
  return new FedwayError("ENDPOINT_NOT_SPARQL", `The endpoint answered with ${type}, which holds no ${options.kind}.`, {
    fault: "wrong-media-type",
  });
}

async function parseTuples(source: ByteSource, format: TupleFormat, options: ParseOptions): Promise<QueryResult> {
  const pause = createPause(source, options.check);
  const answer = tupleReaders[format](pause);
  const decoder = { push: (bytes: Uint8Array) => answer.read(bytes), end: () => answer.finish() };
  const reader = new ItemReader({ source, decoder, pause, limits: options.limits });
  let early: readonly Bindings[] | undefined = [];
  while (answer.head === undefined && early !== undefined && early.length === 0) early = await reader.next();
  if (options.kind === "boolean") return await parseBoolean(source, reader, answer);
  if (answer.head?.variables === undefined)
    throw malformed("The endpoint answered with a boolean where rows were expected.");
  const variables = columnsInOrder(answer.head.variables, options.columns);
  const next = async (): Promise<readonly Bindings[] | undefined> => {
    const rows = early ?? [];
    early = undefined;
    return rows.length > 0 ? rows : reader.next();
  };
  return { kind: "bindings", variables, rows: createItemStream({ next, release: (cause) => source.release(cause) }) };
}

/** The columns of `SELECT *` as the query has them, where that is known; others come behind. */
export function columnsInOrder(variables: readonly string[], known: readonly string[] = []): readonly string[] {
  const own = new Set(variables);
  const first = known.filter((name) => own.has(name));
  return first.length === 0 ? variables : [...new Set([...first, ...variables])];
}

async function parseBoolean(
  source: ByteSource,
  reader: ItemReader<Bindings>,
  answer: TupleReader,
): Promise<QueryResult> {
  for (let items: readonly Bindings[] | undefined = []; items !== undefined; items = await reader.next()) {
    if (items.length > 0) break;
  }
  const value = answer.head?.boolean;
  if (value === undefined) throw malformed("The endpoint answered with rows where a boolean was expected.");
  await source.release();
  return { kind: "boolean", value };
}

type GraphFormat = keyof typeof graphDecoders;

const isGraphFormat = (name: ResultFormat["name"]): name is GraphFormat => Object.hasOwn(graphDecoders, name);

/**
 * The triples of a foreign document, as it arrives: the one way by which such documents are parsed. It parses in small
 * steps with the event loop's turns between them, whatever the document holds.
 */
function parseGraph(
  source: ByteSource,
  format: GraphFormat,
  { baseIri, namedGraphs = false, limits, onBadTerm, check }: ParseOptions,
): AsyncIterableIterator<RDF.Quad> {
  const pause = createPause(source, check);
  const factory = boundedFactory(DataFactory);
  const decoder = graphDecoders[format]({ factory, pause, baseIri, onBadTerm });
  const bounded: GraphDecoder = {
    push: (bytes) => {
      factory.allow(bytes.length);
      return decoder.push(bytes);
    },
    end: () => decoder.end(),
  };
  const reader = new ItemReader({ source, decoder: bounded, pause, limits });
  const next = async (): Promise<readonly RDF.Quad[] | undefined> => {
    const quads = await reader.next();
    if (quads !== undefined && quads.length > 0) factory.taken();
    if (!namedGraphs && quads?.some((quad) => quad.graph.termType !== "DefaultGraph") === true) {
      throw new FedwayError("ENDPOINT_MALFORMED", "The endpoint's answer has triples in a named graph.", {
        fault: "malformed",
        next: "Only a default graph is read from documents: publish each graph as a document, or load them into an endpoint.",
      });
    }
    return quads;
  };
  return createItemStream({ next, release: (cause) => source.release(cause) });
}
