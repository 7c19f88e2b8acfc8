import type * as RDF from "@rdfjs/types";
import { isWritable, iriText, literalText } from "../rdf/term-text.ts";

/** N-Quads of one graph; blank nodes are named as they come. Triples with a term that no parser takes back are left out. */
export function graphText(quads: readonly RDF.Quad[], graph: string): string {
  const known = new Map<string, string | undefined>();
  let nodes = 0;
  const textOf = (term: RDF.Term): string | undefined => {
    if (term.termType === "Literal") return isWritable(term) ? literalText(term) : undefined;
    const key = `${term.termType} ${term.value}`;
    if (!known.has(key)) known.set(key, term.termType === "BlankNode" ? `_:b${nodes++}` : iriOf(term));
    return known.get(key);
  };
  const end = ` ${iriText(graph)} .\n`;
  const lines = quads.map(({ subject, predicate, object }) => {
    const terms = [textOf(subject), textOf(predicate), textOf(object)];
    return terms.includes(undefined) ? "" : terms.join(" ") + end;
  });
  return lines.join("");
}

const iriOf = (term: RDF.Term): string | undefined => (isWritable(term) ? iriText(term.value) : undefined);
