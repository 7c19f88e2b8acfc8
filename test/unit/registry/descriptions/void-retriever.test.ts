import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../../src/errors/fedway-error.ts";
import { createVoidRetriever, type RetrievedVoid } from "../../../../src/registry/descriptions/void-retriever.ts";
import { type AskerScript, type ScriptedAsker, rowsAnswer, scriptedAsker } from "../../../support/scripted-asker.ts";

const url = "https://data.example/sparql";
const webPage = new FedwayError("ENDPOINT_NOT_SPARQL", "The document is a web page, not RDF.");
const wellKnown = "https://data.example/.well-known/void";
const prefixes = `
@prefix void: <http://rdfs.org/ns/void#> . @prefix sd: <http://www.w3.org/ns/sparql-service-description#> .
@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dcterms: <http://purl.org/dc/terms/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> . @prefix ext: <http://ldf.fi/void-ext#> . @prefix ex: <http://ex.example/> .
`;

const things = Array.from({ length: 20 }, (_, n) => `ex:t${n} a ex:Thing ; ex:name "${n}" .`).join("\n");
const data = `${prefixes} ${things} ex:p a ex:Place ; ex:near ex:t1 .`;

const partitions = `
  void:triples 42 ; void:classes "2" ;
  void:classPartition [ void:class ex:Thing ; void:entities 20 ; void:propertyPartition
    [ void:property ex:name ; void:triples 20 ; ext:datatypePartition [ ext:datatype <http://www.w3.org/2001/XMLSchema#string> ; void:triples 20 ] ] ] ,
    [ void:class ex:Place ; void:entities 1 ; void:propertyPartition
    [ void:property ex:near ; void:triples 1 ; void:classPartition [ void:class ex:Thing ] ] ] ;
  void:propertyPartition [ void:property ex:name ; void:triples 20 ; void:distinctSubjects 20 ]`;

const retrieve = async (
  script: AskerScript,
): Promise<{ readonly found: RetrievedVoid; readonly asker: ScriptedAsker }> => {
  const asker = scriptedAsker({ data: { [url]: data }, ...script });
  let now = Date.parse("2026-01-01T00:00:00Z");
  const retriever = createVoidRetriever({ asker, clock: { now: () => (now += 1) } });
  return { found: await retriever.retrieve({ endpoint: { url } }, { signal: new AbortController().signal }), asker };
};

/** A dataset at an endpoint; without one it names none. */
const dataset = (name: string, endpoint?: string): string =>
  `${name} a void:Dataset ; ${endpoint === undefined ? "" : `void:sparqlEndpoint ${endpoint} ; `}${partitions} .`;
const own = `<${url}>`;

/** The description is found at this step, with the partitions above. */
const shouldFind = async (step: RetrievedVoid["step"], script: AskerScript): Promise<RetrievedVoid> => {
  const { found } = await retrieve(script);
  expect({ step: found.step, quarantined: found.quarantined, contradicted: found.contradicted }).toEqual({
    step,
    quarantined: [],
    contradicted: [],
  });
  const { description } = found;
  expect(
    description?.classPartitions.map(({ class: iri, entities }) => [iri, entities?.value, entities?.status]),
  ).toEqual([
    ["http://ex.example/Thing", 20, "claimed"],
    ["http://ex.example/Place", 1, "claimed"],
  ]);
  expect(description?.classPartitions.map(({ properties }) => properties)).toMatchObject([
    [
      {
        property: "http://ex.example/name",
        triples: { value: 20 },
        datatypes: [{ iri: "http://www.w3.org/2001/XMLSchema#string", triples: { value: 20 } }],
      },
    ],
    [{ property: "http://ex.example/near", objectClasses: [{ iri: "http://ex.example/Thing", status: "claimed" }] }],
  ]);
  expect(description?.propertyPartitions).toMatchObject([
    { property: "http://ex.example/name", distinctSubjects: { value: 20 }, status: "claimed", objectsComplete: false },
  ]);
  expect(description).toMatchObject({
    triples: { value: 42, status: "claimed" },
    classes: { value: 2 },
    source: "retrieved",
  });
  expect([description?.classesComplete, description?.propertiesComplete]).toEqual([false, false]);
  expect(found.checks.map(({ verdict }) => verdict)).toEqual(["confirmed", "confirmed", "confirmed"]);
  return found;
};

describe("a description is found", () => {
  it.each([
    ["without naming an endpoint", dataset("<#d>")],
    ["that names the endpoint", dataset("<#d>", own)],
    ["with the other scheme and a slash", dataset("<#d>", "<http://DATA.example/sparql/>")],
    ["whose endpoint is a literal", dataset("<#d>", `"${url}"`)],
    [
      "in a service description",
      `[] a sd:Service ; sd:endpoint <${url}> ; sd:defaultDataset [ a sd:Dataset ; sd:defaultGraph [ a sd:Graph ; ${partitions} ] ] .`,
    ],
    [
      "in named graphs whose union is the default graph",
      `[] a sd:Service ; sd:feature sd:UnionDefaultGraph ; sd:defaultDataset [ sd:namedGraph [ sd:graph [ a sd:Graph ; ${partitions} ] ] ] .`,
    ],
    [
      "in a named graph of which the default graph is not said to be the union",
      `[] a sd:Service ; sd:endpoint <${url}> ; sd:defaultDataset [ sd:defaultGraph [ a sd:Graph ; void:triples 42 ; void:classes 2 ] ;
         sd:namedGraph [ sd:name ex:g ; sd:graph [ a sd:Graph ; ${partitions} ] ] ] .`,
    ],
    [
      "in its subset",
      `<#d> a void:Dataset ; void:sparqlEndpoint <${url}> ; void:subset [ a void:Dataset ; ${partitions} ] .`,
    ],
    [
      "served by a DCAT service",
      `[] a dcat:DataService ; dcat:endpointURL <${url}> ; dcat:servesDataset <#d> . <#d> ${partitions} .`,
    ],
    [
      "beside another one",
      `<#o> a void:Dataset ; void:sparqlEndpoint <https://other.example/sparql> ; void:triples 9 . <#d> a void:Dataset ; void:sparqlEndpoint <${url}> ; ${partitions} .`,
    ],
  ])("at the endpoint, %s", async (_name, turtle) => {
    await shouldFind("endpoint", { documents: { [url]: prefixes + turtle } });
  });
  it("at the well-known place, among others", async () => {
    const turtle = `<> a void:DatasetDescription . <#d> a void:Dataset ; void:sparqlEndpoint <${url}> ; ${partitions} . <#o> a void:Dataset ; void:sparqlEndpoint <https://data.example/other> ; void:triples 5 .`;
    const found = await shouldFind("well-known", { documents: { [wellKnown]: prefixes + turtle } });
    expect(found.description?.dataset).toBe(`${wellKnown}#d`);
    expect(found.description?.retrievedFrom).toBe(wellKnown);
    expect(found.records.slice(0, 2)).toMatchObject([
      { rung: 0, query: url, httpStatus: 404, outcome: "refused" },
      { rung: 0, query: wellKnown, httpStatus: 200, outcome: "ok" },
    ]);
  });
  it.each([
    ["by its endpoint", dataset("ex:d", "<http://data.example/sparql/>")],
    ["as a blank node", dataset("[]", own)],
    [
      "of its named graphs",
      `ex:d a void:Dataset ; void:sparqlEndpoint <${url}> ; void:triples 42 ; void:classes 2 ; sd:namedGraph [ sd:graph [ ${partitions} ] ] .`,
    ],
    [
      "by a DCAT service",
      `[] dcat:endpointURL <${url}> ; dcat:servesDataset ex:d . ex:d a void:Dataset ; ${partitions} .`,
    ],
    [
      "as main topic",
      `ex:doc a void:DatasetDescription ; foaf:primaryTopic ex:d . ex:d a void:Dataset ; ${partitions} .`,
    ],
  ])("in the default graph, %s", async (_name, turtle) => {
    await shouldFind("default-graph", { data: { [url]: `${data} ${turtle}` } });
  });
  it.each([
    ["by its endpoint", dataset("ex:d", own)],
    ["as a blank node", dataset("[]", own)],
  ])("in a named graph, %s", async (_name, turtle) => {
    await shouldFind("named-graph", { data: { [url]: `${data} ex:graph { ${turtle} }` } });
  });
  it("behind a link of the service description", async () => {
    const documents = {
      [url]: `${prefixes} [] a sd:Service ; sd:endpoint <${url}> ; sd:defaultDataset <https://meta.example/void#d> .`,
      "https://meta.example/void": `${prefixes} <#d> a void:Dataset ; ${partitions} .`,
    };
    await shouldFind("linked", { documents });
  });
  it("the richer one is taken: a title alone does not end the search", async () => {
    const documents = {
      [url]: `${prefixes} <#d> a void:Dataset ; dcterms:title "Data"@en .`,
      [wellKnown]: `${prefixes} <#d> a void:Dataset ; void:sparqlEndpoint <${url}> ; ${partitions} .`,
    };
    await shouldFind("well-known", { documents });
    const { found } = await retrieve({ documents: { [url]: documents[url] ?? "" } });
    expect(found).toMatchObject({ step: "endpoint", checks: [], description: { title: "Data", classPartitions: [] } });
  });
  it("in /void.ttl", () =>
    shouldFind("well-known", {
      documents: { "https://data.example/void.ttl": `${prefixes} ${dataset("ex:data", own)}` },
    }));
  it("in no document that cannot be parsed, and the reason is told", async () => {
    const asker: ScriptedAsker = scriptedAsker({ data: { [url]: data } });
    const reason = "The document is broken on line 3.";
    const broken = {
      ...asker,
      ask: asker.ask.bind(asker),
      fetchDocument: () => Promise.reject(new FedwayError("ENDPOINT_MALFORMED", reason)),
    };
    const retriever = createVoidRetriever({ asker: broken, clock: { now: () => 0 } });
    const found = await retriever.retrieve({ endpoint: { url } }, { signal: new AbortController().signal });
    expect(found.quarantined[0]).toEqual({ step: "endpoint", from: url, reason });
  });
  it.each([
    [
      "named after its page when it answers queries with one, too",
      { interfere: () => webPage, data: {} },
      [webPage.message],
    ],
    ["not told of where it answers queries", {}, []],
  ] as const)("in no web page, which is %s", async (_name, script, reasons) => {
    const { found } = await retrieve({ documents: { [url]: webPage }, ...script });
    expect(found.quarantined.map(({ reason }) => reason)).toEqual(reasons);
  });
  it("nowhere", async () => {
    const { found, asker } = await retrieve({});
    expect(found.description).toBeUndefined();
    expect(found.records.map(({ outcome }) => outcome)).toEqual(["refused", "refused", "refused", "ok", "ok"]);
    expect(found.cost).toMatchObject({ requests: 5 });
    expect(asker.log.slice(0, 3)).toEqual([url, wellKnown, "https://data.example/void.ttl"]);
  });
  it("not at an endpoint that is down, which is not asked twice", async () => {
    const { found, asker } = await retrieve({ data: {} });
    expect(found.description).toBeUndefined();
    expect(asker.log).toHaveLength(4);
    expect(found.records.at(-1)).toMatchObject({ outcome: "failed" });
  });
});

describe("a description that names another endpoint is quarantined", () => {
  it.each([
    ["another host", dataset("<#d>", "<https://evil.example/sparql>"), /another endpoint/u],
    ["localhost", dataset("<#d>", "<http://localhost:8890/sparql>"), /only its publisher/u],
    [
      "a private address beside the right one",
      dataset("<#d>", `<${url}>, <http://10.0.0.1/sparql>`),
      /only its publisher/u,
    ],
    [
      "the alien default of Virtuoso",
      `[] a sd:Service ; sd:endpoint <http://localuriqaserver/sparql> . <#d> a void:Dataset ; ${partitions} .`,
      /another endpoint/u,
    ],
    ["another path", dataset("<#d>", "<https://data.example/other>"), /another endpoint/u],
  ])("%s", async (_name, turtle, reason) => {
    const { found } = await retrieve({ documents: { [url]: prefixes + turtle } });
    expect(found.description).toBeUndefined();
    expect(found.quarantined).toEqual([{ step: "endpoint", from: url, reason: expect.stringMatching(reason) }]);
  });
  it("a mirror beside the right one is none", async () => {
    const turtle = dataset("<#d>", `<${url}>, <https://mirror.example/sparql>`);
    await shouldFind("endpoint", { documents: { [url]: prefixes + turtle } });
  });
  it("descriptions of other endpoints at the well-known place are simply not ours", async () => {
    const turtle = dataset("<#o>", "<https://data.example/other>");
    const { found } = await retrieve({ documents: { [wellKnown]: prefixes + turtle } });
    expect([found.description, found.quarantined]).toEqual([undefined, []]);
  });
});

describe("a description is held against the data", () => {
  const described = (statements: string): AskerScript => ({
    documents: { [url]: `${prefixes} <#d> a void:Dataset ; ${statements} .` },
  });
  const shouldContradict = async (script: AskerScript, reason: RegExp): Promise<void> => {
    const { found } = await retrieve(script);
    expect(found.description).toBeUndefined();
    expect(found.contradicted).toEqual([{ step: "endpoint", from: url, reason: expect.stringMatching(reason) }]);
  };
  it("a class that is not there", async () => {
    await shouldContradict(
      described("void:classPartition [ void:class ex:Unicorn ]"),
      /class <http:\/\/ex\.example\/Unicorn>/u,
    );
  });
  it("a property that is not there", async () => {
    await shouldContradict(described("void:propertyPartition [ void:property ex:horn ]"), /property/u);
  });
  it("a count that is far off", async () => {
    await shouldContradict(
      described("void:classPartition [ void:class ex:Thing ; void:entities 90 ]"),
      /90 instances.*found 20/u,
    );
    await shouldContradict(described("void:triples 999"), /999 triples, found 42/u);
  });
  it.each([
    ["class", 0.5, 1],
    ["class", 3, 1],
    ["property", 1, 0.5],
    ["property", 1, 3],
  ])("a count of a %s that is %f, %f of what it should be", async (kind, ofClass, ofProperty) => {
    const many = Array.from({ length: 150 }, (_, n) => `ex:m${n} a ex:Many ; ex:size ${n} .`).join("\n");
    const script = described(
      `void:classPartition [ void:class ex:Thing ; void:entities 20 ], [ void:class ex:Many ; void:entities ${150 * ofClass} ] ;
       void:propertyPartition [ void:property ex:name ; void:triples 20 ], [ void:property ex:size ; void:triples ${150 * ofProperty} ]`,
    );
    const reason = kind === "class" ? /instances of .*Many>, found 150/u : /triples with .*size>, found 150/u;
    await shouldContradict({ ...script, data: { [url]: `${data}\n${many}` } }, reason);
  });
  it("a count that is a little off may be old", async () => {
    const { found } = await retrieve(described("void:classPartition [ void:class ex:Thing ; void:entities 17 ]"));
    expect(found.description?.classPartitions[0]?.entities).toMatchObject({ value: 17, status: "claimed" });
  });
  it("a count that cannot be checked", async () => {
    const script = described("void:classPartition [ void:class ex:Thing ; void:entities 90 ]");
    const interfere: AskerScript["interfere"] = ({ query }) =>
      query.includes("COUNT") ? new FedwayError("ENDPOINT_TIMEOUT", "too slow", { fault: "timeout" }) : undefined;
    const { found } = await retrieve({ ...script, interfere });
    expect(found.checks.map(({ verdict }) => verdict)).toEqual(["confirmed", "unchecked"]);
    expect(found.records.at(-1)).toMatchObject({ outcome: "timeout" });
  });
  it("nothing can be checked: not trusted", async () => {
    const interfere: AskerScript["interfere"] = () => new FedwayError("ENDPOINT_TIMEOUT", "too slow");
    await shouldContradict({ ...described(partitions), interfere }, /could be checked/u);
  });
  it("an answer that says it is partial contradicts nothing", async () => {
    const interfere: AskerScript["interfere"] = ({ query }) =>
      query.includes("horn")
        ? { ...rowsAnswer([], false), partial: { how: "truncated", detail: "cut" } as const }
        : undefined;
    const script = described(
      "void:classPartition [ void:class ex:Thing ] ; void:propertyPartition [ void:property ex:horn ]",
    );
    const { found } = await retrieve({ ...script, interfere });
    expect(found.checks.map(({ verdict }) => verdict)).toEqual(["confirmed", "unchecked"]);
  });
});

describe("bounds", () => {
  it("long lists are read in pages", async () => {
    const names = Array.from({ length: 2_100 }, (_, n) => `[ void:property ex:q${n} ; void:triples 7 ]`).join(", ");
    const turtle = `ex:d a void:Dataset ; void:sparqlEndpoint <${url}> ; void:classPartition [ void:class ex:Thing ; void:propertyPartition ${names} ] .`;
    const { found } = await retrieve({ data: { [url]: `${data} ex:t1 ex:q0 1 . ${turtle}` } });
    expect(found.description?.classPartitions[0]?.properties).toHaveLength(2_100);
  });
  it("cancelling ends the cascade", async () => {
    const stop = new AbortController();
    const asker = scriptedAsker({ data: { [url]: data } });
    const retriever = createVoidRetriever({ asker, clock: { now: () => 0 } });
    stop.abort();
    await expect(retriever.retrieve({ endpoint: { url } }, { signal: stop.signal })).rejects.toMatchObject({
      code: "CANCELLED",
    });
    expect(asker.log).toHaveLength(1);
  });
  it("no more than 60 requests", async () => {
    const interfere: AskerScript["interfere"] = ({ query }) =>
      query.includes("sparqlEndpoint") && query.includes("LIMIT 20")
        ? undefined
        : rowsAnswer(Array.from({ length: 2_000 }, () => new Map()));
    const stores = Array.from({ length: 9 }, (_, n) => `ex:d${n} a void:Dataset ; void:sparqlEndpoint <${url}> .`).join(
      "\n",
    );
    const { asker, found } = await retrieve({ data: { [url]: data + stores }, interfere });
    expect(asker.log).toHaveLength(60);
    expect(found.description).toBeUndefined();
  });
});
