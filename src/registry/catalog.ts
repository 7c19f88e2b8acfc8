/** Entries and federations as live, editable RDF, and what others have published of them. */
export {
  AcceptedAdapter,
  type AskedEndpoint,
  Authorship,
  type Catalog,
  type CatalogDocument,
  CatalogDrift,
  CatalogEntry,
  CatalogProblem,
  type CatalogWrite,
  type EditableCatalog,
  type EndpointInterface,
  endpointInterfaces,
  Federation,
  type KeyPlace,
} from "./catalog/catalog.ts";
export { type CatalogFinding, type CatalogReport, checkCatalog } from "./catalog/check-catalog.ts";
export { describeAdvice } from "./catalog/describe-advice.ts";
export { describedFederation } from "./catalog/described-federation.ts";
export { type DocumentFields, documentOf, withFields } from "./catalog/document-fields.ts";
export {
  identifyDocument,
  maxDocumentBytes,
  maxDocumentQuads,
  parseDocument,
  reasonOf,
  writeDocument,
} from "./catalog/document.ts";
export { followRemovals } from "./catalog/follow-removals.ts";
export { adapterQuads } from "./catalog/key-adapters.ts";
export { openCatalog } from "./catalog/open-catalog.ts";
export { isTombstone } from "./catalog/overlays.ts";
export { type PublishedFacts, publishedSchema, type PublishedTerm } from "./catalog/published/published-facts.ts";
export { type Refreshed, refreshPublished } from "./catalog/published/refresh-published.ts";
export { loadCatalog } from "./catalog/read-files.ts";
