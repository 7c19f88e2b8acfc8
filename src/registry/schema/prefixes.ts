import { iriParts, bracketedIri } from "./text.ts";
import type { PropertyPartition, VoidDescription } from "../void/void-description.ts";

/** How an IRI is written, and the prefix that must be declared for it, if any. */
interface ShortName {
  readonly text: string;
  readonly prefixes: readonly string[];
}

const maxNamespaces = 200;
const maxNamespaceLength = 300;
/** A part of PN_LOCAL (SPARQL 1.1, section 19.8) that every parser reads alike. */
const plainLocal = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,118}[A-Za-z0-9_-])?$/;
const curie = /^([A-Za-z][\w-]{0,30}):(.{1,500})$/;
/** Path segments that say nothing about whose vocabulary it is. */
const generic = new Set(
  "class concept core current def elements entity example id latest model ns onto ontology ontologies owl prop property rdf release resource schema schemas term terms v vocab vocabulary www".split(
    " ",
  ),
);

/**
 * Prefixes for the namespaces of these IRIs: the well-known ones, and derived ones where a namespace occurs at least
 * twice (the 200 most used). Depends on the set of IRIs and how often each occurs, not on their order.
 */
export function createPrefixTable(iris: Iterable<string>) {
  const byNamespace = new Map(wellKnownPrefixes);
  const byPrefix = new Map([...wellKnownPrefixes].map(([namespace, prefix]) => [prefix, namespace]));
  for (const namespace of namespacesToName(iris)) {
    const prefix = freePrefix(derivedPrefix(namespace), byPrefix);
    byNamespace.set(namespace, prefix);
    byPrefix.set(prefix, namespace);
  }
  return Object.freeze({
    /** `prefix:local` where that is legal in SPARQL without escapes, else `<iri>`. */
    short: (iri: string): ShortName => {
      const { namespace, local } = iriParts(iri);
      const prefix = byNamespace.get(namespace);
      if (prefix === undefined || !plainLocal.test(local)) return { text: bracketedIri(iri), prefixes: [] };
      return { text: `${prefix}:${local}`, prefixes: [prefix] };
    },
    /** Namespace of a prefix of this table. */
    namespace: (prefix: string) => byPrefix.get(prefix),
    /** The IRI that `prefix:local` stands for; undefined for an unknown prefix. */
    expand: (name: string) => {
      const [, prefix = "", local = ""] = curie.exec(name) ?? [];
      const namespace = byPrefix.get(prefix);
      return namespace === undefined ? undefined : namespace + local;
    },
  });
}

/** Short names for the IRIs of one description; two namespaces never share a prefix. */
export type PrefixTable = ReturnType<typeof createPrefixTable>;

function namespacesToName(iris: Iterable<string>): readonly string[] {
  const uses = new Map<string, number>();
  for (const iri of iris) {
    const { namespace, local } = iriParts(iri);
    if (!isNameable(namespace) || !plainLocal.test(local)) continue;
    uses.set(namespace, (uses.get(namespace) ?? 0) + 1);
  }
  return [...uses]
    .filter(([, count]) => count > 1)
    .toSorted(([left, few], [right, many]) => many - few || (left < right ? -1 : 1))
    .slice(0, maxNamespaces)
    .map(([namespace]) => namespace);
}

/** A namespace that needs no escapes in its declaration and has no prefix yet. */
function isNameable(namespace: string): boolean {
  if (wellKnownPrefixes.has(namespace) || namespace.length > maxNamespaceLength) return false;
  return /^[a-z][a-z0-9+.-]*:./i.test(namespace) && bracketedIri(namespace).length === namespace.length + 2;
}

/** The last telling segment of the path, else of the host (without its top-level domain), else of a URN. */
function derivedPrefix(namespace: string): string {
  const url = URL.parse(namespace);
  const host = url?.hostname.split(".").slice(0, -1) ?? [];
  const path = url === null ? "" : `${url.pathname}${url.search}${url.hash}`;
  const segments = [...host, ...path.split(/[/#:?&=;,.]+/)].map(letters);
  const telling = segments.filter((segment) => segment.length > 1 && !generic.has(segment));
  return telling.at(-1)?.slice(0, 12) ?? "ns";
}

/** Lower-case letters and digits of a segment, from its first letter on; empty for versions and dates. */
function letters(segment: string): string {
  const name = segment
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "")
    .replace(/^\d+/, "");
  return /^v?\d*$/.test(name) ? "" : name;
}

function freePrefix(wanted: string, taken: ReadonlyMap<string, string>): string {
  if (!taken.has(wanted)) return wanted;
  let number = 2;
  while (taken.has(`${wanted}${number}`)) number++;
  return `${wanted}${number}`;
}

/** Prefixes that people and programs expect, by namespace (prefix.cc usage; those of the large public endpoints). */
export const wellKnownPrefixes: ReadonlyMap<string, string> = new Map([
  ["http://www.w3.org/1999/02/22-rdf-syntax-ns#", "rdf"],
  ["http://www.w3.org/2000/01/rdf-schema#", "rdfs"],
  ["http://www.w3.org/2002/07/owl#", "owl"],
  ["http://www.w3.org/2001/XMLSchema#", "xsd"],
  ["http://www.w3.org/2004/02/skos/core#", "skos"],
  ["http://www.w3.org/2008/05/skos-xl#", "skosxl"],
  ["http://www.w3.org/ns/shacl#", "sh"],
  ["http://www.w3.org/ns/prov#", "prov"],
  ["http://www.w3.org/ns/dcat#", "dcat"],
  ["http://www.w3.org/ns/dqv#", "dqv"],
  ["http://www.w3.org/ns/org#", "org"],
  ["http://www.w3.org/ns/sosa/", "sosa"],
  ["http://www.w3.org/ns/ssn/", "ssn"],
  ["http://www.w3.org/ns/oa#", "oa"],
  ["http://www.w3.org/ns/ldp#", "ldp"],
  ["http://www.w3.org/ns/locn#", "locn"],
  ["http://www.w3.org/ns/adms#", "adms"],
  ["http://www.w3.org/ns/sparql-service-description#", "sd"],
  ["http://www.w3.org/ns/lemon/ontolex#", "ontolex"],
  ["http://www.w3.org/2006/time#", "time"],
  ["http://www.w3.org/2006/vcard/ns#", "vcard"],
  ["http://www.w3.org/2003/01/geo/wgs84_pos#", "wgs84"],
  ["http://www.w3.org/2003/11/swrl#", "swrl"],
  ["http://www.w3.org/XML/1998/namespace", "xml"],
  ["http://www.opengis.net/ont/geosparql#", "geo"],
  ["http://www.opengis.net/ont/sf#", "sf"],
  ["http://www.geonames.org/ontology#", "gn"],
  ["http://purl.org/dc/terms/", "dcterms"],
  ["http://purl.org/dc/elements/1.1/", "dc"],
  ["http://purl.org/dc/dcmitype/", "dctype"],
  ["http://purl.org/linked-data/cube#", "qb"],
  ["http://purl.org/linked-data/sdmx/2009/dimension#", "sdmxdim"],
  ["http://purl.org/linked-data/sdmx/2009/measure#", "sdmxmeas"],
  ["http://purl.org/ontology/bibo/", "bibo"],
  ["http://purl.org/ontology/mo/", "mo"],
  ["http://purl.org/spar/fabio/", "fabio"],
  ["http://purl.org/spar/cito/", "cito"],
  ["http://purl.org/vocab/frbr/core#", "frbr"],
  ["http://purl.org/vocab/vann/", "vann"],
  ["http://purl.org/goodrelations/v1#", "gr"],
  ["http://purl.org/pav/", "pav"],
  ["http://purl.org/obo/owl/", "oboowl"],
  ["http://purl.obolibrary.org/obo/", "obo"],
  ["http://www.geneontology.org/formats/oboInOwl#", "oboInOwl"],
  ["http://semanticscience.org/resource/", "sio"],
  ["http://edamontology.org/", "edam"],
  ["http://xmlns.com/foaf/0.1/", "foaf"],
  ["http://rdfs.org/ns/void#", "void"],
  ["http://ldf.fi/void-ext#", "void-ext"],
  ["http://rdfs.org/sioc/ns#", "sioc"],
  ["http://schema.org/", "schema"],
  ["https://schema.org/", "schemas"],
  ["http://usefulinc.com/ns/doap#", "doap"],
  ["http://creativecommons.org/ns#", "cc"],
  ["http://purl.org/rss/1.0/", "rss"],
  ["http://ogp.me/ns#", "og"],
  ["http://www.cidoc-crm.org/cidoc-crm/", "crm"],
  ["http://erlangen-crm.org/current/", "ecrm"],
  ["http://www.europeana.eu/schemas/edm/", "edm"],
  ["http://rdaregistry.info/Elements/u/", "rdau"],
  ["http://id.loc.gov/ontologies/bibframe/", "bf"],
  ["http://d-nb.info/standards/elementset/gnd#", "gndo"],
  ["http://dbpedia.org/ontology/", "dbo"],
  ["http://dbpedia.org/property/", "dbp"],
  ["http://dbpedia.org/resource/", "dbr"],
  ["http://dbpedia.org/class/yago/", "yago"],
  ["http://yago-knowledge.org/resource/", "yagor"],
  ["http://wikiba.se/ontology#", "wikibase"],
  ["http://www.wikidata.org/entity/", "wd"],
  ["http://www.wikidata.org/entity/statement/", "wds"],
  ["http://www.wikidata.org/prop/direct/", "wdt"],
  ["http://www.wikidata.org/prop/direct-normalized/", "wdtn"],
  ["http://www.wikidata.org/prop/", "p"],
  ["http://www.wikidata.org/prop/statement/", "ps"],
  ["http://www.wikidata.org/prop/statement/value/", "psv"],
  ["http://www.wikidata.org/prop/qualifier/", "pq"],
  ["http://www.wikidata.org/prop/qualifier/value/", "pqv"],
  ["http://www.wikidata.org/prop/reference/", "pr"],
  ["http://www.wikidata.org/prop/novalue/", "wdno"],
  ["http://linkedgeodata.org/ontology/", "lgdo"],
  ["http://purl.uniprot.org/core/", "up"],
  ["http://purl.uniprot.org/taxonomy/", "taxon"],
  ["http://purl.uniprot.org/uniprot/", "uniprotkb"],
  ["http://rdf.rhea-db.org/", "rh"],
  ["http://rdf.ebi.ac.uk/terms/chembl#", "cco"],
  ["http://rdf.ebi.ac.uk/terms/ensembl/", "ensemblterms"],
  ["http://purl.org/net/orth#", "orth"],
  ["http://purl.org/genex#", "genex"],
  ["https://swisslipids.org/rdf/", "SLM"],
  ["http://www.biopax.org/release/biopax-level3.owl#", "bp"],
  ["http://nextprot.org/rdf#", "nextprot"],
  ["http://rdf.wwpdb.org/schema/pdbx-v50.owl#", "pdbo"],
  ["http://rdf.ncbi.nlm.nih.gov/pubchem/vocabulary#", "pubchem"],
  ["http://id.nlm.nih.gov/mesh/vocab#", "meshv"],
  ["http://data.europa.eu/eli/ontology#", "eli"],
  ["http://publications.europa.eu/ontology/cdm#", "cdm"],
  ["http://www.openlinksw.com/schemas/virtrdf#", "virtrdf"],
  ["https://w3id.org/fedway/ns#", "fedway"],
]);

const most = 50_000;

/** Every class, property and datatype of a description, as often as it occurs, as far as the first 50,000. */
export function* descriptionIris(description: VoidDescription): Generator<string> {
  let given = 0;
  for (const iri of all(description)) {
    yield iri;
    if (++given === most) return;
  }
}

function* all({ classPartitions, propertyPartitions, linksets }: VoidDescription): Generator<string> {
  for (const partition of classPartitions) {
    yield partition.class;
    yield* ofProperties(partition.properties);
  }
  yield* ofProperties(propertyPartitions);
  for (const { property } of linksets) yield property;
}

function* ofProperties(properties: readonly PropertyPartition[]): Generator<string> {
  for (const { property, objectClasses, datatypes } of properties) {
    yield property;
    for (const { iri } of objectClasses) yield iri;
    for (const { iri } of datatypes) yield iri;
  }
}
