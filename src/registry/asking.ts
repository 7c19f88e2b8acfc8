import type * as RDF from "@rdfjs/types";

/** An endpoint as the registry asks it. */
export interface AskedEndpoint {
  readonly id?: string;
  readonly url: string;
  readonly method?: "post-form" | "post-direct" | "get";
}

/** One SELECT or ASK for the registry's own purposes. */
export interface Asking {
  readonly endpoint: AskedEndpoint;
  readonly query: string;
  readonly signal: AbortSignal;
  /** Milliseconds from now. */
  readonly timeoutMs: number;
  /** Rows that are taken in; more fail with `ANSWER_TOO_LARGE`. */
  readonly maxRows: number;
  /** Decoded bytes; more fail with `ANSWER_TOO_LARGE`. */
  readonly maxBytes: number;
}

/** A whole answer, kept in memory. */
export interface AskedAnswer {
  /** Solutions; empty for ASK. */
  readonly rows: readonly ReadonlyMap<string, RDF.Term>[];
  readonly variables: readonly string[];
  /** Answer of ASK. */
  readonly boolean?: boolean;
  readonly httpStatus: number;
  /** Set when the endpoint showed that rows are missing; what came is there all the same. */
  readonly partial?: string;
  readonly mediaType: string;
  /** `Server` header, where the transport saw one. */
  readonly bytes: number;
  readonly durationMs: number;
  readonly requests: number;
}

/** A document fetched for the registry, parsed to triples. */
export interface FetchedDocument {
  /** After redirects. */
  readonly url: string;
  readonly httpStatus: number;
  readonly mediaType: string;
  readonly quads: readonly RDF.Quad[];
  readonly bytes: number;
  readonly durationMs: number;
}

/**
 * How the registry asks endpoints: through the transport, with its guard, deadlines, retries and politeness; parsed.
 * A FedwayError carries `details.fault` and `details.upstreamStatus`.
 */
export interface Asker {
  /** @throws FedwayError as `SparqlClient.query`, and `ENDPOINT_MALFORMED` */
  ask(asking: Asking): Promise<AskedAnswer>;
  /** GET of an RDF document (Turtle, N-Triples, RDF/XML, JSON-LD). @throws FedwayError, `ENDPOINT_NOT_SPARQL` when it is no RDF */
  fetchDocument(request: {
    readonly url: string;
    readonly signal: AbortSignal;
    readonly timeoutMs: number;
    readonly maxBytes: number;
    readonly maxQuads: number;
  }): Promise<FetchedDocument>;
}
