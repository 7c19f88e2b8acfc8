/** A question that a public endpoint can answer. */
export interface PublicQuestion {
  readonly question: string;
  /** Catalogue ids of endpoints that have the data. */
  readonly endpoints: readonly string[];
  /** Classes and properties that a right query needs, labels left out. */
  readonly terms: readonly string[];
}

const namespaces: Readonly<Record<string, string>> = {
  aopo: "http://aopkb.org/aop_ontology#",
  cdm: "http://publications.europa.eu/ontology/cdm#",
  datacite: "http://purl.org/spar/datacite/",
  dbnary: "http://kaiko.getalp.org/dbnary#",
  dbo: "http://dbpedia.org/ontology/",
  dblp: "https://dblp.org/rdf/schema#",
  era: "http://data.europa.eu/949/",
  fabio: "http://purl.org/spar/fabio/",
  genex: "http://purl.org/genex#",
  gvp: "http://vocab.getty.edu/ontology#",
  igeo: "http://rdf.insee.fr/def/geo#",
  jolux: "http://data.legilux.public.lu/resource/ontology/jolux#",
  lila: "http://lila-erc.eu/ontologies/lila/",
  meshv: "http://id.nlm.nih.gov/mesh/vocab#",
  nmo: "http://nomisma.org/ontology#",
  ocd: "http://dati.camera.it/ocd/",
  ontolex: "http://www.w3.org/ns/lemon/ontolex#",
  orth: "http://purl.org/net/orth#",
  parl: "https://id.parliament.uk/schema/",
  pro: "http://purl.org/spar/pro/",
  rh: "http://rdf.rhea-db.org/",
  schema: "http://schema.org/",
  sio: "http://semanticscience.org/resource/",
  skos: "http://www.w3.org/2004/02/skos/core#",
  up: "http://purl.uniprot.org/core/",
  wdt: "http://www.wikidata.org/prop/direct/",
};

const ask = (question: string, endpoints: string, terms: string): PublicQuestion => ({
  question,
  endpoints: endpoints.split(" "),
  terms: terms.split(" ").map((term) => {
    const [prefix = "", local = ""] = term.split(":");
    return `${namespaces[prefix] ?? ""}${local}`;
  }),
});

const dbpedia = "dbpedia dbpedia-fragments";
const wikidata = "wikidata qlever-wikidata";
const pubchem = "idsm qlever-pubchem rdf-portal-pubchem";

/** Half that rankings may be tuned on; the terms are those of queries for these endpoints that were published. */
export const publicTunedOn: readonly PublicQuestion[] = [
  ask("Which human proteins are involved in a disease?", "uniprot", "up:organism up:annotation up:Disease_Annotation"),
  ask("In which reactions does cholesterol take part?", "rhea", "rh:side rh:contains rh:compound"),
  ask("What are the capitals of European countries?", wikidata, "wdt:P36 wdt:P30"),
  ask("Who wrote the books that Penguin published?", dbpedia, "dbo:author dbo:publisher"),
  ask("Which papers did Donald Knuth write in 1974?", "dblp", "dblp:authoredBy dblp:yearOfPublication"),
  ask(
    "Which ancient coins were struck in Athens, and of what denomination?",
    "nomisma",
    "nmo:hasMint nmo:hasDenomination",
  ),
  ask("When did Swiss federal laws enter into force?", "fedlex", "jolux:dateEntryInForce"),
  ask(
    "Which lines of the railway start at an operational point in Belgium?",
    "era",
    "era:opStart era:inCountry era:opName",
  ),
  ask("What is the molecular weight of aspirin?", pubchem, "sio:SIO_000008 sio:CHEMINF_000334 sio:SIO_000300"),
  ask("What are the MeSH headings below neoplasms?", "mesh", "meshv:broaderDescriptor"),
  ask(
    "How is the English noun house translated into French?",
    "dbnary",
    "dbnary:isTranslationOf dbnary:writtenForm dbnary:targetLanguage",
  ),
  ask(
    "Which Latin verbs belong to the third conjugation?",
    "lila",
    "lila:ThirdConjugation lila:hasInflectionType lila:hasPOS",
  ),
];

/** The other half, not looked at before the rankings were done. */
export const publicUnseen: readonly PublicQuestion[] = [
  ask("In which organs is the gene APOC1 active?", "bgee", "orth:Gene genex:isExpressedIn genex:AnatomicalEntity"),
  ask("Which genes are orthologous to human insulin?", "oma", "orth:OrthologsCluster orth:hasHomologousMember"),
  ask("Which films did Hitchcock direct, and when did they come out?", wikidata, "wdt:P57 wdt:P577"),
  ask("Where were Nobel prize winners in physics educated?", wikidata, "wdt:P166 wdt:P69"),
  ask(
    "Which key events belong to an adverse outcome pathway of the liver?",
    "aop-wiki",
    "aopo:has_key_event aopo:AdverseOutcomePathway",
  ),
  ask("Which Swiss municipalities lie in the canton of Bern?", "lindas", "schema:isPartOf"),
  ask("What are broader terms of watercolour in the Art & Architecture Thesaurus?", "getty", "gvp:broaderPreferred"),
  ask("Which communes does a French canton have, with their INSEE codes?", "insee", "igeo:Commune igeo:codeINSEE"),
  ask(
    "Which deputies of the Italian Chamber belong to which parliamentary group?",
    "camera",
    "ocd:deputato ocd:aderisce ocd:rif_gruppoParlamentare",
  ),
  ask(
    "Which journal articles have a DOI, and who are their authors?",
    "opencitations-meta",
    "fabio:JournalArticle datacite:hasIdentifier datacite:usesIdentifierScheme pro:isDocumentContextFor",
  ),
  ask(
    "Who are the British members of parliament of the Labour party?",
    "uk-parliament",
    "parl:partyMemberHasPartyMembership parl:partyMembershipHasParty",
  ),
  ask(
    "What is the hydrogen bond donor count of caffeine?",
    pubchem,
    "sio:SIO_000008 sio:SIO_000300 sio:CHEMINF_000387",
  ),
  ask("Which mountains in Nepal are higher than 8000 metres?", dbpedia, "dbo:Mountain dbo:elevation dbo:locatedInArea"),
];
