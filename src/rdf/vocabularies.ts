/** IRIs of the vocabularies that Fedway reads and writes; only terms that are used. */
export const rdf = {
  type: "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
} as const;

export const xsd = {
  boolean: "http://www.w3.org/2001/XMLSchema#boolean",
} as const;

/** Data Catalog Vocabulary, version 3. */
export const dcat = {
  DataService: "http://www.w3.org/ns/dcat#DataService",
  endpointURL: "http://www.w3.org/ns/dcat#endpointURL",
  keyword: "http://www.w3.org/ns/dcat#keyword",
  landingPage: "http://www.w3.org/ns/dcat#landingPage",
} as const;

export const dcterms = {
  description: "http://purl.org/dc/terms/description",
  identifier: "http://purl.org/dc/terms/identifier",
  license: "http://purl.org/dc/terms/license",
  title: "http://purl.org/dc/terms/title",
} as const;

export const foaf = {
  homepage: "http://xmlns.com/foaf/0.1/homepage",
} as const;

/** What no published vocabulary says of an endpoint; described in `catalog/README.md`. */
export const fedway = {
  namespace: "https://w3id.org/fedway/ns#",
  pseudoService: "https://w3id.org/fedway/ns#pseudoService",
  rawQueries: "https://w3id.org/fedway/ns#rawQueries",
  requestMethod: "https://w3id.org/fedway/ns#requestMethod",
} as const;
