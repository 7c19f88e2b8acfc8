import { stringText } from "../../rdf/term-text.ts";

const xsdNamespace = "http://www.w3.org/2001/XMLSchema#";

/** A term in N-Triples syntax. */
export type TermText = `<${string}>` | `_:${string}` | `"${string}`;

export const iri = (value: string): TermText => `<${value}>`;
export const blank = (label: string): TermText => `_:${label}`;
export const plain = (value: string): TermText => stringText(value);
export const tagged = (value: string, language: string): TermText => `${stringText(value)}@${language}`;
export const typed = (value: string, type: string): TermText => `${stringText(value)}^^<${xsdNamespace}${type}>`;

/** A property and its value; several values give several triples. */
type Statement = readonly [predicate: string, ...objects: readonly TermText[]];

/** Collects triples as N-Triples text. */
export type TripleWriter = ReturnType<typeof createTripleWriter>;

/** Writes predicates given as IRIs. */
export function createTripleWriter() {
  const lines: string[] = [];
  return {
    add(subject: TermText, ...statements: readonly Statement[]): void {
      for (const [predicate, ...objects] of statements) {
        for (const object of objects) lines.push(`${subject} <${predicate}> ${object} .`);
      }
    },
    text: () => `${lines.join("\n")}\n`,
  };
}

const rdfNamespace = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const schemaNamespace = "https://schema.org/";
const foafNamespace = "http://xmlns.com/foaf/0.1/";
const dctermsNamespace = "http://purl.org/dc/terms/";
const sosaNamespace = "http://www.w3.org/ns/sosa/";

export const rdfType = `${rdfNamespace}type`;
export const rdfsLabel = "http://www.w3.org/2000/01/rdf-schema#label";
export const owlSameAs = "http://www.w3.org/2002/07/owl#sameAs";
export const populationTotal = "http://dbpedia.org/ontology/populationTotal";

/** IRI of a schema.org term. */
export const schema = (name: string): string => schemaNamespace + name;
/** IRI of a FOAF term. */
export const foaf = (name: string): string => foafNamespace + name;
/** IRI of a DCMI Metadata Terms term. */
export const dcterms = (name: string): string => dctermsNamespace + name;
/** IRI of a SOSA (sensors and observations) term. */
export const sosa = (name: string): string => sosaNamespace + name;
