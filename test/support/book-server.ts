import { afterAll, beforeEach } from "vitest";
import { type SparqlTestServer, startSparqlTestServer } from "./sparql-test-server.ts";

const oneBook =
  '<urn:x:1> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:x:Book> .\n<urn:x:1> <urn:x:title> "One" .';

/** An endpoint with one book, for the tests of one file; each begins without faults and requests. */
export async function startBookServer(): Promise<SparqlTestServer> {
  const server = await startSparqlTestServer(oneBook);
  beforeEach(() => {
    server.setFault(undefined);
    server.clearRequests();
  });
  afterAll(() => server.close());
  return server;
}
