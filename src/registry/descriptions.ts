/** Descriptions of datasets: retrieved, computed, kept, and written as RDF. */
export { descriptionQuads } from "./descriptions/description-quads.ts";
export type { PropertyTerms } from "./descriptions/compute/property-terms.ts";
export type { DescriptionService, Summary } from "./descriptions/description-service.ts";
export { catalogVoid, descriptionUrl, serviceDescription, voidQuads } from "./descriptions/published-documents.ts";
export { QuadWriter } from "./descriptions/quad-writer.ts";
export { readDataset } from "./descriptions/read-void.ts";
export type { VoidDescription } from "./descriptions/void-description.ts";
