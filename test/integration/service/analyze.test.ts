import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import type { PlanDescription } from "../../../src/query/records.ts";
import { type RunningService, startService } from "../../support/running-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";

const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join("");

let servers: readonly SparqlTestServer[];
let service: RunningService;

beforeAll(async () => {
  servers = await Promise.all([
    startSparqlTestServer(lines(40, (at) => `<urn:s${at}> <urn:left> "${at}" .\n`)),
    startSparqlTestServer(lines(500, (at) => `<urn:s${at}> <urn:right> "${at}" .\n`)),
  ]);
  const [left, right] = servers;
  service = await startService({ left: left?.url ?? "", right: right?.url ?? "" });
});

afterAll(async () => {
  await service?.close();
  await Promise.all(servers.map((server) => server.close()));
});

async function explain(body: object): Promise<PlanDescription & { readonly text: string }> {
  const response = await fetch(`${service.url}/api/explain`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return (await response.json()) as PlanDescription & { readonly text: string };
}

const join = "SELECT * { SERVICE <left> { ?s <urn:left> ?l } SERVICE <right> { ?s <urn:right> ?r } }";

describe("a plan that is analysed", () => {
  it("is run, and says what each step took", async () => {
    const { kind, run, text } = await explain({ query: join, analyze: true });
    expect([kind, run?.status, run?.rows]).toEqual(["federated", "ok", 40]);
    const steps = run?.steps ?? [];
    expect(steps.map(({ endpoints, asked, rows }) => ({ endpoints, asked, rows }))).toEqual([
      { endpoints: ["left"], asked: 1, rows: 40 },
      { endpoints: ["right"], asked: 1, rows: 40 },
    ]);
    expect(steps.map(({ keys, whole }) => [keys, whole])).toEqual([
      [0, 1],
      [40, 0],
    ]);
    const requests = steps.reduce((sum, step) => sum + step.requests, 0);
    expect(run?.sources.reduce((sum, source) => sum + source.requests, 0)).toBe(requests);
    expect(text).toMatch(/\n {2}run ok\n {4}Complete\.\n(?:.*\n)*? {4}rows 40\n/u);
    expect(text).toMatch(/\{ \?s <urn:right> \?r \} \(right\).* unknown +40 +\d+ +40 /u);
  });

  it("shows requests without join keys beside those with", async () => {
    const query = `SELECT * { { SERVICE <left> { ?s <urn:left> ?l } } UNION { VALUES ?n { 1 } }
      SERVICE <right> { ?s <urn:right> ?r } }`;
    const { run, text } = await explain({ query, analyze: true });
    expect([run?.status, run?.rows]).toEqual(["ok", 540]);
    expect(text).toContain("40 (1 request without)");
  });

  it("shows that what is expected to have fewer rows than there are keys is asked without keys", async () => {
    await fetch(`${service.url}/api/endpoints/left/describe`, { method: "POST" });
    const query = "SELECT * { SERVICE <right> { ?s <urn:right> ?r } OPTIONAL { SERVICE <left> { ?s <urn:left> ?l } } }";
    await eventually(async () => {
      const { text } = await explain({ query, analyze: true });
      expect(text).toMatch(/\(left\).* 40 +40 +1 +none /u);
    });
  });

  it("says why the run failed", async () => {
    const { run } = await explain({ query: join, analyze: true, timeoutMs: 1 });
    expect(run).toMatchObject({ status: "failed", code: "DEADLINE_EXCEEDED" });
  });

  it("is not run unless that is asked for", async () => {
    expect(await explain({ query: join })).not.toHaveProperty("run");
  });

  it("shows one step where one endpoint has all of it", async () => {
    const { kind, run } = await explain({ query: "SELECT * { ?s <urn:left> ?l }", endpoint: "left", analyze: true });
    expect([kind, run?.status, run?.rows, run?.steps]).toEqual(["direct", "ok", 40, undefined]);
  });
});
