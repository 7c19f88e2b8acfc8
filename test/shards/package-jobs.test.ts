import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PackageManifest } from "../../shards/src/package/package-shards.ts";
import { packageVersion } from "../../src/package-file.ts";
import type { Job } from "../../src/jobs/job-queue.ts";
import { eventually } from "../support/eventually.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { acceptedJob, finishedJob, openBuiltWorkspace } from "../support/shard-workspace.ts";

let dataDir: string;
let service: RunningService;
let manifest: PackageManifest;
const baseUrl = "https://benchmark.example";

const post = (dataset: string, search = ""): Promise<Response> =>
  fetch(`${service.url}/api/shards/${dataset}/package${search}`, { method: "POST" });
const read = (file?: string, dataset = "harbour"): Promise<Response> =>
  fetch(`${service.url}/api/shards/${dataset}/package${file === undefined ? "" : `?file=${encodeURIComponent(file)}`}`);
const namesIn = async (folder: string): Promise<readonly string[]> => readdir(join(dataDir, folder)).catch(() => []);

beforeAll(async () => {
  ({ dataDir } = await openBuiltWorkspace());
  service = await startService({}, { FEDWAY_DATA_DIR: dataDir });
  expect((await read()).status).toBe(404);
  const job = await acceptedJob(service.url, "package-shards", await post("harbour", `?baseUrl=${baseUrl}/`));
  expect(job).toMatchObject({
    id: "package-shards.harbour",
    state: "done",
    result: { dataset: "harbour", fingerprint: expect.any(String), leftOut: 0, outcomes: { empty: 1 } },
  });
  expect(await namesIn("scratch")).toEqual([]);
  manifest = (await (await read()).json()) as PackageManifest;
});
afterAll(() => service.close());

describe("a package made over the API", () => {
  it("names the URL that was asked for, and each file that it lists can be fetched as it is", async () => {
    expect(manifest).toMatchObject({ dataset: "harbour", baseUrl, engine: { version: packageVersion() } });
    for (const { name, bytes, sha256 } of manifest.files) {
      const response = await read(name);
      const content = Buffer.from(await response.arrayBuffer());
      expect([name, response.status, response.headers.get("content-disposition")]).toEqual([
        name,
        200,
        `attachment; filename="${name.split("/").at(-1)}"`,
      ]);
      expect([content.length, createHash("sha256").update(content).digest("hex")]).toEqual([bytes, sha256]);
    }
  });

  it.each([
    ["a file that it does not list", "harbour", "notes.txt", 404, "SHARDS_UNKNOWN"],
    ["a file outside", "harbour", "../../folder-id", 404, "SHARDS_UNKNOWN"],
    ["a folder of it", "harbour", "build", 404, "SHARDS_UNKNOWN"],
    ["a dataset that is a path", "..%2f..%2fpackages%2fharbour", "README.md", 404, "SHARDS_UNKNOWN"],
    ["a dataset without one", "coast", "README.md", 404, "SHARDS_UNKNOWN"],
    ["no name", "harbour", "", 400, "REQUEST_INVALID"],
  ])("is not read for %s", async (_, dataset, file, status, code) => {
    await writeFile(join(dataDir, "packages/harbour/notes.txt"), "not of the package");
    const response = await read(file, dataset);
    expect([response.status, await response.json()]).toMatchObject([status, { code }]);
  });

  it("is not read where a file was changed, or leads elsewhere", async () => {
    const [changed, link] = ["exports/qald.json", "exports/shacl.ttl"].map((name) =>
      join(dataDir, "packages/harbour", name),
    );
    const [text, turtle] = await Promise.all([readFile(changed ?? ""), readFile(link ?? "")]);
    await writeFile(changed ?? "", "{}");
    await writeFile(join(dataDir, "elsewhere.ttl"), turtle);
    await rm(link ?? "");
    await symlink(join(dataDir, "elsewhere.ttl"), link ?? "");
    for (const name of ["exports/qald.json", "exports/shacl.ttl"])
      expect([name, await (await read(name)).json()]).toMatchObject([name, { code: "SHARDS_INVALID" }]);
    await writeFile(changed ?? "", text);
    await rm(link ?? "");
    await writeFile(link ?? "", turtle);
  });
});

describe("a request for a package", () => {
  it.each([
    ["of shards that are not there", "coast", "", 404, "SHARDS_UNKNOWN"],
    ["for a URL that is none", "harbour", "?baseUrl=benchmark", 400, "REQUEST_INVALID"],
    ["for a URL with a password", "harbour", "?baseUrl=http://a:b@benchmark.example", 400, "REQUEST_INVALID"],
    ["without time", "harbour", "?timeoutMs=0", 400, "REQUEST_INVALID"],
    ["with a parameter that is unknown", "harbour", "?base=x", 400, "REQUEST_INVALID"],
  ])("%s is refused", async (_, dataset, search, status, code) => {
    const response = await post(dataset, search);
    expect([response.status, await response.json()]).toMatchObject([status, { code }]);
  });

  it("is answered with the job under way, refuses another one, and can be cancelled without a trace", async () => {
    await rm(join(dataDir, "packages"), { recursive: true });
    const first = (await (await post("harbour")).json()) as Job;
    const [same, other] = await Promise.all([post("harbour"), post("harbour", "?timeoutMs=5")]);
    expect([((await same.json()) as Job).id, other.status]).toEqual([first.id, 409]);
    await eventually(async () => expect(await namesIn("packages")).not.toEqual([]));
    expect((await fetch(`${service.url}/api/jobs/${first.id}`, { method: "DELETE" })).status).toBe(204);
    expect((await finishedJob(service.url, first.id)).state).toBe("cancelled");
    await eventually(async () => expect([...(await namesIn("packages")), ...(await namesIn("scratch"))]).toEqual([]));
  });

  it("leaves alone what is no package", async () => {
    await mkdir(join(dataDir, "packages/harbour"), { recursive: true });
    const job = await acceptedJob(service.url, "package-shards", await post("harbour"));
    expect(job).toMatchObject({ state: "failed", error: { code: "REQUEST_INVALID" } });
  });
});
