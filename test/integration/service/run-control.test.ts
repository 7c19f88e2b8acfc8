import { createServer } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, it, test } from "vitest";
import { until } from "../../support/eventually.ts";
import { startEndpoints, type TestEndpoints } from "../../support/federation-harness.ts";
import { type Listening, listening } from "../../support/listening.ts";
import { cli } from "../../support/run-cli.ts";
import { type RunningService, startService } from "../../support/running-service.ts";

// Runs are listed and cancelled: by their owner, and by an operator, wherever their work is.

const token = "run-control-token-0123456789";
const [owner, other] = ["192.0.2.1", "192.0.2.2"];

let endpoints: TestEndpoints;
/** An endpoint whose answer begins and does not end. */
let endless: Listening;
let cutOff = 0;
let service: RunningService;
beforeAll(async () => {
  endpoints = await startEndpoints({ fast: '<urn:s> <urn:p> "o" .', slow: '<urn:s> <urn:q> "o" .' });
  const answering = createServer((request, response) => {
    request.resume();
    response.once("close", () => (cutOff += 1));
    response.writeHead(200, { "content-type": "application/sparql-results+json" });
    const row = `{"s":{"type":"uri","value":"urn:x:${"s".repeat(10_000)}"}}`;
    response.write(`{"head":{"vars":["s"]},"results":{"bindings":[${Array.from({ length: 40 }, () => row).join(",")}`);
  });
  endless = await listening(answering);
});
afterEach(async () => {
  await service.close();
  endpoints.setDelay("slow", 0);
  endpoints.clearRequests();
});
afterAll(async () => {
  await endpoints.close();
  await endless.close();
});

async function open(env: Readonly<Record<string, string>> = {}): Promise<void> {
  const settings = { FEDWAY_TRUST_PROXY: "1", FEDWAY_ADMIN_TOKEN: token, FEDWAY_HOST_RATE: "0", ...env };
  service = await startService({ ...endpoints.urls, endless: `${endless.origin}/sparql` }, settings);
  endpoints.setDelay("slow", 600_000);
}

interface Sent {
  readonly from?: string;
  readonly method?: string;
  readonly token?: string;
  readonly body?: object;
  readonly origin?: string;
}

const send = (path: string, { from = owner, method = "GET", token: key, body, origin }: Sent = {}): Promise<Response> =>
  fetch(service.url + path, {
    method,
    headers: {
      "x-forwarded-for": from,
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body && { "content-type": "application/json" }),
      ...(origin !== undefined && { origin }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });

type Run = Readonly<Record<string, unknown>> & { readonly id: string };
type Listed = { readonly runs: readonly Run[]; readonly next?: string };

const list = async (search = "", sent: Sent = {}): Promise<Listed> =>
  (await (await send(`/api/runs${search}`, sent)).json()) as Listed;

const sparql = (query: string, path = "/sparql"): Promise<Response> =>
  send(`${path}?query=${encodeURIComponent(query)}`);
const cancel = (id: string, sent: Sent = {}): Promise<Response> =>
  send(`/api/runs/${id}`, { method: "DELETE", ...sent });

/** The one that is under way once it asks the endpoint. */
async function underWay(search = "?status=running"): Promise<Run> {
  await until(async () => (await list(search)).runs.length > 0);
  const [run] = (await list(search)).runs;
  return run as Run;
}

const byOperator = { token, from: other };
const slowly = "SELECT * { SERVICE <slow> { ?s <urn:q> ?o } }";
const federated = "SELECT * { SERVICE <fast> { ?s <urn:p> ?a } SERVICE <slow> { ?s <urn:q> ?b } }";
const operatorDidIt = "An operator of this service cancelled the query.";
const isCutOff = (): boolean => endpoints.requests("slow").every(({ aborted }) => aborted);

test.each<[what: string, ask: () => Promise<Response>]>([
  ["a query for one endpoint", () => sparql("SELECT * { ?s ?p ?o }", "/endpoints/slow/sparql")],
  ["a federated query in an evaluator", () => sparql(federated)],
  ["a table", () => send("/api/query", { method: "POST", body: { query: federated } })],
  ["an analysis", () => send("/api/explain", { method: "POST", body: { query: slowly, analyze: true } })],
  ["a query of a tool", () => send("/api/tools/run_query", { method: "POST", body: { query: slowly } })],
])("the operator ends %s", async (what, ask) => {
  await open();
  const answer = ask();
  await until(() => endpoints.requests("slow").length > 0);
  const run = await underWay("?status=running&endpoint=slow");
  expect(run).toMatchObject({
    status: "running",
    sources: expect.arrayContaining([expect.objectContaining({ endpoint: "slow" })]),
  });
  expect((await cancel(run.id, byOperator)).status).toBe(204);
  await until(isCutOff);
  const text = await (await answer).text();
  expect(text).toContain(operatorDidIt);
  expect(text).toContain("CANCELLED");
  if (!what.startsWith("an analysis")) expect((await answer).status).toBe(499);
  const record = (await (await send(`/api/runs/${run.id}`)).json()) as Run;
  expect(record).toMatchObject({ status: "cancelled", code: "CANCELLED" });
  expect((await list("?status=running", byOperator)).runs).toEqual([]);
});

it("a streamed answer is cut off, not ended", async () => {
  await open();
  const answer = await sparql("SELECT ?s { ?s ?p ?o }", "/endpoints/endless/sparql");
  expect(answer.status).toBe(200);
  const before = cutOff;
  const reading = expect(answer.text()).rejects.toThrow();
  const run = await underWay();
  expect((await cancel(run.id)).status).toBe(204);
  await reading;
  await until(() => cutOff > before);
  const record = (await (await send(`/api/runs/${run.id}`)).json()) as Run;
  expect(record).toMatchObject({ status: "cancelled", detail: "The client that sent the query cancelled it." });
});

it.each([
  ["another host's", "endless"],
  ["its own", "people"],
])("an endpoint of %s, whose other rows are not wanted, was cancelled and has not failed", async (_whose, endpoint) => {
  await open({ FEDWAY_EXAMPLES: "on" });
  const body = { query: "SELECT ?s { ?s ?p ?o }", endpoint, maxRows: 1 };
  const answer = (await (await send("/api/query", { method: "POST", body })).json()) as { readonly run: string };
  const sources = [{ endpoint, status: "cancelled" }];
  expect(answer).toMatchObject({ status: "partial", truncated: true, diagnosis: null, sources });
  const record = (await (await send(`/api/runs/${answer.run}`)).json()) as Run;
  expect(record).toMatchObject({ status: "partial", sources });
});

it("endpoints of a federated query that a row limit cut off are not waited for in its record", async () => {
  await open({ FEDWAY_EXAMPLES: "on" });
  const query = "SELECT ?s ?t { ?s ?p ?o . ?t ?q ?o }";
  const body = { query, federation: "examples", maxRows: 1 };
  const answer = (await (await send("/api/query", { method: "POST", body })).json()) as { readonly run: string };
  expect(answer).toMatchObject({ status: "partial", truncated: true });
  const record = await (await send(`/api/runs/${answer.run}`)).text();
  for (const said of [JSON.stringify(answer), record]) {
    expect(said).toContain('"cancelled"');
    expect(said).not.toContain('"pending"');
  }
});

it("a query that waits for its turn is listed and cancelled before it begins", async () => {
  await open({ FEDWAY_MAX_CONCURRENT: "2" });
  const first = sparql(slowly);
  await until(() => endpoints.requests("slow").length === 1);
  const second = sparql(slowly);
  await until(async () => (await list()).runs.some(({ call }) => call === "waiting"));
  const waiting = (await list()).runs.find(({ call }) => call === "waiting");
  expect(await (await send(`/api/runs/${waiting?.id}`)).json()).toMatchObject({ status: "running", call: "waiting" });
  expect((await cancel(waiting?.id ?? "")).status).toBe(204);
  expect(await (await second).json()).toMatchObject({ code: "CANCELLED" });
  expect(endpoints.requests("slow")).toHaveLength(1);
  const { runs } = await list("?status=running");
  expect(runs).toHaveLength(1);
  await cancel(runs[0]?.id ?? "");
  await first;
});

it("a diagnosis without a run is listed by the name of its tool, and ends", async () => {
  await open({ FEDWAY_EXPLAIN_EMPTY: "off" });
  endpoints.setDelay("slow", 0);
  const query = 'SELECT * { SERVICE <slow> { ?s <urn:q> "none" } }';
  const { run } = (await (await send("/api/query", { method: "POST", body: { query } })).json()) as { run: string };
  endpoints.setDelay("slow", 600_000);
  endpoints.clearRequests();
  const explaining = send("/api/tools/explain_result", { method: "POST", body: { run_id: run } });
  await until(() => endpoints.requests("slow").length > 0);
  const call = await underWay();
  expect(call).toMatchObject({ call: "explain_result" });
  expect((await cancel(call.id, byOperator)).status).toBe(204);
  await until(isCutOff);
  expect(await (await explaining).json()).toMatchObject({ code: "CANCELLED", detail: operatorDidIt });
  expect((await send(`/api/runs/${call.id}`)).status).toBe(404);
});

it("the command line lists, shows and cancels", async () => {
  await open();
  const run = (...args: string[]) =>
    cli([...args, "--url", service.url], { fetch, interrupted: new AbortController().signal, adminToken: token });
  const answer = sparql(slowly);
  const { id } = await underWay("?status=running&endpoint=slow");
  const listed = await run("runs", "list", "--status", "running", "--longest");
  expect(listed).toMatchObject({ code: 0, err: "" });
  expect(listed.out).toMatch(new RegExp(`^${id} +running +\\d+ ms +direct +slow`, "m"));
  expect(JSON.parse((await run("runs", "list", "--json")).out)).toMatchObject({ runs: [{ id }] });
  expect(JSON.parse((await run("runs", "show", id, "--json")).out)).toMatchObject({ id, status: "running" });
  expect(await run("runs", "cancel", id)).toMatchObject({ code: 0, out: "cancelled\n" });
  expect(await (await answer).json()).toMatchObject({ code: "CANCELLED", detail: operatorDidIt });
  const late = await run("runs", "cancel", id);
  expect(late.code).toBe(1);
  expect(late.err).toContain("RUN_FINISHED");
});

it("counts slow queries", async () => {
  await open({ FEDWAY_SLOW_QUERY_MS: "1" });
  await sparql("SELECT * { ?s ?p ?o }", "/endpoints/fast/sparql");
  expect(await (await send("/metrics")).text()).toMatch(/^fedway_slow_queries_total 1$/mu);
});

describe("who may see and cancel", () => {
  it("is the owner and the operator; others learn that, pages of other sites nothing", async () => {
    await open();
    const answer = sparql(slowly);
    const { id, asked } = await underWay("?status=running&endpoint=slow");
    expect(asked).toMatchObject({ query: slowly });
    const pages = [{}, byOperator, { from: other }].map(async (sent) => (await send(`/runs/${id}`, sent)).text());
    const buttons = (await Promise.all(pages)).map((page) => page.includes(`action="/runs/${id}/cancel"`));
    expect(buttons).toEqual([true, true, false]);
    expect((await list("", { from: other })).runs).toEqual([]);
    const [seen] = (await list("", byOperator)).runs;
    expect(seen).toMatchObject({ id, plan: "direct" });
    expect(seen).not.toHaveProperty("asked");
    expect((await send("/api/runs", { origin: "https://evil.example" })).status).toBe(403);
    expect((await send("/api/runs")).headers.get("access-control-allow-origin")).toBeNull();
    const statuses = [
      await cancel(id, { from: other }),
      await cancel(id, { origin: "https://evil.example" }),
      await cancel("nothing"),
      await cancel(id),
      await cancel(id),
    ];
    expect(statuses.map(({ status }) => status)).toEqual([403, 403, 404, 204, 409]);
    expect(await (await answer).json()).toMatchObject({ detail: "The client that sent the query cancelled it." });
  });
});

it("lists pages without a gap or a repetition, newest or longest first", async () => {
  await open();
  for (let index = 0; index < 7; index++) await sparql(`SELECT * { ?s ?p ?o } #${index}`, "/endpoints/fast/sparql");
  for (const order of ["newest", "longest"]) {
    const ids: string[] = [];
    let cursor = "";
    do {
      const { runs, next = "" } = await list(`?order=${order}&limit=3${cursor}`);
      ids.push(...runs.map(({ id }) => id));
      cursor = next === "" ? "" : `&cursor=${encodeURIComponent(next)}`;
    } while (cursor !== "");
    expect(ids).toHaveLength(7);
    expect(new Set(ids).size).toBe(7);
  }
  const { runs } = await list();
  expect(runs[0]?.["asked"]).toMatchObject({ query: "SELECT * { ?s ?p ?o } #6" });
  expect((await list("?status=failed")).runs).toEqual([]);
  expect((await list("?endpoint=slow")).runs).toEqual([]);
  expect((await list("?minMs=3600000")).runs).toEqual([]);
  expect((await list("?since=2999-01-01T00:00:00Z")).runs).toEqual([]);
  for (const bad of ["?cursor=x", "?limit=101", "?status=odd", "?since=yesterday", "?other=1"]) {
    expect((await send(`/api/runs${bad}`)).status).toBe(400);
  }
});
