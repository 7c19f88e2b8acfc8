import type * as RDF from "@rdfjs/types";
import { type Clock, systemClock } from "../clock.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { AnswerKind } from "../results/model.ts";
import { acceptFor } from "../results/negotiation.ts";
import { type ParseOptions, parseAnswer } from "../results/parse.ts";
import { decodedBody } from "./content-coding.ts";
import type { DocumentClient, DocumentRequest, RdfDocument } from "./documents.ts";
import type { EndpointTarget, PartialReason, SparqlClient } from "./sparql-client.ts";

/** One query of any form whose answer is wanted whole, in memory. */
export interface ProbeRequest {
  /** With a `method` only that one is tried. */
  readonly endpoint: EndpointTarget;
  readonly query: string;
  readonly kind: AnswerKind;
  /** Value of the Accept header; default: all formats that can be read. */
  readonly accept?: string | undefined;
  readonly signal: AbortSignal;
  /** Milliseconds from now. */
  readonly timeoutMs: number;
  /** Rows or triples that are taken in; more fail with `ANSWER_TOO_LARGE`. */
  readonly maxRows: number;
  /** Decoded bytes; more fail with `ANSWER_TOO_LARGE`. */
  readonly maxBytes: number;
}

/** One SELECT or ASK. */
export type RowsRequest = Omit<ProbeRequest, "kind" | "accept">;

/** A whole answer, parsed, and how it came. */
interface WholeAnswer {
  /** Solutions; empty for other forms than SELECT. */
  readonly rows: readonly ReadonlyMap<string, RDF.Term>[];
  readonly boolean?: boolean | undefined;
  readonly durationMs: number;
  /** HTTP requests it took. */
  readonly requests: number;
}

/** The answer of any form. */
export interface ProbeAnswer extends WholeAnswer {
  readonly quads: readonly RDF.Quad[];
  /** Registered media type of the format that was read, whatever name the endpoint gave it. */
  readonly format: string;
  /** Set when the endpoint showed that rows are missing; what came is there all the same. */
  readonly partial?: PartialReason | undefined;
}

/** The answer of a SELECT or ASK. */
export interface WholeRows extends WholeAnswer {
  readonly variables: readonly string[];
  readonly httpStatus: number;
  /** The reason, when the endpoint showed that rows are missing. */
  readonly partial?: string | undefined;
  readonly mediaType: string;
  readonly bytes: number;
}

/** Asks what an endpoint can do: as the SPARQL client, with its guard, manners and caps, the answer parsed whole. */
export interface ProbeClient {
  /** @throws FedwayError as `SparqlClient.query`, `ENDPOINT_MALFORMED`, `ANSWER_TOO_LARGE` */
  probe(request: ProbeRequest): Promise<ProbeAnswer>;
}

/** Whole, parsed answers for the service's own questions; what the registry knows as `Asker`. */
export interface OutboundAsker {
  /** @throws FedwayError as `ProbeClient.probe` */
  ask(request: RowsRequest): Promise<WholeRows>;
  /** @throws FedwayError as `DocumentClient.fetch` */
  fetchDocument(request: DocumentRequest): Promise<RdfDocument>;
}

interface WholeAnswerOptions {
  readonly client: SparqlClient;
  /** The SPARQL client's own. */
  readonly clock?: Clock;
  /** For watching endpoints: sent although a circuit breaker is open; default false. */
  readonly pastBreaker?: boolean;
}

/** A probe client over the SPARQL client. */
export const createProbeClient = (options: WholeAnswerOptions): ProbeClient => ({
  async probe(request) {
    const { rows, quads, boolean, answer, partial, durationMs } = await readWhole(request, undefined, options);
    return { rows, quads, boolean, partial, durationMs, format: answer.mediaType, requests: answer.requests };
  },
});

/** An asker over the SPARQL client and the document client. */
export function createAsker(
  options: WholeAnswerOptions & { readonly documents: Pick<DocumentClient, "fetch"> },
): OutboundAsker {
  return {
    async ask(request) {
      const { query } = request;
      const whole = await readWhole({ ...request, kind: kindOf(query) }, limitOf(query), options);
      const { rows, variables, boolean, bytes, durationMs } = whole;
      const { status: httpStatus, mediaType, requests } = whole.answer;
      const partial = whole.partial?.detail;
      return { rows, variables, boolean, httpStatus, partial, mediaType, bytes, durationMs, requests };
    },
    fetchDocument: (request) => options.documents.fetch(request),
  };
}

/** Prologue and comments before the query form (SPARQL 1.1 Query, rule 4). */
const askForm = /^(?:\s|#[^\n]*\n|prefix\s+[^\s<]*\s*<[^>]*>|base\s*<[^>]*>)*ask\b/iu;

/** A LIMIT behind the last bracket can only be the outermost one. */
const outermostLimit = /\blimit\s{1,20}(\d{1,9})(?:\s{1,20}offset\s{1,20}\d{1,12})?\s{0,20}$/iu;

const kindOf = (query: string): AnswerKind => (askForm.test(query) ? "boolean" : "bindings");

function limitOf(query: string): number | undefined {
  const value = outermostLimit.exec(query.slice(-120))?.[1];
  return value === undefined ? undefined : Number(value);
}

async function readWhole(
  { endpoint, query, kind, accept = acceptFor(kind), signal, timeoutMs, maxRows, maxBytes }: ProbeRequest,
  limit: number | undefined,
  { client, clock = systemClock, pastBreaker = false }: WholeAnswerOptions,
) {
  const startedMs = clock.now();
  const bounds = { signal, deadlineMs: startedMs + timeoutMs };
  const asked = { endpoint, query, kind, limit, accept, maxBytes, pastBreaker };
  const answer = await client.query({ ...asked, ...bounds, encoding: "decode", acceptPartial: true });
  const { mediaType, status } = answer;
  // When parsing stops early the body is destroyed, and this promise with it; the parser's error is the one to report.
  answer.end.catch(() => undefined);
  const check = parseCheck(bounds, clock.now);
  const options = { mediaType, kind, limits: { maxRows }, check };
  const parsed = await parse(decodedBody(answer), options).catch((error: unknown) => {
    throw withStatus(error, status);
  });
  const end = await answer.end;
  const partial = answer.partial ?? end.partial;
  return { ...parsed, answer, partial, bytes: end.decodedBytes, durationMs: clock.now() - startedMs };
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
 * What a parser asks between its steps. An answer may have arrived whole long before it is parsed, so that nothing else
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
