import { Type, type TSchema } from "typebox";
import { graphPattern, longestGraph } from "./protocol-operation.ts";
import { type ResultFormat, resultFormats } from "../results/formats.ts";
import { text } from "../shapes.ts";

export { Problem } from "../errors/problem.ts";
export { boolean, integer, text, texts } from "../shapes.ts";

/** An object without other fields than these. */
export const strictObject = <const Fields extends Record<string, TSchema>>(fields: Fields) =>
  Type.Object(fields, { additionalProperties: false });

/** An object without other fields than these, of which none is required. */
export const optionalFields = <const Fields extends Record<string, TSchema>>(fields: Fields) =>
  Type.Partial(Type.Object(fields), { additionalProperties: false });

/** An object that clients get, under a name of its own in the documentation. */
export const view = <const Fields extends Record<string, TSchema>>(title: string, fields: Fields) =>
  Type.Object(fields, { title });

/** Documentation of routes under a heading: the name for generated clients, what the route does, and its answer as JSON. */
export const documented = (heading: string) => (operationId: string, summary: string, answer?: TSchema) => ({
  tags: [heading],
  operationId,
  summary,
  ...(answer && { response: answers(answer) }),
});

/** A value of a row, as `jsonTerm` makes it. */
export const Term = Type.Union(
  [
    Type.String(),
    Type.Number(),
    Type.Boolean(),
    Type.Object({ iri: Type.String() }),
    Type.Object({ blank: text("Label of a blank node, which names it within this answer.") }),
    Type.Object({ triple: text("Triple term in N-Triples syntax.") }),
    Type.Object({ value: Type.String(), language: text("Language tag; with a base direction as in `ar--rtl`.") }),
    Type.Object({ value: Type.String(), datatype: text("IRI of the datatype.") }),
  ],
  {
    title: "Term",
    description:
      "Plain strings, booleans and numbers are JSON values; numbers that JSON readers would round, and all other datatypes, come as `value` and `datatype`. With terms=ntriples each is N-Triples text.",
  },
);

/** Schemas by status; not by their types, which are those of the use cases. */
type Answers = Readonly<Record<number, object>>;

/** The answer of a route, for its documentation; the sent value is typed by the use case. Errors are added to every route. */
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

/** An empty answer, for a route's documentation. */
export const nothing: Answers = { 204: Type.Null() };

/** No parameters are known. */
export const NoParameters = strictObject({});

/** Meaning of the parameter `provenance`. */
export const provenanceDescription =
  "Adds a last column, fedway_from, with the endpoints that each row came from. If several members have a row, one of them is named; where a mirror answered, the member that it stands in for. Unbound for aggregates and property paths.";

/** Meaning of the parameter `prune`. */
export const pruneDescription =
  "false: also ask endpoints whose descriptions rule out a match; trust: leave them out without verifying that.";

/** Meaning of the parameter `partial`. */
export const partialDescription =
  "Answer without endpoints that fail; subset: only where every row is certain to be in the true answer.";

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

const graphs = (what: string) =>
  Type.Optional(
    Type.Array(Type.String({ pattern: graphPattern, maxLength: longestGraph }), {
      description: `IRIs of ${what} graphs.`,
    }),
  );
const flag = (description: string) =>
  Type.Optional(Type.Union([Type.Boolean(), Type.Enum(["1", "0", ""])], { description }));

/** Parameters of the SPARQL routes, for their documentation; the protocol reader checks them. */
export function protocolParameters({ maxQueryBytes, language, planned }: SparqlRouteParameters) {
  const limits = { minLength: 1, maxLength: maxQueryBytes, description: `${language} query.` };
  const field = Type.String({ ...limits, examples: ["ASK {}"] });
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
    ...(planned && ofPlans),
  };
  return {
    /** Of GET; without a query it gives the service description. */
    url: Type.Object({ query: Type.Optional(field), ...others }),
    form: Type.Object({ query: field, ...others }),
    direct: Type.String(limits),
    /** Of a POST whose query is in its body. */
    beside: Type.Object(others),
  };
}

/** Inputs of the parameters of a SPARQL route. */
interface SparqlRouteParameters {
  readonly maxQueryBytes: number;
  /** Of its queries: "SPARQL 1.1". */
  readonly language: string;
  /** Its queries are planned; others go to a store as they are. */
  readonly planned: boolean;
}

const ofPlans = {
  partial: Type.Optional(
    Type.Union([Type.Boolean(), Type.Enum(["1", "0", "", "subset"])], { description: partialDescription }),
  ),
  strict: flag("Refuse patterns outside SERVICE instead of sending them on."),
  prune: Type.Optional(
    Type.Union([Type.Boolean(), Type.Enum(["1", "0", "", "trust"])], { description: pruneDescription }),
  ),
  provenance: flag(provenanceDescription),
  spreadsheet: flag(
    "Mark cells of CSV that spreadsheets would take for formulas by an apostrophe before their text; numbers stay.",
  ),
};
