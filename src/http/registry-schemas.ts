import { capabilitiesSchema } from "../registry/capabilities.ts";
import { Job } from "../jobs/job-queue.ts";
import { Type } from "typebox";
import { paging } from "./paging.ts";
import { view, strictObject, boolean, optionalFields } from "./schemas.ts";

/** Parameters of `GET /api/endpoints/{id}/void`. */
export const VoidParameters = optionalFields({
  view: Type.Enum(["agent", "planner"], {
    description: "agent (default): classes and properties within a budget; planner: only what is proven.",
  }),
  variant: Type.Enum(["standard", "extended"], {
    description: "extended: everything, with linksets to other endpoints and how each fact is known; without a budget.",
  }),
  maxTokens: Type.Integer({
    minimum: 200,
    maximum: 100_000,
    default: 2000,
    description: "Budget of the standard agent view as Turtle; the others are given whole, whatever it is.",
  }),
  whole: boolean("The standard agent view without a budget, too."),
  format: Type.String({ maxLength: 100, description: "turtle, ntriples, jsonld or a media type; wins over Accept." }),
});

/** Parameters of `GET /api/endpoints/{id}/schema`. */
export const SchemaParameters = optionalFields({
  detail: Type.Enum(["summary", "classes", "lines", "paths"], {
    description: "summary (default), names of classes, one line a class, or one line a path.",
  }),
  classes: Type.String({
    maxLength: 20_000,
    description: "Classes to show, separated by commas: IRIs or local names.",
  }),
  maxTokens: Type.Integer({ minimum: 50, maximum: 100_000, default: 2000 }),
  format: Type.Enum(["json", "text"]),
});

/** Parameters of `GET /api/search`. */
export const SearchParameters = strictObject({
  q: Type.String({ minLength: 1, maxLength: 2_048, description: "Words, an IRI, prefix:name or an id." }),
  kind: Type.Optional(Type.Enum(["endpoint", "class", "property"])),
  endpoint: Type.Optional(Type.String({ maxLength: 64, description: "Only this endpoint and its terms." })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 20 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000, default: 0 })),
});

/** Answer of `GET /api/endpoints/{id}/schema`. */
export const SchemaAnswer = view("Schema", {
  text: Type.String(),
  json: Type.Any(),
  truncated: Type.Boolean(),
  omitted: Type.Any(),
  estimatedTokens: Type.Integer(),
  complete: Type.Boolean(),
  freshness: Type.Any(),
});

/** Body of `POST /api/endpoints/{id}/describe`. */
export const DescribeParameters = strictObject({
  again: Type.Optional(boolean("Start from nothing instead of going on.")),
  retrieve: Type.Optional(boolean("false: the publisher's description is not looked for.")),
  requests: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000_000, description: "Most requests to the endpoint; 1,000 when absent." }),
  ),
  ms: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 86_400_000, description: "Time limit in milliseconds; an hour when absent." }),
  ),
});

/** Parameters of `POST /api/endpoints/{id}/linksets`. */
export const LinksParameters = strictObject({
  to: Type.String({ minLength: 1, maxLength: 64, description: "Id of the endpoint that the links lead to." }),
});

/** Parameters of `GET /api/jobs`. */
export const JobFilter = optionalFields({
  kind: Type.String({ maxLength: 64 }),
  state: Job.properties.state,
  ...paging,
});

/** A job, as the API shows it: of some, not all to everybody. */
export const JobView = view("Job", { ...Job.properties, payload: Type.Optional(Job.properties.payload) });

/** The answers of a route that has work done, for its documentation. */
export const accepted: Readonly<Record<number, object>> = { 202: JobView };

/** Findings of an endpoint's probes. */
export const CapabilityRecord = view("Capabilities", capabilitiesSchema.properties);
