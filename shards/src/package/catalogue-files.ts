import type * as RDF from "@rdfjs/types";
import { dataFactory as f } from "../../../src/rdf/triple-index.ts";
import { dcat, dcterms, foaf, prov, rdf, spdx, voidVocabulary, xsd } from "../../../src/rdf/vocabularies.ts";
import { writeTurtle } from "../../../src/rdf/write-turtle.ts";
import type { Source } from "../materialise/manifest.ts";
import { noLicence } from "../spec.ts";
import type { ServedShard } from "./compose-file.ts";
import { yamlText } from "./exports.ts";

/** A file beside the manifest. */
export interface PackagedFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A package as catalogues and citations name it. */
export interface CataloguedPackage {
  readonly source: Source;
  /** IRI. */
  readonly iri: string;
  readonly triples: number;
  readonly questions: number;
  readonly shards: readonly (ServedShard & { readonly topic: string; readonly datasetIri: string })[];
  readonly files: readonly PackagedFile[];
}

/**
 * Files by which a package is found and cited, by name: Croissant 1.0, DCAT 3 with VoID, and, where the creators are known, CFF
 * 1.2. Licence, creators and source are those of the spec, where it states them.
 */
export function catalogueFiles(known: CataloguedPackage): Readonly<Record<string, string>> {
  const { licence, creators = [], title } = known.source;
  const found: Found = {
    ...known,
    licence: licence === noLicence ? undefined : licence,
    creators,
    name: `${title}: a federated benchmark`,
  };
  return {
    "croissant.json": croissant(found),
    "dcat.ttl": dcatTurtle(found),
    ...(creators.length === 0 ? {} : { "CITATION.cff": citation(found) }),
  };
}

interface Found extends CataloguedPackage {
  readonly licence: string | undefined;
  readonly creators: readonly string[];
  readonly name: string;
}

const describe = ({ source, shards, triples, questions }: Found): string =>
  `${questions} questions about ${source.title}, with SPARQL queries and answers; the ${triples} triples are spread over ${shards.length} SPARQL endpoints.`;

const croissantTerms =
  "citeAs column equivalentProperty extract field fileProperty fileObject fileSet format includes isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated replace samplingRate separator source subField transform".split(
    " ",
  );
const croissantContext = {
  "@language": "en",
  "@vocab": "https://schema.org/",
  sc: "https://schema.org/",
  cr: "http://mlcommons.org/croissant/",
  rai: "http://mlcommons.org/croissant/RAI/",
  dct: dcterms.namespace,
  conformsTo: "dct:conformsTo",
  data: { "@id": "cr:data", "@type": "@json" },
  dataType: { "@id": "cr:dataType", "@type": "@vocab" },
  examples: { "@id": "cr:examples", "@type": "@json" },
  ...Object.fromEntries(croissantTerms.map((name) => [name, `cr:${name}`])),
};

/**
 * Records are the questions and the whole text of each shard that is not compressed: mlcroissant 1.1.1 reads lines as CSV, and
 * takes ids such as `007` in JSON Lines for numbers. It reads N-Triples as `text/plain` only.
 */
function croissant(found: Found): string {
  const { source, licence, creators, shards, files } = found;
  const record = (id: string, file: string, fields: Readonly<Record<string, object>>) => ({
    "@type": "cr:RecordSet",
    "@id": id,
    name: id,
    field: Object.entries(fields).map(([name, extract]) => ({
      "@type": "cr:Field",
      "@id": `${id}/${name}`,
      name,
      dataType: "sc:Text",
      source: { fileObject: { "@id": file }, extract },
    })),
  });
  const value = {
    "@context": croissantContext,
    "@type": "sc:Dataset",
    conformsTo: "http://mlcommons.org/croissant/1.0",
    name: found.name,
    description: describe(found),
    license: licence,
    citeAs: source.citation,
    creator: creators.length === 0 ? undefined : creators.map((name) => ({ "@type": "sc:Organization", name })),
    isBasedOn: source.source,
    distribution: files.map(({ name, bytes, sha256 }) => ({
      "@type": "cr:FileObject",
      "@id": name,
      name,
      contentUrl: name,
      contentSize: `${bytes} B`,
      encodingFormat: /\.n[tq]$/u.test(name) ? "text/plain" : mediaTypeOf(name),
      sha256,
    })),
    recordSet: [
      record("questions", "exports/qald.json", {
        id: { jsonPath: "$.questions[*].id" },
        question: { jsonPath: "$.questions[*].question[0].string" },
        sparql: { jsonPath: "$.questions[*].query.sparql" },
      }),
      ...shards
        .filter(({ file }) => !file.endsWith(".gz"))
        .map(({ id, file }) => record(`shards/${id}`, `build/${file}`, { text: { fileProperty: "content" } })),
    ],
  };
  return `${JSON.stringify(value, undefined, 1)}\n`;
}

const mediaTypes: Readonly<Record<string, string>> = {
  cff: "application/yaml",
  gz: "application/gzip",
  html: "text/html",
  json: "application/json",
  jsonl: "application/jsonlines",
  md: "text/markdown",
  nq: "application/n-quads",
  nt: "application/n-triples",
  ttl: "text/turtle",
  yaml: "application/yaml",
};
const mediaTypeOf = (name: string): string => mediaTypes[name.slice(name.lastIndexOf(".") + 1)] ?? "text/plain";

const iana = "https://www.iana.org/assignments/media-types/";

/** The dataset with a distribution a file, and each shard with its endpoint. IRIs of files are relative to the document. */
function dcatTurtle(found: Found): string {
  const { iri, source, licence, creators, shards, files, triples } = found;
  const baseIri = "https://package.invalid/";
  const quads: RDF.Quad[] = [];
  const node = (value: string) => f.namedNode(value);
  const say = (subject: RDF.Quad_Subject, type: string, facts: readonly (readonly [string, RDF.Quad_Object])[]) => {
    quads.push(f.quad(subject, node(rdf.type), node(type)));
    for (const [predicate, object] of facts) quads.push(f.quad(subject, node(predicate), object));
    return subject;
  };
  const number = (value: number) => f.literal(`${value}`, node(xsd.integer));
  const licences =
    licence === undefined ? [] : [[dcterms.license, say(node(licence), dcterms.LicenseDocument, [])] as const];
  const agents = creators.map((name, at) =>
    say(node(`${iri}#creator-${at + 1}`), foaf.Agent, [[foaf.name, f.literal(name)]]),
  );
  // JSON Lines have no registered type.
  const mediaTypeFacts = (name: string) =>
    name.endsWith(".jsonl")
      ? []
      : [[dcat.mediaType, say(node(`${iana}${mediaTypeOf(name)}`), dcterms.MediaType, [])] as const];
  const distributions = files.map(({ name, bytes, sha256 }) =>
    say(node(`${iri}#${name}`), dcat.Distribution, [
      [dcterms.title, f.literal(name)],
      [dcat.accessURL, node(baseIri + name)],
      [dcat.downloadURL, node(baseIri + name)],
      [dcat.byteSize, f.literal(`${bytes}`, node(xsd.nonNegativeInteger))],
      [
        spdx.checksum,
        say(node(`${iri}#sha256-${name}`), spdx.Checksum, [
          [spdx.algorithm, say(node(spdx.checksumAlgorithm_sha256), spdx.ChecksumAlgorithm, [])],
          [spdx.checksumValue, f.literal(sha256, node(xsd.hexBinary))],
        ]),
      ],
      ...mediaTypeFacts(name),
      ...licences,
    ]),
  );
  const parts = shards.map(({ id, topic, url, datasetIri, file, triples: size }) => {
    say(node(`${iri}#service-${id}`), dcat.DataService, [
      [dcterms.title, f.literal(topic)],
      [dcat.endpointURL, node(url)],
      [dcat.servesDataset, node(iri)],
    ]);
    return say(node(datasetIri), voidVocabulary.Dataset, [
      [dcterms.title, f.literal(topic)],
      [voidVocabulary.triples, number(size)],
      [voidVocabulary.sparqlEndpoint, node(url)],
      [voidVocabulary.dataDump, node(`${baseIri}build/${file}`)],
    ]);
  });
  const facts: readonly (readonly [string, RDF.Quad_Object])[] = [
    [rdf.type, node(voidVocabulary.Dataset)],
    [dcterms.title, f.literal(found.name)],
    [dcterms.description, f.literal(describe(found))],
    ...agents.map((agent) => [dcterms.creator, agent] as const),
    ...(source.citation === undefined ? [] : [[dcterms.bibliographicCitation, f.literal(source.citation)] as const]),
    ...(source.source === undefined ? [] : [[prov.wasDerivedFrom, node(source.source)] as const]),
    ...licences,
    [voidVocabulary.triples, number(triples)],
    ...parts.map((part) => [voidVocabulary.subset, part] as const),
    ...distributions.map((each) => [dcat.distribution, each] as const),
  ];
  say(node(iri), dcat.Dataset, facts);
  return writeTurtle(quads, undefined, { baseIri });
}

/** Citation File Format 1.2, which needs authors: each as an entity, whose name is written as it is. */
function citation(found: Found): string {
  const { source, licence, creators } = found;
  const data = source.citation === undefined ? "" : ` Cite its data as: ${source.citation}`;
  const lines = [
    `cff-version: 1.2.0`,
    `type: dataset`,
    `message: ${yamlText(`If you use this benchmark, cite it.${data}`)}`,
    `title: ${yamlText(found.name)}`,
    `abstract: ${yamlText(describe(found))}`,
    `authors:`,
    ...creators.map((name) => `  - name: ${yamlText(name)}`),
    ...(licence !== undefined && /^https?:/iu.test(licence) ? [`license-url: ${yamlText(licence)}`] : []),
  ];
  return `${lines.join("\n")}\n`;
}
