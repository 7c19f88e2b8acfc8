import { connect } from "node:net";
import { afterEach, beforeAll, afterAll, describe, expect, test } from "vitest";
import { until } from "../../support/eventually.ts";
import { startEndpoints, type TestEndpoints } from "../../support/federation-harness.ts";
import { problemOf, type RunningService, startService } from "../../support/running-service.ts";

// One admission in front of everything that asks endpoints: clients take turns, and a call has one budget of requests.

const members = Array.from({ length: 12 }, (_, index) => `m${index}`);
const triples = '<urn:s> <urn:p> "o" ; <urn:q> <urn:t> .'.replace(" ;", " .\n<urn:s>");

let endpoints: TestEndpoints;
let service: RunningService;
const open = async (env: Readonly<Record<string, string>>): Promise<void> => {
  service = await startService(endpoints.urls, { FEDWAY_TRUST_PROXY: "127.0.0.0/8", ...env });
};
beforeAll(async () => {
  endpoints = await startEndpoints(Object.fromEntries([...members, "slow"].map((name) => [name, triples])));
});
afterEach(async () => {
  for (const name of [...members, "slow"]) endpoints.setDelay(name, 0);
  endpoints.clearRequests();
  await service.close();
});
afterAll(() => endpoints.close());

interface Sent {
  readonly client: string;
  readonly path: string;
  readonly body: unknown;
  readonly signal?: AbortSignal;
}

/** Sends JSON from the address of a client. */
const send = ({ client, path, body, signal }: Sent): Promise<Response> =>
  fetch(`${service.url}${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "x-forwarded-for": client,
    },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });

const ask = (client: string, query: string, signal?: AbortSignal): Promise<Response> =>
  send({ client, path: "/api/query", body: { query }, ...(signal && { signal }) });

const callTool = (client: string, name: string, given: unknown, signal?: AbortSignal): Promise<Response> =>
  send({ client, path: `/api/tools/${name}`, body: given, ...(signal && { signal }) });

const everywhere = (patterns: string): string =>
  members.map((id) => `{ SERVICE <${id}> { ${patterns} } }`).join(" UNION ");
const requestsOf = (names: readonly string[]): number =>
  names.reduce((sum, name) => sum + endpoints.requests(name).length, 0);

describe("a client that sends more than there are places", () => {
  const attacker = "203.0.113.1";
  // What holds the places of the attacker, by the way that it takes.
  test.each<[way: string, hold: (signal: AbortSignal) => Promise<Response>]>([
    ["/api/query", (signal) => ask(attacker, "SELECT * { SERVICE <slow> { ?s <urn:p> ?o } }", signal)],
    [
      "run_query",
      (signal) => callTool(attacker, "run_query", { query: "SELECT * { SERVICE <slow> { ?s <urn:p> ?o } }" }, signal),
    ],
  ])("by %s leaves places for others", async (_way, hold) => {
    await open({ FEDWAY_MAX_CONCURRENT: "8", FEDWAY_EXPLAIN_EMPTY: "off" });
    endpoints.setDelay("slow", 600_000);
    const leaving = new AbortController();
    const held = Array.from({ length: 28 }, () => hold(leaving.signal));
    const refused = Promise.race(held.map(async (answer) => problemOf(await answer)));
    await until(() => endpoints.requests("slow").length === 4);
    const own = await ask("203.0.113.2", "SELECT * { SERVICE <m0> { ?s <urn:p> ?o } }");
    expect(own.status).toBe(200);
    const tool = await callTool("203.0.113.3", "run_query", { query: "SELECT * { SERVICE <m1> { ?s <urn:p> ?o } }" });
    expect(tool.status).toBe(200);
    expect(await refused).toMatchObject({ status: 503, code: "SERVICE_BUSY", retryAfterMs: 1_000 });
    expect(endpoints.requests("slow").length).toBe(4);
    leaving.abort();
    await Promise.allSettled(held);
    await until(async () => (await ask(attacker, "SELECT * { SERVICE <m0> { ?s <urn:p> ?o } }")).status === 200);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(Number(/^fedway_busy_total (\d+)$/mu.exec(metrics)?.[1])).toBeGreaterThan(0);
  });

  test("by slow explain_result calls leaves diagnoses for others", async () => {
    await open({ FEDWAY_MAX_CONCURRENT: "8", FEDWAY_EXPLAIN_EMPTY: "off" });
    const runOf = async (client: string, endpoint: string, value: number): Promise<unknown> => {
      const query = `SELECT * { SERVICE <${endpoint}> { ?s <urn:p> "none ${value}" } }`;
      return ((await (await ask(client, query)).json()) as { readonly run: string }).run;
    };
    const runs = await Promise.all([1, 2, 3, 4, 5, 6].map((value) => runOf(attacker, "slow", value)));
    const own = await runOf("203.0.113.2", "m0", 1);
    endpoints.setDelay("slow", 600_000);
    endpoints.clearRequests();
    const leaving = new AbortController();
    const held = runs.map((run) => callTool(attacker, "explain_result", { run_id: run }, leaving.signal));
    await until(() => endpoints.requests("slow").length === 4);
    const answer = await callTool("203.0.113.2", "explain_result", { run_id: own });
    expect(await answer.json()).toMatchObject({ data: { status: "empty", complete: true } });
    leaving.abort();
    await Promise.allSettled(held);
  });
});

describe("a client that sends more requests than there are turns", () => {
  const attacker = "203.0.113.7";
  const places = 504;

  /** One connection on which a client sends all of its requests at once; the statuses come in that order. */
  const sendAtOnce = (client: string, requests: readonly string[], onStatus = (_status: number): void => {}) => {
    const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
    const statuses: number[] = [];
    let received = "";
    const status = /HTTP\/1\.1 (\d{3}) /gu;
    const answered = new Promise<readonly number[]>((resolve) => {
      socket.setEncoding("latin1").on("data", (chunk: string) => {
        received += chunk;
        for (let at = status.lastIndex; ; at = status.lastIndex) {
          const [, found] = status.exec(received) ?? [];
          if (found === undefined) {
            status.lastIndex = at;
            break;
          }
          onStatus(statuses[statuses.push(Number(found)) - 1] ?? 0);
        }
        if (statuses.length === requests.length) resolve(statuses);
      });
    });
    socket.write(requests.map((request) => request.replace("\r\n", `\r\nX-Forwarded-For: ${client}\r\n`)).join(""));
    return { answered, statuses, text: () => received, leave: () => void socket.destroy() };
  };
  const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  const retitle = (title: string): string => {
    const body = JSON.stringify({ title });
    return `PATCH /api/endpoints/m0 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  };
  const times = (count: number, request: string): readonly string[] => Array.from({ length: count }, () => request);

  test.each([
    ["pages", get("/federations")],
    ["the API", get("/api/endpoints")],
    ["changes", retitle("Another title")],
  ])("gets at most half of the answers of %s while others wait", async (_what, request) => {
    await open({});
    let own = 0;
    const sent = times(20, request).map(() => sendAtOnce(attacker, times(20, request), () => (own += 1)));
    const others = Array.from({ length: 20 }, (_, at) => sendAtOnce(`198.51.100.${at}`, times(4, request)));
    const statuses = await Promise.all(others.map(({ answered }) => answered));
    expect(own).toBeLessThanOrEqual(80);
    expect(new Set(statuses.flat())).toEqual(new Set([200]));
    for (const { leave } of [...sent, ...others]) leave();
  });

  test("is refused beyond what may wait, others are not, and what it left is not done", async () => {
    await open({});
    const sent = sendAtOnce(attacker, times(places + 100, get("/api/maintenance")));
    const other = sendAtOnce("203.0.113.8", times(1, get("/api/maintenance")));
    expect(await other.answered).toEqual([200]);
    const statuses = await sent.answered;
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(places);
    expect(statuses).toContain(503);
    expect(sent.text()).toMatch(/ 503 [^{]*retry-after: 1\r\n[^{]*\{[^}]*"code": "SERVICE_BUSY"/iu);

    const titles = Array.from({ length: 200 }, (_, at) => `Title ${at}`);
    const left = sendAtOnce(attacker, titles.map(retitle), () => left.leave());
    await until(() => left.statuses.length > 0);
    await until(async () => (await fetch(`${service.url}/api/endpoints/m0`)).ok);
    const all = await sendAtOnce(attacker, times(places, get("/api/maintenance"))).answered;
    expect(new Set(all)).toEqual(new Set([200]));
    const { title } = (await (await fetch(`${service.url}/api/endpoints/m0`)).json()) as { readonly title: string };
    expect(title).toMatch(/^Title \d+$/u);
    expect(title).not.toBe(titles.at(-1));
  });

  test("and takes no answers keeps no turns from others", async () => {
    await open({});
    endpoints.setDelay("slow", 600_000);
    const query = get(`/endpoints/slow/sparql?query=${encodeURIComponent("SELECT * { ?s ?p ?o }")}`);
    // What comes after an answer that does not end cannot be sent.
    const held = Array.from({ length: 8 }, (_, at) =>
      sendAtOnce(`203.0.113.${100 + at}`, [query, ...times(5, get("/api/maintenance"))]),
    );
    await until(() => endpoints.requests("slow").length === held.length);
    const runs = (await (
      await fetch(`${service.url}/api/runs`, { headers: { "x-forwarded-for": "203.0.113.100" } })
    ).json()) as { readonly runs: readonly { readonly id: string }[] };
    const waiting = sendAtOnce("203.0.113.100", times(10, get(`/api/runs/${runs.runs[0]?.id}?wait=10000`)));
    expect(await sendAtOnce("203.0.113.100", [get("/api/maintenance")]).answered).toEqual([200]);
    expect([...held, waiting].flatMap(({ statuses }) => statuses)).toEqual([]);
    for (const { leave } of [...held, waiting]) leave();
  });
});

describe("the requests of one call", () => {
  const client = "203.0.113.4";

  test.each<[name: string, path: string, body: unknown]>([
    ["a query", "/api/query", { query: `SELECT * { ${everywhere("?s <urn:p> ?o")} }` }],
    [
      "a query that takes part of an answer",
      "/api/query?partial=true",
      { query: `SELECT * { ${everywhere("?s <urn:p> ?o")} }` },
    ],
  ])("end %s that needs more", async (_name, path, body) => {
    await open({ FEDWAY_CALL_REQUESTS: "5", FEDWAY_EXPLAIN_EMPTY: "off" });
    const answer = await send({ client, path, body });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ status: "failed", diagnosis: { code: "BUDGET_SPENT" } });
    expect(requestsOf(members)).toBeLessThanOrEqual(5);
    expect((await ask(client, "SELECT * { SERVICE <m0> { ?s <urn:p> ?o } }")).status).toBe(200);
  });

  test("end a diagnosis, which says how far it got", async () => {
    await open({ FEDWAY_DIAGNOSIS_REQUESTS: "20", FEDWAY_EXPLAIN_EMPTY: "off" });
    const query = `SELECT * { { ${everywhere("?s <urn:p> ?o")} } { ${everywhere("?s <urn:q> ?t")} } FILTER(?o = "none") }`;
    const { run } = (await (await ask(client, query)).json()) as { readonly run: string };
    endpoints.clearRequests();
    const explained = (await (await callTool(client, "explain_result", { run_id: run })).json()) as {
      readonly text: string;
      readonly data: { readonly complete: boolean };
    };
    expect(requestsOf(members)).toBeLessThanOrEqual(20);
    expect(explained.data.complete).toBe(false);
    expect(explained.text).toContain("the limit of a diagnosis was reached");
  });
});

describe("the limit of a client", () => {
  const client = "203.0.113.5";

  test("counts each call of an MCP batch", async () => {
    await open({ FEDWAY_RATE_LIMIT: "20" });
    const call = (id: number) => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name: "find_endpoints", arguments: { question: "m1" } },
    });
    const batch = Array.from({ length: 30 }, (_, id) => call(id));
    const answered = await (await send({ client, path: "/mcp", body: batch })).text();
    expect(answered.match(/RATE_LIMITED/gu)?.length).toBeGreaterThanOrEqual(9);
    expect((await ask(client, "SELECT * { SERVICE <m0> { ?s <urn:p> ?o } }")).status).toBe(429);
    expect((await ask("203.0.113.6", "SELECT * { SERVICE <m0> { ?s <urn:p> ?o } }")).status).toBe(200);
  });

  test("counts the requests to endpoints, ten as one", async () => {
    await open({ FEDWAY_RATE_LIMIT: "8" });
    const statuses: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      statuses.push((await ask(client, `SELECT * { ${everywhere("?s <urn:p> ?o")} }`)).status);
    }
    expect(statuses.slice(0, 4)).toEqual([200, 200, 200, 200]);
    expect(statuses).toContain(429);
  });
});
