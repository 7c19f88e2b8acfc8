import type * as RDF from "@rdfjs/types";
import { FedwayError } from "../errors/fedway-error.ts";
import type { ItemEncoder } from "./encoder.ts";
import { datatypeOf, safeLabel, termToText } from "./terms.ts";

const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/** RDF 1.1 N-Triples. */
export function createNTriplesEncoder(): ItemEncoder<RDF.Quad> {
  return {
    open: () => "",
    item: ({ subject, predicate, object }) =>
      `${termToText(subject)} ${termToText(predicate)} ${termToText(object)} .\n`,
    close: () => "",
  };
}

/** RDF 1.1 Turtle without prefixes; neighbours with the same subject and predicate share them. */
export function createTurtleEncoder(): ItemEncoder<RDF.Quad> {
  let subject = "";
  let predicate = "";
  const start = (quad: RDF.Quad): string => {
    const nextSubject = termToText(quad.subject);
    const nextPredicate = quad.predicate.value === rdfType ? "a" : termToText(quad.predicate);
    const sameSubject = nextSubject === subject;
    const samePredicate = sameSubject && nextPredicate === predicate;
    const closer = subject === "" ? "" : " .\n";
    subject = nextSubject;
    predicate = nextPredicate;
    if (samePredicate) return ", ";
    return sameSubject ? ` ;\n  ${predicate} ` : `${closer}${subject} ${predicate} `;
  };
  return {
    open: () => "",
    item: (quad) => start(quad) + termToText(quad.object),
    close: () => (subject === "" ? "" : " .\n"),
  };
}

const string = (value: string): string => JSON.stringify(value);

const nodeId = (term: RDF.Term): string =>
  string(term.termType === "BlankNode" ? `_:${safeLabel(term.value)}` : term.value);

function objectToJsonLd(term: RDF.Term): string {
  if (term.termType !== "Literal") return `{"@id":${nodeId(term)}}`;
  const value = `{"@value":${string(term.value)}`;
  if (term.language !== "") return `${value},"@language":${string(term.language)}}`;
  const datatype = datatypeOf(term);
  return datatype === undefined ? `${value}}` : `${value},"@type":${string(datatype)}}`;
}

/** More predicates than this in one node object start another one, so that what is remembered stays bounded. */
const maxPredicates = 1000;

/**
 * JSON-LD 1.1 in expanded form. Neighbours with the same subject share a node object; a predicate that comes back
 * later in the same object would be a repeated JSON key, so it starts another object.
 */
export function createJsonLdEncoder(): ItemEncoder<RDF.Quad> {
  let node = "";
  let key = "";
  let used = new Set<string>();
  const start = (quad: RDF.Quad): string => {
    const nextNode = nodeId(quad.subject);
    const nextKey = string(quad.predicate.value);
    if (nextNode === node && nextKey === key) return ",";
    const sameNode = nextNode === node && !used.has(nextKey) && used.size < maxPredicates;
    const closer = node === "" ? "\n" : "]},\n";
    key = nextKey;
    if (sameNode) {
      used.add(key);
      return `],${key}:[`;
    }
    node = nextNode;
    used = new Set([key]);
    return `${closer}{"@id":${node},${key}:[`;
  };
  return {
    open: () => "[",
    item: (quad) => {
      if (quad.subject.termType === "Quad" || quad.object.termType === "Quad") {
        throw new FedwayError("NOT_ACCEPTABLE", "The answer has triple terms, which JSON-LD 1.1 cannot hold.", {
          next: "Ask for text/turtle or application/n-triples.",
        });
      }
      return start(quad) + objectToJsonLd(quad.object);
    },
    close: () => (node === "" ? "]\n" : "]}\n]\n"),
  };
}
