import { type Static, Type } from "typebox";
import { boolean, type Given, integer, number, text, texts } from "../../shapes.ts";
import type { CatalogEntry, EndpointInterface } from "../catalog/catalog.ts";
import type { KnownCount, TermKind } from "../model/schema.ts";

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

/** Kinds of search hits. */
export type HitKind = "endpoint" | "class" | "property";

/** A search. */
export interface SearchRequest {
  /** Words, an IRI, `prefix:name` or an id. 500 characters and 12 words are looked at (2,048 characters of an IRI). */
  readonly q: string;
  /** All kinds when absent. */
  readonly kinds?: readonly HitKind[];
  /** Only these endpoints, and classes and properties that they have. */
  readonly endpoints?: readonly string[];
  /** Also classes and properties that others have published of endpoints without a description, last; see `Finder.readPublished`. */
  readonly published?: boolean;
  /** 1 to 1,000. */
  readonly limit: number;
  readonly offset: number;
}

/** Monitored state of an endpoint; "unknown" is not "down". */
export type EndpointStatus = "up" | "degraded" | "flapping" | "down" | "unknown";

/** Which catalogue entries are wanted; all conditions hold together. */
export interface EntryFilter {
  readonly q?: string;
  /** IRI, `prefix:name`, or local name that only one known class has. */
  readonly class?: string;
  readonly property?: string;
  /** A whole keyword, whatever its case and accents. */
  readonly keyword?: string;
  readonly status?: EndpointStatus;
  readonly interface?: EndpointInterface;
  /** 1 to 1,000. */
  readonly limit: number;
  readonly offset: number;
}

/** One entry with the reasons why it is in the list. */
export interface EntryHit {
  readonly entry: CatalogEntry;
  readonly status: EndpointStatus;
  readonly why: readonly Match[];
}

/** Catalogue entries, best first with `q`, else in id order. */
export interface EntryPage {
  readonly total: number;
  readonly hits: readonly EntryHit[];
  /** Entries that meet the other conditions and may have the class or property: their description is missing or incomplete. */
  readonly undecided: number;
  /** IRIs that the given names stand for; absent where no description has such a name. */
  readonly class?: string;
  readonly property?: string;
}

/** A class or property that is looked up. */
export interface WantedTerm {
  readonly kind: TermKind;
  readonly iri: string;
}

/** Numbers of known terms; without `complete` there may be more. */
export interface TermCounts {
  readonly classes: number;
  readonly properties: number;
  readonly complete: boolean;
}
