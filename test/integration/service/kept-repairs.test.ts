import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Problem } from "../../../src/errors/fedway-error.ts";
import { eventually } from "../../support/eventually.ts";
import { startService, type RunningService } from "../../support/running-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";

// What was probably meant is said wherever an answer is empty, whether the endpoint was asked or left out by its description.

const foaf = "http://xmlns.com/foaf/0.1/";
const people = Array.from({ length: 20 }, (_, n) => `<http://x/${n}> <${foaf}name> "Name ${n}" .`);
let server: SparqlTestServer;
let service: RunningService;

beforeAll(async () => {
  server = await startSparqlTestServer(people.join("\n"));
  service = await startService({ people: server.url });
  await fetch(`${service.url}/api/endpoints/people/describe`, { method: "POST" });
  await eventually(async () => expect(JSON.stringify(await explained(query(), {}))).toContain("Did you mean"));
});
afterAll(async () => {
  await service?.close();
  await server?.close();
});

const query = (where = "SERVICE <people> { ?s foaf:nam ?n }"): string => `PREFIX foaf: <${foaf}> SELECT * { ${where} }`;

async function post(path: string, body: object): Promise<Record<string, unknown>> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${service.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return (await response.json()) as Record<string, unknown>;
}

const explained = (text: string, place: object) => post("/api/explain", { query: text, ...place });

/** As the console asks: the answer, then the record of its run, and its page. */
async function inConsole(text: string, path: string): Promise<{ readonly record: string; readonly page: string }> {
  const response = await service.query(text, { path });
  await response.text();
  const run = response.headers.get("fedway-run") ?? "";
  const [record, page] = await Promise.all(
    [`/api/runs/${run}`, `/runs/${run}`].map(async (each) => (await fetch(service.url + each)).text()),
  );
  return { record: record ?? "", page: page ?? "" };
}

const meant = "`people` has no foaf:nam";
const offered = "Did you mean foaf:name?";

describe("foaf:nam at people is said to be foaf:name", () => {
  it.each([
    ["a SERVICE", query(), {}, "/sparql"],
    ["its own route", query("?s foaf:nam ?n"), { endpoint: "people" }, "/endpoints/people/sparql"],
  ])("by every door, in %s", async (_, text, place, path) => {
    const [explain, table, tool, { record, page }] = await Promise.all([
      explained(text, place),
      post("/api/query", { query: text, ...place }),
      post("/api/tools/run_query", { query: text, ...place }),
      inConsole(text, path),
    ]);
    const told = [explain["notes"], table["notes"], tool["text"]].map((each) => JSON.stringify(each));
    for (const each of [...told, record, page]) {
      expect(each).toContain(meant);
      expect(each).toContain(offered);
    }
    for (const each of [JSON.stringify(explain), ...told, record, page]) expect(each).not.toMatch(/reads no data/);
    expect(table["status"]).toBe("empty");
  });
});

describe("what must be empty by a complete description", () => {
  it.each([
    ["a SERVICE", query("SERVICE <people> { ?s foaf:nam ?n ; foaf:name ?m }"), {}],
    ["its own route", query("?s foaf:nam ?n . ?s foaf:name ?m"), { endpoint: "people" }],
  ])("is said with the first reply in %s, after one question", async (_, text, place) => {
    const before = server.requests.length;
    const { data } = (await post("/api/tools/run_query", { query: text, ...place })) as {
      readonly data: { readonly run: string; readonly diagnosis: Problem };
    };
    // The run asks whether the description still holds; the diagnosis asks so of its pattern, with the offer.
    expect(server.requests.length - before).toBeLessThanOrEqual(3);
    const { diagnosis } = data;
    expect(diagnosis).toMatchObject({
      code: "EMPTY_TERM",
      detail: expect.stringMatching(/has no property .*asked now/),
    });
    const [repair] = diagnosis.repairs ?? [];
    const mended = text.replace(repair?.before ?? "", () => repair?.after ?? "");
    expect(await post("/api/query", { query: mended, ...place })).toMatchObject({ status: "ok", diagnosis: null });
  });
});

describe("after a change that leaves the number of triples alone", () => {
  const nick = `<http://x/1> <${foaf}nick> "n" .`;
  const swapped = query("SERVICE <people> { ?s foaf:nick ?n } SERVICE <people> { ?s foaf:name ?m }");

  it("no diagnosis shows as seen what a description says", async () => {
    const before = { query: `# before\n${swapped}` };
    for (const evidence of [/\(asked now\)\.$/, /\(asked \d+ s ago\)\.$/]) {
      const { diagnosis } = await post("/api/query", before);
      expect(diagnosis).toMatchObject({ detail: expect.stringMatching(evidence) });
    }
    server.setData([nick, ...people.slice(1)].join("\n"));
    for (const text of [query("SERVICE <people> { ?s foaf:nick ?n }"), swapped]) {
      const { status, diagnosis, rows } = await post("/api/query", { query: text });
      const { detail = "", next = "" } = (diagnosis ?? {}) as { readonly detail?: string; readonly next?: string };
      // An answer with rows needs no diagnosis.
      if (status === "ok") expect(rows).toHaveLength(1);
      else expect(`${detail} ${next}`).toMatch(/has solutions, though descriptions .*prune=false/);
      const asked = await post("/api/query", { query: text, prune: false });
      expect(asked).toMatchObject({ status: "ok", diagnosis: null });
      const tool = await post("/api/tools/run_query", { query: text, prune: false });
      expect(tool["data"]).toMatchObject({ status: "ok" });
    }
  });
});
