import { describe, expect, it } from "vitest";
import { parseTurtle } from "../../../../src/rdf/turtle.ts";
import { readItem } from "../../../../src/registry/catalog/parse-entry.ts";
import { EntryProblem } from "../../../../src/registry/catalog/statements.ts";

const prefixes = `@prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix dcterms: <http://purl.org/dc/terms/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix fedway: <https://w3id.org/fedway/ns#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix void: <http://rdfs.org/ns/void#> .
`;
const required = {
  id: 'dcterms:identifier "alpha"',
  title: 'dcterms:title "Alpha"',
  url: "dcat:endpointURL <https://alpha.example/sparql>",
};

const read = (turtle: string) =>
  readItem(
    parseTurtle(prefixes + turtle, { baseIri: "http://fedway.example/base/", maxBytes: 100_000, maxQuads: 1_000 }),
  ).value;
/** A complete description with some statements replaced ("" leaves one out). */
const but = (change: Partial<typeof required>, ...more: readonly string[]): string => {
  const statements = [...Object.values({ ...required, ...change }), ...more].filter((statement) => statement !== "");
  return `[] a dcat:DataService ; ${statements.join(" ; ")} .`;
};
const plus = (...more: readonly string[]): string => but({}, ...more);
const url = (value: string): string => but({ url: `dcat:endpointURL ${value}` });
const id = (value: string): string => but({ id: `dcterms:identifier ${value}` });
const title = (value: string): string => but({ title: `dcterms:title ${value}` });

const graphs = (count: number, length: number): string =>
  Array.from({ length: count }, (_, at) => `<urn:${"g".repeat(length)}:${at}>`).join(", ");

const shouldRead = (turtle: string, expected: object): void => expect(read(turtle)).toMatchObject(expected);
const shouldRefuse = (turtle: string, reason: RegExp, about?: string): void => {
  try {
    read(turtle);
  } catch (problem) {
    if (!(problem instanceof EntryProblem)) throw problem;
    expect(problem.message).toMatch(reason);
    if (about !== undefined) expect(problem.about).toBe(about);
    return;
  }
  throw new Error("the description was accepted");
};

describe("a description that is accepted", () => {
  it.each<[string, string, object]>([
    ["may be about <>", plus().replace("[]", "<>"), { id: "alpha" }],
    ["may be about a fragment", plus().replace("[]", "<#it>"), { id: "alpha" }],
    ["may have statements about other things", `${plus()} <x> dcterms:title "X" .`, { title: "Alpha" }],
    ["resolves a relative URL", url("<hosted/a/sparql>"), { url: "http://fedway.example/base/hosted/a/sparql" }],
    ["resolves a URL path", url("</sparql>"), { url: "http://fedway.example/sparql" }],
    [
      "keeps the URL as written",
      url("<HTTP://Alpha.example:80/a%2fb?x=y>"),
      { url: "HTTP://Alpha.example:80/a%2fb?x=y" },
    ],
    [
      "has the default graphs that its URL has",
      url("<https://alpha.example/sparql?a=b&default-graph-uri=urn:g>"),
      { url: "https://alpha.example/sparql?a=b&default-graph-uri=urn:g", defaultGraphs: ["urn:g"] },
    ],
    [
      "adds default graphs to its URL",
      `${url("<https://alpha.example/sparql?a=b&default-graph-uri=urn:g>").replace(/ [.]$/u, "")} ; fedway:defaultGraph <urn:h>, <urn:g> .`,
      {
        url: "https://alpha.example/sparql?a=b&default-graph-uri=urn%3Ag&default-graph-uri=urn%3Ah",
        defaultGraphs: ["urn:g", "urn:h"],
      },
    ],
    ["has a description", plus('dcterms:description " One sentence. "'), { description: "One sentence." }],
    ["prefers English", title('"Alfa"@es , "Alpha"@en'), { title: "Alpha" }],
    ["takes another language", title('"Alfa"@es'), { title: "Alfa" }],
    ["has a homepage", plus("foaf:homepage <https://a.example/>"), { homepage: "https://a.example/" }],
    ["has a landing page", plus("dcat:landingPage <https://l.example/>"), { homepage: "https://l.example/" }],
    ["has a licence", plus("dcterms:license <https://l.example/cc0>"), { license: "https://l.example/cc0" }],
    ["has keywords", plus('dcat:keyword "a", "b"@en'), { keywords: ["a", "b"] }],
    [
      "has pseudo-services",
      plus("fedway:pseudoService <urn:x:label>, <urn:x:api>"),
      { pseudoServices: ["urn:x:label", "urn:x:api"] },
    ],
    ["takes raw queries", plus("fedway:rawQueries true"), { rawQueries: true }],
    ["takes no raw queries", plus("fedway:rawQueries false"), { rawQueries: false }],
    ["mirrors another", plus('fedway:mirrorOf "people"'), { mirrorOf: "people" }],
    ["is never kept", plus("fedway:neverKept true"), { neverKept: true }],
    ["is asked by GET", plus('fedway:requestMethod "get"'), { method: "get" }],
    ["names its engine", plus('fedway:engine "rdf4j"'), { engine: "rdf4j" }],
    ["has notes", plus('skos:note "Slow.", " Blocks SERVICE. "@en'), { notes: ["Slow.", "Blocks SERVICE."] }],
    ["has a row cap", plus("fedway:rowCap 10000"), { rowCap: 10_000 }],
    ["blocks SERVICE", plus("fedway:blocksService true"), { blocksService: true }],
    ["needs a User-Agent", plus("fedway:needsUserAgent true"), { needsUserAgent: true }],
    [
      "says that it is SPARQL",
      plus("dcterms:conformsTo <https://www.w3.org/TR/sparql11-protocol/>"),
      { interface: "sparql" },
    ],
    [
      "is a Triple Pattern Fragments server",
      but(
        {},
        "dcterms:conformsTo <https://linkeddatafragments.org/specification/triple-pattern-fragments/>, <urn:x:other>",
      ),
      { interface: "tpf" },
    ],
    ["conforms to something else as well", plus("dcterms:conformsTo <urn:x:other>"), { interface: "sparql" }],
    [
      "is a file",
      but({ url: "void:dataDump <https://a.example/d.ttl>" }),
      {
        interface: "file",
        url: "https://a.example/d.ttl",
      },
    ],
    [
      "has dumps beside the endpoint",
      plus("void:dataDump <https://a.example/1.ttl>, <https://a.example/2.ttl>"),
      {
        interface: "sparql",
        url: "https://alpha.example/sparql",
      },
    ],
    ["has an identifier of 64 characters", id(`"${"a".repeat(64)}"`), { id: "a".repeat(64) }],
  ])("%s", (_name, ...row) => shouldRead(...row));
  it("has three required statements", () => {
    expect(read(plus())).toEqual({
      id: "alpha",
      title: "Alpha",
      url: "https://alpha.example/sparql",
      interface: "sparql",
      keywords: [],
      notes: [],
      blocksService: false,
      needsUserAgent: false,
      pseudoServices: [],
      rawQueries: false,
    });
  });
  it("is frozen", () => {
    const entry = read(plus('dcat:keyword "a"', 'skos:note "b"'));
    const lists = Object.values(entry).filter((value) => typeof value === "object");
    expect(lists).toHaveLength(3);
    expect([entry, ...lists].every(Object.isFrozen)).toBe(true);
  });
});

describe("a description that is refused", () => {
  it.each<[string, string, RegExp, string?]>([
    ["is empty", "", /no dcat:DataService/],
    ["is about a dataset", plus().replace("DataService", "Dataset"), /no dcat:DataService/],
    ["is about two services", `${plus()} ${plus()}`, /2 services/],
    ["has no identifier", but({ id: "" }), /identifier is missing/],
    ["has two identifiers", plus('dcterms:identifier "b"'), /identifier is given more than once/, "b"],
    ["has an IRI as identifier", id("<alpha>"), /identifier is not a literal/],
    ["has an empty identifier", id('""'), /identifier "" is not a lower-case name/],
    ["has capitals in its identifier", id('"Alpha"'), /"Alpha" is not a lower-case name/, "Alpha"],
    ["has a space in its identifier", id('"al pha"'), /not a lower-case name/],
    ["has a slash in its identifier", id('"../alpha"'), /not a lower-case name/],
    ["has a dash in front", id('"-alpha"'), /not a lower-case name/],
    ["has a line end in its identifier", id('"alpha\\n"'), /not a lower-case name/],
    ["has an identifier of 65 characters", id(`"${"a".repeat(65)}"`), /not a lower-case name/],
    ["has no title", but({ title: "" }), /title is missing/],
    ["has an empty title", title('"  "'), /title is empty/],
    ["has two titles", plus('dcterms:title "Beta"'), /title is given more than once/],
    ["has an IRI as title", title("<x>"), /title is not a literal/],
    ["has a book as description", plus(`dcterms:description "${"x".repeat(2_001)}"`), /longer than 2000/],
    ["has no URL", but({ url: "" }), /endpointURL is missing/],
    [
      "has two URLs",
      plus("dcat:endpointURL <https://b.example/>"),
      /endpointURL is given more than once/,
      "https://b.example/",
    ],
    ["has a literal as URL", url('"https://a.example/"'), /endpointURL is not an IRI/],
    ["has an ftp URL", url("<ftp://a.example/>"), /not an http or https URL/],
    ["has a file URL", url("<file:///etc/passwd>"), /not an http or https URL/],
    ["has a URL without authority", url("<http:a>"), /not a valid URL/],
    ["has a URL with a bad port", url("<http://a.example:99999/>"), /not a valid URL/],
    ["has a fragment in its URL", url("<http://a.example/#x>"), /has a fragment/],
    [
      "has a password in its URL",
      url("<https://u:secret@a.example/>"),
      /^dcat:endpointURL has a user name or password in it\.$/,
    ],
    ["has a user in its URL", url("<https://u@a.example/>"), /user name or password/],
    ["has a script as homepage", plus("foaf:homepage <javascript:alert(1)>"), /foaf:homepage is not an http/],
    ["has a text as licence", plus('dcterms:license "CC0"'), /dcterms:license is not an http/, "CC0"],
    ["has a text as pseudo-service", plus('fedway:pseudoService "label"'), /pseudoService is not an IRI/],
    ["has a text as default graph", plus('fedway:defaultGraph "urn:g"'), /defaultGraph is not an IRI/],
    ["has 21 default graphs", plus(`fedway:defaultGraph ${graphs(21, 1)}`), /more than 20 graphs/, "defaultGraph"],
    ["has long default graphs", plus(`fedway:defaultGraph ${graphs(3, 2_000)}`), /longer than 4096 bytes/],
    [
      "has a default graph of a file",
      but({ url: "void:dataDump <https://a.example/a.ttl>" }, "fedway:defaultGraph <urn:g>"),
      /defaultGraph needs a SPARQL endpoint/,
    ],
    ["has a text as flag", plus('fedway:rawQueries "true"'), /rawQueries is not one of true and false/],
    ["has a flag that is yes and no", plus("fedway:rawQueries true, false"), /rawQueries is not one of/],
    ["mirrors an IRI", plus("fedway:mirrorOf <urn:x:people>"), /mirrorOf/],
    ["mirrors two", plus('fedway:mirrorOf "a", "b"'), /mirrorOf "a" is not one identifier/],
    ["has an unknown method", plus('fedway:requestMethod "put"'), /not one of "post-form", "post-direct", "get"/],
    ["has an unknown engine", plus('fedway:engine "Virtuoso"'), /fedway:engine is not one of "virtuoso", /, "engine"],
    ["has a row cap of 0", plus("fedway:rowCap 0"), /rowCap is not one whole number/],
    ["has a negative row cap", plus("fedway:rowCap -5"), /rowCap is not one whole number/],
    ["has a text as row cap", plus('fedway:rowCap "5"'), /rowCap is not one whole number/],
    ["has two row caps", plus("fedway:rowCap 1, 2"), /rowCap is not one whole number/],
    ["has an IRI as note", plus("skos:note <n>"), /skos:note is not a literal/],
    ["has an empty keyword", plus('dcat:keyword " "'), /dcat:keyword is empty/],
    [
      "has two interfaces",
      but(
        {},
        "dcterms:conformsTo <http://www.w3.org/TR/sparql11-protocol>, <https://linkeddatafragments.org/specification/triple-pattern-fragments/>",
      ),
      /two interfaces/,
    ],
    [
      "promises SPARQL and gives a file",
      but({
        url: "void:dataDump <https://a.example/d.ttl> ; dcterms:conformsTo <https://www.w3.org/TR/sparql11-protocol/>",
      }),
      /endpointURL is missing/,
    ],
    [
      "has two files",
      but({ url: "void:dataDump <https://a.example/1.ttl>, <https://a.example/2.ttl>" }),
      /void:dataDump is given more than once/,
    ],
    [
      "has a password in its file's URL",
      but({ url: "void:dataDump <https://u:secret@a.example/d.ttl>" }),
      /^void:dataDump has a user name or password in it\.$/,
    ],
    ["has a password in an ftp URL", url("<ftp://u:secret@a.example/>"), /^(?!.*secret).*password/],
    ["has a password behind a bad scheme", url("<x:u:secret@a.example>"), /^(?!.*secret).*not an http/],
    ["has members", plus('fedway:member "b"'), /fedway:member is not a term .* belongs here/, "member"],
    ["has a triple term", `${plus()} <a> <b> <<( <a> <b> <c> )>> .`, /triple term \(RDF 1\.2\)/],
    ["has a text with a direction", plus('skos:note "x"@ar--rtl'), /base direction \(RDF 1\.2\)/],
    ["misspells a term", plus("fedway:rawQuery true"), /fedway:rawQuery is not a term/, "rawQuery"],
  ])("%s", (_name, ...row) => shouldRefuse(...row));
});

const federation = (...statements: readonly string[]): string =>
  `[] a fedway:Federation ; ${[required.id, required.title, ...statements].join(" ; ")} .`;

describe("a federation that is accepted", () => {
  it.each<[string, string, object]>([
    ["has keywords", federation('fedway:memberKeyword "Life Sciences"'), { memberKeywords: ["Life Sciences"] }],
    ["has a query", federation('fedway:memberQuery "proteins"'), { memberQuery: "proteins" }],
  ])("%s", (_name, ...row) => shouldRead(...row));
  it("names its members", () => {
    const found = read(federation('fedway:member "a", "b"', 'dcterms:description "All."'));
    expect(found).toEqual({
      id: "alpha",
      title: "Alpha",
      description: "All.",
      members: ["a", "b"],
      memberKeywords: [],
    });
  });
});

describe("a federation that is refused", () => {
  it.each<[string, string, RegExp, string?]>([
    ["has no members", federation(), /None of fedway:member/],
    ["has a bad member", federation('fedway:member "A b"'), /fedway:member "A b" is not an identifier/, "A b"],
    ["has an IRI as member", federation("fedway:member <a>"), /fedway:member is not a literal/],
    ["has two queries", federation('fedway:memberQuery "a", "b"'), /memberQuery is given more than once/],
    ["has an engine", federation('fedway:member "a" ; fedway:engine "other"'), /fedway:engine is not a term/],
    ["stands beside a service", `${federation('fedway:member "a"')} ${plus()}`, /describes 2 services or federations/],
  ])("%s", (_name, ...row) => shouldRefuse(...row));
});
