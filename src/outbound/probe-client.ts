import type * as RDF from "@rdfjs/types";
import { FedwayError } from "../errors/fedway-error.ts";
import type { AnswerKind, QueryResult } from "../results/model.ts";
import { formatOf } from "../results/negotiation.ts";
import { parseAnswer } from "../results/parse.ts";
import { type Clock, systemClock } from "../clock.ts";
import { parseCheck } from "./parse-check.ts";
import type { EndpointTarget, PartialReason, SparqlAnswer, SparqlClient } from "./sparql-client.ts";

/** One query of any form, sent as given: method and media types are part of the question. */
export interface ProbeRequest {
  /** With a `method` only that one is tried. */
  readonly endpoint: EndpointTarget;
  readonly query: string;
  readonly kind: AnswerKind;
  /** Value of the Accept header; default: all formats that can be read. */
  readonly accept?: string;
  readonly signal: AbortSignal;
  /** Milliseconds from now. */
  readonly timeoutMs: number;
  /** Rows or triples that are taken in; more fail with `ANSWER_TOO_LARGE`. */
  readonly maxRows: number;
  /** Decoded bytes; more fail with `ANSWER_TOO_LARGE`. */
  readonly maxBytes: number;
}

/** A whole answer and how it came. */
export interface ProbeAnswer {
  readonly rows: readonly ReadonlyMap<string, RDF.Term>[];
  readonly quads: readonly RDF.Quad[];
  readonly boolean?: boolean;
  /** Registered media type of the format that was read, whatever name the endpoint gave it. */
  readonly format: string;
  /** Set when the endpoint showed that rows are missing; what came is there all the same. */
  readonly partial?: PartialReason;
  readonly durationMs: number;
  /** HTTP requests it took. */
  readonly requests: number;
}

/** Asks what an endpoint can do: as the SPARQL client, with its guard, manners and caps, the answer parsed whole. */
export interface ProbeClient {
  /** @throws FedwayError as `SparqlClient.query`, `ENDPOINT_MALFORMED`, `ANSWER_TOO_LARGE` */
  probe(request: ProbeRequest): Promise<ProbeAnswer>;
}

/** What a probe client is built from. */
export interface ProbeClientOptions {
  readonly client: SparqlClient;
  /** The SPARQL client's own. */
  readonly clock?: Clock;
  /** For watching endpoints: probes are sent although a circuit breaker is open; default false. */
  readonly pastBreaker?: boolean;
}

const tuples =
  "application/sparql-results+json, application/sparql-results+xml;q=0.8, text/tab-separated-values;q=0.3, text/csv;q=0.2";
const accepts: Readonly<Record<AnswerKind, string>> = {
  bindings: tuples,
  boolean: "application/sparql-results+json, application/sparql-results+xml;q=0.8",
  quads: "application/n-triples, text/turtle;q=0.9, application/rdf+xml;q=0.6, application/ld+json;q=0.5",
};

/** A probe client over the SPARQL client. */
export function createProbeClient(options: ProbeClientOptions): ProbeClient {
  const { client, clock = systemClock, pastBreaker = false } = options;
  return {
    async probe(request) {
      const { endpoint, query, kind, accept = accepts[kind], signal, maxBytes, maxRows } = request;
      const startedMs = clock.now();
      const bounds = { signal, deadlineMs: startedMs + request.timeoutMs };
      const answer = await client.query({
        endpoint,
        query,
        kind,
        accept,
        encoding: "decode",
        ...bounds,
        acceptPartial: true,
        pastBreaker,
        maxBytes,
      });
      const check = parseCheck(bounds, () => clock.now());
      const parsed = await parse(answer, kind, { maxRows, check });
      const end = await answer.end;
      const partial = answer.partial ?? end.partial;
      return {
        ...parsed,
        format: formatOf(answer.mediaType, kind)?.mediaType ?? answer.mediaType,
        ...(partial !== undefined && { partial }),
        durationMs: clock.now() - startedMs,
        requests: answer.requests,
      };
    },
  };
}

type Parsed = Pick<ProbeAnswer, "rows" | "quads" | "boolean">;

interface Parsing {
  readonly maxRows: number;
  readonly check: () => void;
}

async function parse(
  { body, mediaType, status, end }: SparqlAnswer,
  kind: AnswerKind,
  { maxRows, check }: Parsing,
): Promise<Parsed> {
  // When parsing stops early the body is destroyed, and this promise with it; the parser's error is the one to report.
  end.catch(() => undefined);
  const bytes: AsyncIterable<Uint8Array> = Buffer.isBuffer(body) ? single(body) : body;
  try {
    return await collect(await parseAnswer(bytes, { mediaType, kind, limits: { maxRows }, check }));
  } catch (error) {
    if (!(error instanceof FedwayError) || error.details.upstreamStatus !== undefined) throw error;
    throw new FedwayError(error.code, error.message, { ...error.details, upstreamStatus: status });
  }
}

async function collect(result: QueryResult): Promise<Parsed> {
  if (result.kind === "boolean") return { rows: [], quads: [], boolean: result.value };
  const rows: ReadonlyMap<string, RDF.Term>[] = [];
  const quads: RDF.Quad[] = [];
  if (result.kind === "quads") for await (const quad of result.quads) quads.push(quad);
  else for await (const row of result.rows) rows.push(row);
  return { rows, quads };
}

async function* single(chunk: Buffer): AsyncIterable<Buffer> {
  yield chunk;
}
