import { describe, expect, it } from "vitest";
import { type DescriptionForm } from "../../../../src/registry/descriptions/description-quads.ts";
import { selectFrom } from "../../../support/rdf-text.ts";
import { sampleDescription } from "../../../support/sample-description.ts";
import { descriptionQuads, type VoidDescription } from "../../../../src/registry/descriptions.ts";

type Form = Omit<DescriptionForm, "view">;
const extended: Form = { variant: "extended", url: "http://fedway.example/api/endpoints/people/void" };
const agentView = (description: VoidDescription, form: Form) => [
  ...descriptionQuads(description, { view: "agent", ...form }),
];
const view = agentView(sampleDescription, extended);

const prefixes = `
PREFIX void: <http://rdfs.org/ns/void#>
PREFIX void-ext: <http://ldf.fi/void-ext#>
PREFIX dqv: <http://www.w3.org/ns/dqv#>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX dcterms: <http://purl.org/dc/terms/>
PREFIX fedway: <https://w3id.org/fedway/ns#>
PREFIX foaf: <http://xmlns.com/foaf/0.1/>
`;

const shouldSelect = (query: string, rows: readonly (readonly unknown[])[], quads = view): void => {
  const columns = [...(query.match(/\?\w+(?=.*WHERE)/gu) ?? [])].map((name) => name.slice(1));
  const found = selectFrom(quads, prefixes + query, columns);
  expect(found).toHaveLength(rows.length);
  expect(found).toEqual(expect.arrayContaining([...rows]));
};

const foaf = "http://xmlns.com/foaf/0.1/";

describe("the agents' query", () => {
  const query = `
SELECT DISTINCT ?subjectClass ?prop ?objectClass ?objectDatatype WHERE {
  { ?cp void:class ?subjectClass ; void:propertyPartition ?pp . ?pp void:property ?prop .
    OPTIONAL { { ?pp void:classPartition [ void:class ?objectClass ] } UNION { ?pp void-ext:datatypePartition [ void-ext:datatype ?objectDatatype ] } } }
  UNION { ?linkset void:subjectsTarget [ void:class ?subjectClass ] ; void:linkPredicate ?prop ; void:objectsTarget [ void:class ?objectClass ] } }`;
  const expected = [
    [`${foaf}Person`, `${foaf}name`, undefined, "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"],
    [`${foaf}Person`, `${foaf}name`, undefined, "http://www.w3.org/2001/XMLSchema#string"],
    [`${foaf}Person`, `${foaf}knows`, `${foaf}Person`, undefined],
    [`${foaf}Person`, `${foaf}knows`, `${foaf}Agent`, undefined],
  ];
  it.each(["standard", "extended"] as const)("is answered by the %s variant", (variant) => {
    shouldSelect(query, expected, agentView(sampleDescription, { variant }));
  });
});

describe("what agents and tools look for", () => {
  it("entities and distinct subjects of a class", () => {
    shouldSelect(
      "SELECT ?class ?entities ?subjects WHERE { ?cp void:class ?class ; void:entities ?entities ; void:distinctSubjects ?subjects }",
      [[`${foaf}Person`, "10", "10"]],
    );
  });
  it("an unknown count is absent", () => {
    const dataset = `<${sampleDescription.dataset}>`;
    shouldSelect(`SELECT ?n WHERE { ${dataset} void:distinctObjects ?n }`, []);
    shouldSelect(`SELECT ?n WHERE { ${dataset} void:triples ?n }`, [["100"]]);
  });
  it("whose the data is, and how it wants to be cited", () => {
    shouldSelect(
      `SELECT ?licence ?citation ?source WHERE {
        <${sampleDescription.dataset}> <http://purl.org/dc/terms/license> ?licence ;
          <http://purl.org/dc/terms/bibliographicCitation> ?citation ; <http://purl.org/dc/terms/source> ?source }`.replaceAll(
        "\n",
        " ",
      ),
      [
        [
          "http://creativecommons.org/licenses/by/4.0/",
          'A. Author: "Who knows whom", 2026.',
          "https://archive.example/people",
        ],
      ],
    );
  });
  it("object classes under both names", () => {
    const classes = [[`${foaf}Person`], [`${foaf}Agent`]];
    const of = (link: string): string =>
      `SELECT DISTINCT ?class WHERE { ?pp void:property foaf:knows ; ${link} [ void:class ?class ] }`;
    shouldSelect(of("void:classPartition"), classes);
    shouldSelect(of("void-ext:objectClassPartition"), classes);
  });
  it("how a count is known, by which query", () => {
    shouldSelect(
      `SELECT ?status ?query ?http ?ms ?outcome WHERE {
        <${sampleDescription.dataset}> void:propertyPartition ?pp . ?pp void:property foaf:knows .
        ?note a dqv:QualityMeasurement ; dqv:computedOn ?pp ; rdf:predicate void:triples ; dqv:value ?status ; prov:wasGeneratedBy ?request .
        ?request a prov:Activity ; fedway:query ?query ; fedway:httpStatus ?http ; fedway:durationMs ?ms ; fedway:outcome ?outcome }`.replaceAll(
        "\n",
        " ",
      ),
      [["exact", "SELECT 2", "200", "3", "partial"]],
    );
  });
  it("every count and every partition has a status", () => {
    const counts = "void:triples void:entities void:distinctSubjects void:distinctObjects void:classes void:properties";
    const keys = "void:class void:property void-ext:datatype void:linkPredicate";
    const statement = `VALUES ?p { ${counts} ${keys} } ?node ?p ?value FILTER(!STRENDS(STR(?node), "jects"))`;
    const noted = "?note rdf:predicate ?p ; dqv:computedOn ?node ; dqv:value ?status";
    shouldSelect(`SELECT ?node ?p WHERE { ${statement} FILTER NOT EXISTS { ${noted} } }`, []);
    const all = selectFrom(view, `${prefixes} SELECT ?node ?p WHERE { ${statement} ${noted} }`, ["node"]);
    expect(all.length).toBeGreaterThan(30);
  });
  it("what could not be found out, and why", () => {
    shouldSelect("SELECT ?what ?why WHERE { ?d fedway:unknown [ fedway:what ?what ; fedway:why ?why ] }", [
      ["distinct objects", "timeout"],
      ["namespaces", "budget"],
    ]);
  });
});

describe("variants", () => {
  const links = "SELECT ?target WHERE { ?l void:objectsTarget [ dcterms:identifier ?target ] }";
  it("links to other endpoints only in the extended one", () => {
    shouldSelect(links, [["wikidata"]]);
    shouldSelect(links, [], agentView(sampleDescription, { variant: "standard" }));
  });
  it("namespaces, which planners would take for patterns, only in the extended one", () => {
    const spaces = "SELECT ?space WHERE { ?d void:uriSpace ?space }";
    shouldSelect(spaces, [["http://data.example/person("], ["http://data.example/thing/"]]);
    shouldSelect(spaces, [], agentView(sampleDescription, { variant: "standard" }));
  });
});

const inNamedGraphs: VoidDescription = {
  ...sampleDescription,
  namedGraphs: {
    list: [
      {
        graph: "http://data.example/g1",
        status: "exact",
        record: 0,
        triples: { value: 70, status: "exact", record: 0 },
      },
      { graph: "http://data.example/g2", status: "exists", record: 1 },
    ],
    complete: true,
  },
};

describe("named graphs", () => {
  it("stand beside an empty default graph, each with its name and size", () => {
    const quads = agentView(inNamedGraphs, extended);
    const sd = "PREFIX sd: <http://www.w3.org/ns/sparql-service-description#>";
    shouldSelect(
      `${sd} SELECT ?name ?n WHERE { ?d void:triples 100 ; sd:namedGraph ?g . ?g sd:name ?name OPTIONAL { ?g sd:graph/void:triples ?n } }`,
      [
        ["http://data.example/g1", "70"],
        ["http://data.example/g2", undefined],
      ],
      quads,
    );
    shouldSelect(`${sd} SELECT ?n WHERE { ?d sd:defaultGraph [ void:triples ?n ] }`, [["0"]], quads);
    shouldSelect(`${sd} SELECT ?n WHERE { ?d sd:defaultGraph [ void:triples ?n ] }`, []);
  });
});

describe("linksets", () => {
  it("name the dataset that their objects are in", () => {
    const [inner, outer] = sampleDescription.linksets;
    if (inner === undefined || outer === undefined) throw new Error("the sample has two linksets");
    const wikidata = "http://www.wikidata.org/#dataset";
    const linksets = [inner, { ...outer, targetDataset: wikidata }];
    const description = { ...sampleDescription, linksets };
    const quads = agentView(description, extended);
    shouldSelect(
      "SELECT ?to ?id WHERE { ?l void:objectsTarget ?to . ?to dcterms:identifier ?id }",
      [[wikidata, "wikidata"]],
      quads,
    );
  });
});

/** The texts and numbers of a description; positions of its records are named otherwise in a view. */
function* valuesIn(part: unknown): Generator<string> {
  if (typeof part === "string" || typeof part === "number") yield String(part);
  if (typeof part !== "object" || part === null) return;
  for (const [name, inner] of Object.entries(part)) if (name !== "record") yield* valuesIn(inner);
}

describe("nothing of a description is left out", () => {
  it.each([
    ["everything", sampleDescription, 60],
    ["named graphs", inNamedGraphs, 60],
  ] as const)("%s", (_name, description, least) => {
    const values = new Set(valuesIn(description));
    const quads = agentView(description, extended);
    const said = new Set(quads.flatMap(({ subject, object }) => [subject.value, object.value]));
    expect(values.size).toBeGreaterThan(least);
    expect([...values].filter((value) => !said.has(value))).toEqual([]);
  });
});
