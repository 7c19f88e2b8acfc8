/** Entries and federations as live, editable RDF, and what others have published of them. */
export { AcceptedAdapter, CatalogEntry, catalogSchemas, Federation } from "./catalog/catalog.ts";
export type { Catalog, CatalogDocument, EditableCatalog } from "./catalog/catalog.ts";
export { type CatalogReport, checkCatalog } from "./catalog/check-catalog.ts";
export { describeAdvice } from "./catalog/described-federation.ts";
export { describedFederation } from "./catalog/described-federation.ts";
export { documentOf } from "./catalog/document-fields.ts";
export { documentBounds, identifyDocument, readDocument, writeDocument } from "./catalog/document.ts";
export { adapterQuads } from "./catalog/key-adapters.ts";
export { type PublishedFacts, publishedSchema } from "./catalog/published/published-facts.ts";
export { shapeTriples } from "./catalog/published/shapes-file.ts";
export { refreshPublished } from "./catalog/published/refresh-published.ts";
export { listIds } from "./catalog/read-files.ts";
