/** IRIs of the vocabularies that Fedway reads and writes; only terms that are used. */
export const rdf = {
  namespace: "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
  first: "http://www.w3.org/1999/02/22-rdf-syntax-ns#first",
  langString: "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString",
  nil: "http://www.w3.org/1999/02/22-rdf-syntax-ns#nil",
  Property: "http://www.w3.org/1999/02/22-rdf-syntax-ns#Property",
  rest: "http://www.w3.org/1999/02/22-rdf-syntax-ns#rest",
  type: "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
} as const;

export const rdfs = {
  namespace: "http://www.w3.org/2000/01/rdf-schema#",
  Class: "http://www.w3.org/2000/01/rdf-schema#Class",
  comment: "http://www.w3.org/2000/01/rdf-schema#comment",
  label: "http://www.w3.org/2000/01/rdf-schema#label",
  Resource: "http://www.w3.org/2000/01/rdf-schema#Resource",
  seeAlso: "http://www.w3.org/2000/01/rdf-schema#seeAlso",
} as const;

export const xsd = {
  namespace: "http://www.w3.org/2001/XMLSchema#",
  boolean: "http://www.w3.org/2001/XMLSchema#boolean",
  dateTime: "http://www.w3.org/2001/XMLSchema#dateTime",
  decimal: "http://www.w3.org/2001/XMLSchema#decimal",
  double: "http://www.w3.org/2001/XMLSchema#double",
  duration: "http://www.w3.org/2001/XMLSchema#duration",
  integer: "http://www.w3.org/2001/XMLSchema#integer",
  string: "http://www.w3.org/2001/XMLSchema#string",
} as const;

/** Datatypes of `xsd` whose names are functions that cast to them (SPARQL 1.1 Query, section 17.5; dates and durations as in XPath). */
export const castTypes: ReadonlySet<string> = new Set(
  "string boolean integer decimal float double dateTime date time gYear gYearMonth gMonth gMonthDay gDay duration"
    .concat(" yearMonthDuration dayTimeDuration")
    .split(" "),
);

/** Data Catalog Vocabulary, version 3. */
export const dcat = {
  namespace: "http://www.w3.org/ns/dcat#",
  Catalog: "http://www.w3.org/ns/dcat#Catalog",
  DataService: "http://www.w3.org/ns/dcat#DataService",
  Dataset: "http://www.w3.org/ns/dcat#Dataset",
  endpointDescription: "http://www.w3.org/ns/dcat#endpointDescription",
  endpointURL: "http://www.w3.org/ns/dcat#endpointURL",
  keyword: "http://www.w3.org/ns/dcat#keyword",
  landingPage: "http://www.w3.org/ns/dcat#landingPage",
  servesDataset: "http://www.w3.org/ns/dcat#servesDataset",
  service: "http://www.w3.org/ns/dcat#service",
} as const;

export const dcterms = {
  namespace: "http://purl.org/dc/terms/",
  bibliographicCitation: "http://purl.org/dc/terms/bibliographicCitation",
  conformsTo: "http://purl.org/dc/terms/conformsTo",
  created: "http://purl.org/dc/terms/created",
  description: "http://purl.org/dc/terms/description",
  identifier: "http://purl.org/dc/terms/identifier",
  license: "http://purl.org/dc/terms/license",
  modified: "http://purl.org/dc/terms/modified",
  source: "http://purl.org/dc/terms/source",
  title: "http://purl.org/dc/terms/title",
} as const;

export const foaf = {
  namespace: "http://xmlns.com/foaf/0.1/",
  homepage: "http://xmlns.com/foaf/0.1/homepage",
  primaryTopic: "http://xmlns.com/foaf/0.1/primaryTopic",
} as const;

export const skos = {
  namespace: "http://www.w3.org/2004/02/skos/core#",
  altLabel: "http://www.w3.org/2004/02/skos/core#altLabel",
  note: "http://www.w3.org/2004/02/skos/core#note",
  prefLabel: "http://www.w3.org/2004/02/skos/core#prefLabel",
} as const;

/** Vocabulary of Interlinked Datasets (W3C note of 2011). */
export const voidVocabulary = {
  namespace: "http://rdfs.org/ns/void#",
  class: "http://rdfs.org/ns/void#class",
  classes: "http://rdfs.org/ns/void#classes",
  classPartition: "http://rdfs.org/ns/void#classPartition",
  dataDump: "http://rdfs.org/ns/void#dataDump",
  Dataset: "http://rdfs.org/ns/void#Dataset",
  DatasetDescription: "http://rdfs.org/ns/void#DatasetDescription",
  distinctObjects: "http://rdfs.org/ns/void#distinctObjects",
  distinctSubjects: "http://rdfs.org/ns/void#distinctSubjects",
  documents: "http://rdfs.org/ns/void#documents",
  entities: "http://rdfs.org/ns/void#entities",
  exampleResource: "http://rdfs.org/ns/void#exampleResource",
  feature: "http://rdfs.org/ns/void#feature",
  inDataset: "http://rdfs.org/ns/void#inDataset",
  linkPredicate: "http://rdfs.org/ns/void#linkPredicate",
  Linkset: "http://rdfs.org/ns/void#Linkset",
  objectsTarget: "http://rdfs.org/ns/void#objectsTarget",
  openSearchDescription: "http://rdfs.org/ns/void#openSearchDescription",
  properties: "http://rdfs.org/ns/void#properties",
  property: "http://rdfs.org/ns/void#property",
  propertyPartition: "http://rdfs.org/ns/void#propertyPartition",
  rootResource: "http://rdfs.org/ns/void#rootResource",
  sparqlEndpoint: "http://rdfs.org/ns/void#sparqlEndpoint",
  subjectsTarget: "http://rdfs.org/ns/void#subjectsTarget",
  subset: "http://rdfs.org/ns/void#subset",
  target: "http://rdfs.org/ns/void#target",
  TechnicalFeature: "http://rdfs.org/ns/void#TechnicalFeature",
  triples: "http://rdfs.org/ns/void#triples",
  uriLookupEndpoint: "http://rdfs.org/ns/void#uriLookupEndpoint",
  uriRegexPattern: "http://rdfs.org/ns/void#uriRegexPattern",
  uriSpace: "http://rdfs.org/ns/void#uriSpace",
  vocabulary: "http://rdfs.org/ns/void#vocabulary",
} as const;

/** Extensions of VoID for object classes, datatypes, languages and kinds of terms (ldf.fi). */
export const voidExt = {
  namespace: "http://ldf.fi/void-ext#",
  datatype: "http://ldf.fi/void-ext#datatype",
  datatypePartition: "http://ldf.fi/void-ext#datatypePartition",
  datatypes: "http://ldf.fi/void-ext#datatypes",
  distinctBlankNodeObjects: "http://ldf.fi/void-ext#distinctBlankNodeObjects",
  distinctBlankNodeSubjects: "http://ldf.fi/void-ext#distinctBlankNodeSubjects",
  distinctIRIReferenceObjects: "http://ldf.fi/void-ext#distinctIRIReferenceObjects",
  distinctIRIReferenceSubjects: "http://ldf.fi/void-ext#distinctIRIReferenceSubjects",
  distinctLiterals: "http://ldf.fi/void-ext#distinctLiterals",
  language: "http://ldf.fi/void-ext#language",
  languagePartition: "http://ldf.fi/void-ext#languagePartition",
  languages: "http://ldf.fi/void-ext#languages",
  objectClassPartition: "http://ldf.fi/void-ext#objectClassPartition",
  objectPartition: "http://ldf.fi/void-ext#objectPartition",
  subjectPartition: "http://ldf.fi/void-ext#subjectPartition",
} as const;

/** SPARQL 1.1 Service Description. */
export const sd = {
  namespace: "http://www.w3.org/ns/sparql-service-description#",
  availableGraphs: "http://www.w3.org/ns/sparql-service-description#availableGraphs",
  BasicFederatedQuery: "http://www.w3.org/ns/sparql-service-description#BasicFederatedQuery",
  Dataset: "http://www.w3.org/ns/sparql-service-description#Dataset",
  defaultDataset: "http://www.w3.org/ns/sparql-service-description#defaultDataset",
  defaultGraph: "http://www.w3.org/ns/sparql-service-description#defaultGraph",
  endpoint: "http://www.w3.org/ns/sparql-service-description#endpoint",
  feature: "http://www.w3.org/ns/sparql-service-description#feature",
  Graph: "http://www.w3.org/ns/sparql-service-description#Graph",
  graph: "http://www.w3.org/ns/sparql-service-description#graph",
  name: "http://www.w3.org/ns/sparql-service-description#name",
  namedGraph: "http://www.w3.org/ns/sparql-service-description#namedGraph",
  NamedGraph: "http://www.w3.org/ns/sparql-service-description#NamedGraph",
  resultFormat: "http://www.w3.org/ns/sparql-service-description#resultFormat",
  Service: "http://www.w3.org/ns/sparql-service-description#Service",
  SPARQL11Query: "http://www.w3.org/ns/sparql-service-description#SPARQL11Query",
  supportedLanguage: "http://www.w3.org/ns/sparql-service-description#supportedLanguage",
} as const;

/** Data Quality Vocabulary. */
export const dqv = {
  namespace: "http://www.w3.org/ns/dqv#",
  computedOn: "http://www.w3.org/ns/dqv#computedOn",
  hasQualityMeasurement: "http://www.w3.org/ns/dqv#hasQualityMeasurement",
  isMeasurementOf: "http://www.w3.org/ns/dqv#isMeasurementOf",
  Metric: "http://www.w3.org/ns/dqv#Metric",
  QualityMeasurement: "http://www.w3.org/ns/dqv#QualityMeasurement",
  value: "http://www.w3.org/ns/dqv#value",
} as const;

export const prov = {
  namespace: "http://www.w3.org/ns/prov#",
  Activity: "http://www.w3.org/ns/prov#Activity",
  endedAtTime: "http://www.w3.org/ns/prov#endedAtTime",
  Entity: "http://www.w3.org/ns/prov#Entity",
  generatedAtTime: "http://www.w3.org/ns/prov#generatedAtTime",
  hadPrimarySource: "http://www.w3.org/ns/prov#hadPrimarySource",
  startedAtTime: "http://www.w3.org/ns/prov#startedAtTime",
  used: "http://www.w3.org/ns/prov#used",
  value: "http://www.w3.org/ns/prov#value",
  wasDerivedFrom: "http://www.w3.org/ns/prov#wasDerivedFrom",
  wasGeneratedBy: "http://www.w3.org/ns/prov#wasGeneratedBy",
} as const;

export const shacl = {
  namespace: "http://www.w3.org/ns/shacl#",
  Info: "http://www.w3.org/ns/shacl#Info",
  Violation: "http://www.w3.org/ns/shacl#Violation",
  Warning: "http://www.w3.org/ns/shacl#Warning",
  ask: "http://www.w3.org/ns/shacl#ask",
  construct: "http://www.w3.org/ns/shacl#construct",
  declare: "http://www.w3.org/ns/shacl#declare",
  describe: "http://www.w3.org/ns/shacl#describe",
  prefix: "http://www.w3.org/ns/shacl#prefix",
  prefixNamespace: "http://www.w3.org/ns/shacl#namespace",
  prefixes: "http://www.w3.org/ns/shacl#prefixes",
  select: "http://www.w3.org/ns/shacl#select",
} as const;

/** Hydra Core, as Triple Pattern Fragments use it. */
const hydra = {
  namespace: "http://www.w3.org/ns/hydra/core#",
  itemsPerPage: "http://www.w3.org/ns/hydra/core#itemsPerPage",
  mapping: "http://www.w3.org/ns/hydra/core#mapping",
  next: "http://www.w3.org/ns/hydra/core#next",
  property: "http://www.w3.org/ns/hydra/core#property",
  search: "http://www.w3.org/ns/hydra/core#search",
  template: "http://www.w3.org/ns/hydra/core#template",
  totalItems: "http://www.w3.org/ns/hydra/core#totalItems",
  variable: "http://www.w3.org/ns/hydra/core#variable",
} as const;

/** Interfaces that `dcterms:conformsTo` tells apart. */
export const interfaces = {
  sparql: "https://www.w3.org/TR/sparql11-protocol/",
  tpf: "https://linkeddatafragments.org/specification/triple-pattern-fragments/",
} as const;

/** What no published vocabulary says of an endpoint; described in `catalog/README.md`. */
export const fedway = {
  namespace: "https://w3id.org/fedway/ns#",
  blocksService: "https://w3id.org/fedway/ns#blocksService",
  engine: "https://w3id.org/fedway/ns#engine",
  Federation: "https://w3id.org/fedway/ns#Federation",
  member: "https://w3id.org/fedway/ns#member",
  memberKeyword: "https://w3id.org/fedway/ns#memberKeyword",
  memberQuery: "https://w3id.org/fedway/ns#memberQuery",
  mirrorOf: "https://w3id.org/fedway/ns#mirrorOf",
  neverKept: "https://w3id.org/fedway/ns#neverKept",
  needsUserAgent: "https://w3id.org/fedway/ns#needsUserAgent",
  pseudoService: "https://w3id.org/fedway/ns#pseudoService",
  rawQueries: "https://w3id.org/fedway/ns#rawQueries",
  requestMethod: "https://w3id.org/fedway/ns#requestMethod",
  rowCap: "https://w3id.org/fedway/ns#rowCap",
  /** No two endpoints with the same one have a subject in common. */
  subjectPartition: "https://w3id.org/fedway/ns#subjectPartition",
} as const;

/** Prefixes of the vocabularies that Fedway writes, by namespace. */
export const vocabularyPrefixes: ReadonlyMap<string, string> = new Map([
  [dcat.namespace, "dcat"],
  [dcterms.namespace, "dcterms"],
  [dqv.namespace, "dqv"],
  [fedway.namespace, "fedway"],
  [foaf.namespace, "foaf"],
  [hydra.namespace, "hydra"],
  ["http://www.w3.org/2002/07/owl#", "owl"],
  [prov.namespace, "prov"],
  [rdf.namespace, "rdf"],
  [rdfs.namespace, "rdfs"],
  ["http://schema.org/", "schema"],
  [sd.namespace, "sd"],
  [shacl.namespace, "sh"],
  [skos.namespace, "skos"],
  [voidVocabulary.namespace, "void"],
  [voidExt.namespace, "void-ext"],
  [xsd.namespace, "xsd"],
]);
