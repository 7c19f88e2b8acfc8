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
