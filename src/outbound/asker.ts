import { type Clock, systemClock } from "../clock.ts";
import type { DocumentClient, DocumentRequest, RdfDocument } from "./documents.ts";
import { type RowsRequest, wholeRows, type WholeRows } from "./rows.ts";
import type { SparqlClient } from "./sparql-client.ts";

/** What an asker is built from. */
export interface AskerOptions {
  readonly client: SparqlClient;
  readonly documents: Pick<DocumentClient, "fetch">;
  readonly clock?: Clock;
}

/** Whole, parsed answers for the service's own questions; what the registry knows as `Asker`. */
export interface TransportAsker {
  /** @throws FedwayError as `SparqlClient.query`, `ENDPOINT_MALFORMED`, `ANSWER_TOO_LARGE` */
  ask(request: RowsRequest): Promise<WholeRows>;
  /** @throws FedwayError as `DocumentClient.fetch` */
  fetchDocument(request: DocumentRequest): Promise<RdfDocument>;
}

/** An asker over the SPARQL client and the document client; `clock` is the SPARQL client's own. */
export function createAsker({ client, documents, clock = systemClock }: AskerOptions): TransportAsker {
  return {
    ask: (request) => wholeRows(client, request, clock),
    fetchDocument: (request) => documents.fetch(request),
  };
}
