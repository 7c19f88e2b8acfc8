import type * as RDF from "@rdfjs/types";
import { type Clock, systemClock } from "../clock.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { AnswerKind } from "../results/model.ts";
import { acceptFor } from "../results/negotiation.ts";
import { type ParseOptions, parseAnswer } from "../results/parse.ts";
import { decodedBody } from "./content-coding.ts";
import type { DocumentClient, DocumentRequest, RdfDocument } from "./documents.ts";
import type { RequestBudget } from "./request-budget.ts";
import type { EndpointTarget, PartialReason, SparqlClient } from "./sparql-request.ts";

/** One query of any form whose answer is wanted whole, in memory. */
export interface AskRequest {
  /** With a `method` only that one is tried. */
  readonly endpoint: EndpointTarget;
  readonly query: string;
  /** Default: "boolean" for an ASK, "bindings" for all else. */
  readonly kind?: AnswerKind | undefined;
  /** Value of the Accept header; default: all formats that can be read. */
  readonly accept?: string | undefined;
  readonly signal: AbortSignal;
  /** Milliseconds from now. */
  readonly timeoutMs: number;
  /** Rows or triples that are taken in; more fail with `ANSWER_TOO_LARGE`. */
  readonly maxRows: number;
  /** Decoded bytes; more fail with `ANSWER_TOO_LARGE`. */
  readonly maxBytes: number;
  /** Requests that are left to the call that asks; absent: any number. */
  readonly budget?: RequestBudget | undefined;
}

/** A whole answer, parsed, and how it came; what its form does not have is empty. */
export interface WholeAnswer {
  readonly rows: readonly ReadonlyMap<string, RDF.Term>[];
  readonly variables: readonly string[];
  readonly quads: readonly RDF.Quad[];
  readonly boolean?: boolean | undefined;
  readonly httpStatus: number;
  /** Set when the endpoint showed that rows are missing; the received ones are there all the same. */
  readonly partial?: PartialReason | undefined;
  /** Registered media type of the format that was read, whatever name the endpoint gave it. */
  readonly mediaType: string;
  /** Decoded. */
  readonly bytes: number;
  readonly durationMs: number;
  /** HTTP requests it took. */
  readonly requests: number;
}

/**
 * Whole, parsed answers for the service's own questions, with the guard, deadlines, retries and politeness of the SPARQL
 * client. A FedwayError carries `details.fault` and `details.upstreamStatus`.
 */
export interface Asker {
  /** @throws FedwayError as `SparqlClient.query`, `ENDPOINT_MALFORMED`, `ANSWER_TOO_LARGE` */
  ask(request: AskRequest): Promise<WholeAnswer>;
  /** @throws FedwayError as `DocumentClient.fetch` */
  fetchDocument(request: DocumentRequest): Promise<RdfDocument>;
}

interface ReadOptions {
  readonly client: SparqlClient;
  /** The SPARQL client's own. */
  readonly clock?: Clock;
  /** For watching endpoints: sent although a circuit breaker is open; default false. */
  readonly pastBreaker?: boolean;
}

interface AskerOptions extends ReadOptions {
  readonly documents: Pick<DocumentClient, "fetch">;
}

/** An asker over the SPARQL client and the document client. */
export const createAsker = (options: AskerOptions): Asker => ({
  ask: (request) => readWhole(request, options),
  fetchDocument: (request) => options.documents.fetch(request),
});

/** Prologue and comments before the query form (SPARQL 1.1 Query, rule 4). */
const askForm = /^(?:\s|#[^\n]*\n|prefix\s+[^\s<]+\s*<[^>]*>|base\s*<[^>]*>)*ask\b/iu;

/** A LIMIT behind the last bracket can only be the outermost one. */
const outermostLimit = /\blimit\s{1,20}(\d{1,9})(?:\s{1,20}offset\s{1,20}\d{1,12})?\s{0,20}$/iu;

const kindOf = (query: string): AnswerKind => (askForm.test(query) ? "boolean" : "bindings");

function limitOf(query: string): number | undefined {
  const value = outermostLimit.exec(query.slice(-120))?.[1];
  return value === undefined ? undefined : Number(value);
}

/** One whole, parsed answer. @throws FedwayError as `Asker.ask` */
export async function readWhole(request: AskRequest, options: ReadOptions): Promise<WholeAnswer> {
  const { query, signal, timeoutMs, maxRows, maxBytes, budget } = request;
  // It is about this endpoint: its mirror may be another engine.
  const { mirror: _mirror, ...endpoint } = request.endpoint;
  const { client, clock = systemClock, pastBreaker = false } = options;
  const { kind = kindOf(query) } = request;
  const { accept = acceptFor(kind) } = request;
  const startedMs = clock.now();
  const bounds = { signal, deadlineMs: startedMs + timeoutMs };
  const asked = { endpoint, query, kind, limit: limitOf(query), accept, maxBytes, pastBreaker, budget };
  const answer = await client.query({ ...asked, ...bounds, encoding: "decode", acceptPartial: true });
  const { mediaType, status } = answer;
  // When parsing stops early the body is destroyed, and this promise with it; the parser's error is the one to report.
  answer.end.catch(() => undefined);
  const check = parseCheck(bounds, clock.now);
  const parsed = await parse(decodedBody(answer), { mediaType, kind, limits: { maxRows }, check }).catch(
    (error: unknown) => {
      throw withStatus(error, status);
    },
  );
  const end = await answer.end;
  return {
    ...parsed,
    httpStatus: status,
    partial: answer.partial ?? end.partial,
    mediaType,
    bytes: end.decodedBytes,
    durationMs: Math.round(clock.now() - startedMs),
    requests: answer.requests,
  };
}

/** A parsed answer; what its form does not have is empty. */
async function parse(bytes: AsyncIterable<Uint8Array>, options: ParseOptions) {
  const result = await parseAnswer(bytes, options);
  const rows: ReadonlyMap<string, RDF.Term>[] = [];
  const quads: RDF.Quad[] = [];
  if (result.kind === "quads") for await (const quad of result.quads) quads.push(quad);
  if (result.kind === "bindings") for await (const row of result.rows) rows.push(row);
  const variables = result.kind === "bindings" ? result.variables : [];
  return { rows, quads, variables, boolean: result.kind === "boolean" ? result.value : undefined };
}

function withStatus(error: unknown, upstreamStatus: number): unknown {
  if (!(error instanceof FedwayError) || error.details.upstreamStatus !== undefined) return error;
  return new FedwayError(error.code, error.message, { ...error.details, upstreamStatus });
}

/**
 * Check that a parser makes between its steps. An answer may have arrived whole long before it is parsed, so that nothing else
 * would end its parse.
 */
export function parseCheck(
  { signal, deadlineMs }: { readonly signal: AbortSignal; readonly deadlineMs: number },
  now: () => number,
): () => void {
  return () => {
    if (signal.aborted) {
      const reason: unknown = signal.reason;
      throw reason instanceof FedwayError ? reason : new FedwayError("CANCELLED", "The request was cancelled.");
    }
    if (now() > deadlineMs) {
      const message = "The endpoint's answer took longer to read than the query has time.";
      throw new FedwayError("DEADLINE_EXCEEDED", message, { fault: "timeout" });
    }
  };
}
