import type { Catalog, CatalogEntry } from "../registry/catalog.ts";

/** A query to be planned. */
export interface PlanRequest {
  readonly text: string;
  /** Catalogue id when the request names an endpoint (`/endpoints/{id}/sparql`). */
  readonly endpointId?: string;
  /** Refuse patterns outside of every SERVICE instead of sending them on. */
  readonly strict: boolean;
  /** Protocol dataset (SPARQL 1.1 Protocol, section 2.1.4). */
  readonly defaultGraphs: readonly string[];
  readonly namedGraphs: readonly string[];
}

/** What planning may look at beside the request. */
export interface PlanContext {
  readonly catalog: Catalog;
  readonly egress: "catalog" | "public";
  /** Own origin, without a trailing slash. */
  readonly publicUrl: string;
}

/** A request with its endpoint looked up. */
export interface PlanTask {
  readonly context: PlanContext;
  readonly request: PlanRequest;
  readonly entry: CatalogEntry | undefined;
}
