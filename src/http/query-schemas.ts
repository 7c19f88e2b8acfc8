import { type Static, Type } from "typebox";
import { SourceReport } from "../engine/reports.ts";
import { ChosenBy, notes, partialKind, PlanDescription, RunStatus } from "../query/records.ts";
import {
  partialDescription,
  Problem,
  Term,
  provenanceDescription,
  pruneDescription,
  view,
  strictObject,
  boolean,
  text,
} from "./schemas.ts";

/** A plan as the API gives it. */
const Plan = view("Plan", {
  ...Type.Omit(PlanDescription, ["run"]).properties,
  problem: Type.Optional(Problem),
  text: text("The plan as indented text for people."),
});

/** A plan, and with `analyze` what a run of it took. */
export const AnalyzedPlan = view("AnalyzedPlan", { ...Plan.properties, run: PlanDescription.properties.run });

/** Fields of both bodies. */
const asked = {
  query: Type.String({ minLength: 1, description: "SPARQL 1.1 query." }),
  endpoint: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        "Catalogue id; the query then needs no SERVICE. Without it and SERVICE all described endpoints are asked.",
    }),
  ),
  federation: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        "Id of a federation (`catalog`: all described endpoints), instead of an endpoint; the query then reads all of its members as one dataset.",
    }),
  ),
  timeoutMs: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 86_400_000, description: "Time limit of a run in milliseconds." }),
  ),
  partial: Type.Optional(Type.Union([Type.Boolean(), Type.Literal("subset")], { description: partialDescription })),
  strict: Type.Optional(boolean("Refuse patterns outside SERVICE instead of sending them on.")),
  prune: Type.Optional(Type.Union([Type.Boolean(), Type.Literal("trust")], { description: pruneDescription })),
};

/** Body of `POST /api/query`; `maxRows` is the service's own limit. */
export const queryBody = (maxRows: number) =>
  strictObject({
    ...asked,
    maxRows: Type.Optional(Type.Integer({ minimum: 1, maximum: maxRows, description: "Most rows of the answer." })),
    provenance: Type.Optional(Type.Boolean({ description: provenanceDescription })),
    format: Type.Optional(Type.Literal("json", { description: "Format of the answer; there is one." })),
    terms: Type.Optional(
      Type.Enum(["json", "ntriples"], {
        description: "How values are written. json, the default: as JSON values; ntriples: each as N-Triples text.",
      }),
    ),
  });
export type QueryBody = Static<ReturnType<typeof queryBody>>;

/** Body of `POST /api/explain`. */
export const ExplainBody = strictObject({
  ...asked,
  analyze: Type.Optional(boolean("Run the query, drop its rows, and say what each step of the plan took.")),
});
export type ExplainBody = Static<typeof ExplainBody>;

/** Answer of `POST /api/query`. */
export const TabularAnswer = view("Table", {
  run: Type.String(),
  status: RunStatus,
  partial: Type.Optional(partialKind),
  plan: Plan,
  columns: Type.Array(Type.String()),
  rows: Type.Array(Type.Object({}, { additionalProperties: Term }), {
    description: "One object a row; a column that is unbound is absent.",
  }),
  boolean: Type.Optional(boolean("Answer of ASK.")),
  truncated: boolean("maxRows cut the answer."),
  sources: Type.Array(SourceReport),
  notes,
  facts: Type.Optional(ChosenBy),
  diagnosis: Type.Union([Problem, Type.Null()]),
});
