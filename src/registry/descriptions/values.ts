import type * as RDF from "@rdfjs/types";
import { isWritableIri } from "../../rdf/term-text.ts";
import { termKey } from "../../results/terms.ts";
import { dcterms, rdf, rdfs, skos, voidExt, voidVocabulary as v } from "../../rdf/vocabularies.ts";

const longestIri = 2048;

/**
 * True if an IRI from an endpoint may be written into a query: every parser accepts it, it is not longer than 2,048
 * UTF-16 code units, and is no blank node in disguise (Virtuoso's `nodeID://b1`).
 */
export function isWritable(iri: string): boolean {
  return iri.length <= longestIri && isWritableIri(iri) && !/^nodeid:/iu.test(iri);
}

/** An IRI as SPARQL writes it. @throws RangeError for one that is not writable: the last line of defence */
export function written(iri: string): string {
  if (!isWritable(iri)) throw new RangeError("Not an IRI that may be written into a query");
  return `<${iri}>`;
}

/** The namespace of an IRI: up to its last `#` or `/`; undefined when nothing stands behind the scheme's slashes. */
export function namespaceOf(iri: string): string | undefined {
  const cut = Math.max(iri.lastIndexOf("#"), iri.lastIndexOf("/")) + 1;
  const authority = iri.indexOf("://");
  if (cut === 0 || (authority >= 0 && cut <= authority + 3)) return undefined;
  return iri.slice(0, cut);
}

/** A whole number without sign tricks, exponent or fraction, and within the numbers that JavaScript counts in. */
const wholeNumber = /^\+?0{0,20}(\d{1,15})$/u;
const tagPattern = /^[a-z]{1,8}(?:-[a-z0-9]{1,8}){0,8}$/iu;
const longestTitle = 300;
const longestText = 4000;

/** The number that a literal spells, whatever its datatype; undefined for anything but a whole number. */
export function wholeNumberOf(term: RDF.Term): number | undefined {
  if (term.termType !== "Literal" || term.value.length > 40) return undefined;
  const digits = wholeNumber.exec(term.value.trim())?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The one number that all readable values agree on; undefined when there is none, or when they contradict each other. */
export function agreedNumber(terms: readonly RDF.Term[]): number | undefined {
  const values = new Set(terms.map(wholeNumberOf).filter((value) => value !== undefined));
  const [first] = values;
  return values.size === 1 ? first : undefined;
}

/** The IRI of a term that may be written into queries and documents. */
export function iriOf(term: RDF.Term | undefined): string | undefined {
  return term?.termType === "NamedNode" && isWritable(term.value) ? term.value : undefined;
}

/** The same for a literal that holds an IRI, as careless publishers write endpoints and namespaces. */
export function iriTextOf(term: RDF.Term): string | undefined {
  if (term.termType === "Literal") return isWritable(term.value) ? term.value : undefined;
  return iriOf(term);
}

/** The only valid IRI among the terms; undefined when there are several or none. */
export function onlyIri(terms: readonly RDF.Term[]): string | undefined {
  const iris = new Set(terms.map(iriOf).filter((iri) => iri !== undefined));
  const [first] = iris;
  return iris.size === 1 ? first : undefined;
}

/** A language tag (BCP 47) in lower case. */
export const languageTag = (text: string): string | undefined =>
  tagPattern.test(text) ? text.toLowerCase() : undefined;

/** The same of a literal that holds one. */
export const languageOf = (term: RDF.Term | undefined): string | undefined =>
  term?.termType === "Literal" ? languageTag(term.value) : undefined;

function plainText(terms: readonly RDF.Term[], most: number): string | undefined {
  const literals = terms.filter((term) => term.termType === "Literal");
  const english = literals.find(({ language }) => /^en(?:-|$)/iu.test(language));
  const untagged = literals.find(({ language }) => language === "");
  const text = (english ?? untagged ?? literals[0])?.value
    .slice(0, most * 2)
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .trim();
  return text === undefined || text === "" ? undefined : text.slice(0, most).toWellFormed();
}

/** A title on one line, English first; at most 300 characters. */
export const titleOf = (terms: readonly RDF.Term[]): string | undefined => plainText(terms, longestTitle);

/** A text without line breaks and control characters, English first; at most 4,000 characters. */
export const textOf = (terms: readonly RDF.Term[]): string | undefined => plainText(terms, longestText);

const longestDescription = 1_000;

/** Properties under which vocabularies keep the names and the descriptions of their terms, most usual first. */
const labelProperties = [
  rdfs.label,
  `${skos.namespace}prefLabel`,
  "http://schema.org/name",
  "https://schema.org/name",
] as const;
const descriptionProperties = [
  rdfs.comment,
  `${skos.namespace}definition`,
  `${dcterms.namespace}description`,
  "http://schema.org/description",
  "https://schema.org/description",
] as const;

/** All of them. */
export const textProperties: readonly string[] = [...labelProperties, ...descriptionProperties];

/** The best label and description among the values of these properties; undefined when there is neither. */
export function bestTexts(valuesOf: (property: string) => readonly RDF.Term[]) {
  const first = (properties: readonly string[], read: typeof titleOf): string | undefined => {
    for (const property of properties) {
      const text = read(valuesOf(property));
      if (text !== undefined) return text;
    }
    return undefined;
  };
  const label = first(labelProperties, titleOf);
  const description = first(descriptionProperties, textOf)?.slice(0, longestDescription).toWellFormed();
  return label === undefined && description === undefined ? undefined : { label, description };
}

interface Node {
  readonly term: RDF.Term;
  readonly objects: Map<string, RDF.Term[]>;
  readonly seen: Set<string>;
}

/** Indexes a document that is in memory. Cycles, repetitions and nodes of any kind are harmless: nothing is followed. */
export function indexNodes(quads: Iterable<RDF.Quad>) {
  const nodes = new Map<string, Node>();
  for (const { subject, predicate, object } of quads) {
    const key = termKey(subject);
    let node = nodes.get(key);
    if (node === undefined) {
      node = { term: subject, objects: new Map(), seen: new Set() };
      nodes.set(key, node);
    }
    const statement = `${predicate.value} ${termKey(object)}`;
    if (node.seen.has(statement)) continue;
    node.seen.add(statement);
    const objects = node.objects.get(predicate.value);
    if (objects === undefined) node.objects.set(predicate.value, [object]);
    else objects.push(object);
  }
  return {
    /** Every subject once, in the order of appearance. */
    subjects: Array.from(nodes.values(), ({ term }) => term),
    /** Objects of one predicate, each once, in the order of appearance. */
    objects: (subject: RDF.Term, predicate: string): readonly RDF.Term[] =>
      nodes.get(termKey(subject))?.objects.get(predicate) ?? [],
    has: (subject: RDF.Term, predicate: string): boolean =>
      nodes.get(termKey(subject))?.objects.has(predicate) === true,
  };
}

/** Triples by subject and predicate; graph names are dropped. */
export type NodeIndex = ReturnType<typeof indexNodes>;

/** Predicates whose objects are parts of a dataset, not datasets of their own. */
const partPredicates: readonly string[] = [
  v.classPartition,
  v.propertyPartition,
  v.subset,
  voidExt.objectClassPartition,
  voidExt.datatypePartition,
  voidExt.languagePartition,
];

/** The node has one of these types. */
export const hasType = (index: NodeIndex, node: RDF.Term, ...types: readonly string[]): boolean =>
  index.objects(node, rdf.type).some((type) => type.termType === "NamedNode" && types.includes(type.value));

/** The keys of all nodes that are part of something. */
export function partsOf(index: NodeIndex): ReadonlySet<string> {
  const parts = new Set<string>();
  for (const subject of index.subjects) {
    for (const predicate of partPredicates) {
      for (const part of index.objects(subject, predicate)) {
        // A dataset that is its own subset would otherwise vanish.
        if (termKey(part) !== termKey(subject)) parts.add(termKey(part));
      }
    }
  }
  return parts;
}
