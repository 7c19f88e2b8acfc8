import { Store } from "oxigraph";
import { FedwayError } from "../../src/errors/fedway-error.ts";
import type { SparqlAnswer, SparqlClient, SparqlRequest } from "../../src/outbound/sparql-request.ts";

/** A SPARQL client whose endpoints are stores in this process; for tests of what stands above the transport. */
export interface StoreClient extends SparqlClient {
  /** Requests so far, in order. */
  readonly requests: SparqlRequest[];
  /** Makes an endpoint fail with an error from its n-th request on (0: at once). */
  fail(url: string, error: FedwayError, after?: number): void;
}

/** Creates the client over N-Quads texts by endpoint URL. */
export function createStoreClient(data: Readonly<Record<string, string>>): StoreClient {
  const stores = new Map(Object.entries(data).map(([url, triples]) => [url, loaded(triples)]));
  const failures = new Map<string, { error: FedwayError; after: number }>();
  const requests: SparqlRequest[] = [];

  async function query(request: SparqlRequest): Promise<SparqlAnswer> {
    const { url } = request.endpoint;
    const earlier = requests.filter(({ endpoint }) => endpoint.url === url).length;
    requests.push(request);
    request.signal.throwIfAborted();
    request.budget?.take();
    const failure = failures.get(url);
    if (failure && earlier >= failure.after) throw failure.error;
    const store = stores.get(url);
    if (!store) throw new FedwayError("ENDPOINT_UNREACHABLE", `Nothing listens at ${url}.`, { fault: "connect" });
    const text = store.query(request.query, { results_format: "json" });
    const body = Buffer.from(text as unknown as string);
    const whole = { decodedBytes: body.length, wireBytes: body.length };
    return {
      status: 200,
      mediaType: "application/sparql-results+json",
      contentEncoding: "identity",
      body,
      requests: 1,
      whole,
      end: Promise.resolve(whole),
    };
  }

  return {
    requests,
    query,
    fail: (url, error, after = 0) => failures.set(url, { error, after }),
  };
}

function loaded(triples: string): Store {
  const store = new Store();
  store.load(triples, { format: "application/n-quads" });
  return store;
}
