import { FedwayError } from "../../src/errors/fedway-error.ts";
import type { SparqlClient } from "../../src/outbound/sparql-request.ts";
import { stringText } from "../../src/rdf/term-text.ts";
import { createStoreClient, type StoreClient } from "./store-client.ts";

/** A term as JSON results have it. */
export type JsonTerm = Readonly<Record<string, string>> & { readonly value: string };

const ALIAS = "urn:alias";

/**
 * Stores that hold a term which no parser takes: `<urn:alias>` stands for it in their data. It goes out in its place, a text that
 * equals its own finds it (or fails, with `byTexts`), and a query that Oxigraph does not parse is refused.
 */
export function createDirtyClient(
  term: JsonTerm,
  data: Readonly<Record<string, string>>,
  byTexts?: FedwayError,
): StoreClient {
  const stores = createStoreClient(data);
  const query: SparqlClient["query"] = async (request) => {
    const text = request.query.replaceAll(`= ${stringText(term.value)}`, `= "${ALIAS}"`);
    if (byTexts && text !== request.query) throw byTexts;
    try {
      const answer = await stores.query({ ...request, query: text });
      const body = (answer.body as Buffer)
        .toString()
        .replaceAll(JSON.stringify({ type: "uri", value: ALIAS }), JSON.stringify(term));
      return { ...answer, body: Buffer.from(body) };
    } catch (error) {
      if (error instanceof FedwayError) throw error;
      throw new FedwayError("ENDPOINT_REJECTED_QUERY", "The endpoint refused the query.", { cause: error });
    }
  };
  return { ...stores, query };
}
