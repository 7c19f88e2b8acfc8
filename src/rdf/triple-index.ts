import type * as RDF from "@rdfjs/types";
import { Store, DataFactory } from "n3";

/** A triple, from whatever graph. */
export interface Triple {
  readonly subject: RDF.Term;
  readonly predicate: RDF.Term;
  readonly object: RDF.Term;
}

/** A set of triples in memory, indexed by each of their parts; graph names are dropped. */
export interface TripleIndex {
  readonly size: number;
  /** Rough size in memory. */
  readonly bytes: number;
  /** The triples with these parts; `undefined` stands for any. */
  match(parts: TripleParts): Iterable<Triple>;
  /** How many triples have these parts. */
  count(parts: TripleParts): number;
}

/** Constant parts of a triple pattern. */
interface TripleParts {
  readonly subject?: RDF.Term | undefined;
  readonly predicate?: RDF.Term | undefined;
  readonly object?: RDF.Term | undefined;
}

// Measured on n3's store: three indexes a triple, and each term once.
const BYTES_A_TRIPLE = 350;
const BYTES_A_CHARACTER = 2;

/** Indexes triples; the same triple in several graphs counts once, what is no RDF triple not at all. */
export function createTripleIndex(triples: Iterable<Triple>): TripleIndex {
  const store = new Store();
  let characters = 0;
  for (const { subject, predicate, object } of triples) {
    if (!isSubject(subject) || !isPredicate(predicate) || !isObject(object)) continue;
    store.addQuad(subject, predicate, object);
    characters += charactersOf(object);
  }
  const { size } = store;
  return {
    size,
    bytes: size * BYTES_A_TRIPLE + characters * BYTES_A_CHARACTER,
    match: ({ subject = null, predicate = null, object = null }) =>
      store.readQuads(subject, predicate, object, null) as Iterable<Triple>,
    count: ({ subject = null, predicate = null, object = null }) => store.countQuads(subject, predicate, object, null),
  };
}

/** Characters of a literal, also within triple terms; each of these counts as a triple's worth of characters. */
function charactersOf(term: RDF.Term): number {
  if (term.termType === "Literal") return term.value.length;
  if (term.termType !== "Quad") return 0;
  return BYTES_A_TRIPLE / BYTES_A_CHARACTER + charactersOf(term.subject) + charactersOf(term.object);
}

// Triple terms stand as objects only (RDF 1.2 Concepts); those of RDF-star may be subjects.
const isSubject = (term: RDF.Term): term is RDF.NamedNode | RDF.BlankNode | RDF.Quad =>
  term.termType === "NamedNode" || term.termType === "BlankNode" || term.termType === "Quad";
const isPredicate = (term: RDF.Term): term is RDF.NamedNode => term.termType === "NamedNode";
const isObject = (term: RDF.Term): term is RDF.NamedNode | RDF.BlankNode | RDF.Quad | RDF.Literal =>
  isSubject(term) || term.termType === "Literal";

/** The triples as an RDF/JS dataset, for libraries that want one. */
export const toDataset = (quads: readonly RDF.Quad[]): RDF.DatasetCore => new Store([...quads]);

/** Makes RDF/JS terms and quads (RDF/JS data model specification). */
export const dataFactory: RDF.DataFactory = DataFactory;
