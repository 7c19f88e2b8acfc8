import type { EndpointStatus } from "../../src/registry/find/answers.ts";
import type { Harvest } from "../../src/registry/find/read/harvest.ts";
import { type ModelLimits } from "../../src/registry/model/endpoint-models.ts";
import { Finder } from "../../src/registry/find.ts";
import type { Catalog, CatalogEntry, PublishedFacts } from "../../src/registry/catalog.ts";
import { createCatalog } from "./catalog-entry.ts";
import type { VoidDescription } from "../../src/registry/descriptions.ts";
import { EndpointModels } from "../../src/registry/model.ts";

type FinderOptions = ConstructorParameters<typeof Finder>[0];

interface Known extends Partial<Pick<FinderOptions, "embedder" | "engineSearch" | "onFault">> {
  readonly entries?: readonly CatalogEntry[];
  /** Default: one of the entries alone. */
  readonly catalog?: Catalog;
  readonly descriptions?: Iterable<readonly [id: string, description: VoidDescription]>;
  /** Names and values that were read. */
  readonly values?: Iterable<readonly [id: string, values: Harvest]>;
  readonly published?: (id: string) => PublishedFacts | undefined;
  readonly limits?: Partial<ModelLimits>;
  readonly statusOf?: (id: string) => EndpointStatus;
}

/** Models of these endpoints, and what finds in them. */
export function describedModels({ descriptions = [], values = [], ...known }: Known = {}) {
  const { entries, published, limits, ...options } = known;
  const models = new EndpointModels(limits);
  if (entries !== undefined) models.setEntries(entries, published);
  for (const [id, description] of descriptions) models.setDescription(id, description);
  for (const [id, read] of values) models.setRead(id, "values", read);
  const catalog = createCatalog(entries ?? [], [], { publicUrl: "http://localhost" });
  return { models, finder: new Finder({ models, catalog, ...options }) };
}
