import type { Config } from "../config/config.ts";
import { packageVersion } from "../config/version.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { type AskerOptions, createAsker, type TransportAsker } from "../transport/asker.ts";
import { createSparqlClient } from "../transport/client.ts";
import { createDocumentClient, type DocumentClient } from "../transport/documents.ts";
import type { LocalDispatch, SparqlClient } from "../transport/sparql-client.ts";
import { clock } from "./clock.ts";

/** Everything that leaves the service goes through these. */
export interface Clients {
  readonly sparql: SparqlClient;
  readonly documents: DocumentClient;
  readonly asker: TransportAsker;
  close(): Promise<void>;
}

/** The outbound clients, under the limits of the configuration. @throws FedwayError `CONFIG_INVALID` */
export function openClients(config: Config, local: LocalDispatch, metrics?: Metrics): Clients {
  const { contact, allowAddresses, limits } = config;
  const shared = {
    version: packageVersion(),
    contact,
    allowAddresses,
    hostRate: { perSecond: limits.hostRate, burst: 2 * limits.hostRate },
    local,
    clock,
  };
  const sparql = createSparqlClient({
    ...shared,
    maxAnswerBytes: limits.maxAnswerBytes,
    endpointConcurrency: limits.endpointConcurrency,
    ...(metrics && {
      observer: {
        onExchange: (exchange) => metrics.observeExchange(exchange),
        onBreaker: (endpoint, state) => metrics.setBreaker(endpoint, state),
      },
    }),
  });
  const documents = createDocumentClient(shared);
  const parts: AskerOptions = { client: sparql, documents, clock };
  return {
    sparql,
    documents,
    asker: createAsker(parts),
    async close() {
      await Promise.all([sparql.close(), documents.close()]);
    },
  };
}
