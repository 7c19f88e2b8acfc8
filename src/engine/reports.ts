import { type Static, Type } from "typebox";
import { integer, number, text, texts } from "../shapes.ts";

const { Optional } = Type;

/** Contribution of one endpoint to one run; counts were seen, absent means unknown. */
export const SourceReport = Type.Object(
  {
    endpoint: text("Catalogue id, or the URL of an endpoint outside the catalogue."),
    requests: Type.Integer(),
    cached: Optional(integer("Answers that were still known from an earlier request; not among `requests`.")),
    shared: Optional(
      integer("Answers that came with an equal request of another query that was under way; not among `requests`."),
    ),
    mirror: Optional(text("The mirror that was asked in its place; its requests are counted here.")),
    learned: Optional(texts("What its requests have shown of how it must be asked; kept with its capabilities.")),
    rows: Optional(Type.Integer()),
    setAside: Optional(
      Type.Object(
        { keys: Type.Integer(), unanswered: Type.Integer(), example: Type.String() },
        {
          description:
            "Join keys that no query can hold, such as IRIs with a space; they were matched by their texts, but for those without an answer.",
        },
      ),
    ),
    bytes: integer("Decoded bytes received."),
    ms: number("Milliseconds from the first request to the last byte so far."),
    status: Type.Enum(["pending", "ok", "partial", "failed", "timeout", "skipped", "silenced", "cancelled"], {
      description:
        "timeout: did not answer within the time it had; skipped: known to be down, not asked; silenced: failed, and SILENT takes that for an answer.",
    }),
    leftAlone: Optional(
      Type.Object(
        { since: Type.String(), until: Type.String() },
        {
          description:
            "Not asked: it used up its share of an earlier query's time. Queries with partial=true ask it again at `until`.",
        },
      ),
    ),
    reason: Optional(text("Error code when failed, timed out or skipped, or how the answer is partial.")),
  },
  { title: "Source" },
);
export type SourceReport = Static<typeof SourceReport>;

/** Cost of one step of a federated plan: a SERVICE clause, or patterns that members are asked for together. */
export const StepReport = Type.Object(
  {
    pattern: Optional(text("As it is asked, without join keys, at most 500 characters; for the query's owner only.")),
    endpoints: texts("Who was asked, at most ten of them."),
    asked: integer("How many endpoints were asked."),
    estimate: Optional(number("Solutions that were expected without join keys, where something was known.")),
    keys: integer(
      "Join keys that were sent; 0: the step was asked without them, because it comes first or was expected to have fewer solutions than there are keys.",
    ),
    whole: integer(
      "Requests without join keys. Where keys were sent too: the step had fewer solutions than there were keys, or rows to be joined bound none of them.",
    ),
    requests: integer("Requests that were sent."),
    rows: integer("Rows that came."),
    bytes: integer("Decoded bytes that came."),
    at: number("Milliseconds from the first request of the query to the first of the step."),
    ms: number("Milliseconds from the first request of the step to its last byte."),
  },
  { title: "Step" },
);
export type StepReport = Static<typeof StepReport>;

/** Steps of one execution that are reported, by their patterns. */
export type StepReports = Map<string, StepReport>;
