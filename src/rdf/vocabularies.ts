/** The words of a text with single blanks between them. */
type Words<Text extends string> = Text extends `${infer Word} ${infer Rest}` ? Word | Words<Rest> : Text;

type Vocabulary<Namespace extends string, Name extends string> = { readonly namespace: Namespace } & {
  readonly [Each in Name]: `${Namespace}${Each}`;
};

/** A vocabulary's IRIs by name; `lines` hold the names, with blanks between them. */
function vocabulary<const Namespace extends string, const Lines extends readonly string[]>(
  namespace: Namespace,
  ...lines: Lines
): Vocabulary<Namespace, Words<Lines[number]>>;
function vocabulary(namespace: string, ...lines: readonly string[]): Readonly<Record<string, string>> {
  const names = lines.flatMap((line) => line.split(" "));
  return { namespace, ...Object.fromEntries(names.map((name) => [name, namespace + name])) };
}

/** IRIs of the vocabularies that Fedway reads and writes; only terms that are used. */
export const rdf = vocabulary(
  "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
  "dirLangString first langString nil predicate rest type",
);

/** Datatypes of literals with a language. */
export const languageTypes: ReadonlySet<string> = new Set([rdf.langString, rdf.dirLangString]);

export const rdfs = vocabulary("http://www.w3.org/2000/01/rdf-schema#", "comment label seeAlso subClassOf");

export const xsd = vocabulary(
  "http://www.w3.org/2001/XMLSchema#",
  "boolean date dateTime decimal hexBinary integer nonNegativeInteger string",
);

/** Datatypes of `xsd` whose names are functions that cast to them (SPARQL 1.1 Query, section 17.5; dates and durations as in XPath). */
export const castTypes: ReadonlySet<string> = new Set(
  "string boolean integer decimal float double dateTime date time gYear gYearMonth gMonth gMonthDay gDay duration"
    .concat(" yearMonthDuration dayTimeDuration")
    .split(" "),
);

/** Data Catalog Vocabulary, version 3. */
export const dcat = vocabulary(
  "http://www.w3.org/ns/dcat#",
  "accessURL byteSize Catalog DataService Dataset Distribution distribution downloadURL endpointURL keyword landingPage",
  "mediaType servesDataset service",
);

export const dcterms = vocabulary(
  "http://purl.org/dc/terms/",
  "bibliographicCitation conformsTo created creator description hasPart identifier license LicenseDocument MediaType",
  "modified source subject title",
);

export const foaf = vocabulary("http://xmlns.com/foaf/0.1/", "Agent homepage name primaryTopic");

/** Software Package Data Exchange: checksums of files. */
export const spdx = vocabulary(
  "http://spdx.org/rdf/terms#",
  "algorithm Checksum checksum ChecksumAlgorithm checksumAlgorithm_sha256 checksumValue",
);

export const skos = vocabulary("http://www.w3.org/2004/02/skos/core#", "note");

/** Vocabulary of Interlinked Datasets (W3C note of 2011). */
export const voidVocabulary = vocabulary(
  "http://rdfs.org/ns/void#",
  "class classes classPartition dataDump Dataset DatasetDescription distinctObjects distinctSubjects entities",
  "inDataset linkPredicate Linkset objectsTarget properties property propertyPartition sparqlEndpoint",
  "subjectsTarget subset target triples uriLookupEndpoint uriSpace vocabulary",
);

/** Extensions of VoID for object classes, datatypes, languages and kinds of terms (ldf.fi). */
export const voidExt = vocabulary(
  "http://ldf.fi/void-ext#",
  "datatype datatypePartition language languagePartition objectClassPartition",
);

/** VoIDext: classes at the ends of links between datasets. */
export const voidLinks = vocabulary(
  "http://purl.org/query/voidext#",
  "isSubsetOf linkPredicateDomain linkPredicateRange",
);

/** SPARQL 1.1 Service Description. */
export const sd = vocabulary(
  "http://www.w3.org/ns/sparql-service-description#",
  "Dataset defaultDataset defaultGraph endpoint feature Graph graph name namedGraph NamedGraph resultFormat Service",
  "SPARQL11Query supportedLanguage",
);

/** Data Quality Vocabulary. */
export const dqv = vocabulary("http://www.w3.org/ns/dqv#", "computedOn isMeasurementOf QualityMeasurement value");

export const prov = vocabulary(
  "http://www.w3.org/ns/prov#",
  "Activity endedAtTime Entity generatedAtTime hadPrimarySource startedAtTime used value wasDerivedFrom",
  "wasGeneratedBy",
);

export const shacl = vocabulary(
  "http://www.w3.org/ns/shacl#",
  "Info Violation Warning ask construct declare describe prefix prefixes select",
);

/** Interfaces that `dcterms:conformsTo` distinguishes. */
export const interfaces = {
  sparql: "https://www.w3.org/TR/sparql11-protocol/",
  tpf: "https://linkeddatafragments.org/specification/triple-pattern-fragments/",
} as const;

/**
 * Terms about endpoints that no published vocabulary has; described in `deploy/guide/catalogue-entries.md`. No two endpoints with the same
 * `subjectPartition` have a subject in common. Terms of descriptions, of which those of parts are stated by the builder of a shard:
 * `subjectClass`, `objectClass`, `part`, `parts`, `sibling`.
 */
export const fedway = vocabulary(
  "https://w3id.org/fedway/ns#",
  "blocksService defaultGraph engine Federation form keyAdapter matches member memberKeyword memberQuery mirrorOf neverKept",
  "needsUserAgent objectClass other part parts prefix pseudoService rawQueries requestMethod rowCap sibling step",
  "subjectClass subjectPartition",
  // How a description was found out: see the README of registry/descriptions.
  "bytes classesComplete describedGraph durationMs factStatus graphsComplete httpStatus objectsComplete outcome position",
  "propertiesComplete query requests rung source unfinished unknown what why",
  // How an endpoint is and was, and what it can do: see catalog/vocabulary/fedway.ttl.
  "fault Incident incidentKind incidentSubject lacksFeature leftOut maxUrlBytes maxValuesRows observedRowCap",
  "medianLatency7d observedSince p90Latency7d probedAt probes publishedFacts state stateSince textSearch",
  "uptime24h uptime7d uptime30d uptime90d wholeRows",
);

/** Prefixes of the vocabularies that Fedway writes, by namespace. */
export const vocabularyPrefixes: ReadonlyMap<string, string> = new Map([
  [dcat.namespace, "dcat"],
  [dcterms.namespace, "dcterms"],
  [dqv.namespace, "dqv"],
  [fedway.namespace, "fedway"],
  [foaf.namespace, "foaf"],
  ["http://www.w3.org/ns/hydra/core#", "hydra"],
  ["http://www.w3.org/2002/07/owl#", "owl"],
  [prov.namespace, "prov"],
  [rdf.namespace, "rdf"],
  [rdfs.namespace, "rdfs"],
  ["http://schema.org/", "schema"],
  [sd.namespace, "sd"],
  [shacl.namespace, "sh"],
  [skos.namespace, "skos"],
  [spdx.namespace, "spdx"],
  [voidVocabulary.namespace, "void"],
  [voidExt.namespace, "void-ext"],
  [xsd.namespace, "xsd"],
]);
