import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { problemOf, type RunningService, startService } from "../../support/running-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";
import { type Listening, listening } from "../../support/listening.ts";

// Descriptions that other federation engines follow, crash on or choke on. A query must not even ask for them.
const descriptions: Readonly<Record<string, string>> = {
  alien: `@prefix sd: <http://www.w3.org/ns/sparql-service-description#> . [] a sd:Service ; sd:endpoint <ALIEN> .`,
  crashing: `@prefix void: <http://rdfs.org/ns/void#> . [] a void:Dataset ; void:uriSpace "http://ex.org/(" .`,
  redos: `@prefix void: <http://rdfs.org/ns/void#> . [] a void:Dataset ; void:uriRegexPattern "^(([a-z])+.)+[A-Z]([a-z])+$" .`,
  huge: `# ${"x".repeat(15 * 1024 * 1024)}`,
};

const triple = "<http://ex.org/s> <http://ex.org/p> <http://ex.org/o> .";
let real: SparqlTestServer;
let internal: SparqlTestServer;
let front: Listening;
let service: RunningService;
let described = 0;
let url = "";

/** A SPARQL endpoint that gives a bad description to whoever asks without a query, and right answers otherwise. */
function lying(): Server {
  return createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    const text = descriptions[pathname.slice(1)] ?? "";
    if (request.method === "GET" && !searchParams.has("query")) {
      described++;
      response.writeHead(200, { "content-type": "text/turtle" });
      response.end(text.replace("ALIEN", internal.url));
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    const answerQuery = async (): Promise<void> => {
      const answer = await fetch(real.url, {
        method: "POST",
        headers: { "content-type": request.headers["content-type"] ?? "", accept: request.headers.accept ?? "*/*" },
        body: Buffer.concat(chunks),
      });
      response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
      response.end(Buffer.from(await answer.arrayBuffer()));
    };
    request.on("end", () => void answerQuery());
  });
}

beforeAll(async () => {
  real = await startSparqlTestServer(triple);
  internal = await startSparqlTestServer("<http://ex.org/secret> <http://ex.org/p> <http://ex.org/o> .");
  front = await listening(lying());
  url = front.origin;
  const endpoints = Object.fromEntries(Object.keys(descriptions).map((name) => [name, `${url}/${name}`]));
  service = await startService({ ...endpoints, real: real.url });
});
afterAll(async () => {
  await service.close();
  await front.close();
  await real.close();
  await internal.close();
});

describe("descriptions of hostile endpoints", () => {
  it.each(Object.keys(descriptions))("%s: never asked for, the federated answer is right", async (name) => {
    const response = await service.query(
      `SELECT * { SERVICE <${real.url}> { ?s ?p ?o } SERVICE <${url}/${name}> { ?s ?q ?r } }`,
    );
    const { results } = (await response.json()) as { results: { bindings: Record<string, { value: string }>[] } };
    expect(results.bindings.map(({ s }) => s?.value)).toEqual(["http://ex.org/s"]);
    expect(described).toBe(0);
    expect(internal.requests).toHaveLength(0);
  });
});

// Every way to write an address of this machine or of a private network.
const hosts = [
  "127.0.0.1",
  "127.1",
  "0.0.0.0",
  "2130706433",
  "0x7f000001",
  "0177.0.0.1",
  "0x7f.1",
  "[::1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[64:ff9b::7f00:1]",
  "[2002:7f00:1::]",
  "10.0.0.1",
  "172.16.0.1",
  "192.168.0.1",
  "169.254.169.254",
  "100.64.0.1",
  "[fd00::1]",
  "[fe80::1]",
  "localhost",
  "LOCALHOST",
];

describe("SERVICE to private addresses, where any public endpoint may be named", () => {
  let open: RunningService;
  beforeAll(async () => {
    open = await startService(
      { real: "http://192.0.2.1/sparql" },
      { FEDWAY_EGRESS: "public", FEDWAY_ALLOW_ADDRESSES: "" },
    );
  });
  afterAll(() => open.close());

  const places: readonly (readonly [string, (target: string) => string])[] = [
    ["alone", (t) => `SELECT * { SERVICE <${t}> { ?s ?p ?o } }`],
    ["beside another", (t) => `SELECT * { SERVICE <${t}> { ?s ?p ?o } SERVICE <${t}#2> { ?s ?q ?r } }`],
    ["OPTIONAL", (t) => `SELECT * { VALUES ?s { 1 } OPTIONAL { SERVICE <${t}> { ?s ?p ?o } } }`],
    ["NOT EXISTS", (t) => `SELECT * { VALUES ?s { 1 } FILTER NOT EXISTS { SERVICE <${t}> { ?s ?p ?o } } }`],
    ["subquery", (t) => `SELECT * { { SELECT * { SERVICE <${t}> { ?s ?p ?o } } } }`],
    ["VALUES", (t) => `SELECT * { VALUES ?g { <${t}> } SERVICE ?g { ?s ?p ?o } }`],
    ["nested", (t) => `SELECT * { SERVICE <${t}> { ?s ?p ?o SERVICE <${t}#2> { ?s ?q ?r } } }`],
  ];

  it.each(hosts)("%s is refused in every place", async (host) => {
    const target = `http://${host}:${new URL(internal.url).port}/sparql`;
    for (const [place, query] of places) {
      const problem = await problemOf(await open.query(query(target)));
      expect(["ADDRESS_REFUSED", "SERVICE_TARGET_REFUSED", "SERVICE_NESTED"], `${host}, ${place}`).toContain(
        problem.code,
      );
      expect(JSON.stringify(problem)).not.toContain("secret");
    }
    expect(internal.requests).toHaveLength(0);
  });

  it("SILENT does not make it reachable", async () => {
    const response = await open.query(`SELECT * { SERVICE SILENT <${internal.url}> { ?s ?p ?o } }`);
    expect(await response.text()).not.toContain("secret");
    expect(internal.requests).toHaveLength(0);
  });

  it.each(["file:///etc/passwd", "ftp://ex.org/x", "data:text/turtle,", "http://user:secret@ex.org/sparql"])(
    "%s is no target",
    async (target) => {
      const problem = await problemOf(await open.query(`SELECT * { SERVICE <${target}> { ?s ?p ?o } }`));
      expect(problem.code).toBe("SERVICE_TARGET_REFUSED");
    },
  );
});
