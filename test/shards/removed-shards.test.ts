import { rm } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { problemOf, type RunningService, startService } from "../support/running-service.ts";
import { openBuiltWorkspace } from "../support/shard-workspace.ts";

let service: RunningService;
let shards: readonly { readonly id: string }[];

beforeAll(async () => {
  const workspace = await openBuiltWorkspace();
  await workspace.describe({ dataset: "lake" });
  await workspace.build();
  // One hosted endpoint at a time has room.
  service = await startService({}, { FEDWAY_DATA_DIR: workspace.dataDir, FEDWAY_HOSTED_TOTAL_MB: "128" });
  ({ shards } = (await get("/api/shards/harbour")) as { shards: { id: string }[] });
  await rm(workspace.folder, { recursive: true });
  // What the service has read to describe it would still answer: another endpoint takes its place.
  const { shards: others } = (await get("/api/shards/lake")) as { shards: { id: string }[] };
  expect((await service.query(all, { path: `/shards/lake/${others[0]?.id}/sparql` })).status).toBe(200);
});
afterAll(async () => {
  await service.close();
});

const get = async (path: string): Promise<unknown> => (await fetch(`${service.url}${path}`)).json();
const all = "SELECT * { ?s ?p ?o }";

// On a busy machine the service may have looked at its folders again before it is asked, and then hosts them no more.
describe("shards whose folder is removed while they are hosted", () => {
  it("are an error that says whose, not an empty answer", async () => {
    const problem = await problemOf(await service.query(all, { path: `/shards/harbour/${shards[0]?.id}/sparql` }));
    expect(problem.code).toMatch(/^(?:ENDPOINT_DATA_INVALID|SHARDS_UNKNOWN)$/);
    expect(problem.detail).toMatch(/harbour/);
  });

  it("are an error over the federation too", async () => {
    const problem = await problemOf(await service.query(all, { path: "/federations/harbour/sparql" }));
    expect(problem.code).toMatch(
      /^(?:ENDPOINT_DATA_INVALID|ENDPOINT_UNREACHABLE|ENDPOINT_UNKNOWN|FEDERATION_UNKNOWN)$/,
    );
  });

  it.each(["", "/report"])("have no report at /api/shards/harbour%s", async (end) => {
    const answer = await fetch(`${service.url}/api/shards/harbour${end}`);
    expect(answer.status).toBe(404);
    expect(await problemOf(answer)).toMatchObject({ code: "SHARDS_UNKNOWN" });
  });

  it("have no data to download", async () => {
    const answer = await fetch(`${service.url}/api/shards/harbour/${shards[0]?.id}`);
    expect(answer.status).toBe(404);
    expect(await problemOf(answer)).toMatchObject({
      code: "SHARDS_UNKNOWN",
      detail: expect.stringMatching(/is gone|hosts no shard/),
    });
  });

  it("cannot be verified", async () => {
    const answer = await fetch(`${service.url}/api/shards/harbour/verify`, { method: "POST" });
    expect(answer.status).toBe(404);
    expect(await problemOf(answer)).toMatchObject({ code: "SHARDS_UNKNOWN" });
  });

  it("leave the catalogue when the service has looked at its folders again", async () => {
    // It does every 15 seconds.
    const hosted = async (): Promise<unknown> => ((await get("/api/shards")) as { shards: unknown }).shards;
    await expect.poll(hosted).toMatchObject([{ dataset: "lake" }]);
    const federations = async (): Promise<readonly string[]> => {
      const list = (await get("/api/federations")) as { federations: { id: string }[] };
      return list.federations.map(({ id }) => id);
    };
    await expect.poll(federations).toEqual(["catalog", "lake"]);
    const { endpoints } = (await get("/api/endpoints?limit=100")) as { endpoints: { id: string }[] };
    expect(endpoints.length).toBeGreaterThan(1);
    expect(endpoints.filter(({ id }) => !id.startsWith("lake-"))).toEqual([]);
    const answer = await service.query(all, { path: `/shards/harbour/${shards[0]?.id}/sparql` });
    expect(answer.status).toBe(404);
    expect(await problemOf(answer)).toMatchObject({ code: "SHARDS_UNKNOWN" });
    const still = await service.query("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", { path: "/federations/lake/sparql" });
    expect(await still.json()).toMatchObject({ results: { bindings: [{ n: { value: "416" } }] } });
  });
});
