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
/** The entry of a complete description with some statements replaced ("" leaves one out) or added. */
const withStatements = (change: Partial<typeof required>, ...more: readonly string[]): string => {
  const statements = [...Object.values({ ...required, ...change }), ...more].filter((statement) => statement !== "");
  return `[] a dcat:DataService ; ${statements.join(" ; ")} .`;
};

const shouldRead = (turtle: string, expected: object) => () => expect(read(turtle)).toMatchObject(expected);
const shouldRefuse = (turtle: string, reason: RegExp, about?: string) => () => {
  let problem: unknown;
  try {
    read(turtle);
  } catch (thrown) {
    problem = thrown;
  }
  if (!(problem instanceof EntryProblem)) throw new Error("the description was accepted");
  expect(problem.message).toMatch(reason);
  if (about !== undefined) expect(problem.about).toBe(about);
};

describe("a description that is accepted", () => {
  it("has three required statements", () => {
    expect(read(withStatements({}))).toEqual({
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
  it("may be about <>", shouldRead(withStatements({}).replace("[]", "<>"), { id: "alpha" }));
  it("may be about a fragment", shouldRead(withStatements({}).replace("[]", "<#it>"), { id: "alpha" }));
  it(
    "may have statements about other things",
    shouldRead(`${withStatements({})} <x> dcterms:title "X" .`, { title: "Alpha" }),
  );
  it(
    "resolves a relative URL",
    shouldRead(withStatements({ url: "dcat:endpointURL <hosted/a/sparql>" }), {
      url: "http://fedway.example/base/hosted/a/sparql",
    }),
  );
  it(
    "resolves a URL path",
    shouldRead(withStatements({ url: "dcat:endpointURL </sparql>" }), { url: "http://fedway.example/sparql" }),
  );
  it(
    "keeps the URL as written",
    shouldRead(withStatements({ url: "dcat:endpointURL <HTTP://Alpha.example:80/a%2fb?x=y>" }), {
      url: "HTTP://Alpha.example:80/a%2fb?x=y",
    }),
  );
  it(
    "has a description",
    shouldRead(withStatements({}, 'dcterms:description " One sentence. "'), { description: "One sentence." }),
  );
  it(
    "prefers English",
    shouldRead(withStatements({ title: 'dcterms:title "Alfa"@es , "Alpha"@en' }), { title: "Alpha" }),
  );
  it("takes another language", shouldRead(withStatements({ title: 'dcterms:title "Alfa"@es' }), { title: "Alfa" }));
  it(
    "has a homepage",
    shouldRead(withStatements({}, "foaf:homepage <https://a.example/>"), { homepage: "https://a.example/" }),
  );
  it(
    "has a landing page",
    shouldRead(withStatements({}, "dcat:landingPage <https://l.example/>"), { homepage: "https://l.example/" }),
  );
  it(
    "has a licence",
    shouldRead(withStatements({}, "dcterms:license <https://l.example/cc0>"), { license: "https://l.example/cc0" }),
  );
  it("has keywords", shouldRead(withStatements({}, 'dcat:keyword "a", "b"@en'), { keywords: ["a", "b"] }));
  it(
    "has pseudo-services",
    shouldRead(withStatements({}, "fedway:pseudoService <urn:x:label>, <urn:x:api>"), {
      pseudoServices: ["urn:x:label", "urn:x:api"],
    }),
  );
  it("takes raw queries", shouldRead(withStatements({}, "fedway:rawQueries true"), { rawQueries: true }));
  it("takes no raw queries", shouldRead(withStatements({}, "fedway:rawQueries false"), { rawQueries: false }));
  it("is asked by GET", shouldRead(withStatements({}, 'fedway:requestMethod "get"'), { method: "get" }));
  it("names its engine", shouldRead(withStatements({}, 'fedway:engine "rdf4j"'), { engine: "rdf4j" }));
  it(
    "has notes",
    shouldRead(withStatements({}, 'skos:note "Slow.", " Blocks SERVICE. "@en'), {
      notes: ["Slow.", "Blocks SERVICE."],
    }),
  );
  it("has a row cap", shouldRead(withStatements({}, "fedway:rowCap 10000"), { rowCap: 10_000 }));
  it("blocks SERVICE", shouldRead(withStatements({}, "fedway:blocksService true"), { blocksService: true }));
  it("needs a User-Agent", shouldRead(withStatements({}, "fedway:needsUserAgent true"), { needsUserAgent: true }));
  it(
    "says that it is SPARQL",
    shouldRead(withStatements({}, "dcterms:conformsTo <https://www.w3.org/TR/sparql11-protocol/>"), {
      interface: "sparql",
    }),
  );
  it(
    "is a Triple Pattern Fragments server",
    shouldRead(
      withStatements(
        {},
        "dcterms:conformsTo <https://linkeddatafragments.org/specification/triple-pattern-fragments/>, <urn:x:other>",
      ),
      { interface: "tpf" },
    ),
  );
  it(
    "conforms to something else as well",
    shouldRead(withStatements({}, "dcterms:conformsTo <urn:x:other>"), { interface: "sparql" }),
  );
  it(
    "is a file",
    shouldRead(withStatements({ url: "void:dataDump <https://a.example/d.ttl>" }), {
      interface: "file",
      url: "https://a.example/d.ttl",
    }),
  );
  it(
    "has dumps beside the endpoint",
    shouldRead(withStatements({}, "void:dataDump <https://a.example/1.ttl>, <https://a.example/2.ttl>"), {
      interface: "sparql",
      url: "https://alpha.example/sparql",
    }),
  );
  it(
    "has an identifier of 64 characters",
    shouldRead(withStatements({ id: `dcterms:identifier "${"a".repeat(64)}"` }), { id: "a".repeat(64) }),
  );
  it("is frozen", () => {
    const entry = read(withStatements({}, 'dcat:keyword "a"', 'skos:note "b"'));
    const lists = Object.values(entry).filter((value) => typeof value === "object");
    expect(lists).toHaveLength(3);
    expect([entry, ...lists].every(Object.isFrozen)).toBe(true);
  });
});

describe("a description that is refused", () => {
  it("is empty", shouldRefuse("", /no dcat:DataService/));
  it("is about a dataset", shouldRefuse(withStatements({}).replace("DataService", "Dataset"), /no dcat:DataService/));
  it("is about two services", shouldRefuse(`${withStatements({})} ${withStatements({})}`, /2 services/));
  it("has no identifier", shouldRefuse(withStatements({ id: "" }), /identifier is missing/));
  it(
    "has two identifiers",
    shouldRefuse(withStatements({}, 'dcterms:identifier "b"'), /identifier is given more than once/, "b"),
  );
  it(
    "has an IRI as identifier",
    shouldRefuse(withStatements({ id: "dcterms:identifier <alpha>" }), /identifier is not a literal/),
  );
  it(
    "has an empty identifier",
    shouldRefuse(withStatements({ id: 'dcterms:identifier ""' }), /identifier "" is not a lower-case name/),
  );
  it(
    "has capitals in its identifier",
    shouldRefuse(withStatements({ id: 'dcterms:identifier "Alpha"' }), /"Alpha" is not a lower-case name/, "Alpha"),
  );
  it(
    "has a space in its identifier",
    shouldRefuse(withStatements({ id: 'dcterms:identifier "al pha"' }), /not a lower-case name/),
  );
  it(
    "has a slash in its identifier",
    shouldRefuse(withStatements({ id: 'dcterms:identifier "../alpha"' }), /not a lower-case name/),
  );
  it(
    "has a dash in front",
    shouldRefuse(withStatements({ id: 'dcterms:identifier "-alpha"' }), /not a lower-case name/),
  );
  it(
    "has a line end in its identifier",
    shouldRefuse(withStatements({ id: 'dcterms:identifier "alpha\\n"' }), /not a lower-case name/),
  );
  it(
    "has an identifier of 65 characters",
    shouldRefuse(withStatements({ id: `dcterms:identifier "${"a".repeat(65)}"` }), /not a lower-case name/),
  );
  it("has no title", shouldRefuse(withStatements({ title: "" }), /title is missing/));
  it("has an empty title", shouldRefuse(withStatements({ title: 'dcterms:title "  "' }), /title is empty/));
  it("has two titles", shouldRefuse(withStatements({}, 'dcterms:title "Beta"'), /title is given more than once/));
  it("has an IRI as title", shouldRefuse(withStatements({ title: "dcterms:title <x>" }), /title is not a literal/));
  it(
    "has a book as description",
    shouldRefuse(withStatements({}, `dcterms:description "${"x".repeat(2_001)}"`), /longer than 2000/),
  );
  it("has no URL", shouldRefuse(withStatements({ url: "" }), /endpointURL is missing/));
  it(
    "has two URLs",
    shouldRefuse(
      withStatements({}, "dcat:endpointURL <https://b.example/>"),
      /endpointURL is given more than once/,
      "https://b.example/",
    ),
  );
  it(
    "has a literal as URL",
    shouldRefuse(withStatements({ url: 'dcat:endpointURL "https://a.example/"' }), /endpointURL is not an IRI/),
  );
  it(
    "has an ftp URL",
    shouldRefuse(withStatements({ url: "dcat:endpointURL <ftp://a.example/>" }), /not an http or https URL/),
  );
  it(
    "has a file URL",
    shouldRefuse(withStatements({ url: "dcat:endpointURL <file:///etc/passwd>" }), /not an http or https URL/),
  );
  it(
    "has a URL without authority",
    shouldRefuse(withStatements({ url: "dcat:endpointURL <http:a>" }), /not a valid URL/),
  );
  it(
    "has a URL with a bad port",
    shouldRefuse(withStatements({ url: "dcat:endpointURL <http://a.example:99999/>" }), /not a valid URL/),
  );
  it(
    "has a fragment in its URL",
    shouldRefuse(withStatements({ url: "dcat:endpointURL <http://a.example/#x>" }), /has a fragment/),
  );
  it(
    "has a password in its URL",
    shouldRefuse(
      withStatements({ url: "dcat:endpointURL <https://u:secret@a.example/>" }),
      /^dcat:endpointURL has a user name or password in it\.$/,
    ),
  );
  it(
    "has a user in its URL",
    shouldRefuse(withStatements({ url: "dcat:endpointURL <https://u@a.example/>" }), /user name or password/),
  );
  it(
    "has a script as homepage",
    shouldRefuse(withStatements({}, "foaf:homepage <javascript:alert(1)>"), /foaf:homepage is not an http/),
  );
  it(
    "has a text as licence",
    shouldRefuse(withStatements({}, 'dcterms:license "CC0"'), /dcterms:license is not an http/, "CC0"),
  );
  it(
    "has a text as pseudo-service",
    shouldRefuse(withStatements({}, 'fedway:pseudoService "label"'), /pseudoService is not an IRI/),
  );
  it(
    "has a text as flag",
    shouldRefuse(withStatements({}, 'fedway:rawQueries "true"'), /rawQueries is not one of true and false/),
  );
  it(
    "has a flag that is yes and no",
    shouldRefuse(withStatements({}, "fedway:rawQueries true, false"), /rawQueries is not one of/),
  );
  it(
    "has an unknown method",
    shouldRefuse(withStatements({}, 'fedway:requestMethod "put"'), /not one of "post-form", "post-direct", "get"/),
  );
  it(
    "has an unknown engine",
    shouldRefuse(withStatements({}, 'fedway:engine "Virtuoso"'), /fedway:engine is not one of "virtuoso", /, "engine"),
  );
  it("has a row cap of 0", shouldRefuse(withStatements({}, "fedway:rowCap 0"), /rowCap is not one whole number/));
  it("has a negative row cap", shouldRefuse(withStatements({}, "fedway:rowCap -5"), /rowCap is not one whole number/));
  it("has a text as row cap", shouldRefuse(withStatements({}, 'fedway:rowCap "5"'), /rowCap is not one whole number/));
  it("has two row caps", shouldRefuse(withStatements({}, "fedway:rowCap 1, 2"), /rowCap is not one whole number/));
  it("has an IRI as note", shouldRefuse(withStatements({}, "skos:note <n>"), /skos:note is not a literal/));
  it("has an empty keyword", shouldRefuse(withStatements({}, 'dcat:keyword " "'), /dcat:keyword is empty/));
  it(
    "has two interfaces",
    shouldRefuse(
      withStatements(
        {},
        "dcterms:conformsTo <http://www.w3.org/TR/sparql11-protocol>, <https://linkeddatafragments.org/specification/triple-pattern-fragments/>",
      ),
      /two interfaces/,
    ),
  );
  it(
    "promises SPARQL and gives a file",
    shouldRefuse(
      withStatements({
        url: "void:dataDump <https://a.example/d.ttl> ; dcterms:conformsTo <https://www.w3.org/TR/sparql11-protocol/>",
      }),
      /endpointURL is missing/,
    ),
  );
  it(
    "has two files",
    shouldRefuse(
      withStatements({ url: "void:dataDump <https://a.example/1.ttl>, <https://a.example/2.ttl>" }),
      /void:dataDump is given more than once/,
    ),
  );
  it(
    "has a password in its file's URL",
    shouldRefuse(
      withStatements({ url: "void:dataDump <https://u:secret@a.example/d.ttl>" }),
      /^void:dataDump has a user name or password in it\.$/,
    ),
  );
  it(
    "has a password in an ftp URL",
    shouldRefuse(withStatements({ url: "dcat:endpointURL <ftp://u:secret@a.example/>" }), /^(?!.*secret).*password/),
  );
  it(
    "has a password behind a bad scheme",
    shouldRefuse(withStatements({ url: "dcat:endpointURL <x:u:secret@a.example>" }), /^(?!.*secret).*not an http/),
  );
  it(
    "has members",
    shouldRefuse(withStatements({}, 'fedway:member "b"'), /fedway:member is not a term .* belongs here/, "member"),
  );
  it(
    "has a triple term",
    shouldRefuse(`${withStatements({})} <a> <b> <<( <a> <b> <c> )>> .`, /triple term \(RDF 1\.2\)/),
  );
  it(
    "has a text with a direction",
    shouldRefuse(withStatements({}, 'skos:note "x"@ar--rtl'), /base direction \(RDF 1\.2\)/),
  );
  it(
    "misspells a term",
    shouldRefuse(withStatements({}, "fedway:rawQuery true"), /fedway:rawQuery is not a term/, "rawQuery"),
  );
});

const federation = (...statements: readonly string[]): string =>
  `[] a fedway:Federation ; ${[required.id, required.title, ...statements].join(" ; ")} .`;

describe("a federation that is accepted", () => {
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
  it(
    "has keywords",
    shouldRead(federation('fedway:memberKeyword "Life Sciences"'), { memberKeywords: ["Life Sciences"] }),
  );
  it("has a query", shouldRead(federation('fedway:memberQuery "proteins"'), { memberQuery: "proteins" }));
});

describe("a federation that is refused", () => {
  it("has no members", shouldRefuse(federation(), /None of fedway:member/));
  it(
    "has a bad member",
    shouldRefuse(federation('fedway:member "A b"'), /fedway:member "A b" is not an identifier/, "A b"),
  );
  it("has an IRI as member", shouldRefuse(federation("fedway:member <a>"), /fedway:member is not a literal/));
  it("has two queries", shouldRefuse(federation('fedway:memberQuery "a", "b"'), /memberQuery is given more than once/));
  it(
    "has an engine",
    shouldRefuse(federation('fedway:member "a" ; fedway:engine "other"'), /fedway:engine is not a term/),
  );
  it(
    "stands beside a service",
    shouldRefuse(`${federation('fedway:member "a"')} ${withStatements({})}`, /describes 2 services or federations/),
  );
});
