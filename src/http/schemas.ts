import { type Static, Type, type TSchema } from "typebox";
import { graphPattern, longestGraph } from "./protocol-operation.ts";
import { type ResultFormat, resultFormats } from "../results/formats.ts";

const strict = { additionalProperties: false } as const;
const note = Type.Object({ code: Type.String(), message: Type.String() });
const notes = Type.Array(note, { description: "What was done to the query that the reader should know." });
const status = Type.Union(
  ["running", "ok", "empty", "partial", "failed", "cancelled"].map((name) => Type.Literal(name)),
  { description: "Outcome; ok, empty, partial and failed never look alike." },
);

/** An object that clients get, under a name of its own in the documentation. */
export const view = <const Fields extends Record<string, TSchema>>(title: string, fields: Fields) =>
  Type.Object(fields, { title });

/** Problem document (RFC 9457) with Fedway's members. */
export const Problem = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    code: Type.String({ description: "Stable, machine-readable code." }),
    detail: Type.String(),
    retryable: Type.Boolean({ description: "The same request may succeed later." }),
    where: Type.Optional(
      Type.Object({
        line: Type.Optional(Type.Integer()),
        column: Type.Optional(Type.Integer()),
        endpoint: Type.Optional(Type.String()),
        pattern: Type.Optional(Type.String({ description: "Triple pattern or group, as SPARQL." })),
      }),
    ),
    next: Type.Optional(Type.String({ description: "What to do next." })),
    fault: Type.Optional(Type.String()),
    upstreamStatus: Type.Optional(Type.Integer()),
    retryAfterMs: Type.Optional(Type.Number()),
    endpoints: Type.Optional(Type.Array(Type.String(), { description: "Catalogue ids that would fit." })),
    repairs: Type.Optional(
      Type.Array(
        Type.Object({
          kind: Type.String(),
          before: Type.String(),
          after: Type.String(),
          applied: Type.Boolean({ description: "False: only offered, as it may change what the query means." }),
        }),
        { description: "Changes that mend the query." },
      ),
    ),
    suggestions: Type.Optional(
      Type.Array(Type.Object({ term: Type.String(), score: Type.Number(), why: Type.String() }), {
        description: "What was probably meant, best first.",
      }),
    ),
    run: Type.Optional(Type.String()),
  },
  { title: "Problem", description: "What went wrong and what to do about it." },
);

/** Schemas by status; not by their types, which are those of the use cases. */
type Answers = Readonly<Record<number, object>>;

/** The answer of a route, for its documentation; what is sent is typed by the use case. Errors are added to every route. */
export const answers = (success: TSchema): Answers => ({ 200: success });

/** An answer in other formats than JSON, and as JSON where `json` is given, for its documentation. */
export const answersAs = (mediaTypes: readonly string[], json?: TSchema): Answers => ({
  200: {
    content: {
      ...(json && { "application/json": { schema: json } }),
      ...Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema: textOf(mediaType) }])),
    },
  },
});

const textOf = (mediaType: string): TSchema => (mediaType.endsWith("+json") ? Type.Unknown() : Type.String());

const mediaTypesOf = (formats: readonly ResultFormat[]): readonly string[] => formats.map(({ mediaType }) => mediaType);

/** Media types of results and graphs. */
export const resultTypes = mediaTypesOf(resultFormats);
/** Media types of graphs. */
export const graphTypes = mediaTypesOf(resultFormats.filter(({ kinds }) => kinds.includes("quads")));

/** The answer of a route that has nothing to say, for its documentation. */
export const nothing: Answers = { 204: Type.Null() };

/** No parameters are known. */
export const NoParameters = Type.Object({}, strict);

/** What one endpoint contributed to a run. */
const SourceReport = view("Source", {
  endpoint: Type.String(),
  requests: Type.Integer(),
  rows: Type.Optional(Type.Integer()),
  bytes: Type.Integer(),
  ms: Type.Number(),
  status: Type.String(),
  reason: Type.Optional(Type.String()),
});

const planKind = Type.Union([Type.Literal("direct"), Type.Literal("federated"), Type.Literal("rejected")]);

/** A plan as `/api/explain` returns it. */
export const PlanDescription = view("Plan", {
  kind: planKind,
  answer: Type.Optional(Type.String()),
  endpoints: Type.Array(
    Type.Object({ endpoint: Type.String(), url: Type.String(), clauses: Type.Integer(), silent: Type.Boolean() }),
  ),
  query: Type.Optional(Type.String()),
  notes,
  problem: Type.Optional(Problem),
  text: Type.String({ description: "The plan as indented text for people." }),
});

const query = Type.String({ minLength: 1, description: "SPARQL 1.1 query." });
const endpoint = Type.Optional(
  Type.String({ maxLength: 64, description: "Catalogue id; the query then needs no SERVICE." }),
);
const federation = Type.Optional(
  Type.String({
    maxLength: 64,
    description: "Id of a federation, instead of an endpoint; the query then reads all of its members as one dataset.",
  }),
);

/** Body of `POST /api/query`; `maxRows` is the service's own limit. */
export const queryBody = (maxRows: number) =>
  Type.Object(
    {
      query,
      endpoint,
      federation,
      maxRows: Type.Optional(Type.Integer({ minimum: 1, maximum: maxRows, description: "Most rows of the answer." })),
      timeoutMs: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400_000 })),
      partial: Type.Optional(Type.Boolean({ description: "Take what can be had when an endpoint fails." })),
      strict: Type.Optional(
        Type.Boolean({ description: "Refuse patterns outside SERVICE instead of sending them on." }),
      ),
      format: Type.Optional(Type.Literal("json", { description: "Format of the answer; there is one." })),
    },
    strict,
  );
export type QueryBody = Static<ReturnType<typeof queryBody>>;

/** Body of `POST /api/explain`. */
export const ExplainBody = Type.Object({ query, endpoint, federation, strict: Type.Optional(Type.Boolean()) }, strict);

/** Answer of `POST /api/query`. */
export const TabularAnswer = view("Table", {
  run: Type.String(),
  status,
  plan: PlanDescription,
  columns: Type.Array(Type.String()),
  rows: Type.Array(Type.Array(Type.Union([Type.String(), Type.Null()])), {
    description: "One array a row, in column order; a cell is an RDF term in N-Triples syntax, or null where unbound.",
  }),
  boolean: Type.Optional(Type.Boolean({ description: "Answer of ASK." })),
  truncated: Type.Boolean({ description: "maxRows cut the answer." }),
  sources: Type.Array(SourceReport),
  notes,
  diagnosis: Type.Union([Problem, Type.Null()]),
});

/** The record of one run. */
export const RunRecord = view("Run", {
  id: Type.String(),
  startedAt: Type.String(),
  plan: planKind,
  queryHash: Type.String(),
  status,
  rows: Type.Optional(Type.Integer()),
  bytes: Type.Integer(),
  durationMs: Type.Optional(Type.Number()),
  sources: Type.Array(SourceReport),
  code: Type.Optional(Type.String()),
  detail: Type.Optional(Type.String()),
  notes,
});

/** `{id}` in a path. */
export const IdPath = Type.Object({
  id: Type.String({
    pattern: String.raw`^[^\x00-\x1f\x7f-\x9f]{1,200}$`,
    description: "Its id, without control characters.",
  }),
});

/** `{id}` of a job in a path. */
export const JobPath = Type.Object({
  id: Type.String({ pattern: "^[A-Za-z0-9._-]{1,128}$", description: "Letters, digits, dots, hyphens, underscores." }),
});

/** Path of a shard of a dataset. */
export const ShardPath = Type.Object({
  dataset: Type.String({ minLength: 1, maxLength: 32, description: "Id of a dataset." }),
  shard: Type.String({ minLength: 1, maxLength: 64, description: "Id of one of its shards." }),
});

const graphs = (what: string) =>
  Type.Optional(
    Type.Array(Type.String({ pattern: graphPattern, maxLength: longestGraph }), {
      description: `IRIs of ${what} graphs.`,
    }),
  );
const flag = (description: string) =>
  Type.Optional(Type.Union([Type.Boolean(), Type.Enum(["1", "0", ""])], { description }));

/** Parameters of the SPARQL routes, for their documentation; the protocol reader checks them. */
export function protocolParameters({ maxQueryBytes }: { readonly maxQueryBytes: number }) {
  const text = { minLength: 1, maxLength: maxQueryBytes, description: "SPARQL 1.1 query." };
  const field = Type.String({ ...text, examples: ["ASK {}"] });
  const others = {
    "default-graph-uri": graphs("default"),
    "named-graph-uri": graphs("named"),
    format: Type.Optional(
      Type.String({
        description:
          "json, xml, csv, tsv, turtle, ntriples, jsonld, rdfxml, n3, trig, nquads or a media type; wins over Accept. Others do not count.",
      }),
    ),
    timeout: Type.Optional(
      Type.Union([Type.Integer({ minimum: 0, maximum: 999_999_999 }), Type.Literal("")], {
        description: "Wanted time limit in milliseconds; 0: that of the service.",
      }),
    ),
    partial: flag("Take what can be had when an endpoint fails."),
    strict: flag("Refuse patterns outside SERVICE instead of sending them on."),
  };
  return {
    /** Of GET; without a query it gives the service description. */
    url: Type.Object({ query: Type.Optional(field), ...others }),
    form: Type.Object({ query: field, ...others }),
    direct: Type.String(text),
    /** Of a POST whose query is in its body. */
    beside: Type.Object(others),
  };
}

/** `/health/ready`. */
export const Readiness = view("Readiness", {
  ready: Type.Boolean(),
  checks: Type.Record(Type.String(), Type.Object({ ok: Type.Boolean(), detail: Type.Optional(Type.String()) })),
});
