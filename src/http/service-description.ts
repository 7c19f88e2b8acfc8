import type * as RDF from "@rdfjs/types";
import { type DescribedService, serviceDescription } from "../registry/void/published-documents.ts";
import { resultFormats } from "../results/formats.ts";

/** IRIs of the W3C's list of unique formats (http://www.w3.org/ns/formats/). */
const formatNames: Readonly<Record<string, string>> = {
  json: "SPARQL_Results_JSON",
  xml: "SPARQL_Results_XML",
  csv: "SPARQL_Results_CSV",
  tsv: "SPARQL_Results_TSV",
  turtle: "Turtle",
  ntriples: "N-Triples",
  jsonld: "JSON-LD",
};

const formats = resultFormats
  .filter(({ writable }) => writable)
  .map(({ name }) => `http://www.w3.org/ns/formats/${formatNames[name] ?? name}`);

/** One SPARQL route. */
export interface DescribedRoute {
  /** Absolute URL of the route. */
  readonly url: string;
  /** SERVICE clauses are evaluated. */
  readonly federated: boolean;
  /** What is queried there without SERVICE. */
  readonly dataset?: DescribedService["dataset"] | undefined;
}

const basicFederatedQuery = "http://www.w3.org/ns/sparql-service-description#BasicFederatedQuery";

/** The SPARQL 1.1 Service Description of a route. */
export function describeRoute({ url, federated, dataset }: DescribedRoute): readonly RDF.Quad[] {
  const features = federated ? [basicFederatedQuery] : [];
  return serviceDescription({ url, features, formats, ...(dataset && { dataset }) });
}
