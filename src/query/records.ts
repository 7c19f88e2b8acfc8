// The JSON of plans and runs, as the API gives it; the types come from the schemas that document it.
import { type Static, Type } from "typebox";
import { SourceReport, StepReport } from "../engine/reports.ts";
import type { ErrorCode } from "../errors/codes.ts";
import type { Repair } from "../errors/fedway-error.ts";
import { Problem } from "../errors/problem.ts";
import type { PlanNote } from "../plan/query-plan.ts";
import { type Given, integer, number, text, texts } from "../shapes.ts";

const words = Type.String();
const { Optional } = Type;

const note = Type.Object({
  code: words,
  message: words,
  query: Optional(text("The query to send instead.")),
  statements: Problem.properties.statements,
});
/** Notes for the reader of an answer. */
export const notes = Type.Unsafe<readonly PlanNote[]>(
  Type.Array(note, { description: "What was done to the query that the reader should know." }),
);

/** Outcomes of a run. */
export const RunStatus = Type.Enum(["running", "ok", "empty", "partial", "failed", "cancelled"], {
  description: "Outcome; ok, empty, partial and failed never look alike.",
});
export type RunStatus = Static<typeof RunStatus>;

export const partialKind = Type.Enum(["subset", "uncertain"], {
  description:
    "Of a partial answer. subset: every row is in the true answer; uncertain: some rows may be wrong, because the query uses MINUS, counts or OPTIONAL on missing data.",
});

const planKind = Type.Enum(["direct", "federated", "rejected"]);

const factsKnown = Type.Object(
  { known: Type.Integer(), members: Type.Integer() },
  { description: "Of a federation: of how many members facts are known; the others are asked for every pattern." },
);

/** The facts by which sources were chosen, and endpoints left out. */
export const ChosenBy = Type.Object(
  {
    known: Optional(factsKnown),
    seenAt: Optional(text("When the oldest fact was seen by which endpoints were left out; absent: none was.")),
    verifiedAt: Optional(text("Since when all are verified; absent: some are not, lately.")),
    ageMs: Optional(integer("Age of the oldest of these facts, since it was found or last verified.")),
    isOld: Optional(Type.Boolean({ description: "That age exceeds the operator's setting." })),
    changed: Optional(texts("Endpoints that were left out and were seen to change within a day.")),
    withheld: Optional(
      texts(
        "Endpoints that were not asked for some patterns, or join keys, because copies of their triples have no match.",
      ),
    ),
    refuted: Optional(texts("Endpoints whose facts turned out to be wrong: the answer may lack what they have.")),
  },
  { description: "The facts by which sources were chosen." },
);
export type ChosenBy = Given<Static<typeof ChosenBy>>;

export const sessionPattern = "^[A-Za-z0-9._~:-]{1,100}$";
/** Name of a session, chosen by its owner. */
export const sessionName = Type.String({
  pattern: sessionPattern,
  description: "Letters, digits and . _ ~ : -, at most 100.",
});

const asked = Type.Object(
  {
    query: Optional(text("Text as it was run; absent when it is too long to be kept.")),
    endpoint: Optional(text("Catalogue id of the endpoint that it was sent to.")),
    federation: Optional(text("Catalogue id of the federation that it was sent to.")),
    session: Optional(words),
    repairs: Type.Unsafe<readonly Repair[]>(Type.Array(Type.Object({}), { description: "Repairs before it was run." })),
  },
  { description: "The query: for its owner only." },
);
export type AskedQuery = Given<Static<typeof asked>>;

/** The record of one run, kept for a while in bounded memory. Others than its owner see the text's hash only. */
export const RunRecord = Type.Object(
  {
    id: words,
    startedAt: words,
    plan: Optional(planKind),
    call: Optional(text("Of what has no plan: the tool's name, `diagnosis`, or `waiting`.")),
    queryHash: Optional(words),
    status: RunStatus,
    partial: Optional(partialKind),
    rows: Optional(integer("Rows or triples of the answer; absent when unknown.")),
    bytes: integer("Decoded bytes received from endpoints."),
    elapsedMs: Optional(number("In lists: of a run under way until now.")),
    durationMs: Optional(number("Absent while the run is under way.")),
    sources: Type.Array(SourceReport),
    steps: Optional(Type.Array(StepReport, { description: "Of a federated plan: what each step took." })),
    code: Optional(Type.Unsafe<ErrorCode>(text("Why the run failed."))),
    detail: Optional(words),
    notes,
    facts: Optional(ChosenBy),
    client: Optional(text("Name of the client that sent it, for itself and the admin.")),
    asked: Optional(asked),
  },
  { title: "Run" },
);
export type RunRecord = Given<Static<typeof RunRecord>>;

const certificate = Type.Object({
  kind: Type.Enum(["properties", "classes", "triples", "partition", "asked", "unnamed"]),
  because: words,
  seenAt: Optional(words),
  until: Optional(words),
  members: Type.Integer(),
});

/** A plan. */
export const PlanDescription = Type.Object(
  {
    kind: planKind,
    answer: Optional(Type.Enum(["bindings", "boolean", "quads"])),
    endpoints: Type.Array(
      Type.Object({
        endpoint: words,
        url: words,
        clauses: Type.Integer(),
        silent: Type.Boolean(),
        interface: Optional(Type.Enum(["tpf", "file"], { description: "Of one that does not speak SPARQL." })),
      }),
    ),
    graphs: Optional(
      Type.Object(
        { default: Type.Array(words), named: Type.Array(words) },
        { description: "Of a direct plan: the dataset that goes to the endpoint." },
      ),
    ),
    silent: Optional(
      Type.Object(
        { query: words },
        { description: "Of a direct plan: evaluated in place of the answer after a failure." },
      ),
    ),
    over: Optional(
      Type.Object(
        {
          federation: Optional(words),
          members: Type.Integer(),
          leftOut: integer("Members without a match for any pattern."),
          only: Optional(text("The only member.")),
        },
        { description: "Members whose data are one graph for patterns outside of SERVICE." },
      ),
    ),
    query: Optional(text("Text sent (direct) or evaluated (federated).")),
    passes: Optional(
      Type.Array(Type.Object({ pass: words, ms: number("Time that it took.") }), {
        description: "Of explain: the passes that made the plan, in their order; others did not apply.",
      }),
    ),
    portable: Optional(
      Type.Object(
        { query: Optional(words), notes: Optional(notes), why: Optional(words), next: Optional(words) },
        {
          description:
            "One SPARQL 1.1 query with SERVICE that other engines give the same answer to, unless it joins blank nodes of two requests; or why there is none.",
        },
      ),
    ),
    sources: Optional(
      Type.Array(Type.Object({ pattern: words, members: Type.Array(words), excluded: Type.Array(certificate) }), {
        description: "Of a federation: who is asked for each pattern, and what proves that the others have no match.",
      }),
    ),
    facts: Optional(factsKnown),
    notes,
    run: Optional(RunRecord),
  },
  { title: "Plan" },
);
/** A plan; with `run`, what a run of it took; with `problem`, why it is rejected. */
export type PlanDescription = Given<Static<typeof PlanDescription>> & { readonly problem?: Problem };
