import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { toFedwayError } from "../../../src/errors/fedway-error.ts";
import { createQueryCheck } from "../../../src/diagnosis/check/query-check.ts";
import { createPlanner } from "../../../src/plan/create-planner.ts";
import { loadCatalog } from "../../../src/registry/catalog/read-files.ts";
import { describedModels } from "../../support/described-models.ts";

const folder = fileURLToPath(new URL("../../../catalog", import.meta.url));

/** What a fresh clone plans and checks with that has never asked anybody. */
async function freshClone() {
  const published = [join(folder, "published")];
  const catalog = await loadCatalog({ dirs: [{ path: folder }], published, baseUrl: "http://localhost" });
  const { models, finder } = describedModels({
    catalog,
    entries: catalog.entries,
    published: (id) => catalog.published.facts(id),
  });
  const planner = createPlanner({ catalog, terms: finder, egress: "catalog", publicUrl: "http://localhost" });
  const check = createQueryCheck({ catalog, planner, finder, models, now: () => 0 });
  await finder.settled();
  return { planner, check, finder };
}

let clone: Awaited<ReturnType<typeof freshClone>>;
beforeAll(async () => {
  clone = await freshClone();
});

/** Why a query is refused, and what is offered. */
function refusal(text: string) {
  const request = { text, strict: false, defaultGraphs: [], namedGraphs: [] };
  try {
    const { plan } = clone.planner.plan(request);
    return plan.kind === "rejected" ? plan.reason : undefined;
  } catch (error) {
    return toFedwayError(error);
  }
}

const up = "PREFIX up: <http://purl.uniprot.org/core/> ";
const rdfs = "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> ";
const skos = "PREFIX skos: <http://www.w3.org/2004/02/skos/core#> ";
const dct = "PREFIX dcterms: <http://purl.org/dc/terms/> ";

/** Queries as their writers have them at hand: for one endpoint, without SERVICE, many without prefixes. */
const queries: readonly (readonly [string, string])[] = [
  ["wikidata", "SELECT ?city ?pop { ?city wdt:P31 wd:Q515 ; wdt:P17 wd:Q183 ; wdt:P1082 ?pop } ORDER BY DESC(?pop)"],
  [
    "wikidata",
    'SELECT ?p ?pLabel { ?p wdt:P106 wd:Q36180 ; wdt:P19/wdt:P131* wd:Q1726 . SERVICE wikibase:label { bd:serviceParam wikibase:language "en" } }',
  ],
  ["wikidata", "SELECT ?s ?when { wd:Q76 p:P39 ?s . ?s ps:P39 wd:Q11696 ; pq:P580 ?when }"],
  [
    "uniprot",
    `${up}SELECT ?p ?name { ?p a up:Protein ; up:reviewed true ; up:mnemonic ?name ; up:organism <http://purl.uniprot.org/taxonomy/9606> }`,
  ],
  ["uniprot", "SELECT ?p ?d { ?p a up:Protein ; up:annotation ?a . ?a a up:Disease_Annotation ; up:disease ?d }"],
  [
    "rhea",
    "PREFIX rh: <http://rdf.rhea-db.org/> SELECT ?r ?eq { ?r rh:equation ?eq ; rh:side/rh:contains/rh:compound ?c . ?c rh:chebi <http://purl.obolibrary.org/obo/CHEBI_15377> }",
  ],
  [
    "bgee",
    "PREFIX genex: <http://purl.org/genex#> PREFIX orth: <http://purl.org/net/orth#> SELECT ?g ?where { ?g a orth:Gene ; genex:isExpressedIn ?where }",
  ],
  [
    "oma",
    "PREFIX orth: <http://purl.org/net/orth#> SELECT ?a ?b { ?cluster a orth:OrthologsCluster ; orth:hasHomologousMember ?x , ?y . ?x orth:hasHomologousMember ?a . ?y orth:hasHomologousMember ?b }",
  ],
  ["dbpedia", "SELECT ?film ?name { ?film a dbo:Film ; dbo:director dbr:Akira_Kurosawa ; rdfs:label ?name }"],
  [
    "dbpedia",
    "PREFIX dbo: <http://dbpedia.org/ontology/> SELECT ?c ?n { ?c a dbo:City ; dbo:populationTotal ?n ; dbo:country <http://dbpedia.org/resource/Italy> }",
  ],
  [
    "wikipathways",
    `${dct}PREFIX wp: <http://vocabularies.wikipathways.org/wp#> SELECT ?w ?title { ?gene a wp:GeneProduct ; dcterms:isPartOf ?w . ?w a wp:Pathway ; dcterms:title ?title }`,
  ],
  [
    "mesh",
    `${rdfs}PREFIX meshv: <http://id.nlm.nih.gov/mesh/vocab#> SELECT ?d ?l { ?d a meshv:TopicalDescriptor ; meshv:treeNumber ?t ; rdfs:label ?l }`,
  ],
  [
    "eu-publications",
    "PREFIX cdm: <http://publications.europa.eu/ontology/cdm#> SELECT ?act ?date { ?act cdm:work_has_resource-type <http://publications.europa.eu/resource/authority/resource-type/REG> ; cdm:work_date_document ?date }",
  ],
  ["getty", `${skos}SELECT ?c ?l { ?c skos:broader <http://vocab.getty.edu/aat/300033618> ; skos:prefLabel ?l }`],
  [
    "nomisma",
    `${skos}PREFIX nmo: <http://nomisma.org/ontology#> SELECT ?type ?mint { ?type nmo:hasMint ?mint ; nmo:hasDenomination <http://nomisma.org/id/denarius> }`,
  ],
  [
    "camera",
    "PREFIX ocd: <http://dati.camera.it/ocd/> PREFIX foaf: <http://xmlns.com/foaf/0.1/> SELECT ?d ?name { ?d a ocd:deputato ; foaf:surname ?name ; ocd:rif_leg <http://dati.camera.it/ocd/legislatura.rdf/repubblica_18> }",
  ],
  [
    "insee",
    `${skos}PREFIX igeo: <http://rdf.insee.fr/def/geo#> SELECT ?commune ?name { ?commune a igeo:Commune ; igeo:nom ?name ; igeo:codeCommune "35238" }`,
  ],
  [
    "fedlex",
    "PREFIX jolux: <http://data.legilux.public.lu/resource/ontology/jolux#> SELECT ?law ?title { ?law a jolux:Act ; jolux:isRealizedBy/jolux:title ?title }",
  ],
  [
    "dblp",
    "PREFIX dblp: <https://dblp.org/rdf/schema#> SELECT ?paper ?title { ?paper dblp:authoredBy <https://dblp.org/pid/b/TimBernersLee> ; dblp:title ?title ; dblp:yearOfPublication ?year }",
  ],
  [
    "opencitations-index",
    "PREFIX cito: <http://purl.org/spar/cito/> SELECT (COUNT(*) AS ?n) { ?c cito:hasCitedEntity <https://w3id.org/oc/meta/br/06101801781> ; cito:hasCitingEntity ?from }",
  ],
  [
    "land-registry",
    "PREFIX lrppi: <http://landregistry.data.gov.uk/def/ppi/> PREFIX lrcommon: <http://landregistry.data.gov.uk/def/common/> SELECT ?paid ?town { ?t lrppi:pricePaid ?paid ; lrppi:propertyAddress/lrcommon:town ?town }",
  ],
  [
    "qlever-pubchem",
    "PREFIX sio: <http://semanticscience.org/resource/> SELECT ?v { <http://rdf.ncbi.nlm.nih.gov/pubchem/compound/CID2244> sio:SIO_000008 ?d . ?d a sio:CHEMINF_000334 ; sio:SIO_000300 ?v }",
  ],
  [
    "cellosaurus",
    "PREFIX cello: <https://purl.org/cellosaurus-rdf/ontology/> SELECT ?line ?name { ?line a cello:CellLine ; cello:recommendedName ?name ; cello:derivedFromIndividualWithDisease ?d }",
  ],
  [
    "linkedgeodata",
    `${rdfs}PREFIX lgdo: <http://linkedgeodata.org/ontology/> SELECT ?pub ?l { ?pub a lgdo:Pub ; rdfs:label ?l }`,
  ],
  [
    "stw",
    `${skos}PREFIX zbwext: <http://zbw.eu/namespaces/zbw-extensions/> SELECT ?d ?l { ?d a zbwext:Descriptor ; skos:prefLabel ?l ; skos:broader <http://zbw.eu/stw/descriptor/10014-2> }`,
  ],
  // Nothing is published of it: its host and the usual prefixes are all that is known.
  ["orkg", "SELECT ?l { ?paper a <http://orkg.org/orkg/class/Paper> ; rdfs:label ?l }"],
];

describe("a fresh clone, without a network, knows where a query belongs", () => {
  it.each(queries)("%s first: %s", (id, text) => {
    const { code, details: { endpoints = [], next = "" } = {} } = refusal(text) ?? {};
    expect([code, endpoints[0]]).toEqual(["SERVICE_REQUIRED", id]);
    expect(next).toContain(`SERVICE <${id}> { ... }`);
  });

  it("and suggests the query with its prefixes and its SERVICE", async () => {
    const query = `SELECT ?catLabel { ?cat wdt:P31 wd:Q146 . SERVICE wikibase:label { bd:serviceParam wikibase:language "en" } }`;
    const checked = await clone.check.check({ query, owner: "" }, { signal: AbortSignal.timeout(60_000) });
    expect(checked.suggested?.replaceAll(/\s+/g, " ")).toContain("SERVICE <wikidata> { ?cat wdt:P31");
    expect(checked.suggested).toContain("PREFIX wdt: <http://www.wikidata.org/prop/direct/>");
    expect(checked.suggested).toMatch(/SERVICE <wikidata>[^{]*\{[^}]*SERVICE wikibase:label/);
  });
});

/** Questions as people ask them. */
const questions: readonly (readonly [string, string])[] = [
  ["uniprot", "Which human proteins are annotated with a disease?"],
  ["rhea", "Which biochemical reactions use water as a participant?"],
  ["bgee", "In which anatomical entities is a gene expressed?"],
  ["wikipathways", "Which pathways contain a given metabolite?"],
  ["mesh", "What are the tree numbers of a MeSH descriptor?"],
  ["dblp", "Which publications were authored by a computer scientist?"],
  ["opencitations-index", "Which papers cite a given paper?"],
  ["nomisma", "Where was a Roman denarius minted?"],
  ["land-registry", "What is the average house price in Bristol?"],
  ["fedlex", "Which Swiss federal acts are in force?"],
  ["era", "Which railway lines have a given track gauge?"],
  ["doremus", "Which musical works were written for solo cello?"],
  ["cellosaurus", "Which cell lines come from a patient with melanoma?"],
  ["camera", "Which deputies of the Italian chamber spoke in a debate?"],
  ["plazi", "Which taxonomic treatments describe a species?"],
  ["glycosmos", "Which glycans bind to a lectin?"],
  ["getty", "What is the preferred term for a style of art and architecture?"],
  ["linkedgeodata", "Which pubs are near a railway station on OpenStreetMap?"],
  ["dbnary", "What are the translations of a lexical entry of Wiktionary?"],
  ["stw", "Which descriptors of the economics thesaurus are narrower than inflation?"],
];

describe("a fresh clone, without a network, knows where a question belongs", () => {
  it.each(questions)("%s: %s", async (id, question) => {
    const { endpoints } = await clone.finder.findEndpoints({ question, limit: 3 });
    expect(endpoints.map((each) => each.id)).toContain(id);
  });
});
