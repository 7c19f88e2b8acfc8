/** One model of each endpoint, with its terms and joins. */
export { type EndpointModel, EndpointModels } from "./model/endpoint-models.ts";
export { joinsOf, type KnownJoin } from "./model/joins.ts";
export type { KnownSchema, TermKind } from "./model/schema.ts";
