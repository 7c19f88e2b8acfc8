import type * as RDF from "@rdfjs/types";

/** The four query forms reduced to the three kinds of answer they have (SPARQL 1.1 Query, section 16). */
export type AnswerKind = "bindings" | "boolean" | "quads";

/** One solution: variable name (without `?`) to RDF term; an unbound variable has no entry. */
export type Bindings = ReadonlyMap<string, RDF.Term>;

/** Solutions as a stream; `variables` is known before the first row and gives the columns' order. */
export interface BindingsResult {
  readonly kind: "bindings";
  readonly variables: readonly string[];
  readonly rows: AsyncIterable<Bindings>;
}

/** The answer of ASK. */
export interface BooleanResult {
  readonly kind: "boolean";
  readonly value: boolean;
}

/** The answer of CONSTRUCT or DESCRIBE as a stream of triples (default graph only). */
interface QuadsResult {
  readonly kind: "quads";
  readonly quads: AsyncIterable<RDF.Quad>;
}

/** An evaluated query. Streams are single use; leaving them early (`return`) releases what feeds them. */
export type QueryResult = BindingsResult | BooleanResult | QuadsResult;
