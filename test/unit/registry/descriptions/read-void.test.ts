import { describe, expect, it } from "vitest";
import { chooseDataset, ownEndpoint } from "../../../../src/registry/descriptions/void-retriever.ts";
import { indexNodes } from "../../../../src/registry/descriptions/values.ts";
import { readVoid, type VoidFacts } from "../../../../src/registry/descriptions/read-void.ts";
import { dataFactory } from "../../../../src/rdf/triple-index.ts";
import { fromTurtle } from "../../../support/rdf-text.ts";

const prefixes = `
@prefix void: <http://rdfs.org/ns/void#> . @prefix dcterms: <http://purl.org/dc/terms/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix ext: <http://ldf.fi/void-ext#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix ex: <http://ex.example/> .
`;

const read = (turtle: string): VoidFacts => {
  const index = indexNodes(fromTurtle(prefixes + turtle));
  const nodes = [dataFactory.namedNode("http://ex.example/d")];
  return readVoid({ index, nodes, record: 7 });
};

describe("counts", () => {
  const shouldCount = (text: string, value: number | undefined): void =>
    expect(read(`ex:d void:triples ${text} .`).triples).toEqual(
      value === undefined ? undefined : { value, status: "claimed", record: 7 },
    );
  it.each([
    ["42", 42],
    ['"42"', 42],
    ['"+0042"', 42],
    ['"42"^^xsd:long', 42],
    ['" 42 "', 42],
    ["42, 42.5", 42],
    ["999999999999999", 999_999_999_999_999],
  ])("%s is one", (text, value) => shouldCount(text, value));
  it.each([
    ["0"],
    ["-1"],
    ["4.2"],
    ["1e3"],
    ['"many"'],
    ['"NaN"'],
    ['"1,000"'],
    ['"0x10"'],
    ["9999999999999999"],
    [`"${"9".repeat(1000)}"`],
    ["ex:many"],
    ["[]"],
    ["42, 43"],
  ])("%s is none", (text) => shouldCount(text, undefined));
});

describe("IRIs", () => {
  it("that are no IRIs name no class", () => {
    const bad = ["a b", "relative", "http://x/<y>", "http://x/{y}", "nodeID://b1", `http://x/${"y".repeat(3000)}`, ""];
    const d = dataFactory.namedNode("http://ex.example/d");
    const v = (name: string) => dataFactory.namedNode(`http://rdfs.org/ns/void#${name}`);
    const quads = [...bad, "http://ex.example/Größe", "urn:x:y"].flatMap((iri, at) => {
      const node = dataFactory.blankNode(`c${at}`);
      return [
        dataFactory.quad(d, v("classPartition"), node),
        dataFactory.quad(node, v("class"), dataFactory.namedNode(iri)),
      ];
    });
    const facts = readVoid({ index: indexNodes(quads), nodes: [d], record: 0 });
    expect(facts.classPartitions.map(({ class: iri }) => iri)).toEqual(["http://ex.example/Größe", "urn:x:y"]);
  });
  it("a partition of two classes or of a literal is none", () => {
    const facts = read(
      'ex:d void:classPartition [ void:class ex:A, ex:B ], [ void:class "ex:C" ], [ void:entities 5 ] .',
    );
    expect(facts.classPartitions).toEqual([]);
  });
});

describe("trees", () => {
  it("several nodes of one class are one partition, whose contradictions are no counts", () => {
    const facts = read(`ex:d void:classPartition
      [ void:class ex:A ; void:entities 5 ; void:triples 9 ; void:propertyPartition [ void:property ex:p ] ],
      [ void:class ex:A ; void:entities 6 ; void:triples 9 ; void:propertyPartition [ void:property ex:q ] ] .`);
    expect(facts.classPartitions).toEqual([
      {
        class: "http://ex.example/A",
        status: "claimed",
        record: 7,
        triples: { value: 9, status: "claimed", record: 7 },
        properties: ["http://ex.example/p", "http://ex.example/q"].map((property) => ({
          property,
          status: "claimed",
          record: 7,
          objectClasses: [],
          datatypes: [],
          objectsComplete: false,
        })),
        propertiesComplete: false,
      },
    ]);
  });
  it("cycles end", () => {
    const facts =
      read(`ex:d void:classPartition ex:d, ex:c ; void:class ex:D ; void:propertyPartition ex:d ; void:property ex:p ;
      void:subset ex:d . ex:c void:class ex:C ; void:classPartition ex:d ; void:propertyPartition ex:c ; void:property ex:q .`);
    expect(facts.classPartitions.map(({ class: iri }) => iri)).toEqual(["http://ex.example/C", "http://ex.example/D"]);
  });
  it("nodes that are shared by thousands do not multiply without end", () => {
    const many = Array.from({ length: 3000 }, (_, n) => n);
    const classes = many.map((n) => `ex:c${n}`).join(", ");
    const of = many.map((n) => `ex:c${n} void:class ex:C${n} ; void:propertyPartition ex:p .`).join("\n");
    const objects = many.map((n) => `[ void:class ex:C${n} ]`).join(", ");
    const facts = read(
      `ex:d void:classPartition ${classes} . ${of} ex:p void:property ex:q ; void:classPartition ${objects} .`,
    );
    const found = facts.classPartitions.flatMap(({ properties }) => properties.flatMap((one) => one.objectClasses));
    expect(found.length).toBeGreaterThan(3000);
    expect(found.length).toBeLessThan(100_000);
  });
  it("order: largest first, unknown last", () => {
    const facts = read(`ex:d void:propertyPartition [ void:property ex:a ], [ void:property ex:b ; void:triples 2 ],
      [ void:property ex:c ; void:triples 10 ] .`);
    expect(facts.propertyPartitions.map(({ property }) => property.slice(-1))).toEqual(["c", "b", "a"]);
  });
  it("entities by either name", () => {
    const facts = read("ex:d void:classPartition [ void:class ex:A ; void:distinctSubjects 3 ] .");
    expect(facts.classPartitions[0]?.entities?.value).toBe(3);
  });
});

describe("the rest", () => {
  it("texts are one line, English first, and bounded", () => {
    const long = "x".repeat(10_000);
    const facts = read(
      `ex:d dcterms:title "Daten"@de, "The\\ndata\\u0007"@en ; rdfs:comment "${long}" ; dcterms:license <http://l.example/> .`,
    );
    expect(facts).toMatchObject({ title: "The data", license: "http://l.example/" });
    expect(facts.description).toHaveLength(4000);
  });
  it("namespaces are texts, never patterns", () => {
    const facts = read(
      'ex:d void:uriSpace "http://ex.org/(", "http://a.example/", "(a+)+$" ; void:uriRegexPattern "(a+)+$" .',
    );
    expect(facts.namespaces).toEqual(["http://a.example/", "http://ex.org/("]);
  });
  it("languages", () => {
    const facts = read(
      'ex:d dcterms:language "EN", "de-AT", "not a language" ; ext:languagePartition [ ext:language "fr" ] .',
    );
    expect(facts.languages).toEqual(["de-at", "en", "fr"]);
  });
  it("a publisher cannot call its lists complete", () => {
    const facts = read("ex:d <https://w3id.org/fedway/ns#classesComplete> true ; void:triples 1 .");
    expect(facts.classesComplete).toBe(false);
  });
  it("linksets of this dataset only, without ids of our catalogue", () => {
    const facts = read(`
      ex:l a void:Linkset ; void:linkPredicate ex:p ; void:subjectsTarget ex:d ; void:objectsTarget ex:o ; void:triples 5 .
      ex:o dcterms:identifier "wikidata" .
      ex:d void:subset ex:m . ex:m void:linkPredicate ex:q ; void:subjectsTarget [ void:class ex:A ] ; void:objectsTarget [ void:class ex:B ] .
      ex:x void:linkPredicate ex:r ; void:subjectsTarget ex:other .`);
    const known = { status: "claimed", record: 7 };
    expect(facts.linksets).toEqual([
      {
        property: "http://ex.example/p",
        ...known,
        targetDataset: "http://ex.example/o",
        triples: { value: 5, ...known },
      },
      {
        property: "http://ex.example/q",
        ...known,
        subjectClass: "http://ex.example/A",
        objectClass: "http://ex.example/B",
      },
    ]);
  });
  it("dumps, vocabularies, what it is about, and classes at the ends of VoIDext links", () => {
    const known = { status: "claimed", record: 7 };
    const facts = read(`@prefix ve: <http://purl.org/query/voidext#> .
      ex:d void:entities 12 ; void:dataDump ex:b, ex:a, "no IRI" ; void:vocabulary <http://xmlns.com/foaf/0.1/> .
      ex:l void:linkPredicate ex:p ; ve:isSubsetOf ex:d ; void:target ex:d, ex:o ;
        ve:linkPredicateDomain ex:A ; ve:linkPredicateRange ex:B .`);
    expect(facts).toMatchObject({
      entities: { value: 12, ...known },
      dumps: ["http://ex.example/a", "http://ex.example/b"],
      vocabularies: ["http://xmlns.com/foaf/0.1/"],
      linksets: [
        {
          property: "http://ex.example/p",
          subjectClass: "http://ex.example/A",
          objectClass: "http://ex.example/B",
          ...known,
        },
      ],
    });
  });
  it("nothing", () => {
    expect(read("")).toEqual({
      classPartitions: [],
      classesComplete: false,
      propertyPartitions: [],
      propertiesComplete: false,
      languages: [],
      namespaces: [],
      linksets: [],
    });
  });
});

describe("the dataset of a document", () => {
  const own = ownEndpoint("http://data.example/sparql");
  const shouldChoose = (turtle: string, served: boolean, expected: string | undefined): void => {
    const { nodes } = chooseDataset(indexNodes(fromTurtle(prefixes + turtle)), { own, served });
    expect(nodes[0]?.value).toBe(expected);
  };
  it.each([
    ["the only one", "ex:a a void:Dataset ; void:triples 5 .", true, "http://ex.example/a"],
    ["the only one, elsewhere", "ex:a a void:Dataset ; void:triples 5 .", false, "http://ex.example/a"],
    ["one of two, elsewhere", "ex:a a void:Dataset . ex:b a void:Dataset .", false, undefined],
    [
      "one beside another endpoint's, elsewhere",
      "ex:a a void:Dataset . ex:b void:sparqlEndpoint ex:e .",
      false,
      undefined,
    ],
    ["not a part", "ex:a void:subset ex:b . ex:b a void:Dataset . ex:a a void:Dataset .", true, "http://ex.example/a"],
    ["a subset of itself", "ex:a a void:Dataset ; void:subset ex:a .", true, "http://ex.example/a"],
    [
      "subsets of each other",
      "ex:a a void:Dataset ; void:subset ex:b . ex:b a void:Dataset ; void:subset ex:a .",
      true,
      undefined,
    ],
    ["a linkset", "ex:a a void:Linkset ; void:triples 5 .", true, undefined],
    [
      "not what its links lead to",
      "ex:o a void:Dataset ; void:triples 5 . ex:d a void:Dataset ; void:subset ex:l . ex:l a void:Linkset ; void:target ex:o, ex:d .",
      true,
      "http://ex.example/d",
    ],
    [
      "never the other end of a linkset",
      "ex:o a void:Dataset ; void:triples 5 . ex:l void:linkPredicate ex:p ; void:subjectsTarget ex:d ; void:objectsTarget ex:o .",
      true,
      undefined,
    ],
    [
      "the main topic",
      "ex:b a void:Dataset . ex:a a void:Dataset . ex:doc <http://xmlns.com/foaf/0.1/primaryTopic> ex:a .",
      true,
      "http://ex.example/a",
    ],
  ] as const)("%s", (_name, turtle, served, expected) => shouldChoose(turtle, served, expected));
});

describe("spellings of an endpoint", () => {
  it.each([
    ["https://data.example/sparql", true],
    ["http://DATA.example:80/sparql/", true],
    ["https://data.example:443/sparql#x", true],
    ["http://data.example/SPARQL", false],
    ["http://data.example/sparql?x=1", false],
    ["http://data.example:8080/sparql", false],
    ["http://data.example.evil.example/sparql", false],
    ["http://user@data.example/sparql", false],
    ["ftp://data.example/sparql", false],
    ["", false],
  ])("%s", (url, same) => {
    expect(ownEndpoint("http://data.example/sparql").is(url)).toBe(same);
  });
});
