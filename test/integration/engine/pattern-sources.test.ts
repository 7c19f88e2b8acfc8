import { createServer } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestedEngine } from "../../support/tested-engine.ts";
import { createPatternSources } from "../../../src/engine/sources/pattern-source.ts";
import { createPlanner, type PlanRequest } from "../../../src/plan/create-planner.ts";
import { createSparqlClient } from "../../../src/outbound/client.ts";
import { createDocumentClient } from "../../../src/outbound/documents.ts";
import { type CanonicalAnswer, toAnswer } from "../../support/canonical-answer.ts";
import { catalogEntry, createCatalog } from "../../support/catalog-entry.ts";
import { toBounds } from "../../support/engine-answer.ts";
import { startSparqlTestServer, type SparqlTestServer } from "../../support/sparql-test-server.ts";
import { startTpfServer, type TpfServer } from "../../support/tpf-server.ts";
import { type Listening, listening } from "../../support/listening.ts";

/** Real sockets, the real planner, engine and document client: only the configuration is missing. */
const ex = "http://ex.org/";
const line = (s: string, p: string, o: string) =>
  `<${ex}${s}> <${ex}${p}> ${o.startsWith('"') ? o : `<${ex}${o}>`} .\n`;
const names = Array.from({ length: 25 }, (_, n) => line(`p${n}`, "name", `"N${n}"`)).join("");
const towns = line("p1", "town", "graz") + line("p2", "town", "linz");
const turtle = `@prefix : <${ex}> . :graz :label "Graz" ; :in [ :label "Styria" ] . <rel> :label "relative" .`;

const allowAddresses = ["127.0.0.1"];
const now = () => performance.timeOrigin + performance.now();
const documents = createDocumentClient({ version: "1", allowAddresses });
const client = createSparqlClient({ version: "1", allowAddresses });
const openSource = createPatternSources({ documents, now });
const engine = createTestedEngine({ client, openSource, maxSolutions: 100_000, now });

let tpf: TpfServer;
let odd: TpfServer;
let trig: TpfServer;
let sparql: SparqlTestServer;
let files: Listening;
let fileRequests = 0;

beforeAll(async () => {
  tpf = await startTpfServer(names, { pageSize: 10 });
  odd = await startTpfServer(names, { pageSize: 10, next: () => "http://127.0.0.2:1/next" });
  trig = await startTpfServer(names, { pageSize: 10, format: "trig" });
  sparql = await startSparqlTestServer(towns);
  const server = createServer((request, response) => {
    fileRequests++;
    const found = request.url?.startsWith("/data.ttl") === true;
    response.writeHead(found ? 200 : 404, { "content-type": "text/turtle" }).end(found ? turtle : "");
  });
  files = await listening(server);
});

beforeEach(() => {
  tpf.setStatus(undefined);
  tpf.requests.length = 0;
});

afterAll(async () => {
  await Promise.all([documents.close(), client.close()]);
  await Promise.all([tpf.close(), odd.close(), trig.close(), sparql.close(), files.close()]);
});

function catalog() {
  const entries = [
    catalogEntry("tpf", { interface: "tpf", url: tpf.url }),
    catalogEntry("trig", { interface: "tpf", url: trig.url }),
    catalogEntry("odd", { interface: "tpf", url: odd.url }),
    catalogEntry("notpf", { interface: "tpf", url: `${files.origin}/data.ttl?plain` }),
    catalogEntry("file", { interface: "file", url: `${files.origin}/data.ttl` }),
    catalogEntry("gone", { interface: "file", url: `${files.origin}/gone.ttl` }),
    catalogEntry("sparql", { url: sparql.url }),
  ];
  const federation = { id: "all", title: "all", members: ["tpf", "file", "sparql"], memberKeywords: [] };
  return createCatalog(entries, [], { publicUrl: "http://fedway.example", federations: [federation] });
}

async function run(text: string, place: Partial<PlanRequest> = {}, bounds = toBounds()): Promise<CanonicalAnswer> {
  const planner = createPlanner({ catalog: catalog(), egress: "catalog", publicUrl: "http://fedway.example" });
  const urls = text.replaceAll(/<@(\w+)>/g, (_, id: string) => `<${catalog().byId(id)?.url}>`);
  const request = { text: `PREFIX : <${ex}> ${urls}`, strict: false, defaultGraphs: [], namedGraphs: [], ...place };
  const { plan } = planner.plan(request);
  if (plan.kind === "rejected") throw plan.reason;
  if (plan.kind === "direct") throw new Error("A direct plan");
  return toAnswer(await engine.execute(plan, { ...bounds, deadlineMs: now() + 20_000 }));
}

const shouldAnswer = (name: string, query: string, rows: readonly string[], place: Partial<PlanRequest> = {}): void => {
  it(name, async () => {
    expect(await run(query, place)).toEqual({ kind: "bindings", rows: rows.toSorted() });
  });
};

describe("a Triple Pattern Fragments endpoint", () => {
  const tpfOnly = { endpointId: "tpf" };
  shouldAnswer("gives all pages", "SELECT (COUNT(*) AS ?n) { ?s :name ?o }", ["?n=25^^integer"], tpfOnly);
  shouldAnswer("gives no metadata", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", ["?n=25^^integer"], tpfOnly);
  shouldAnswer("is read in TriG", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", ["?n=25^^integer"], { endpointId: "trig" });
  shouldAnswer("is filtered here", 'SELECT ?o { ?s :name ?o FILTER STRENDS(?o, "24") }', ['?o="N24"'], tpfOnly);
  shouldAnswer("is asked for literals", 'SELECT ?s { ?s :name "N7" }', [`?s=<${ex}p7>`], tpfOnly);
  shouldAnswer("answers a SERVICE", "SELECT ?o { SERVICE <@tpf> { :p3 :name ?o } }", ['?o="N3"']);
  shouldAnswer(
    "joins with a SPARQL endpoint",
    "SELECT ?n ?t { SERVICE <@sparql> { ?s :town ?t } SERVICE <@tpf> { ?s :name ?n } }",
    [`?n="N1" ?t=<${ex}graz>`, `?n="N2" ?t=<${ex}linz>`],
  );
  shouldAnswer(
    "stands in OPTIONAL",
    "SELECT ?s ?n { SERVICE <@sparql> { ?s ?p :graz } OPTIONAL { SERVICE <@tpf> { ?s :name ?n FILTER(?n != 'N1') } } }",
    [`?s=<${ex}p1>`],
  );

  it("stops with a LIMIT", async () => {
    await run("SELECT * { ?s :name ?o } LIMIT 3", { endpointId: "tpf" });
    expect(tpf.requests.length).toBeLessThanOrEqual(3);
    expect(tpf.requests.length).toBeGreaterThan(0);
  });

  it("that fails is an error that tells it apart", async () => {
    tpf.setStatus(503);
    const bounds = toBounds();
    await expect(run("SELECT * { ?s :name ?o }", tpfOnly, bounds)).rejects.toMatchObject({
      code: "ENDPOINT_FAILED",
      details: { where: { endpoint: "tpf" } },
    });
    expect(bounds.sources.get("tpf")).toMatchObject({ status: "failed" });
  });

  it("that fails is silenced by SILENT", async () => {
    tpf.setStatus(503);
    const bounds = toBounds();
    const query = "SELECT * { SERVICE SILENT <@tpf> { ?s :name ?o } }";
    expect(await run(query, {}, bounds)).toEqual({ kind: "bindings", rows: [""] });
    expect(bounds.sources.get("tpf")).toMatchObject({ status: "silenced" });
  });

  it("that links to another host is malformed", async () => {
    await expect(run("SELECT * { ?s :name ?o }", { endpointId: "odd" })).rejects.toMatchObject({
      code: "ENDPOINT_MALFORMED",
    });
  });

  it("that is none is malformed", async () => {
    await expect(run("SELECT * { ?s ?p ?o }", { endpointId: "notpf" })).rejects.toMatchObject({
      code: "ENDPOINT_MALFORMED",
      message: expect.stringContaining("search form") as string,
    });
  });
});

describe("an RDF file", () => {
  const fileOnly = { endpointId: "file" };
  shouldAnswer("is queried here", "SELECT ?l { :graz :in/:label ?l }", ['?l="Styria"'], fileOnly);

  it("has its URL as base", async () => {
    const rows = [`?s=<${files.origin}/rel>`];
    expect(await run("SELECT ?s { ?s :label 'relative' }", fileOnly)).toEqual({ kind: "bindings", rows });
  });

  shouldAnswer(
    "joins with others",
    "SELECT ?l { SERVICE <@sparql> { ?s :town ?t } SERVICE <@file> { ?t :label ?l } }",
    ['?l="Graz"'],
  );

  it("is fetched once", async () => {
    const before = fileRequests;
    await Promise.all([run("ASK { ?s ?p ?o }", fileOnly), run("ASK { ?s ?p ?o }", fileOnly)]);
    expect(fileRequests - before).toBe(0);
  });

  it("that is gone is an error", async () => {
    await expect(run("ASK { ?s ?p ?o }", { endpointId: "gone" })).rejects.toMatchObject({ code: "ENDPOINT_REFUSED" });
  });
});

describe("a federation of all kinds", () => {
  shouldAnswer(
    "joins over its members",
    "SELECT ?n ?l ?r { ?s :name ?n . ?s :town ?t . ?t :label ?l . OPTIONAL { ?t :in/:label ?r } }",
    ['?l="Graz" ?n="N1" ?r="Styria"'],
    { federationId: "all" },
  );

  it("gives what it has with partial, and says what failed", async () => {
    tpf.setStatus(500);
    const bounds = toBounds(true);
    const answer = await run("SELECT ?t { ?s :town|:name ?t }", { federationId: "all" }, bounds);
    expect(answer).toEqual({ kind: "bindings", rows: [`?t=<${ex}graz>`, `?t=<${ex}linz>`] });
    expect(bounds.sources.get("tpf")).toMatchObject({ status: "failed" });
    expect(bounds.sources.get("sparql")).toMatchObject({ status: "ok", rows: 2 });
  });
});
