import { type Static, Type } from "typebox";
import { boolean, type Given, integer, number, text, texts } from "../../../shapes.ts";
import type { KnownCount } from "../../model/schema.ts";

const { Optional } = Type;

/** Why something was found. */
export const Match = Type.Object({ field: Type.String(), term: Type.String(), matched: Type.String() });
export type Match = Given<Static<typeof Match>>;

/** An endpoint that has a class or property. */
const TermUse = Type.Object({
  id: Type.String(),
  count: Optional(Type.Unsafe<KnownCount>(Type.Any({ description: "Instances or triples; absent when unknown." }))),
  published: Optional(text("When and from where it was published; the endpoint itself has not been described.")),
});
export type TermUse = Given<Static<typeof TermUse>>;

const SearchHit = Type.Object({
  kind: Type.Enum(["endpoint", "class", "property"]),
  iri: Optional(text("Of classes and properties.")),
  id: Optional(text("Of endpoints.")),
  title: text("Title of the endpoint; label, else local name, of a class or property."),
  score: number("Larger is better; comparable within one answer only."),
  why: Type.Array(Match),
  endpoints: Type.Array(TermUse, {
    description: "Of classes and properties: the 20 endpoints with the largest counts, unknown last.",
  }),
  endpointsTotal: Type.Integer(),
});
export type SearchHit = Given<Static<typeof SearchHit>>;

/** Search results, best first; ties in the order of kind, then id or IRI. */
export const SearchAnswer = Type.Object(
  {
    total: integer("How many were found."),
    words: texts("Words that were searched for."),
    matched: Type.Enum(["all", "some"], { description: "some: nothing has all the words." }),
    complete: boolean("False: some terms had no room, or descriptions are still being read after a start."),
    hits: Type.Array(SearchHit),
  },
  { title: "SearchAnswer" },
);
export type SearchAnswer = Given<Static<typeof SearchAnswer>>;
