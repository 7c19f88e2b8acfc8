import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { problemOf, type RunningService, startService } from "../../support/running-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";
import { startTpfServer, type TpfServer } from "../../support/tpf-server.ts";
import { until } from "../../support/eventually.ts";
import { newFolder } from "../../support/scratch-folder.ts";

const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
const people = Array.from(
  { length: 30 },
  (_, n) =>
    `<http://p/${n}> ${type} <http://v/Person> .\n<http://p/${n}> <http://v/name> "Name ${n}" .\n` +
    `<http://p/${n}> <http://v/livesIn> <http://c/${n % 5}> .`,
).join("\n");
const cities = Array.from(
  { length: 5 },
  (_, n) => `<http://c/${n}> ${type} <http://v/City> .\n<http://c/${n}> <http://v/label> "City ${n}" .`,
).join("\n");

let servers: SparqlTestServer[];
let tpf: TpfServer;
let folder: string;
let service: RunningService;

const start = (): Promise<RunningService> =>
  startService(
    { people: servers[0]?.url ?? "", cities: servers[1]?.url ?? "" },
    { FEDWAY_DATA_DIR: join(folder, "data") },
  );

beforeAll(async () => {
  servers = [await startSparqlTestServer(people), await startSparqlTestServer(cities)];
  tpf = await startTpfServer(cities);
  folder = newFolder();
  service = await start();
});

afterAll(async () => {
  await service?.close();
  await tpf?.close();
  for (const server of servers ?? []) await server.close();
});

const get = (path: string, accept = "application/json"): Promise<Response> =>
  fetch(`${service.url}${path}`, { headers: { accept } });

const json = async (path: string): Promise<Record<string, unknown>> =>
  (await (await get(path)).json()) as Record<string, unknown>;

/** Asks for a job and waits until it is over. */
async function shouldBeDone(path: string): Promise<Record<string, unknown>> {
  const asked = await fetch(`${service.url}${path}`, { method: "POST" });
  expect(asked.status).toBe(202);
  const location = asked.headers.get("location") ?? "";
  const ended = await until(async () => {
    const job = await json(location);
    return /done|failed/.test(String(job["state"])) && job;
  });
  expect(ended).toMatchObject({ state: "done" });
  return ended["result"] as Record<string, unknown>;
}

const rowsOf = async (response: Response): Promise<readonly Record<string, { value: string }>[]> =>
  ((await response.json()) as { results: { bindings: Record<string, { value: string }>[] } }).results.bindings;

describe("descriptions", () => {
  it("are unknown before they are made, and say how to get them", async () => {
    const problem = await problemOf(await get("/api/endpoints/people/void"));
    expect(problem).toMatchObject({ status: 404, code: "DESCRIPTION_UNKNOWN" });
    expect(problem.next).toContain("POST /api/endpoints/people/describe");
  });

  it("are computed by a job and served as VoID, schema and sentence", async () => {
    expect(await shouldBeDone("/api/endpoints/people/describe")).toMatchObject({ classes: 1, unfinished: false });
    await shouldBeDone("/api/endpoints/cities/describe");
    const turtle = await (await get("/api/endpoints/people/void", "text/turtle")).text();
    expect(turtle).toContain("void:class ns:Person ; void:entities 30");
    const whole = await (await get("/api/endpoints/people/void?variant=extended", "text/turtle")).text();
    expect(whole).toContain("void:class <http://v/Person>");
    expect(whole).toContain("dqv:QualityMeasurement");
    const again = await get("/api/endpoints/people/void?variant=extended", "text/turtle");
    const etag = again.headers.get("etag") ?? "";
    const headers = { Accept: "text/turtle", "If-None-Match": etag };
    const known = await fetch(again.url, { headers });
    expect([etag.length > 20, known.status, await known.text()]).toEqual([true, 304, ""]);
    const budget = await (await get("/api/endpoints/people/void?variant=extended&maxTokens=900", "text/turtle")).text();
    expect(budget).toBe(whole);
    // Clients that look for a description at the endpoint itself find the classes there.
    const atEndpoint = await (await get("/endpoints/people/sparql", "text/turtle")).text();
    expect(atEndpoint).toContain("void:class <http://v/Person>");
    const nTriples = await (await get("/api/endpoints/people/void?view=planner&format=ntriples")).text();
    expect(nTriples).toContain('<http://rdfs.org/ns/void#triples> "90"');
    const schema = await (await get("/api/endpoints/people/schema?detail=lines&format=text")).text();
    expect(schema).toMatch(/Person \(30\): .*livesIn/u);
    expect(await json("/api/endpoints/people")).toMatchObject({ descriptionGenerated: true });
  });

  it("make classes and properties searchable", async () => {
    expect(await json("/api/search?q=city&kind=class")).toMatchObject({
      hits: [{ kind: "class", iri: "http://v/City", endpoints: [{ id: "cities", count: { value: 5 } }] }],
    });
    expect(await json("/api/endpoints?property=livesIn")).toMatchObject({ total: 1, endpoints: [{ id: "people" }] });
  });

  it("get links to other endpoints on request", async () => {
    expect(await shouldBeDone("/api/endpoints/people/linksets?to=cities")).toMatchObject({ linksets: 1 });
    const extended = await (await get("/api/endpoints/people/void?variant=extended", "text/turtle")).text();
    expect(extended).toContain("void:linkPredicate <http://v/livesIn>");
    const standard = await (await get("/api/endpoints/people/void", "text/turtle")).text();
    expect(standard).not.toContain("void:linkPredicate <http://v/livesIn>");
  });
});

describe("capabilities", () => {
  it("are probed by a job", async () => {
    await shouldBeDone("/api/endpoints/cities/capabilities");
    expect(await json("/api/endpoints/cities/capabilities")).toMatchObject({
      reachable: true,
      constructs: { aggregates: { verdict: "right" }, minus: { verdict: "right" } },
    });
  });
});

describe("federations", () => {
  it("are created and answer as one dataset, with a member that serves fragments", async () => {
    const put = (path: string, body: object): Promise<Response> =>
      fetch(`${service.url}${path}`, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    expect((await put("/api/endpoints/fragments", { title: "Fragments", url: tpf.url, interface: "tpf" })).status).toBe(
      201,
    );
    const members = ["people", "fragments"];
    expect((await put("/api/federations/all", { title: "All", members })).status).toBe(201);
    await shouldBeDone("/api/endpoints/fragments/capabilities");
    expect(await json("/api/endpoints/fragments/capabilities")).toMatchObject({ reachable: true, methods: [] });
    const query = `SELECT ?name ?label { ?p <http://v/name> ?name ; <http://v/livesIn>/<http://v/label> ?label } ORDER BY ?name LIMIT 3`;
    const answer = await service.query(query, { path: "/federations/all/sparql" });
    expect(await rowsOf(answer)).toMatchObject([
      { name: { value: "Name 0" }, label: { value: "City 0" } },
      { name: { value: "Name 1" }, label: { value: "City 1" } },
      { name: { value: "Name 10" }, label: { value: "City 0" } },
    ]);
    expect(await problemOf(await service.query(query, { path: "/federations/al/sparql" }))).toMatchObject({
      status: 404,
      code: "FEDERATION_UNKNOWN",
    });
  });
});

describe("a restart", () => {
  it("keeps entries, federations, descriptions, capabilities and the search index", async () => {
    await service.app.close();
    service = await start();
    expect(await json("/api/federations/all")).toMatchObject({ title: "All", members: ["fragments", "people"] });
    expect((await get("/api/endpoints/people/void", "text/turtle")).status).toBe(200);
    expect((await get("/api/endpoints/cities/capabilities")).status).toBe(200);
    expect(await json("/api/search?q=city&kind=class")).toMatchObject({ total: 1 });
  });

  it("service descriptions name the dataset and its VoID", async () => {
    const text = await (await get("/endpoints/people/sparql", "text/turtle")).text();
    expect(text).toContain("sd:defaultDataset");
    expect(text).toContain("/api/endpoints/people/void");
    const known = await (await get("/.well-known/void", "text/turtle")).text();
    expect(known).toContain("void:sparqlEndpoint");
  });

  it("removing an endpoint removes what was known of it", async () => {
    expect((await fetch(`${service.url}/api/endpoints/cities`, { method: "DELETE" })).status).toBe(204);
    expect(await problemOf(await get("/api/endpoints/cities/void"))).toMatchObject({ code: "ENDPOINT_UNKNOWN" });
    expect(await json("/api/search?q=city&kind=class")).toMatchObject({ total: 0 });
  });
});
