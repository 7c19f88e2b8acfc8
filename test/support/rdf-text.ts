import type * as RDF from "@rdfjs/types";
import { Parser, type Quad, Writer } from "n3";
import oxigraph from "oxigraph";

/** The triples as N-Triples, which every RDF program reads. */
function toNTriples(quads: readonly RDF.Quad[]): string {
  return new Writer({ format: "N-Triples" }).quadsToString([...quads] as Quad[]);
}

/** The triples of a Turtle text. */
export function fromTurtle(text: string, baseIRI = "http://base.example/"): readonly RDF.Quad[] {
  return new Parser({ baseIRI }).parse(text);
}

/** Rows of a SELECT over the triples, each cell as its value (`undefined` when unbound), in the order of the columns. */
export function selectFrom(quads: readonly RDF.Quad[], query: string, columns: readonly string[]): readonly unknown[] {
  const store = new oxigraph.Store();
  store.load(toNTriples(quads), { format: "nt" });
  const rows = store.query(query);
  if (!Array.isArray(rows)) throw new Error("The query is no SELECT");
  return rows.map((row: unknown) => {
    if (!(row instanceof Map)) throw new Error("The query is no SELECT");
    return columns.map((column) => (row as ReadonlyMap<string, { readonly value: string }>).get(column)?.value);
  });
}
