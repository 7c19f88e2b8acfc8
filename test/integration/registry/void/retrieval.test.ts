import type { ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createVoidRetriever, type RetrievedVoid } from "../../../../src/registry/descriptions/void-retriever.ts";
import { createAsker } from "../../../../src/outbound/whole-answer.ts";
import { createSparqlClient, type OpenSparqlClient } from "../../../../src/outbound/client.ts";
import { createDocumentClient, type DocumentClient } from "../../../../src/outbound/documents.ts";
import { type DocumentServer, startDocumentServer } from "../../../support/document-server.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../../support/sparql-test-server.ts";

const void_ = "http://rdfs.org/ns/void#";
const type = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const things = Array.from({ length: 30 }, (_, n) => `<http://x/t${n}> <${type}> <http://x/Thing> .\n`).join("");

let sparql: SparqlTestServer;
let web: DocumentServer;
let client: OpenSparqlClient;
let documents: DocumentClient;

beforeEach(async () => {
  sparql = await startSparqlTestServer(things);
  web = await startDocumentServer();
  const options = { version: "1", allowAddresses: ["127.0.0.0/8"], retry: { limit: 0 } };
  client = createSparqlClient(options);
  documents = createDocumentClient(options);
});
afterEach(async () => {
  await Promise.all([client.close(), documents.close()]);
  await Promise.all([sparql.close(), web.close()]);
});

const retrieve = (url = sparql.url): Promise<RetrievedVoid> => {
  const clock = { now: () => Date.now() };
  const retriever = createVoidRetriever({ asker: createAsker({ client, documents }), clock });
  return retriever.retrieve({ endpoint: { url } }, { signal: new AbortController().signal });
};

/** An endpoint that answers queries like the test server and describes itself with a document of the web server. */
const describeItself = (document: string, mediaType = "text/turtle"): string => {
  web.documents.set("/sparql", (request, response) => {
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": mediaType }).end(document);
      return;
    }
    response.writeHead(307, { location: sparql.url }).end();
  });
  return `${web.origin}/sparql`;
};

const partitions = (entities: number): string =>
  `<${void_}classPartition> [ <${void_}class> <http://x/Thing> ; <${void_}entities> ${entities} ]`;

describe("over the network", () => {
  it("a description of the endpoint itself", async () => {
    const found = await retrieve(describeItself(`<#d> a <${void_}Dataset> ; ${partitions(30)} .`));
    expect(found.step).toBe("endpoint");
    expect(found.description?.classPartitions).toMatchObject([{ class: "http://x/Thing", entities: { value: 30 } }]);
    expect(found.records.map(({ outcome, httpStatus }) => [outcome, httpStatus])).toEqual([
      ["ok", 200],
      ["ok", 200],
      ["ok", 200],
    ]);
    expect(found.cost.bytes).toBeGreaterThan(100);
  });
  it("a description in the data", async () => {
    const d = "<http://x/void#d>";
    const described = `${d} <${void_}sparqlEndpoint> <${sparql.url}> .\n${d} <${void_}classPartition> _:c .\n_:c <${void_}class> <http://x/Thing> .\n_:c <${void_}entities> "30"^^<http://www.w3.org/2001/XMLSchema#integer> .\n`;
    sparql.setData(things + described);
    const found = await retrieve();
    expect([found.step, found.description?.dataset]).toEqual(["default-graph", "http://x/void#d"]);
    expect(found.description?.classPartitions).toMatchObject([{ class: "http://x/Thing", entities: { value: 30 } }]);
  });
  it("a lie is found out", async () => {
    const found = await retrieve(describeItself(`<#d> a <${void_}Dataset> ; ${partitions(3000)} .`));
    expect(found.description).toBeUndefined();
    expect(found.contradicted).toMatchObject([{ step: "endpoint", reason: expect.stringContaining("found 30") }]);
  });
  it.each([
    ["text/turtle", `<#d> a <${void_}Dataset> ;\n\n  <${void_}triples> .`, 3],
    ["application/n-triples", `<urn:a> <urn:b> <urn:c> .\n<urn:a> <urn:b> .`, 2],
    ["application/rdf+xml", `<x:a xmlns:x="urn:x:">\n\n<b>\n</x:a>`, 4],
  ])("a document of %s with a syntax error is reported with its line", async (mediaType, document, line) => {
    const found = await retrieve(describeItself(document, mediaType));
    const reason = expect.stringMatching(new RegExp(`line ${line}\\b`, "i"));
    expect(found.quarantined).toMatchObject([{ step: "endpoint", reason }]);
  });
  it("links do not lead inside: nothing internal is dialled", async () => {
    const sd = "http://www.w3.org/ns/sparql-service-description#";
    const links = ["http://10.0.0.1/void", "http://169.254.169.254/latest", "file:///etc/passwd"];
    const turtle = `[] a <${sd}Service> ; <${sd}defaultDataset> ${links.map((link) => `<${link}>`).join(", ")} .`;
    const found = await retrieve(describeItself(turtle));
    const attempts = found.records.filter(({ query }) => links.includes(query));
    expect(attempts.map(({ query, outcome }) => [query, outcome])).toEqual([
      ["http://10.0.0.1/void", "refused"],
      ["http://169.254.169.254/latest", "refused"],
    ]);
    expect(found.description).toBeUndefined();
  });
  it("an endless description is given up at two megabytes", async () => {
    let sent = 0;
    web.documents.set("/.well-known/void", (_request, response: ServerResponse) => {
      response.writeHead(200, { "content-type": "text/turtle" });
      const line = `<urn:s> <urn:p> "${"x".repeat(1000)}" .\n`.repeat(64);
      function* lines(): Iterable<string> {
        for (;;) {
          sent += line.length;
          yield line;
        }
      }
      pipeline(Readable.from(lines()), response, () => {});
    });
    const found = await retrieve(`${web.origin}/sparql`);
    expect(found.records[1]).toMatchObject({ query: `${web.origin}/.well-known/void`, outcome: "failed" });
    expect(sent).toBeLessThan(20_000_000);
  });
});
