import { type TObject, type TSchema, Type } from "typebox";
import { healthStates } from "../monitor/monitor.ts";
import { CatalogEntry, catalogSchemas, Federation as NamedMembers } from "../registry/catalog.ts";
import { paging } from "./paging.ts";
import { view, strictObject, integer, text, texts } from "./schemas.ts";

const { id, interface: endpointInterface } = CatalogEntry.properties;
const query = text("Path of its SPARQL route here.");
const match = Type.Object({ field: Type.String(), term: Type.String(), matched: Type.String() });
const status = Type.Enum([...healthStates], { description: "What monitoring says; unknown is not down." });
const authorship = Type.Partial(catalogSchemas.authorship).properties;

/** One endpoint of the catalogue; `query` is where it is asked through Fedway. */
export const Endpoint = view("Endpoint", {
  ...CatalogEntry.properties,
  descriptionGenerated: Type.Optional(
    Type.Literal(true, { description: "The operator gave no description; this one was made from what the data is." }),
  ),
  query,
  status,
  ...authorship,
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
  status: Type.Optional(status),
  interface: Type.Optional(endpointInterface),
  ...paging,
});

/** Parameters of `GET /api/federations`. */
export const Paging = strictObject(paging);

/** One federation; `endpoints` are its members now. */
export const Federation = view("Federation", {
  ...NamedMembers.properties,
  query,
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
  ...authorship,
});

/** Answer of `GET /api/federations`. */
export const FederationList = view("FederationList", { ...page, federations: Type.Array(Federation) });

/** Answer of `GET /api/catalog/problems`. */
export const CatalogProblems = view("CatalogProblems", {
  problems: Type.Array(catalogSchemas.problem, { description: "Catalogue files and changes that could not be used." }),
  drift: Type.Array(catalogSchemas.drift, { description: "Where files and changes over the API differ." }),
});

const newId = Type.String({ ...id, examples: ["lighthouses"] });
const texted = { minLength: 1, maxLength: 4096 };
const examples: Readonly<Record<string, unknown>> = {
  title: "Lighthouses",
  url: "http://127.0.0.1:8890/sparql",
  members: ["people", "places"],
};

/** A field that clients may send: its texts are bounded. */
function sentField(name: string, field: TSchema): TSchema {
  const example = name in examples && { examples: [examples[name]] };
  if (Type.IsArray(field)) return { ...field, items: Type.String(texted), maxItems: 1000, ...example };
  return Type.IsString(field) ? { ...field, ...texted, ...example } : field;
}

/** Bodies from the fields that clients may send, of which some are required in a whole document. */
function bodiesOf({ properties }: TObject, required: readonly string[]) {
  const map = (change: (name: string, schema: TSchema) => TSchema): Record<string, TSchema> =>
    Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, change(name, sentField(name, field))]));
  const whole = map((name, field) => (required.includes(name) ? field : Type.Optional(field)));
  return {
    /** A new document, with its id. */
    whole: strictObject({ id: newId, ...whole }),
    /** A document whose id stands in the path. */
    put: strictObject({ id: Type.Optional(id), ...whole }),
    /** Fields that are absent stay as they are, null removes (RFC 7396). */
    merge: strictObject(map((_name, field) => Type.Optional(Type.Union([field, Type.Null()])))),
  };
}

/** JSON bodies of changes by kind. */
export const documentBodies = {
  endpoint: bodiesOf(Type.Omit(CatalogEntry, ["id", "builtIn", "subjectPartition", "keyAdapters"]), ["title", "url"]),
  federation: bodiesOf(Type.Omit(NamedMembers, ["id", "builtIn"]), ["title"]),
};

const format = Type.Optional(
  Type.String({ maxLength: 100, description: "json, turtle, ntriples, jsonld or a media type; wins over Accept." }),
);

/** Parameters of routes that give documents. */
export const FormatParameters = strictObject({ format });
