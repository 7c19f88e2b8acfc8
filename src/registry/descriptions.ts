/** Descriptions of datasets: retrieved, computed, kept, and written as RDF. */
export { createDescriber } from "./descriptions/compute/describer.ts";
export type { ReadTriple } from "./descriptions/compute/triple-facts.ts";
export { type DescriptionForm, descriptionQuads } from "./descriptions/description-quads.ts";
export {
  createDescriptionService,
  type DescriptionService,
  type Freshness,
  type Summary,
} from "./descriptions/description-service.ts";
export { createDescriptionStore } from "./descriptions/description-store.ts";
export { DueDescriptions } from "./descriptions/due-descriptions.ts";
export { createLinksetFinder } from "./descriptions/linkset-finder.ts";
export { createLinksetService, type LinksetService } from "./descriptions/linkset-service.ts";
export {
  catalogVoid,
  type DescribedService,
  descriptionUrl,
  serviceDescription,
  voidQuads,
} from "./descriptions/published-documents.ts";
export { QuadWriter } from "./descriptions/quad-writer.ts";
export { readVoid } from "./descriptions/read-void.ts";
export { indexNodes, isWritable } from "./descriptions/values.ts";
export type {
  BuiltFacts,
  ClassPartition,
  Count,
  ObjectPartition,
  PropertyPartition,
  VoidDescription,
} from "./descriptions/void-description.ts";
export { createVoidRetriever } from "./descriptions/void-retriever.ts";
