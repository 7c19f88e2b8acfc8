import type * as RDF from "@rdfjs/types";
import { FedwayError } from "../errors/fedway-error.ts";
import { type AnswerHead, malformed, type Pause, type TupleDecoder, type GraphDecoder } from "./decoder.ts";
import type { ResultFormat } from "./formats.ts";
import { ByteSource, createPause, ItemReader, type ParseLimits, createItemStream } from "./item-reader.ts";
import { type AnswerKind, type Bindings, columnsInOrder, type QueryResult } from "./model.ts";
import { formatOf } from "./negotiation.ts";
import { JsonDecoder } from "./parse-json.ts";
import { createCsvDecoder, createTsvDecoder } from "./parse-records.ts";
import { XmlDecoder } from "./parse-xml.ts";
import { DataFactory } from "n3";
import { boundedFactory, type OnBadTerm } from "../rdf/turtle.ts";
import { graphDecoders } from "./parse-graphs.ts";

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

const tupleDecoders: Readonly<Record<TupleFormat, (pause: Pause) => TupleDecoder>> = {
  json: (pause) => new JsonDecoder(pause),
  xml: () => new XmlDecoder(),
  csv: createCsvDecoder,
  tsv: createTsvDecoder,
  boolean: () => new BooleanDecoder(),
};

/** `text/boolean`: the word alone. */
class BooleanDecoder implements TupleDecoder {
  head: AnswerHead | undefined;
  #text = "";

  push(bytes: Uint8Array): readonly Bindings[] {
    this.#text = (this.#text + Buffer.from(bytes).toString("latin1")).trim().toLowerCase().slice(0, 10);
    return [];
  }

  end(): readonly Bindings[] {
    if (this.#text !== "true" && this.#text !== "false") throw malformed("The endpoint's answer is no boolean.");
    this.head = { boolean: this.#text === "true" };
    return [];
  }
}

const isTupleFormat = (name: ResultFormat["name"]): name is TupleFormat => Object.hasOwn(tupleDecoders, name);

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
  const decoder = tupleDecoders[format](pause);
  const reader = new ItemReader({ source, decoder, pause, limits: options.limits });
  let early: readonly Bindings[] | undefined = [];
  while (decoder.head === undefined && early !== undefined && early.length === 0) early = await reader.next();
  if (options.kind === "boolean") return await parseBoolean(source, reader, decoder);
  if (decoder.head?.variables === undefined)
    throw malformed("The endpoint answered with a boolean where rows were expected.");
  const variables = columnsInOrder(decoder.head.variables, options.columns);
  const next = async (): Promise<readonly Bindings[] | undefined> => {
    const rows = early ?? [];
    early = undefined;
    return rows.length > 0 ? rows : reader.next();
  };
  return { kind: "bindings", variables, rows: createItemStream({ next, release: (cause) => source.release(cause) }) };
}

async function parseBoolean(
  source: ByteSource,
  reader: ItemReader<Bindings>,
  decoder: TupleDecoder,
): Promise<QueryResult> {
  for (let items: readonly Bindings[] | undefined = []; items !== undefined; items = await reader.next()) {
    if (items.length > 0) break;
  }
  const value = decoder.head?.boolean;
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
