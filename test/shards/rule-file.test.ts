import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { problemOf, type RunningService, startService } from "../support/running-service.ts";
import { openBuiltWorkspace, type ShardWorkspace } from "../support/shard-workspace.ts";

let workspace: ShardWorkspace;
let service: RunningService;
let file: string;

beforeAll(async () => {
  const { folder, ...opened } = await openBuiltWorkspace();
  workspace = opened;
  file = join(folder, "rules.lp");
  service = await startService({}, { FEDWAY_DATA_DIR: workspace.dataDir });
});
beforeEach(() => rm(file, { recursive: true, force: true }));
afterAll(async () => {
  await service.close();
});

const get = (dataset = "harbour"): Promise<Response> => fetch(`${service.url}/api/shards/${dataset}/rules.lp`);

async function shouldBeUnknown(response: Response): Promise<void> {
  expect(response.status).toBe(404);
  expect(await problemOf(response)).toMatchObject({ code: "SHARDS_UNKNOWN" });
}

describe("the rule file over HTTP", () => {
  it.each(["", "answer(1). % über\n", "rule(1).\n".repeat(100_000)])("is given as it is (%#)", async (text) => {
    await writeFile(file, text);
    const response = await get();
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("content-length")).toBe(String(Buffer.byteLength(text)));
    expect((await response.text()) === text).toBe(true);
  });

  it("is not there for shards that were built without one", async () => shouldBeUnknown(await get()));

  it("is not there for shards that are not hosted", async () => shouldBeUnknown(await get("none")));

  it("is never another file of this machine", async () => {
    const secret = join(workspace.dataDir, "secret.txt");
    await writeFile(secret, "secret");
    await symlink(secret, file);
    await shouldBeUnknown(await get());
  });

  it("is no folder", async () => {
    await mkdir(file);
    await shouldBeUnknown(await get());
  });
});
