import type { CatalogEntry } from "../../src/registry/catalog/catalog.ts";
import { EndpointModels, type ModelLimits } from "../../src/registry/model/endpoint-models.ts";
import type { PublishedFacts } from "../../src/registry/catalog/published/published-facts.ts";
import { createSearchIndex, type EndpointStatus } from "../../src/registry/find/search-index.ts";
import type { VoidDescription } from "../../src/registry/descriptions/void-description.ts";

interface Known {
  readonly entries?: readonly CatalogEntry[];
  readonly descriptions?: Iterable<readonly [id: string, description: VoidDescription]>;
  readonly published?: (id: string) => PublishedFacts | undefined;
  readonly limits?: Partial<ModelLimits>;
  readonly statusOf?: (id: string) => EndpointStatus;
}

/** Models of these endpoints, and an index over them. */
export function describedModels({ entries, descriptions = [], published, limits, ...options }: Known = {}) {
  const models = new EndpointModels(limits);
  if (entries !== undefined) models.setEntries(entries, published);
  for (const [id, description] of descriptions) models.setDescription(id, description);
  return { models, search: createSearchIndex(models, options) };
}
