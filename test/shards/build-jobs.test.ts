import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Job } from "../../src/jobs/job-queue.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { acceptedJob, finishedJob, openWorkspace, type ShardWorkspace } from "../support/shard-workspace.ts";

let workspace: ShardWorkspace;
let service: RunningService;
beforeAll(async () => {
  workspace = await openWorkspace();
  // A description below a folder of its own: its paths start there.
  await rename(workspace.input, join(workspace.dataDir, "example"));
  await mkdir(workspace.input);
  await rename(join(workspace.dataDir, "example"), join(workspace.input, "example"));
  service = await startService({}, { FEDWAY_DATA_DIR: workspace.dataDir });
});
afterAll(async () => {
  await service.close();
});

const post = (body: unknown, search = ""): Promise<Response> =>
  fetch(`${service.url}/api/shards${search}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

const finished = (id: string): Promise<Job> => finishedJob(service.url, id);
const jobOf = (response: Response): Promise<Job> => acceptedJob(service.url, "build-shards", response);

const least = {
  dataset: "uploaded",
  inputs: ["example/harbour.nt"],
  queries: "example/queries.json",
  licence: "https://creativecommons.org/publicdomain/zero/1.0/",
};

const datasets = async (): Promise<readonly string[]> => {
  const list = (await (await fetch(`${service.url}/api/shards`)).json()) as { shards: { dataset: string }[] };
  return list.shards.map(({ dataset }) => dataset);
};

describe("POST /api/shards", () => {
  it("predicts from a description in the data folder, without writing", async () => {
    const job = await jobOf(await post({ file: "example/spec.json" }, "?dryRun=true"));
    expect(job).toMatchObject({ state: "done", result: { dataset: "harbour", dryRun: true, triples: 416 } });
    expect(await datasets()).toEqual([]);
  });

  it("builds from a description that was uploaded, and hosts what was built", async () => {
    const job = await jobOf(await post(least));
    expect(job).toMatchObject({ state: "done", result: { dataset: "uploaded", triples: 416, notFederated: 1 } });
    expect(await datasets()).toEqual(["uploaded"]);
    const query = "PREFIX h: <https://harbour.example/vocabulary#> SELECT (COUNT(?f) AS ?n) WHERE { ?f a h:Ferry }";
    const answer = await service.query(query, { path: "/federations/uploaded/sparql" });
    expect(await answer.json()).toMatchObject({ results: { bindings: [{ n: { value: "8" } }] } });
  });

  it("fails as a job when the data is not what it should be", async () => {
    await writeFile(join(workspace.input, "broken.nt"), "<urn:x:1> nonsense .");
    const job = await jobOf(await post({ ...least, dataset: "broken", inputs: ["broken.nt"] }));
    expect(job).toMatchObject({ state: "failed", attempts: 1, error: { code: "DATASET_INVALID" } });
  });

  it.each<[string, object, RegExp]>([
    ["an unknown field", { ...least, outputs: "x" }, /unknown field "outputs"/],
    ["an output of one's own", { ...least, output: "elsewhere" }, /output/],
    ["a way out", { ...least, inputs: ["../shards/uploaded/manifest.json"] }, /leads out/],
    ["an absolute path", { ...least, inputs: ["/etc/hostname"] }, /leads out/],
    ["a file of a description outside", { file: "../../etc/passwd" }, /leads out/],
    ["a file beside other fields", { ...least, file: "example/spec.json" }, /nothing stands beside it/],
    ["a missing file", { ...least, inputs: ["none.nt"] }, /not there/],
    ["a description that is no JSON", { file: "example/harbour.nt" }, /not JSON/],
    ["a folder as description", { file: "example" }, /no file/],
  ])("refuses %s at once", async (_, body, message) => {
    const response = await post(body);
    expect({ status: response.status, problem: await response.json() }).toMatchObject({
      status: 400,
      problem: { code: "REQUEST_INVALID", detail: expect.stringMatching(message) },
    });
  });

  it("refuses a link that leads out", async () => {
    await symlink("/etc", join(workspace.input, "link"));
    expect((await post({ ...least, inputs: ["link/hostname"] })).status).toBe(400);
  });

  it("refuses requests that come from another site", async () => {
    const headers = { "content-type": "application/json", origin: "https://elsewhere.example" };
    const body = JSON.stringify(least);
    const response = await fetch(`${service.url}/api/shards`, { method: "POST", headers, body });
    expect(response.status).toBe(403);
  });
});

describe("a build under way", () => {
  it("is the answer to the same request, refuses another one, and can be cancelled", async () => {
    const wish = { ...least, dataset: "slow" };
    const [first, second, other] = await Promise.all([post(wish), post(wish), post({ ...wish, gzip: true })]);
    const jobs = (await Promise.all([first, second, other].map((response) => response.json()))) as (Job & {
      code?: string;
    })[];
    const accepted = jobs.filter(({ kind }) => kind === "build-shards");
    expect(new Set(accepted.map(({ id }) => id))).toEqual(new Set(["build-shards.slow"]));
    expect(jobs.map(({ code }) => code ?? "ok").toSorted()).toSatisfy(
      (codes: string[]) => codes.includes("SHARDS_BUSY") && codes.includes("ok"),
    );
    const cancelled = await fetch(`${service.url}/api/jobs/build-shards.slow`, { method: "DELETE" });
    expect(cancelled.status).toBe(204);
    expect((await finished("build-shards.slow")).state).toBe("cancelled");
    expect(await datasets()).not.toContain("slow");
  });
});
