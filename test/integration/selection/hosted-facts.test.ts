import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { type RunningService, startService } from "../../support/running-service.ts";
import { acceptedJob, openTowns, type ShardWorkspace, townsQuery } from "../../support/shard-workspace.ts";

const x = (name: string): string => `<http://x.example/${name}>`;
let workspace: ShardWorkspace;
let service: RunningService;

beforeAll(async () => {
  workspace = await openTowns();
  service = await startService(
    {},
    { FEDWAY_DATA_DIR: workspace.dataDir, FEDWAY_FACTS: "on", FEDWAY_MONITOR: "on", FEDWAY_HARVEST_ROWS: "0" },
  );
  await eventually(async () => {
    expect((await ask(townsQuery)).facts?.known).toEqual({ known: 3, members: 3 });
    expect(await (await fetch(`${service.url}/metrics`)).text()).not.toMatch(/^fedway_jobs_open\{.*\} [1-9]/mu);
  });
});
afterAll(() => service.close());

/** The answer of the federation, and how many requests went to its shards. */
async function ask(text: string) {
  const request = { text, federationId: "towns", defaultGraphs: [], namedGraphs: [], strict: false, partial: false };
  const { signal } = new AbortController();
  const table = await service.app.queries.table({ ...request, signal, maxRows: 1_000 });
  const { sources = [] } = (await service.app.queries.runRecord(table.run)) ?? {};
  return { ...table, requests: sources.reduce((sum, source) => sum + source.requests, 0) };
}

const nothing = `?x ${x("none")} ?y`;
it.each([
  ["no rows", `SELECT * { ${nothing} }`, 0, 0],
  ["a count of nothing", `SELECT (COUNT(*) AS ?n) { ${nothing} }`, 1, 0],
  ["a count", `SELECT (COUNT(*) AS ?n) { ?x ${x("size")} ?y }`, 1, 1],
  ["MINUS", `SELECT * { ?x ${x("size")} ?z MINUS { ${nothing} } }`, 3, 1],
  ["NOT EXISTS", `SELECT * { ?x ${x("size")} ?z FILTER NOT EXISTS { ${nothing} } }`, 3, 1],
  ["a join without a match", `SELECT * { ?x ${x("size")} "1" . ?x ${x("name")} "d" }`, 0, 1],
])("%s: what was described of this very build is not verified", async (_, text, rows, requests) => {
  const answer = await ask(text);
  expect([answer.rows.length, answer.requests]).toEqual([rows, requests]);
  expect(Date.parse(answer.facts?.verifiedAt ?? "")).toBeGreaterThan(Date.parse(answer.facts?.seenAt ?? ""));
});

it("another build is asked before it is described", async () => {
  await appendFile(join(workspace.input, "towns.nt"), `${x("a")} ${x("none")} "1" .\n`);
  const response = await fetch(`${service.url}/api/shards`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: await readFile(join(workspace.input, "spec.json"), "utf8"),
  });
  expect(await acceptedJob(service.url, "build-shards", response)).toMatchObject({ state: "done" });
  expect((await ask(`SELECT * { ${nothing} }`)).rows).toHaveLength(1);
});
