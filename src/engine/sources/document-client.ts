import type * as RDF from "@rdfjs/types";

/** One RDF document to be fetched. */
export interface SourceDocumentRequest {
  readonly url: string;
  /** Ends the request at any moment; the reason becomes the error. */
  readonly signal: AbortSignal;
  /** Milliseconds from now, parsing included. */
  readonly timeoutMs: number;
  /** Decoded bytes; more fail with `ANSWER_TOO_LARGE`. */
  readonly maxBytes: number;
  /** Triples; more fail with `ANSWER_TOO_LARGE`. */
  readonly maxQuads: number;
  /** To be sent as If-None-Match by clients that can; then the answer may be `notModified`. */
  readonly etag?: string;
  /** Catalogue id of the endpoint that it is fetched for. */
  readonly endpoint?: string | undefined;
  /** What the request belongs to, handed on to the transport as it is. */
  readonly trace?: unknown;
}

/** A fetched and parsed document. */
export interface SourceDocument {
  /** After redirects. */
  readonly url: string;
  readonly mediaType: string;
  readonly quads: readonly RDF.Quad[];
  /** Decoded bytes. */
  readonly bytes: number;
  /** The server said that the document with the request's etag is still the same; `quads` is empty. */
  readonly notModified?: boolean;
  readonly etag?: string;
  /** How long it is fresh by its Cache-Control (RFC 9111, section 4.2), in milliseconds; absent when not said. */
  readonly maxAgeMs?: number;
}

/** What pattern sources need of the transport's document client: its address guard, host rates and byte counting. */
export interface SourceDocuments {
  /** @throws FedwayError as `SparqlClient.query`; `ENDPOINT_NOT_SPARQL` for what is no RDF, `ENDPOINT_MALFORMED` */
  fetch(request: SourceDocumentRequest): Promise<SourceDocument>;
}
