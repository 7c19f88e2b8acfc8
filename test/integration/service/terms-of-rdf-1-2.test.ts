import type * as RDF from "@rdfjs/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DataFactory, Parser } from "n3";
import { JsonLdParser } from "jsonld-streaming-parser";
import { type DocumentServer, startDocumentServer } from "../../support/document-server.ts";
import { problemOf, startService, type RunningService } from "../../support/running-service.ts";

/** Terms of RDF 1.2 as N-Triples writes them; the language in the case that RDF 1.1 has for all. */
const terms = {
  "a triple term": '<<( <urn:a> <urn:b> "o"@en--ltr )>>',
  "a nested triple term": '<<( <urn:a> <urn:b> <<( <urn:c> <urn:d> "o"@ar--rtl )>> )>>',
  "no direction": '"a"@en',
  "left to right": '"a"@en--ltr',
  "right to left": '"a"@en--rtl',
  "a tag of many letters": '"a"@zh-classical',
} as const;
const all: readonly string[] = Object.values(terms);
const strings = all.filter((term) => term.startsWith('"'));

const its = 'xmlns:its="http://www.w3.org/2005/11/its" its:version="2.0"';
const rdfXml = (body: string, version = 'rdf:version="1.2"'): string =>
  `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" ${its} xmlns="urn:" ${version}>
  <rdf:Description rdf:about="urn:s">${body}</rdf:Description></rdf:RDF>`;
const statement = (object: string): string =>
  `<p rdf:parseType="Triple"><rdf:Description rdf:about="urn:${object}</rdf:Description></p>`;

// [the way in, its media type, the document, the terms that it can hold]
const documents: readonly (readonly [string, string, string, readonly string[]])[] = [
  ["N-Triples", "application/n-triples", all.map((term) => `<urn:s> <urn:p> ${term} .`).join("\n"), all],
  ["Turtle", "text/turtle", `VERSION "1.2" PREFIX : <urn:> :s :p ${all.join(" , ").replace("zh-c", "ZH-c")} .`, all],
  ["TriG", "application/trig", `VERSION "1.2" PREFIX : <urn:> { :s :p ${all.join(" , ")} }`, all],
  [
    "JSON-LD",
    "application/ld+json",
    JSON.stringify({
      "@id": "urn:s",
      "urn:p": [
        { "@value": "a", "@language": "en" },
        { "@value": "a", "@language": "EN", "@direction": "ltr" },
        { "@value": "a", "@language": "en", "@direction": "rtl" },
        { "@value": "a", "@language": "zh-classical" },
      ],
    }),
    strings,
  ],
  [
    "RDF/XML",
    "application/rdf+xml",
    rdfXml(
      `${statement('a"><b xml:lang="en" its:dir="ltr">o</b>')}
      ${statement(`a"><b rdf:parseType="Triple"><rdf:Description rdf:about="urn:c"><d xml:lang="ar" its:dir="rtl">o</d></rdf:Description></b>`)}
      <p xml:lang="en">a</p><p xml:lang="en" its:dir="ltr">a</p><p xml:lang="en" its:dir="rtl">a</p>
      <p xml:lang="zh-classical">a</p>`,
    ),
    all,
  ],
];

/** [the way in, its media type, a document with two right statements around one whose object is given, how the object is written] */
const badDocuments = [
  ["ntriples", "application/n-triples", (object: string) => `<urn:s> <urn:p> ${object} .`, (iri: string) => `<${iri}>`],
  ["turtle", "text/turtle", (object: string) => `<urn:s> <urn:p> ${object} .`, (iri: string) => `<${iri}>`],
  ["trig", "application/trig", (object: string) => `{ <urn:s> <urn:p> ${object} }`, (iri: string) => `<${iri}>`],
] as const;
const badTerms = {
  iri: (iri: (text: string) => string) => iri("urn:a b"),
  datatype: (iri: (text: string) => string) => `"a"^^${iri("urn:a b")}`,
  untagged: (iri: (text: string) => string) => `"a"^^${iri("http://www.w3.org/1999/02/22-rdf-syntax-ns#langString")}`,
  escape: (iri: (text: string) => string) => iri("urn:a\\b"),
} as const;
const badFiles = new Map<string, { readonly type: string; readonly body: string }>([
  ...badDocuments.flatMap(([name, type, statementOf, iri]) =>
    Object.entries(badTerms).map(
      ([kind, written]) =>
        [
          `bad-${name}-${kind}`,
          { type, body: ["<urn:o1>", written(iri), "<urn:o2>"].map((object) => statementOf(object)).join("\n") },
        ] as const,
    ),
  ),
  ...["<p rdf:resource='urn:a b'/>", "<p rdf:datatype='urn:a b'>a</p>"].map(
    (bad, at) =>
      [
        `bad-rdfxml-${at}`,
        {
          type: "application/rdf+xml",
          body: rdfXml(`<p rdf:resource="urn:o1"/>${bad}<p rdf:resource="urn:o2"/>`),
        },
      ] as const,
  ),
]);
const oddTag: ReadonlyMap<string, { readonly type: string; readonly body: string }> = new Map([
  ["tag-turtle", { type: "text/turtle", body: '<urn:s> <urn:p> "a"@en_US .' }],
  ["tag-rdfxml", { type: "application/rdf+xml", body: rdfXml('<p xml:lang="en_US">a</p>') }],
]);
const graphs = new Map([
  ["named", { type: "application/trig", body: "<urn:g> { <urn:s> <urn:p> 1 }" }],
  ["broken", { type: "text/turtle", body: "<urn:s> <urn:p> <urn:o1> . <urn:s> <urn:p> ." }],
]);
const otherFiles = new Map([...badFiles, ...oddTag, ...graphs]);

/** Values for one another: a second file, for joins. */
const other = strings.map((term, at) => `<urn:t${at}> <urn:q> ${term} .`).join("\n");

let files: DocumentServer;
let service: RunningService;

const entry = (id: string): string => `@prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix dcterms: <http://purl.org/dc/terms/> . @prefix void: <http://rdfs.org/ns/void#> .
[] a dcat:DataService ; dcterms:identifier "${id}" ; dcterms:title "${id}" ; void:dataDump <${files.origin}/${id}> .`;

beforeAll(async () => {
  files = await startDocumentServer();
  for (const [name, type, body] of documents) files.documents.set(`/${idOf(name)}`, { type, body });
  files.documents.set("/other", { type: "application/n-triples", body: other });
  files.documents.set("/unannounced", {
    type: "application/rdf+xml",
    body: rdfXml(statement('a"><b>o</b>'), ""),
  });
  for (const [id, document] of otherFiles) files.documents.set(`/${id}`, document);
  const ids = [...documents.map(([name]) => idOf(name)), "other", "unannounced", ...otherFiles.keys()];
  service = await startService({}, {}, Object.fromEntries(ids.map((id) => [`${id}.ttl`, entry(id)])));
});

afterAll(async () => {
  await service?.close();
  await files?.close();
});

const idOf = (name: string): string => name.toLowerCase().replaceAll(/\W/gu, "");

/** The rows of a query in TSV without its head, sorted; a problem is its code. */
async function rows(query: string): Promise<readonly string[]> {
  const response = await service.query(query, { accept: "text/tab-separated-values" });
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
  return text.split("\n").slice(1, -1).toSorted();
}

const sorted = (texts: readonly string[]): readonly string[] => texts.toSorted();

describe.each(documents)("terms in a file of %s", (name, _, __, held) => {
  const pattern = `SERVICE <${idOf(name)}> { ?s <urn:p> ?o }`;
  const twice = `${pattern} SERVICE <${idOf(name)}> { ?s <urn:p> ?w }`;

  it("are held", async () => {
    expect(await rows(`SELECT ?o { ${pattern} }`)).toEqual(sorted(held));
  });

  it.each([
    ["=", "?o = ?w"],
    ["IN", "?o IN (?w)"],
    ["sameTerm", "sameTerm(?o, ?w)"],
  ])("are equal to themselves only by %s", async (__name, condition) => {
    expect(await rows(`SELECT ?o { ${twice} FILTER(${condition}) }`)).toEqual(sorted(held));
    const none = `SELECT ?o { ${twice} FILTER(!(${condition})) }`;
    expect(await rows(none)).toHaveLength(held.length * (held.length - 1));
  });

  it("are as many for DISTINCT, GROUP BY, a join and MINUS", async () => {
    expect(await rows(`SELECT DISTINCT ?o { ${twice} }`)).toEqual(sorted(held));
    const counts = await rows(`SELECT ?o (STR(COUNT(*)) AS ?n) { ${twice} } GROUP BY ?o`);
    expect(counts).toEqual(sorted(held.map((term) => `${term}\t"${held.length}"`)));
    const shared = strings.filter((term) => held.includes(term));
    expect(await rows(`SELECT ?o { ${pattern} SERVICE <other> { ?t <urn:q> ?o } }`)).toEqual(sorted(shared));
    const left = held.filter((term) => !shared.includes(term));
    expect(await rows(`SELECT ?o { ${pattern} MINUS { SERVICE <other> { ?t <urn:q> ?o } } }`)).toEqual(sorted(left));
  });

  it("have one order", async () => {
    const response = await service.query(`SELECT ?o { ${pattern} } ORDER BY ?o`, {
      accept: "text/tab-separated-values",
    });
    const ordered = (await response.text()).split("\n").slice(1, -1);
    expect(ordered.filter((term) => strings.includes(term))).toEqual(sorted(strings));
    expect(sorted(ordered)).toEqual(sorted(held));
  });

  it.each([
    ["UCASE", "UCASE(?o)", "A"],
    ["LCASE", "LCASE(?o)", "a"],
    ["CONCAT", "CONCAT(?o, ?o)", "aa"],
    ["SUBSTR", "SUBSTR(?o, 1)", "a"],
    ["REPLACE", 'REPLACE(?o, "a", "b")', "b"],
    ["STRBEFORE", 'STRBEFORE(CONCAT(?o, ?o), "a")', ""],
    ["STRAFTER", "STRAFTER(CONCAT(?o, ?o), ?o)", "a"],
    ["MAX", "?o", "a"],
  ])("keep language and direction in %s", async (__name, expression, text) => {
    const found = await rows(`SELECT (${expression} AS ?v) { ${pattern} FILTER(isLiteral(?o)) }`);
    const wanted = strings.map((term) => term.replace('"a"', `"${text}"`));
    expect(found).toEqual(sorted(wanted));
  });

  it("of other directions are no arguments for each other", async () => {
    const pairs = `SELECT ?o { ${twice} FILTER(CONTAINS(?o, ?w)) }`;
    expect(await rows(pairs)).toEqual(sorted(strings));
    const plain = await rows(
      `SELECT DISTINCT (CONCAT(?o, ?w) AS ?v) { ${twice} FILTER(isLiteral(?o) && isLiteral(?w)) }`,
    );
    expect(plain).toEqual(sorted(['"aa"', ...strings.map((term) => term.replace('"a"', '"aa"'))]));
  });
});

it("a triple term that RDF/XML 1.1 has not is refused in words, not left out", async () => {
  const response = await service.query("SELECT ?o { SERVICE <unannounced> { ?s ?p ?o } }");
  expect([response.status, await response.text()]).toEqual([502, expect.stringContaining('rdf:version=\\"1.2\\"')]);
});

interface JsonAnswer {
  readonly results: { readonly bindings: readonly { readonly o: { readonly value: string } }[] };
  readonly fedway?: unknown;
}
const jsonOf = (text: string): JsonAnswer => JSON.parse(text);

describe("a term that is none", () => {
  const ofFile = (id: string): string => `SELECT ?o { SERVICE <${id}> { ?s <urn:p> ?o } }`;

  it.each([...badFiles.keys()])("is named; the rest is kept where it is asked for: %s", async (id) => {
    const whole = await problemOf(await service.query(ofFile(id)));
    expect(whole).toMatchObject({ code: "ENDPOINT_MALFORMED", next: expect.stringContaining("partial=true") });
    expect(whole.detail).toMatch(/urn:a (?:b|\\b)|urn:a\\+b|language string has no language/u);
    const response = await service.query(ofFile(id), { parameters: { partial: "true" } });
    const answer = jsonOf(await response.text());
    expect([response.status, answer.results.bindings.map(({ o }) => o.value)]).toEqual([200, ["urn:o1", "urn:o2"]]);
    expect(answer.fedway).toMatchObject({
      status: "partial",
      partial: "subset",
      sources: [{ endpoint: id, status: "partial", reason: expect.stringContaining("a statement left out") }],
    });
    // The document is remembered; what was left out is, too.
    expect((await service.query(ofFile(id))).status).toBe(502);
  });

  it.each([...oddTag.keys()])("is not a tag, which is held as in rows: %s", async (id) => {
    const held = await service.query(ofFile(id), { accept: "application/sparql-results+json" });
    const answer = jsonOf(await held.text());
    expect(answer.results.bindings).toEqual([{ o: { type: "literal", value: "a", "xml:lang": "en_us" } }]);
    const turtle = await service.query(ofFile(id), { accept: "text/tab-separated-values" });
    expect(turtle.status).toBe(406);
  });

  it("is not a fault of the grammar, which ends the document", async () => {
    expect(await problemOf(await service.query(ofFile("broken")))).toMatchObject({ code: "ENDPOINT_MALFORMED" });
    const response = await service.query(ofFile("broken"), { parameters: { partial: "true" } });
    expect(jsonOf(await response.text()).results.bindings).toEqual([]);
  });

  it("named graphs of a document are refused in words, with what to do", async () => {
    expect(await problemOf(await service.query(ofFile("named")))).toMatchObject({
      code: "ENDPOINT_MALFORMED",
      detail: expect.stringContaining("named graph"),
      next: expect.stringContaining("publish each graph"),
    });
  });
});

describe("advice at a file", () => {
  it("names no other endpoint for SPARQL 1.2 that is not evaluated here, and takes VERSION", async () => {
    const refused = await service.query("SELECT ?r { <urn:a> <urn:b> <urn:c> ~ ?r }", {
      path: "/endpoints/turtle/sparql",
    });
    const problem = await problemOf(refused);
    expect(problem).toMatchObject({
      code: "VERSION_UNSUPPORTED",
      detail: expect.stringContaining("turtle does not speak"),
    });
    expect(problem.next).not.toContain("one endpoint");
    const version = await service.query('VERSION "1.2" SELECT * { ?s ?p "a"@en--ltr }', {
      path: "/endpoints/turtle/sparql",
    });
    expect([version.status, (await version.text()).match(/"urn:s"/gu)?.length]).toEqual([200, 1]);
  });

  it.each(["schema", "void", "grammar"])("is no POST that is refused, for its %s", async (part) => {
    const problem = await problemOf(await fetch(`${service.url}/api/endpoints/turtle/${part}`));
    expect(problem).toMatchObject({
      code: "DESCRIPTION_UNKNOWN",
      next: expect.stringContaining("/endpoints/turtle/sparql"),
    });
    expect(problem.next).not.toContain("POST");
  });
});

describe("terms go out", () => {
  const query = (only = ""): string => `SELECT ?o { SERVICE <turtle> { ?s <urn:p> ?o } ${only} }`;
  const graph = (only = ""): string =>
    `CONSTRUCT { ?s <urn:p> ?o } { SERVICE <turtle> { ?s <urn:p> ?o } ${only} } ORDER BY DESC(isLiteral(?o)) ?o`;
  const literals = "FILTER(isLiteral(?o))";

  async function written(text: string, accept: string) {
    const response = await service.query(text, { accept });
    return { status: response.status, text: await response.text() };
  }

  it("as SPARQL JSON and XML", async () => {
    const json = await written(query(), "application/sparql-results+json");
    const xml = await written(query(), "application/sparql-results+xml");
    expect(json.text.match(/"type":"triple"/gu)).toHaveLength(3);
    expect(json.text.match(/"xml:lang":"en","its:dir":"rtl"/gu)).toHaveLength(1);
    expect(xml.text.match(/<triple>/gu)).toHaveLength(3);
    expect(xml.text.match(/xml:lang="en" its:dir="rtl"/gu)).toHaveLength(1);
  });

  it.each(["text/turtle", "application/n-triples"])("as %s", async (type) => {
    const { text } = await written(graph(), type);
    const found = new Parser({ format: type })
      .parse(text.replace("zh-classical", "zh-x"))
      .map(({ object }) => ntriples(object));
    expect(sorted(found)).toEqual(sorted(all.map((term) => term.replace("zh-classical", "zh-x"))));
  });

  it("as JSON-LD with @direction; a triple term behind other triples is refused before the first byte", async () => {
    const { text } = await written(graph(literals), "application/ld+json");
    const found: string[] = [];
    const parser = new JsonLdParser({ dataFactory: DataFactory });
    parser.on("data", ({ object }) => found.push(ntriples(object)));
    const end = new Promise((resolve) => parser.on("end", resolve));
    parser.end(text);
    await end;
    expect(sorted(found)).toEqual(sorted(strings));
    expect(await written(graph(), "application/ld+json")).toMatchObject({
      status: 406,
      text: expect.stringContaining("triple term"),
    });
  });

  it("as RDF/XML only where its readers would take them for what they are", async () => {
    const undirected = await written(graph('FILTER(LANG(?o) != "en")'), "application/rdf+xml");
    expect(undirected).toMatchObject({ status: 200, text: expect.stringContaining('xml:lang="zh-classical"') });
    const directed = await written(graph(literals), "application/rdf+xml");
    expect(directed).toMatchObject({ status: 406, text: expect.stringContaining("base direction") });
    const triples = await written(graph("FILTER(!isLiteral(?o))"), "application/rdf+xml");
    expect(triples).toMatchObject({ status: 406, text: expect.stringContaining("triple term") });
  });
});

function ntriples(term: RDF.Term): string {
  if (term.termType === "Quad")
    return `<<( ${ntriples(term.subject)} ${ntriples(term.predicate)} ${ntriples(term.object)} )>>`;
  if (term.termType !== "Literal") return `<${term.value}>`;
  return `"${term.value}"@${term.language}${term.direction ? `--${term.direction}` : ""}`;
}
