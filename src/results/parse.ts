import { FedwayError } from "../errors/fedway-error.ts";
import { malformed, type Pause, type TupleDecoder } from "./decoder.ts";
import type { ResultFormat } from "./formats.ts";
import { ByteSource, createPause, ItemReader, type ParseLimits } from "./item-reader.ts";
import type { AnswerKind, Bindings, QueryResult } from "./model.ts";
import { formatOf } from "./negotiation.ts";
import { parseGraph } from "./parse-graph.ts";
import { createJsonDecoder } from "./parse-json.ts";
import { createCsvDecoder, createTsvDecoder } from "./parse-records.ts";
import { createXmlDecoder } from "./parse-xml.ts";
import { createItemStream } from "./row-stream.ts";

/** What is known about the bytes of an answer. */
export interface ParseOptions {
  readonly mediaType: string;
  readonly kind: AnswerKind;
  readonly limits?: ParseLimits;
  /** Relative IRIs of graph documents are resolved against it; without it they are kept or refused as the format says. */
  readonly baseIri?: string;
  /** Called between the steps of a long parse; throws to end it, for instance because its deadline has passed. */
  readonly check?: () => void;
}

type TupleFormat = "json" | "xml" | "csv" | "tsv";

const tupleDecoders: Readonly<Record<TupleFormat, (pause: Pause) => TupleDecoder>> = {
  json: createJsonDecoder,
  xml: createXmlDecoder,
  csv: createCsvDecoder,
  tsv: createTsvDecoder,
};

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
    const format = formatOf(options.mediaType, options.kind);
    if (format === undefined) throw notSparql(options);
    if (isTupleFormat(format.name)) return await parseTuples(source, format.name, options);
    return { kind: "quads", quads: parseGraph(source, { ...options, format: format.name }) };
  } catch (error) {
    await source.release();
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
  const variables = decoder.head?.variables;
  if (variables === undefined) throw malformed("The endpoint answered with a boolean where rows were expected.");
  const next = async (): Promise<readonly Bindings[] | undefined> => {
    const rows = early ?? [];
    early = undefined;
    return rows.length > 0 ? rows : reader.next();
  };
  return { kind: "bindings", variables, rows: createItemStream({ next, release: () => source.release() }) };
}

async function parseBoolean(
  source: ByteSource,
  reader: ItemReader<Bindings>,
  decoder: TupleDecoder,
): Promise<QueryResult> {
  for (let items: readonly Bindings[] | undefined = []; items !== undefined; items = await reader.next()) {
    if (items.length > 0) break;
  }
  await source.release();
  const value = decoder.head?.boolean;
  if (value === undefined) throw malformed("The endpoint answered with rows where a boolean was expected.");
  return { kind: "boolean", value };
}
