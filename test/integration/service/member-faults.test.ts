import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  startEndpoints,
  startFederation,
  type Federation,
  type FederationQuery,
  type TestEndpoints,
} from "../../support/federation-harness.ts";
import { eventually, until } from "../../support/eventually.ts";
import { type LimitedEndpoint, startLimitedEndpoint } from "../../support/limited-endpoint.ts";
import { listening } from "../../support/listening.ts";
import { entryTurtle } from "../../support/running-service.ts";
import type { Fault } from "../../support/sparql-test-server.ts";

// Members that hang, drip or fail within a federated query: what is left of the answer, and what is said of them.

const people = Array.from({ length: 30 }, (_, n) => `<x:s${n}> <x:n> "${n}" .`).join("\n");
const ages = Array.from({ length: 300 }, (_, n) => `<x:s${n % 30}> <x:age> "${n}" .`).join("\n");
const hang: Fault = { kind: "hang" };

let endpoints: TestEndpoints;
let federation: Federation;
let capped: LimitedEndpoint;
let drip: Awaited<ReturnType<typeof startDripping>>;
beforeAll(async () => {
  const bad = Array.from({ length: 12 }, (_, n) => [`bad${n}`, ages] as const);
  endpoints = await startEndpoints({ a: people, c: ages, original: ages, copy: ages, ...Object.fromEntries(bad) });
  drip = await startDripping();
  const many = Array.from({ length: 2_500 }, (_, n) => `<x:s${n}> <x:age> "${n}" .`).join("\n");
  capped = await startLimitedEndpoint({ data: many, rowCap: 1_000 });
  const { copy = "", ...urls } = endpoints.urls;
  const mirror = entryTurtle("copy", copy).replace(/\.$/, '; <https://w3id.org/fedway/ns#mirrorOf> "original" .');
  federation = await startFederation({ ...urls, drip: drip.url, capped: capped.url }, {}, { "copy.ttl": mirror });
  // Not in the time of a test: the evaluator starts with the first query.
  await federation.table(inFull("SELECT * { { SERVICE <a> { ?s ?p ?o } } UNION { SERVICE <c> { ?s ?p ?o } } }", "a"));
});
afterAll(async () => {
  await federation.close();
  await endpoints.close();
  await drip.close();
  await capped.close();
});

let used = 0;
/** An endpoint of its own for each test: what is learned of one stays. */
const nextBad = (): string => `bad${used++}`;
const inFull = (query: string, bad: string): string =>
  query.replaceAll(/<(a|bad|c|drip)>/g, (_, name: string) =>
    name === "drip" ? `<${drip.url}>` : `<${endpoints.url(name === "bad" ? bad : name)}>`,
  );

/** An endpoint that sends a row every 50 ms without end. */
async function startDripping() {
  let open = 0;
  const server = createServer((_request, response) => {
    open++;
    response.writeHead(200, { "content-type": "application/sparql-results+json" });
    response.write('{"head":{"vars":["s","age"]},"results":{"bindings":[');
    let rows = 0;
    const timer = setInterval(() => {
      const row = `{"s":{"type":"uri","value":"x:s0"},"age":{"type":"literal","value":"${rows}"}}`;
      response.write(rows++ === 0 ? row : `,${row}`);
    }, 50);
    response.once("close", () => {
      clearInterval(timer);
      open--;
    });
  });
  const { origin, close } = await listening(server);
  return { url: `${origin}/sparql`, close, open: () => open };
}

const joined = "SELECT ?s ?age { SERVICE <a> { ?s <x:n> ?n } OPTIONAL { SERVICE <bad> { ?s <x:age> ?age } } }";
const united = "SELECT ?s ?age { { SERVICE <c> { ?s <x:age> ?age } } UNION { SERVICE <bad> { ?s <x:age> ?age } } }";

// Side by side: each takes four fifths of the time, which is long, so that a busy machine does not reach it.
describe.concurrent("a member that hangs", () => {
  const timeoutMs = 10_000;

  it("is left out in time with partial=true, and its report says so", async () => {
    const bad = nextBad();
    endpoints.setFault(bad, hang);
    const table = await federation.table(inFull(united, bad), { partial: true, timeoutMs });
    expect(table).toMatchObject({ status: "partial" });
    expect(table.rows).toHaveLength(300);
    const source = table.sources.find(({ endpoint }) => endpoint === bad);
    expect(source).toMatchObject({ status: "timeout", reason: "ENDPOINT_TIMEOUT" });
    await until(async () => endpoints.requests(bad).every(({ aborted }) => aborted) || undefined);
  });
  it("cools down for the next queries with partial=true, until it has answered another one", async () => {
    const bad = nextBad();
    const ask = (options: FederationQuery) => federation.table(inFull(united, bad), options);
    endpoints.setFault(bad, hang);
    expect(await ask({ partial: true, timeoutMs })).toMatchObject({ status: "partial" });
    const asked = endpoints.requests(bad).length;
    const table = await ask({ partial: true, timeoutMs });
    expect(table).toMatchObject({ status: "partial", rows: { length: 300 } });
    const moment = expect.stringMatching(/Z$/u);
    const left = { status: "skipped", reason: "CIRCUIT_OPEN", leftAlone: { since: moment, until: moment } };
    expect(table.sources.find(({ endpoint }) => endpoint === bad)).toMatchObject(left);
    expect(endpoints.requests(bad)).toHaveLength(asked);
    endpoints.setFault(bad, undefined);
    expect(await ask({ timeoutMs })).toMatchObject({ status: "ok" });
    expect(await ask({ partial: true, timeoutMs })).toMatchObject({ status: "ok", rows: { length: 600 } });
  });
  it("keeps no independent part of the query from being asked", async () => {
    const bad = [nextBad(), nextBad()];
    for (const id of bad) endpoints.setFault(id, hang);
    const limited = (id: string): string => `{ SELECT * { SERVICE <${id}> { ?s <x:age> ?age } } LIMIT 10 }`;
    const table = await federation.table(`SELECT * { ${bad.map(limited).join(" ")} }`, { timeoutMs });
    expect(table).toMatchObject({ status: "failed" });
    expect(bad.map((id) => endpoints.requests(id).length)).toEqual([1, 1]);
  });
  it("is left out of every later step, too", async () => {
    const bad = nextBad();
    endpoints.setFault(bad, hang);
    const steps = "OPTIONAL { SERVICE <bad> { ?s <x:age> ?age } } OPTIONAL { SERVICE <bad> { ?s <x:n> ?m } }";
    const query = `SELECT ?s ?age { SERVICE <a> { ?s <x:n> ?n } ${steps} }`;
    const table = await federation.table(inFull(query, bad), { partial: true, timeoutMs });
    expect(table).toMatchObject({ status: "partial" });
    expect(table.rows).toHaveLength(30);
  });
  it("is one empty solution with SILENT", async () => {
    const bad = nextBad();
    endpoints.setFault(bad, hang);
    const table = await federation.table(inFull(joined.replace("SERVICE <bad>", "SERVICE SILENT <bad>"), bad), {
      timeoutMs,
    });
    expect(table).toMatchObject({ status: "ok" });
    expect(table.rows).toHaveLength(30);
    const source = table.sources.find(({ endpoint }) => endpoint === bad);
    expect(source).toMatchObject({ status: "silenced", reason: "ENDPOINT_TIMEOUT" });
  });
  it("is named otherwise", async () => {
    const bad = nextBad();
    endpoints.setFault(bad, hang);
    const table = await federation.table(inFull(united, bad), { timeoutMs });
    expect(table).toMatchObject({ status: "failed" });
    expect(table.diagnosis).toMatchObject({ code: "ENDPOINT_TIMEOUT", where: { endpoint: bad } });
    expect(table.diagnosis?.next).toContain("partial=true");
  });
});

describe("a member that drips", () => {
  it("gives what came in its time with partial=true, and is stopped", async () => {
    const query = inFull(united.replace("<bad>", "<drip>"), "");
    const table = await federation.table(query, { partial: true, timeoutMs: 10_000 });
    expect(table).toMatchObject({ status: "partial" });
    expect(table.rows.length).toBeGreaterThan(300);
    expect(table.sources.find(({ endpoint }) => endpoint === "drip")).toMatchObject({ status: "timeout" });
    await until(async () => drip.open() === 0 || undefined);
  });
});

describe("a member that answers 500", () => {
  const plain: Fault = { kind: "status", status: 500 };

  it("is named with its fault, and its breaker stays closed within one query", async () => {
    const bad = nextBad();
    endpoints.setFault(bad, plain);
    for (let query = 0; query < 4; query++) {
      const table = await federation.table(inFull(joined, bad));
      expect(table.diagnosis).toMatchObject({ code: "ENDPOINT_FAILED", upstreamStatus: 500, where: { endpoint: bad } });
    }
    endpoints.setFault(bad, undefined);
    expect(await federation.table(inFull(joined, bad))).toMatchObject({ status: "ok" });
  });
  it("is tried once with fewer keys, not more often", async () => {
    const bad = nextBad();
    endpoints.setFault(bad, plain);
    await federation.table(inFull(joined, bad));
    const blocks = new Set(endpoints.requests(bad).map(({ query }) => query?.match(/\(</g)?.length ?? 0));
    expect(blocks.size).toBeLessThanOrEqual(4);
    expect(endpoints.requests(bad).length).toBeLessThanOrEqual(8);
  });
  it("opens its breaker by queries; then it is skipped, or the error says what was last", async () => {
    const bad = nextBad();
    endpoints.setFault(bad, plain);
    for (let query = 0; query < 5; query++) await federation.table(inFull(joined, bad));
    // On a busy machine its time is over before; each trial that fails makes it longer.
    await eventually(async () => {
      endpoints.clearRequests();
      const refused = await federation.table(inFull(joined, bad));
      // No other member is asked for a part of an answer that cannot be had.
      expect(endpoints.requests("a")).toHaveLength(0);
      expect(refused.diagnosis).toMatchObject({ code: "CIRCUIT_OPEN", where: { endpoint: bad } });
      expect(refused.diagnosis?.detail).toContain("HTTP status 500");
      const before = endpoints.requests(bad).length;
      const table = await federation.table(inFull(joined, bad), { partial: true });
      expect(table).toMatchObject({ status: "partial" });
      expect(table.rows).toHaveLength(30);
      const source = table.sources.find(({ endpoint }) => endpoint === bad);
      expect(source).toMatchObject({ status: "skipped", reason: "CIRCUIT_OPEN" });
      expect(endpoints.requests(bad)).toHaveLength(before);
    });
  });
});

describe("a member that cuts its answers without a word", () => {
  it("is found out: an error that says so, or a partial answer", async () => {
    const text = `SELECT ?s ?age { { SERVICE <${endpoints.url("c")}> { ?s <x:age> ?age } } UNION { SERVICE <${capped.url}> { ?s <x:age> ?age } } }`;
    const table = await federation.table(text);
    expect(table.diagnosis).toMatchObject({ code: "ENDPOINT_PARTIAL", where: { endpoint: "capped" } });
    const partial = await federation.table(text, { partial: true });
    expect(partial).toMatchObject({ status: "partial" });
    expect(partial.rows).toHaveLength(1_300);
    const source = partial.sources.find(({ endpoint }) => endpoint === "capped");
    // The cap is known by now, and is not looked for again.
    expect(source).toMatchObject({ status: "partial", reason: "row-cap", requests: 1 });
  });
});

describe("a member with a mirror", () => {
  it("is replaced by it, and its report says so", async () => {
    endpoints.setFault("original", { kind: "status", status: 500 });
    const table = await federation.table(inFull(united, "original"));
    expect(table).toMatchObject({ status: "ok" });
    expect(table.rows).toHaveLength(600);
    const source = table.sources.find(({ endpoint }) => endpoint === "original");
    expect(source).toMatchObject({ status: "ok", mirror: "copy", requests: 2 });
  });

  it("is replaced by it where nothing else is asked", async () => {
    endpoints.setFault("original", { kind: "status", status: 500 });
    const query = `SELECT ?s ?age { SERVICE <${endpoints.url("original")}> { ?s <x:age> ?age } }`;
    const table = await federation.table(query);
    expect(table).toMatchObject({ status: "ok", plan: { kind: "direct" }, sources: [{ mirror: "copy", requests: 2 }] });
    const message = "copy answered in place of original, which failed or lacked rows.";
    expect(table.notes).toEqual([{ code: "MIRROR_ANSWERED", message }]);
    expect(table.rows).toHaveLength(300);
    const passedOn = await federation.answer("CONSTRUCT { ?s <x:age> ?age } { ?s <x:age> ?age }", {
      endpointId: "original",
    });
    expect(passedOn.kind === "quads" && passedOn.triples.length).toBe(300);
  });
});

describe("equal queries at once", () => {
  it("send their requests once", async () => {
    const bad = nextBad();
    endpoints.setDelay(bad, 300);
    endpoints.clearRequests();
    const query = inFull(joined, bad);
    const tables = await Promise.all(Array.from({ length: 8 }, () => federation.table(query)));
    expect(tables.every(({ rows }) => rows.length === 300)).toBe(true);
    const requests = tables.flatMap(({ sources }) => sources.map((source) => source.requests));
    expect(requests.reduce((sum, count) => sum + count, 0)).toBe(
      endpoints.requests("a").length + endpoints.requests(bad).length,
    );
    expect(endpoints.requests(bad).length).toBeLessThan(8);
  });
});

describe("nothing is left running upstream", () => {
  const dripping = () => inFull(united.replace("<bad>", "<drip>"), "");
  const request = (signal: AbortSignal) => ({
    text: dripping(),
    defaultGraphs: [],
    namedGraphs: [],
    strict: false,
    partial: false,
    signal,
    maxRows: 1_000,
  });
  const isQuiet = () => until(async () => drip.open() === 0 || undefined);
  const isBusy = () => until(async () => drip.open() > 0 || undefined);

  it("when enough rows have come", async () => {
    const table = await federation.table(`${inFull(united.replace("<bad>", "<drip>"), "")} LIMIT 301`);
    expect(table.rows).toHaveLength(301);
    await isQuiet();
  });
  it("when more rows come than are wanted", async () => {
    const client = new AbortController();
    const table = await federation.app.queries.table({ ...request(client.signal), maxRows: 301 });
    expect(table).toMatchObject({ truncated: true });
    await isQuiet();
  });
  it("when the client leaves", async () => {
    const client = new AbortController();
    const table = federation.app.queries.table(request(client.signal));
    await isBusy();
    client.abort();
    expect(await table).toMatchObject({ status: "cancelled" });
    await isQuiet();
  });
  it("when another member fails", async () => {
    const bad = nextBad();
    endpoints.setFault(bad, { kind: "status", status: 400 });
    endpoints.setDelay(bad, 300);
    const query = inFull(united.replace("<c>", "<drip>"), bad);
    expect(await federation.table(query)).toMatchObject({ status: "failed" });
    await isQuiet();
  });
  it("when one of two equal queries leaves, and then the other", async () => {
    const clients = [new AbortController(), new AbortController()];
    const tables = clients.map(({ signal }) => federation.app.queries.table(request(signal)));
    await isBusy();
    for (const client of clients) client.abort();
    await Promise.all(tables);
    await isQuiet();
  });
});
