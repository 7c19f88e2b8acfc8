import type * as RDF from "@rdfjs/types";
import { isWritable, iriText, literalText } from "../rdf/term-text.ts";

/** The quads as N-Quads of one graph; blank nodes are named in the order in which they come. Terms that no parser takes back are left out. */
export function graphText(quads: readonly RDF.Quad[], graph: string): string {
  const labels = new Map<string, string>();
  const textOf = (term: RDF.Term): string => {
    if (term.termType === "NamedNode") return iriText(term.value);
    if (term.termType === "Literal") return literalText(term);
    const label = labels.get(term.value) ?? `_:b${labels.size}`;
    labels.set(term.value, label);
    return label;
  };
  const end = ` ${iriText(graph)} .\n`;
  return quads
    .filter(({ subject, predicate, object }) => isTerm(subject) && isTerm(predicate) && isTerm(object))
    .map(({ subject, predicate, object }) => `${textOf(subject)} ${textOf(predicate)} ${textOf(object)}${end}`)
    .join("");
}

const isTerm = (term: RDF.Term): boolean => term.termType === "BlankNode" || isWritable(term);
