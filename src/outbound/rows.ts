import type * as RDF from "@rdfjs/types";
import { FedwayError } from "../errors/fedway-error.ts";
import type { AnswerKind, QueryResult } from "../results/model.ts";
import { parseAnswer } from "../results/parse.ts";
import type { Clock } from "../clock.ts";
import { parseCheck } from "./parse-check.ts";
import type { EndpointTarget, SparqlAnswer, SparqlClient } from "./sparql-client.ts";

/** One SELECT or ASK whose answer is wanted whole, in memory. */
export interface RowsRequest {
  readonly endpoint: EndpointTarget;
  readonly query: string;
  readonly signal: AbortSignal;
  /** Milliseconds from now. */
  readonly timeoutMs: number;
  /** Rows that are taken in; more fail with `ANSWER_TOO_LARGE`. */
  readonly maxRows: number;
  /** Decoded bytes; more fail with `ANSWER_TOO_LARGE`. */
  readonly maxBytes: number;
}

/** A whole answer, parsed. */
export interface WholeRows {
  /** Solutions; empty for ASK. */
  readonly rows: readonly ReadonlyMap<string, RDF.Term>[];
  readonly variables: readonly string[];
  readonly boolean?: boolean;
  readonly httpStatus: number;
  /** Set when the endpoint showed that rows are missing; what came is there all the same. */
  readonly partial?: string;
  readonly mediaType: string;
  readonly bytes: number;
  readonly durationMs: number;
  readonly requests: number;
}

const accepts: Readonly<Record<"bindings" | "boolean", string>> = {
  bindings:
    "application/sparql-results+json, application/sparql-results+xml;q=0.8, text/tab-separated-values;q=0.3, text/csv;q=0.2",
  boolean: "application/sparql-results+json, application/sparql-results+xml;q=0.8",
};

/** Prologue and comments before the query form (SPARQL 1.1 Query, rule 4). */
const askForm = /^(?:\s|#[^\n]*\n|prefix\s+[^\s<]*\s*<[^>]*>|base\s*<[^>]*>)*ask\b/iu;

/** A LIMIT behind the last bracket can only be the outermost one. */
const outermostLimit = /\blimit\s{1,20}(\d{1,9})(?:\s{1,20}offset\s{1,20}\d{1,12})?\s{0,20}$/iu;

const kindOf = (query: string): Exclude<AnswerKind, "quads"> => (askForm.test(query) ? "boolean" : "bindings");

function limitOf(query: string): number | undefined {
  const value = outermostLimit.exec(query.slice(-120))?.[1];
  return value === undefined ? undefined : Number(value);
}

/**
 * Sends a SELECT or ASK and takes in the whole answer. Partial answers are delivered and marked.
 * @throws FedwayError as `SparqlClient.query`, `ENDPOINT_MALFORMED`, `ANSWER_TOO_LARGE`
 */
export async function wholeRows(client: SparqlClient, request: RowsRequest, clock: Clock): Promise<WholeRows> {
  const startedMs = clock.now();
  const kind = kindOf(request.query);
  const limit = limitOf(request.query);
  const bounds = { signal: request.signal, deadlineMs: startedMs + request.timeoutMs };
  const answer = await client.query({
    endpoint: request.endpoint,
    query: request.query,
    kind,
    ...(limit !== undefined && { limit }),
    accept: accepts[kind],
    encoding: "decode",
    ...bounds,
    acceptPartial: true,
    maxBytes: request.maxBytes,
  });
  const { mediaType, status, requests } = answer;
  const check = parseCheck(bounds, () => clock.now());
  const result = await parsed(answer, kind, { maxRows: request.maxRows, check });
  const end = await answer.end;
  const partial = answer.partial ?? end.partial;
  return {
    ...result,
    httpStatus: status,
    ...(partial !== undefined && { partial: partial.detail }),
    mediaType,
    bytes: end.decodedBytes,
    durationMs: clock.now() - startedMs,
    requests,
  };
}

type Parsed = Pick<WholeRows, "rows" | "variables" | "boolean">;

interface Parsing {
  readonly maxRows: number;
  readonly check: () => void;
}

async function parsed(answer: SparqlAnswer, kind: AnswerKind, { maxRows, check }: Parsing): Promise<Parsed> {
  const { body, mediaType, status } = answer;
  // When parsing stops early the body is destroyed, and this promise with it; the parser's error is the one to report.
  answer.end.catch(() => undefined);
  const bytes: AsyncIterable<Uint8Array> = Buffer.isBuffer(body) ? single(body) : body;
  try {
    return await collected(await parseAnswer(bytes, { mediaType, kind, limits: { maxRows }, check }));
  } catch (error) {
    if (!(error instanceof FedwayError) || error.details.upstreamStatus !== undefined) throw error;
    throw new FedwayError(error.code, error.message, { ...error.details, upstreamStatus: status });
  }
}

async function collected(result: QueryResult): Promise<Parsed> {
  if (result.kind === "boolean") return { rows: [], variables: [], boolean: result.value };
  const rows: ReadonlyMap<string, RDF.Term>[] = [];
  if (result.kind === "quads") return { rows, variables: [] };
  for await (const row of result.rows) rows.push(row);
  return { rows, variables: result.variables };
}

async function* single(chunk: Buffer): AsyncIterable<Buffer> {
  yield chunk;
}
