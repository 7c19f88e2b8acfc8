import { type TSchema, Type } from "typebox";
import { paging } from "./paging.ts";
import { view, strictObject, boolean, integer, text, texts } from "./schemas.ts";

const id = Type.String({ maxLength: 64, description: "Catalogue id." });

const oneOf = <const Names extends string[]>(names: [...Names], description: string) =>
  Type.Enum(names, { description });
const match = Type.Object({ field: Type.String(), term: Type.String(), matched: Type.String() });
const endpointInterface = oneOf(["sparql", "tpf", "file"], "How the data is reached.");
const endpointStatus = oneOf(
  ["up", "degraded", "flapping", "down", "unknown"],
  "What monitoring says; unknown is not down.",
);
const origin = {
  origin: Type.Optional(
    oneOf(["file", "api", "service"], "Who said so: a catalogue file, a change over the API, or the service itself."),
  ),
  changedAt: Type.Optional(text("Time of the change (ISO 8601).")),
};

const Place = Type.Object({ property: Type.Optional(Type.String()), class: Type.Optional(Type.String()) });

/** `AcceptedAdapter`. */
export const Adapter = view("Adapter", {
  here: Place,
  other: Place,
  otherEndpoint: Type.String(),
  rule: Type.Object(
    {
      prefix: text("What stands before the keys here."),
      otherPrefix: text("What stands before them there."),
      steps: Type.Array(text("blanks, case, padding or version.")),
      form: Type.Optional(text("How the other side writes them: iri, or a datatype.")),
    },
    { description: "How values are made alike." },
  ),
  acceptedAt: Type.Optional(Type.String({ format: "date-time" })),
  matches: Type.Optional(integer("Values that it joined when it was verified.")),
});

/** One endpoint of the catalogue; `query` is where it is asked through Fedway. */
export const Endpoint = view("Endpoint", {
  id,
  title: Type.String(),
  description: Type.Optional(Type.String()),
  descriptionGenerated: Type.Optional(
    Type.Literal(true, { description: "The operator gave no description; this one was made from what the data is." }),
  ),
  url: text("The endpoint's own URL."),
  query: text("Path of its SPARQL route here."),
  interface: endpointInterface,
  homepage: Type.Optional(Type.String()),
  license: Type.Optional(Type.String()),
  keywords: texts("Keywords."),
  engine: Type.Optional(text("The store behind it.")),
  notes: texts("What its users should know."),
  rowCap: Type.Optional(integer("Rows after which its answers are cut.")),
  blocksService: boolean("It refuses queries that contain SERVICE."),
  needsUserAgent: boolean("It refuses requests that name no contact."),
  pseudoServices: texts("IRIs in SERVICE that are extensions of its engine."),
  rawQueries: boolean("Queries that are no SPARQL 1.1 are passed on to it."),
  mirrorOf: Type.Optional(text("Id of the endpoint that it stands in for.")),
  neverKept: Type.Optional(boolean("Its answers are never kept for other queries.")),
  builtIn: Type.Optional(boolean("The registry itself; it comes with the service.")),
  method: Type.Optional(text("The request method that works.")),
  keyAdapters: Type.Optional(Type.Array(Adapter, { description: "How its keys are joined with those of others." })),
  status: endpointStatus,
  ...origin,
});

const total = integer("How many match, on all pages.");
const next = Type.Optional(text("Cursor of the next page; absent on the last one."));
const page = { total, next };

/** Answer of `GET /api/endpoints`. */
export const EndpointList = view("EndpointList", {
  ...page,
  undecided: integer("Endpoints that may have the class or property, but whose description is missing or incomplete."),
  class: Type.Optional(text("IRI that the wanted class was taken for.")),
  property: Type.Optional(text("IRI that the wanted property was taken for.")),
  endpoints: Type.Array(Type.Intersect([Endpoint, Type.Object({ why: Type.Array(match) })])),
});

const term = (what: string) =>
  Type.Optional(Type.String({ maxLength: 2048, description: `IRI, prefix:name or name of a ${what} that it has.` }));

/** Parameters of `GET /api/endpoints`. */
export const EndpointFilter = strictObject({
  q: Type.Optional(Type.String({ maxLength: 500, description: "Words to search for; the best come first." })),
  class: term("class"),
  property: term("property"),
  keyword: Type.Optional(Type.String({ maxLength: 200 })),
  status: Type.Optional(endpointStatus),
  interface: Type.Optional(endpointInterface),
  ...paging,
});

/** Parameters of `GET /api/federations`. */
export const Paging = strictObject(paging);

/** One federation; `endpoints` are its members now. */
export const Federation = view("Federation", {
  id,
  title: Type.String(),
  description: Type.Optional(Type.String()),
  query: text("Path of its SPARQL route here."),
  members: texts("Endpoints that are named one by one."),
  memberKeywords: texts("Endpoints with one of these keywords belong to it."),
  memberQuery: Type.Optional(text("Endpoints that a search for this finds belong to it.")),
  builtIn: Type.Optional(
    boolean("All described endpoints belong to it; it comes with the service and cannot be changed."),
  ),
  endpointsTotal: integer("How many endpoints belong to it now."),
  endpoints: Type.Optional(Type.Array(Type.Object({ id, title: Type.String() }))),
  split: Type.Optional(
    Type.Array(
      Type.Object({
        class: Type.String(),
        source: text("`builder`: stated by the builder of its shards; `derived`: from descriptions."),
        members: Type.Array(Type.String()),
      }),
      { description: "Classes that several members are known to have." },
    ),
  ),
  missing: texts("Named members that are not in the catalogue."),
  ...origin,
});

/** Answer of `GET /api/federations`. */
export const FederationList = view("FederationList", { ...page, federations: Type.Array(Federation) });

const catalogKind = oneOf(["endpoint", "federation"], "What the document describes.");

/** Answer of `GET /api/catalog/problems`. */
export const CatalogProblems = view("CatalogProblems", {
  problems: Type.Array(
    Type.Object({ file: Type.String(), line: Type.Optional(Type.Integer()), reason: Type.String() }),
    { description: "Catalogue files and changes that could not be used." },
  ),
  drift: Type.Array(
    Type.Object({
      id,
      kind: catalogKind,
      how: oneOf(["file-hidden-by-change", "file-hidden-by-deletion", "file-changed-since"], "How they differ."),
      file: Type.String(),
    }),
    { description: "Where files and changes over the API differ." },
  ),
});

type Fields = Readonly<Record<string, TSchema>>;

const given = (description: string, example?: string): TSchema =>
  Type.String({ minLength: 1, maxLength: 4096, description, ...(example !== undefined && { examples: [example] }) });
const list = (description: string, example?: readonly string[]): TSchema =>
  Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), {
    maxItems: 1000,
    description,
    ...(example && { examples: [example] }),
  });
const title = given("A few words.", "Lighthouses");
const description = given("One sentence in plain words.");
const endpointFields: Fields = {
  title,
  description,
  url: given("URL of the endpoint, or of the file; http or https.", "http://127.0.0.1:8890/sparql"),
  interface: endpointInterface,
  homepage: given("URL of a page for people."),
  license: given("IRI of the license."),
  keywords: list("Keywords."),
  notes: list("What its users should know, a sentence each."),
  engine: given("The store behind it, e.g. virtuoso, fuseki or other."),
  rowCap: Type.Integer({ minimum: 1, maximum: 999_999_999_999_999, description: "Rows after which answers are cut." }),
  blocksService: boolean("It refuses queries that contain SERVICE."),
  needsUserAgent: boolean("It refuses requests that name no contact."),
  pseudoServices: list("IRIs in SERVICE that are extensions of its engine."),
  rawQueries: boolean("Pass queries on that are no SPARQL 1.1."),
  mirrorOf: given("Id of an endpoint with the same data, for which it stands in when that one fails or is slow."),
  neverKept: boolean("Never keep its answers for other queries."),
  method: oneOf(["post-form", "post-direct", "get"], "The request method, when only that one works."),
};
const federationFields: Fields = {
  title,
  description,
  members: list("Ids of endpoints.", ["people", "places"]),
  memberKeywords: list("Endpoints with one of these keywords belong to it."),
  memberQuery: given("Endpoints that a search for this finds belong to it."),
};

/** JSON bodies of changes of one kind of document. */
interface DocumentBodies {
  /** A new document, with its id. */
  readonly whole: TSchema;
  /** A document whose id stands in the path. */
  readonly put: TSchema;
  /** Fields that are absent stay as they are, null removes (RFC 7396). */
  readonly merge: TSchema;
}

const newId = Type.String({ ...id, examples: ["lighthouses"] });

/** Bodies from fields, of which some are required in a whole document. */
function bodiesOf(fields: Fields, required: readonly string[]): DocumentBodies {
  const map = (change: (name: string, schema: TSchema) => TSchema): Fields =>
    Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, change(name, schema)]));
  const whole = map((name, schema) => (required.includes(name) ? schema : Type.Optional(schema)));
  return {
    whole: strictObject({ id: newId, ...whole }),
    put: strictObject({ id: Type.Optional(id), ...whole }),
    merge: strictObject(map((_name, schema) => Type.Optional(Type.Union([schema, Type.Null()])))),
  };
}

/** JSON bodies of changes by kind. */
export const documentBodies: Readonly<Record<"endpoint" | "federation", DocumentBodies>> = {
  endpoint: bodiesOf(endpointFields, ["title", "url"]),
  federation: bodiesOf(federationFields, ["title"]),
};

const format = Type.Optional(
  Type.String({ maxLength: 100, description: "json, turtle, ntriples, jsonld or a media type; wins over Accept." }),
);

/** Parameters of routes that give documents. */
export const FormatParameters = strictObject({ format });
