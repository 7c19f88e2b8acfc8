import { FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import { parseTurtle } from "../../rdf/turtle.ts";

/** What an ontology says about the ends of predicates. */
export interface Ontology {
  /** Predicate IRI to the class IRIs of its `rdfs:domain` and `rdfs:range`. */
  readonly classesOf: ReadonlyMap<string, readonly string[]>;
}

const namespaces = {
  rdf: "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
  rdfs: "http://www.w3.org/2000/01/rdf-schema#",
  xsd: "http://www.w3.org/2001/XMLSchema#",
  owl: "http://www.w3.org/2002/07/owl#",
} as const;
const rdfType = `${namespaces.rdf}type`;
const endProperties: ReadonlySet<string> = new Set([`${namespaces.rdfs}domain`, `${namespaces.rdfs}range`]);
/** True of every resource, or of values only: no class that instances could be sharded by. */
const noClasses: ReadonlySet<string> = new Set([
  `${namespaces.owl}Thing`,
  `${namespaces.rdfs}Resource`,
  `${namespaces.rdfs}Literal`,
  `${namespaces.rdf}langString`,
  `${namespaces.rdf}HTML`,
  `${namespaces.rdf}XMLLiteral`,
]);

/** Bounds of an ontology's document. */
export const ontologyLimits = { maxBytes: 16 * 2 ** 20, maxQuads: 500_000 } as const;

/**
 * Reads the domains and ranges of an ontology in Turtle or N-Triples. Datatypes, blank nodes (unions), `owl:Thing` and
 * `rdfs:Resource` give no class; a superproperty's domain is not passed on.
 * @throws FedwayError `REQUEST_INVALID` with `where.line`, `REQUEST_TOO_LARGE`
 */
export function readOntology(turtle: string): Ontology {
  if (Buffer.byteLength(turtle) > ontologyLimits.maxBytes) {
    throw new FedwayError("REQUEST_TOO_LARGE", `The ontology is larger than ${ontologyLimits.maxBytes} bytes.`);
  }
  const quads = parsed(turtle);
  const datatypes = new Set<string>();
  for (const { subject, predicate, object } of quads) {
    const declares = predicate.value === rdfType && object.value === `${namespaces.rdfs}Datatype`;
    if (declares) datatypes.add(subject.value);
  }
  const classesOf = new Map<string, Set<string>>();
  for (const { subject, predicate, object } of quads) {
    if (!endProperties.has(predicate.value) || subject.termType !== "NamedNode") continue;
    if (object.termType !== "NamedNode" || isNoClass(object.value) || datatypes.has(object.value)) continue;
    classesOf.set(subject.value, (classesOf.get(subject.value) ?? new Set<string>()).add(object.value));
  }
  return { classesOf: new Map([...classesOf].map(([predicate, classes]) => [predicate, [...classes].toSorted()])) };
}

const isNoClass = (iri: string): boolean => iri.startsWith(namespaces.xsd) || noClasses.has(iri);

function parsed(turtle: string): ReturnType<typeof parseTurtle> {
  try {
    return parseTurtle(turtle, { baseIri: "urn:fedway:ontology", ...ontologyLimits });
  } catch (cause) {
    const { message, details } = toFedwayError(cause);
    throw new FedwayError("REQUEST_INVALID", `The ontology cannot be read: ${message}`, {
      ...(details.where && { where: details.where }),
      next: "Send the ontology as Turtle or N-Triples.",
      cause,
    });
  }
}
