import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { appendFile, cp, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { dataFolderId } from "../../shards/src/service/data-folder.ts";
import { verifyJobs, type VerifyJobResult } from "../../shards/src/service/dataset-jobs.ts";
import { shardRunner } from "../../shards/src/plugin.ts";
import { loadConfig } from "../../src/config/config.ts";
import { FedwayError } from "../../src/errors/fedway-error.ts";
import type { Job } from "../../src/jobs/job-queue.ts";
import type { Check } from "../../shards/src/verify/verification.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import {
  acceptedJob,
  exampleQueries,
  finishedJob,
  openBuiltWorkspace,
  openWorkspace,
  type ShardWorkspace,
} from "../support/shard-workspace.ts";

let workspace: ShardWorkspace;
let folder: string;
/** The folder as it was built, to put it back. */
let kept: string;
/** A dataset of `FEDWAY_SHARDS`, built from inputs of its own. */
let elsewhere: ShardWorkspace;
let service: RunningService;

beforeAll(async () => {
  ({ folder, ...workspace } = await openBuiltWorkspace());
  elsewhere = await openWorkspace();
  kept = join(workspace.dataDir, "kept");
  await cp(folder, kept, { recursive: true });
  await elsewhere.describe({ dataset: "coast" });
  const { folder: other = "" } = await elsewhere.build();
  service = await startService({}, { FEDWAY_DATA_DIR: workspace.dataDir, FEDWAY_SHARDS: other });
});
afterEach(restore);
afterAll(async () => {
  await service.close();
});

/** Puts back what a test has changed, and nothing else: shards whose files are written anew are hosted anew. */
async function restore(): Promise<void> {
  const filesBelow = async (at: string): Promise<readonly string[]> => {
    const entries = await readdir(at, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => relative(at, join(entry.parentPath, entry.name)));
  };
  const built = await filesBelow(kept);
  for (const name of await filesBelow(folder)) if (!built.includes(name)) await rm(join(folder, name));
  for (const name of built) {
    const bytes = await readFile(join(kept, name));
    const found = await readFile(join(folder, name)).catch(() => undefined);
    if (!found?.equals(bytes)) await writeFile(join(folder, name), bytes);
  }
}

const post = (dataset: string, search = ""): Promise<Response> =>
  fetch(`${service.url}/api/shards/${dataset}/verify${search}`, { method: "POST" });

const finished = (id: string): Promise<Job> => finishedJob(service.url, id);
const jobOf = (response: Response): Promise<Job> => acceptedJob(service.url, "verify-shards", response);

async function verified(dataset: string, search = ""): Promise<VerifyJobResult> {
  const job = await jobOf(await post(dataset, search));
  expect(job).toMatchObject({ id: `verify-shards.${dataset}`, state: "done", result: { dataset } });
  // Nothing of the work is left.
  expect(await scratch()).toEqual([]);
  return job.result as VerifyJobResult;
}

const scratch = (): Promise<readonly string[]> => readdir(join(workspace.dataDir, "scratch")).catch(() => []);

const outcomes = ({ checks }: VerifyJobResult): Readonly<Record<string, string>> =>
  Object.fromEntries(checks.map(({ name, outcome }) => [name, outcome]));
const checkOf = ({ checks }: VerifyJobResult, name: Check["name"]): Check | undefined =>
  checks.find((check) => check.name === name);
const firstFile = async (): Promise<string> => join(folder, "shards", (await readdir(join(folder, "shards")))[0] ?? "");

describe("POST /api/shards/{dataset}/verify", () => {
  it("says that shards hold, of which build, and how much was looked at", async () => {
    const found = await verified("harbour");
    const { fingerprint } = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));
    expect(found).toMatchObject({ outcome: "held", fingerprint });
    expect(found.checks).toMatchObject([
      { name: "files", outcome: "held", wrong: 0, notLookedAt: 0, findings: [] },
      { name: "disjoint", outcome: "held", checked: 416 },
      { name: "complete", outcome: "held", checked: 416 },
      { name: "placement", outcome: "held", checked: 416 },
      { name: "federated", outcome: "held", checked: (await exampleQueries()).length },
      { name: "hosted", outcome: "held", checked: 416 },
      { name: "answers", outcome: "held", checked: (await exampleQueries()).length },
    ]);
  });

  it("leaves answers out when that is asked for, and says that they are unknown", async () => {
    const found = await verified("harbour", "?answers=false");
    expect(found.outcome).toBe("unknown");
    expect(outcomes(found)).toMatchObject({
      complete: "held",
      placement: "held",
      federated: "held",
      answers: "unknown",
    });
  });

  it("says what could be checked, and what not, when the inputs lie elsewhere", async () => {
    const found = await verified("coast");
    expect(found.outcome).toBe("unknown");
    expect(outcomes(found)).toEqual({
      files: "unknown",
      disjoint: "held",
      complete: "unknown",
      placement: "held",
      federated: "held",
      hosted: "held",
      answers: "unknown",
    });
    const shards = (await readdir(join(elsewhere.dataDir, "shards", "coast", "shards"))).length;
    const reason = expect.stringMatching(/does not lie below shards-input\//);
    expect(checkOf(found, "files")).toMatchObject({
      checked: shards,
      wrong: 0,
      notLookedAt: 1,
      findings: [{ subject: "harbour.nt", reason }],
    });
    expect(checkOf(found, "complete")?.findings).toMatchObject([{ subject: "all", reason }]);
    expect(JSON.stringify(found)).not.toContain(elsewhere.dataDir);
  });

  it("does not read inputs that a note leads to outside, nor through a link", async () => {
    const outside = join(workspace.dataDir, "outside.nt");
    await cp(join(workspace.input, "harbour.nt"), outside);
    const link = join(workspace.input, "link");
    await symlink(workspace.dataDir, link);
    for (const path of [outside, join(link, "outside.nt")]) {
      await writeFile(join(folder, "origins.json"), JSON.stringify({ inputs: [path] }));
      expect(outcomes(await verified("harbour", "?answers=false"))).toMatchObject({
        files: "unknown",
        disjoint: "held",
        complete: "unknown",
      });
    }
    await rm(link);
  });

  it.each<[string, RegExp]>([
    ["origins.json", /There is no origins\.json/],
    ["report.json", /There is no report\.json/],
  ])("says what is unknown without %s", async (name, reason) => {
    await rm(join(folder, name));
    const found = await verified("harbour");
    expect(found.outcome).toBe("unknown");
    expect(outcomes(found)).toMatchObject({ disjoint: "held", answers: "unknown" });
    expect(checkOf(found, "answers")?.findings).toMatchObject([{ reason: expect.stringMatching(reason) }]);
  });

  it("says what is wrong with shards that are not hosted for being damaged, in few words", async () => {
    const long = `<urn:x:1> <urn:x:p> "${"y".repeat(100_000)}" .\n`;
    await appendFile(await firstFile(), long);
    const found = await verified("harbour");
    expect(found.outcome).toBe("broken");
    expect(outcomes(found)).toMatchObject({ files: "broken", disjoint: "held", complete: "broken", answers: "held" });
    expect(JSON.stringify(found).length).toBeLessThan(10_000);
  });

  it("finds a triple in two shards without the inputs", async () => {
    const manifest = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));
    const [from, to] = manifest.shards;
    const [line = ""] = (await readFile(join(folder, from.file), "utf8")).split("\n");
    // One who damages shards may write a fitting manifest too.
    const text = `${await readFile(join(folder, to.file), "utf8")}${line}\n`;
    await writeFile(join(folder, to.file), text);
    Object.assign(to, {
      triples: to.triples + 1,
      bytes: Buffer.byteLength(text),
      sha256: createHash("sha256").update(text).digest("hex"),
    });
    manifest.triples += 1;
    manifest.statements += 1;
    await writeFile(join(folder, "manifest.json"), JSON.stringify(manifest));
    await writeFile(join(folder, "origins.json"), JSON.stringify({ inputs: ["/etc/hostname"] }));
    const found = await verified("harbour", "?answers=false");
    expect(outcomes(found)).toEqual({
      files: "unknown",
      disjoint: "broken",
      complete: "unknown",
      placement: "broken",
      federated: "held",
      hosted: "held",
      answers: "unknown",
    });
    expect(checkOf(found, "disjoint")).toMatchObject({ wrong: 1, findings: [{ subject: line }] });
  });

  it("fails as a job when the manifest is damaged", async () => {
    await writeFile(join(folder, "manifest.json"), "{");
    expect(await jobOf(await post("harbour"))).toMatchObject({
      state: "failed",
      attempts: 1,
      error: { code: "SHARDS_INVALID", message: "The manifest of the shards is damaged, or of another version." },
    });
  });

  it.each(["none", "UPPER", "..%2f..%2fetc", "shards-input"])("knows no shards of %s", async (dataset) => {
    const response = await post(dataset);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "SHARDS_UNKNOWN" });
  });

  it("refuses unknown parameters, and requests that come from another site", async () => {
    expect((await post("harbour", "?fast=true")).status).toBe(400);
    const headers = { origin: "https://elsewhere.example" };
    const foreign = await fetch(`${service.url}/api/shards/harbour/verify`, { method: "POST", headers });
    expect(foreign.status).toBe(403);
  });

  it("stands in the OpenAPI document", async () => {
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
      paths: Record<string, { post?: { parameters: { name: string }[]; responses: object } }>;
    };
    const operation = document.paths["/api/shards/{dataset}/verify"]?.post;
    expect(operation?.parameters.map(({ name }) => name).toSorted()).toEqual(["answers", "dataset"]);
    expect(Object.keys(operation?.responses ?? {})).toContain("202");
  });
});

describe("a verification under way", () => {
  it("is the answer to the same request, refuses another one, and can be cancelled", async () => {
    // A file that takes a while, so that there is something under way.
    const aside = join(workspace.dataDir, "aside.nt");
    const input = join(workspace.input, "harbour.nt");
    await rename(input, aside);
    const line = `<urn:x:1> <urn:x:p> "${"z".repeat(200)}" .\n`;
    await writeFile(input, line.repeat(400_000));
    const first = (await (await post("harbour", "?answers=false")).json()) as Job;
    const second = (await (await post("harbour", "?answers=false")).json()) as Job;
    expect([first.id, second.id]).toEqual(["verify-shards.harbour", "verify-shards.harbour"]);
    const other = await post("harbour");
    expect(other.status).toBe(409);
    expect(await other.json()).toMatchObject({ code: "SHARDS_BUSY" });
    await expect.poll(scratch).not.toEqual([]);
    const cancelled = await fetch(`${service.url}/api/jobs/${first.id}`, { method: "DELETE" });
    expect(cancelled.status).toBe(204);
    expect((await finished(first.id)).state).toBe("cancelled");
    // What it wrote goes when its run has noticed.
    await expect.poll(scratch).toEqual([]);
    await rename(aside, input);
  });

  it("shows which step it is at, and leaves nothing when it is told to end", async () => {
    const config = loadConfig({ FEDWAY_DATA_DIR: workspace.dataDir });
    const aborter = new AbortController();
    const stages = new Set<string>();
    const run = verifyJobs.kind({ config, runTask: shardRunner(config), host: { folderOf: async () => folder } }).run(
      { dataset: "harbour", answers: true, folder: await dataFolderId(workspace.dataDir) },
      {
        id: "verify-shards.told",
        attempt: 1,
        signal: aborter.signal,
        progress: ({ stage, done, total = 0 }) => {
          stages.add(stage);
          expect(done).toBeLessThanOrEqual(total);
          if (stage.startsWith("comparing answers")) aborter.abort(new FedwayError("CANCELLED", "Told to end."));
        },
      },
    );
    await expect(run).rejects.toMatchObject({ code: "CANCELLED" });
    expect([...stages]).toEqual([
      "reading inputs and shards (1 of 4)",
      "comparing triples (2 of 4)",
      "comparing hosted shards with their files (3 of 4)",
      "comparing answers (4 of 4)",
    ]);
    expect((await scratch()).filter((name) => name.startsWith("verify-shards.told"))).toEqual([]);
  });

  it("leaves alone what a run of the same id works in that began later", async () => {
    const later = join(workspace.dataDir, "scratch", `verify-shards.told~${Date.now() + 3_600_000}~x`);
    const earlier = join(workspace.dataDir, "scratch", "verify-shards.told~1~x");
    for (const name of [later, earlier]) await mkdir(name, { recursive: true });
    const config = loadConfig({ FEDWAY_DATA_DIR: workspace.dataDir });
    await verifyJobs.kind({ config, runTask: shardRunner(config), host: { folderOf: async () => folder } }).run(
      { dataset: "harbour", answers: false, folder: await dataFolderId(workspace.dataDir) },
      {
        id: "verify-shards.told",
        attempt: 1,
        signal: new AbortController().signal,
        progress: () => {},
      },
    );
    expect(await scratch()).toEqual([basename(later)]);
    await rm(later, { recursive: true });
  });

  it("says nothing of shards that were replaced by others meanwhile", async () => {
    const config = loadConfig({ FEDWAY_DATA_DIR: workspace.dataDir });
    const manifest = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));
    const replaced = JSON.stringify({ ...manifest, fingerprint: "another" });
    const run = verifyJobs.kind({ config, runTask: shardRunner(config), host: { folderOf: async () => folder } }).run(
      { dataset: "harbour", answers: false, folder: await dataFolderId(workspace.dataDir) },
      {
        id: "verify-shards.replaced",
        attempt: 1,
        signal: new AbortController().signal,
        progress: ({ stage }) => {
          if (stage.startsWith("comparing")) writeFileSync(join(folder, "manifest.json"), replaced);
        },
      },
    );
    await expect(run).rejects.toMatchObject({ code: "SHARDS_BUSY" });
  });
});
