import type { OutboundAsker } from "../../outbound/whole-answer.ts";
import type { RdfDocument } from "../../outbound/documents.ts";
import type { RowsRequest, WholeRows } from "../../outbound/whole-answer.ts";
import type { EndpointTarget } from "../../outbound/sparql-client.ts";

/** An endpoint as the registry asks it. */
export type AskedEndpoint = Pick<EndpointTarget, "id" | "url" | "method">;

/** One SELECT or ASK for the registry's own purposes. */
export type Asking = RowsRequest;

/** A whole answer, kept in memory. */
export type AskedAnswer = WholeRows;

/** A document fetched for the registry, parsed to triples. */
export type FetchedDocument = RdfDocument;

/**
 * How the registry asks endpoints: through the transport, with its guard, deadlines, retries and politeness; parsed.
 * A FedwayError carries `details.fault` and `details.upstreamStatus`.
 */
export type Asker = OutboundAsker;
