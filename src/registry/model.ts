/** One model of each endpoint, with its terms and joins. */
export { DescribedSchema } from "./model/described-schema.ts";
export { type EndpointModel, EndpointModels } from "./model/endpoint-models.ts";
export { joinsOf, type KnownJoin } from "./model/joins.ts";
export { keepModels } from "./model/keep-models.ts";
export type { KnownCount, KnownProperty, KnownSchema, TermKind } from "./model/schema.ts";
