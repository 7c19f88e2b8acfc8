import type * as RDF from "@rdfjs/types";
import { setImmediate as otherWork } from "node:timers/promises";
import { type PatternTerm, type PlacedPattern } from "../../../src/sparql/patterns.ts";
import { parseQuery } from "../../../src/sparql/query.ts";
import type { QueryFeatures, ShardQuery, Pattern, TriplePlace, FeatureOptions } from "./problem.ts";
import { compareText } from "../../../src/rdf/canonical.ts";
import { iriText, literalText } from "../../../src/rdf/term-text.ts";
import { basename, extname } from "node:path";
import { FedwayError, toFedwayError } from "../../../src/errors/fedway-error.ts";
import { readBoundedFile } from "../bounded-file.ts";
import { parseTurtle } from "../../../src/rdf/turtle.ts";
import { graphDecoders } from "../../../src/results/parse.ts";

/** A query whose patterns have been read, so that its features in several readings cost one parse. */
interface ReadQuery {
  readonly query: ShardQuery;
  readonly patterns: readonly PlacedPattern[];
}

const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/** Reads the patterns of queries; other work of the process goes on in between. @throws FedwayError as `readQuery` */
export async function readQueries(queries: readonly ShardQuery[]): Promise<readonly ReadQuery[]> {
  const read: ReadQuery[] = [];
  for (const [index, query] of queries.entries()) {
    if (index % queriesAtATime === 0) await otherWork();
    read.push(readQuery(query));
  }
  return read;
}

const queriesAtATime = 20;

/** Reads the patterns of a query. @throws FedwayError as `parseQuery`; `loadQueries` has left such texts out */
export function readQuery(query: ShardQuery): ReadQuery {
  return { query, patterns: parseQuery(query.text).patterns };
}

/**
 * P(q), C(q) and S(q) in a reading (Dobriy et al., section 4). Property paths count by their steps, blank nodes as
 * variables; without an ontology `infer` adds no class.
 */
export function featuresOf(
  { query, patterns }: ReadQuery,
  reading: FeatureOptions,
  ontology?: Ontology,
): QueryFeatures {
  const predicates = new Set<string>();
  const classes = new Set<string>();
  const subjects = new Set<string>();
  for (const pattern of patterns) {
    if (pattern.inExists && !reading.exists) continue;
    const predicate = iriOf(pattern.predicate);
    if (pattern.subject.kind === "variable") subjects.add(pattern.subject.name);
    if (predicate === undefined) continue;
    predicates.add(predicate);
    const named = predicate === rdfType ? iriOf(pattern.object) : undefined;
    if (named !== undefined) classes.add(named);
    if (reading.infer) for (const inferred of ontology?.classesOf.get(predicate) ?? []) classes.add(inferred);
  }
  return {
    query,
    predicates: [...predicates].toSorted(),
    classes: [...classes].toSorted(),
    subjectVariables: subjects.size,
    patterns: distinctPatterns(patterns.map(placementPattern)),
  };
}

const iriOf = (term: PatternTerm): string | undefined => (term.kind === "iri" ? term.iri : undefined);

const pairs: readonly (readonly [TriplePlace, TriplePlace])[] = [
  ["subject", "predicate"],
  ["subject", "object"],
  ["predicate", "object"],
];

/** A pattern of a query as the placement of triples sees it; terms are written as `rdf/term-text.ts` does. */
function placementPattern(pattern: PlacedPattern): Pattern {
  const { subject, predicate, object, exceptPredicates, graph } = pattern;
  const equal = pairs.filter(([left, right]) => isSameVariable(pattern[left], pattern[right]));
  return {
    subject: constantOf(subject),
    predicate: constantOf(predicate),
    object: constantOf(object),
    graph: typeof graph === "object" ? iriText(graph.iri) : graph,
    exceptPredicates: exceptPredicates?.toSorted(),
    equal: equal.length > 0 ? equal : undefined,
  };
}

function constantOf(term: PatternTerm): string | undefined {
  if (term.kind === "variable") return undefined;
  return term.kind === "iri" ? iriText(term.iri) : literalText(term.literal);
}

const isSameVariable = (left: PatternTerm, right: PatternTerm): boolean =>
  left.kind === "variable" && right.kind === "variable" && left.name === right.name;

/** Each pattern once, in an order that does not depend on the query's. */
function distinctPatterns(patterns: readonly Pattern[]): readonly Pattern[] {
  const byText = new Map(patterns.map((pattern) => [JSON.stringify(pattern), pattern]));
  return [...byText].toSorted(([left], [right]) => compareText(left, right)).map(([, pattern]) => pattern);
}

/** Statements of an ontology about the ends of predicates. */
interface Ontology {
  /** Predicate IRI to the class IRIs of its `rdfs:domain` and `rdfs:range`. */
  readonly classesOf: ReadonlyMap<string, readonly string[]>;
}

const namespaces = {
  rdf: "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
  rdfs: "http://www.w3.org/2000/01/rdf-schema#",
  xsd: "http://www.w3.org/2001/XMLSchema#",
  owl: "http://www.w3.org/2002/07/owl#",
} as const;
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

const baseIri = "urn:fedway:ontology";
const rdfXmlEndings: ReadonlySet<string> = new Set([".owl", ".rdf", ".xml"]);
const pieceBytes = 32 * 1024;

/**
 * Reads an ontology's file: RDF/XML by its ending (`.owl`, `.rdf`, `.xml`), else Turtle or N-Triples.
 * @throws FedwayError `REQUEST_INVALID`, `REQUEST_TOO_LARGE`
 */
export async function readOntologyFile(path: string): Promise<Ontology> {
  const bytes = await readBoundedFile(path, ontologyLimits.maxBytes, (fault, cause) =>
    fault === "too large"
      ? tooLargeFile()
      : unreadable(cause ?? new Error(fault), `Check that ${basename(path)} is a file.`),
  );
  if (!rdfXmlEndings.has(extname(path).toLowerCase())) return readOntology(bytes.toString("utf8"));
  const decoder = graphDecoders.rdfxml({ baseIri });
  const quads: RDF.Quad[] = [];
  const take = (found: readonly RDF.Quad[]): void => {
    for (const quad of found) quads.push(quad);
    if (quads.length > ontologyLimits.maxQuads) throw tooLarge(`has more than ${ontologyLimits.maxQuads} triples`);
  };
  try {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      take(await decoder.push(bytes.subarray(at, at + pieceBytes)));
    }
    take(await decoder.end());
  } catch (cause) {
    throw unreadable(cause, `Check that ${basename(path)} is RDF/XML.`);
  }
  return ontologyOf(quads);
}

/** Reads an ontology in Turtle or N-Triples. @throws FedwayError `REQUEST_INVALID` with `where.line`, `REQUEST_TOO_LARGE` */
export function readOntology(turtle: string): Ontology {
  if (Buffer.byteLength(turtle) > ontologyLimits.maxBytes) throw tooLargeFile();
  try {
    return ontologyOf(parseTurtle(turtle, { baseIri, ...ontologyLimits }));
  } catch (cause) {
    throw unreadable(cause, "Give the ontology as Turtle, N-Triples or RDF/XML (.owl, .rdf).");
  }
}

/**
 * Its domains and ranges. Datatypes, blank nodes (unions), `owl:Thing` and `rdfs:Resource` give no class; a superproperty's
 * domain is not passed on.
 */
function ontologyOf(quads: readonly RDF.Quad[]): Ontology {
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

function unreadable(cause: unknown, next: string): FedwayError {
  const { code, message, details } = toFedwayError(cause);
  if (code === "REQUEST_TOO_LARGE") return toFedwayError(cause);
  const where = details.where && { where: details.where };
  return new FedwayError("REQUEST_INVALID", `The ontology cannot be read: ${message}`, { ...where, next, cause });
}

const tooLarge = (how: string): FedwayError => new FedwayError("REQUEST_TOO_LARGE", `The ontology ${how}.`);

const tooLargeFile = (): FedwayError => tooLarge(`is larger than ${ontologyLimits.maxBytes} bytes`);
