import { type Static, Type } from "typebox";
import {
  partialDescription,
  Problem,
  provenanceDescription,
  pruneDescription,
  view,
  strictObject,
  boolean,
  integer,
  number,
  text,
  texts,
} from "./schemas.ts";

const note = Type.Object({
  code: Type.String(),
  message: Type.String(),
  query: Type.Optional(text("The query to send instead.")),
});
const notes = Type.Array(note, { description: "What was done to the query that the reader should know." });
/** How a run stands. */
export const runStatus = Type.Union(
  ["running", "ok", "empty", "partial", "failed", "cancelled"].map((name) => Type.Literal(name)),
  { description: "Outcome; ok, empty, partial and failed never look alike." },
);

/** One endpoint's part in a run. */
const SourceReport = view("Source", {
  endpoint: Type.String(),
  requests: Type.Integer(),
  cached: Type.Optional(integer("Answers that were still known from an earlier request.")),
  shared: Type.Optional(integer("Answers that came with an equal request of another query that was under way.")),
  mirror: Type.Optional(text("The mirror that was asked in its place.")),
  learned: Type.Optional(texts("What its requests have shown of how it must be asked; kept with its capabilities.")),
  rows: Type.Optional(Type.Integer()),
  setAside: Type.Optional(
    Type.Object(
      { keys: Type.Integer(), unanswered: Type.Integer(), example: Type.String() },
      {
        description:
          "Join keys that no query can hold, such as IRIs with a space; they were matched by their texts, but for those without an answer.",
      },
    ),
  ),
  bytes: Type.Integer(),
  ms: Type.Number(),
  status: Type.Union(
    ["pending", "ok", "partial", "failed", "timeout", "skipped", "silenced", "cancelled"].map((name) =>
      Type.Literal(name),
    ),
    {
      description:
        "timeout: did not answer within the time it had; skipped: known to be down, not asked; silenced: failed, and SILENT takes that for an answer.",
    },
  ),
  leftAlone: Type.Optional(
    Type.Object(
      { since: Type.String(), until: Type.String() },
      {
        description:
          "Not asked: it used up its share of an earlier query's time. Queries with partial=true ask it again at `until`.",
      },
    ),
  ),
  reason: Type.Optional(Type.String()),
});

/** Of a partial answer. */
const partialKind = Type.Optional(
  Type.Union([Type.Literal("subset"), Type.Literal("uncertain")], {
    description:
      "Of a partial answer. subset: every row is in the true answer; uncertain: some rows may be wrong, because the query uses MINUS, counts or OPTIONAL on missing data.",
  }),
);

/** Requests, rows and time of one step of a federated plan. */
const StepReport = view("Step", {
  pattern: Type.Optional(text("As it is asked, without join keys; for the query's owner only.")),
  endpoints: texts("Who was asked, at most ten of them."),
  asked: integer("How many endpoints were asked."),
  estimate: Type.Optional(number("Solutions that were expected without join keys, where something was known.")),
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
});

const planKind = Type.Union([Type.Literal("direct"), Type.Literal("federated"), Type.Literal("rejected")]);

const words = Type.String();
const certificate = Type.Object({
  kind: words,
  because: words,
  seenAt: Type.Optional(words),
  until: Type.Optional(words),
  members: Type.Integer(),
});

const factsKnown = Type.Optional(
  Type.Object(
    { known: Type.Integer(), members: Type.Integer() },
    { description: "Of a federation: of how many members facts are known; the others are asked for every pattern." },
  ),
);

/** By which facts sources were chosen. */
const facts = Type.Optional(
  Type.Object(
    {
      known: factsKnown,
      seenAt: Type.Optional(text("When the oldest fact was seen by which endpoints were left out; absent: none was.")),
      verifiedAt: Type.Optional(text("Since when all are verified; absent: some are not, lately.")),
      withheld: Type.Optional(
        Type.Array(words, {
          description:
            "Endpoints that were not asked for some patterns, or join keys, because copies of their triples have no match.",
        }),
      ),
      refuted: Type.Optional(
        Type.Array(words, {
          description: "Endpoints whose facts turned out to be wrong: the answer may lack what they have.",
        }),
      ),
    },
    { description: "The facts by which sources were chosen." },
  ),
);

/** A plan as `/api/explain` returns it. */
export const PlanDescription = view("Plan", {
  kind: planKind,
  answer: Type.Optional(Type.String()),
  endpoints: Type.Array(
    Type.Object({
      endpoint: Type.String(),
      url: Type.String(),
      clauses: Type.Integer(),
      silent: Type.Boolean(),
      interface: Type.Optional(Type.String()),
    }),
  ),
  graphs: Type.Optional(
    Type.Object(
      { default: Type.Array(Type.String()), named: Type.Array(Type.String()) },
      { description: "Of a direct plan: the dataset that goes to the endpoint." },
    ),
  ),
  silent: Type.Optional(
    Type.Object(
      { query: Type.String() },
      { description: "Of a direct plan: evaluated in place of the answer after a failure." },
    ),
  ),
  over: Type.Optional(
    Type.Object(
      {
        federation: Type.Optional(Type.String()),
        members: Type.Integer(),
        leftOut: integer("Members without a match for any pattern."),
        only: Type.Optional(text("The only member.")),
      },
      { description: "Members whose data are one graph for patterns outside of SERVICE." },
    ),
  ),
  query: Type.Optional(Type.String()),
  portable: Type.Optional(
    Type.Object(
      {
        query: Type.Optional(Type.String()),
        notes: Type.Optional(notes),
        why: Type.Optional(Type.String()),
        next: Type.Optional(Type.String()),
      },
      {
        description:
          "One SPARQL 1.1 query with SERVICE that other engines give the same answer to, unless it joins blank nodes of two requests; or why there is none.",
      },
    ),
  ),
  sources: Type.Optional(
    Type.Array(Type.Object({ pattern: words, members: Type.Array(words), excluded: Type.Array(certificate) }), {
      description: "Of a federation: who is asked for each pattern, and what proves that the others have no match.",
    }),
  ),
  facts: factsKnown,
  notes,
  problem: Type.Optional(Problem),
  text: text("The plan as indented text for people."),
});

const query = Type.String({ minLength: 1, description: "SPARQL 1.1 query." });
const endpoint = Type.Optional(
  Type.String({
    maxLength: 64,
    description:
      "Catalogue id; the query then needs no SERVICE. Without it and SERVICE all described endpoints are asked.",
  }),
);
const federation = Type.Optional(
  Type.String({
    maxLength: 64,
    description:
      "Id of a federation (`catalog`: all described endpoints), instead of an endpoint; the query then reads all of its members as one dataset.",
  }),
);

const prune = Type.Optional(Type.Union([Type.Boolean(), Type.Literal("trust")], { description: pruneDescription }));

/** Body of `POST /api/query`; `maxRows` is the service's own limit. */
export const queryBody = (maxRows: number) =>
  strictObject({
    query,
    endpoint,
    federation,
    maxRows: Type.Optional(Type.Integer({ minimum: 1, maximum: maxRows, description: "Most rows of the answer." })),
    timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400_000 })),
    partial: Type.Optional(Type.Union([Type.Boolean(), Type.Literal("subset")], { description: partialDescription })),
    strict: Type.Optional(boolean("Refuse patterns outside SERVICE instead of sending them on.")),
    prune,
    provenance: Type.Optional(Type.Boolean({ description: provenanceDescription })),
    format: Type.Optional(Type.Literal("json", { description: "Format of the answer; there is one." })),
  });
export type QueryBody = Static<ReturnType<typeof queryBody>>;

/** Body of `POST /api/explain`. */
export const ExplainBody = strictObject({
  query,
  endpoint,
  federation,
  strict: Type.Optional(Type.Boolean()),
  prune,
  analyze: Type.Optional(boolean("Run the query, drop its rows, and say what each step of the plan took.")),
  timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400_000, description: "For a plan that is run." })),
  partial: Type.Optional(Type.Union([Type.Boolean(), Type.Literal("subset")], { description: partialDescription })),
});
export type ExplainBody = Static<typeof ExplainBody>;

/** Answer of `POST /api/query`. */
export const TabularAnswer = view("Table", {
  run: Type.String(),
  status: runStatus,
  partial: partialKind,
  plan: PlanDescription,
  columns: Type.Array(Type.String()),
  rows: Type.Array(Type.Array(Type.Union([Type.String(), Type.Null()])), {
    description: "One array a row, in column order; a cell is an RDF term in N-Triples syntax, or null where unbound.",
  }),
  boolean: Type.Optional(boolean("Answer of ASK.")),
  truncated: boolean("maxRows cut the answer."),
  sources: Type.Array(SourceReport),
  notes,
  facts,
  diagnosis: Type.Union([Problem, Type.Null()]),
});

/** The record of one run. */
export const RunRecord = view("Run", {
  id: Type.String(),
  startedAt: Type.String(),
  plan: Type.Optional(planKind),
  call: Type.Optional(text("Of what has no plan: the tool's name, `diagnosis`, or `waiting`.")),
  queryHash: Type.Optional(Type.String()),
  status: runStatus,
  partial: partialKind,
  rows: Type.Optional(Type.Integer()),
  bytes: Type.Integer(),
  elapsedMs: Type.Optional(number("In lists: of a run under way until now.")),
  durationMs: Type.Optional(Type.Number()),
  sources: Type.Array(SourceReport),
  steps: Type.Optional(Type.Array(StepReport, { description: "Of a federated plan: what each step took." })),
  code: Type.Optional(Type.String()),
  detail: Type.Optional(Type.String()),
  notes,
  facts,
  client: Type.Optional(text("Name of the client that sent it, for itself and the admin.")),
});

/** A plan, and with `analyze` what a run of it took. */
export const AnalyzedPlan = view("AnalyzedPlan", { ...PlanDescription.properties, run: Type.Optional(RunRecord) });
