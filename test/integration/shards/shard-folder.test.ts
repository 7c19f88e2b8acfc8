import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { openShardFolder } from "../../../shards/src/finished-folder.ts";
import { manifestWith, sha256 } from "../../support/shard-build.ts";
import { newFolder } from "../../support/scratch-folder.ts";

let root: string;
let made = 0;
beforeAll(async () => {
  root = newFolder();
});

const data = "<urn:x:1> <urn:x:p> <urn:x:2> .\n";
const shard = {
  id: "base",
  key: "base",
  file: "shards/base.nt",
  triples: 1,
  bytes: data.length,
  lineBytes: data.length,
  sha256: sha256(data),
};
const manifest = manifestWith([shard]);

/** A finished folder with this manifest. */
async function folderOf(content: object | string, text = data): Promise<string> {
  made += 1;
  const folder = join(root, String(made));
  await mkdir(join(folder, "shards"), { recursive: true });
  await writeFile(join(folder, "shards", "base.nt"), text);
  await writeFile(join(folder, "manifest.json"), typeof content === "string" ? content : JSON.stringify(content));
  return folder;
}

describe("a folder of finished shards", () => {
  it("is opened when all its files are as they should be", async () => {
    const folder = await folderOf(manifest);
    expect(await openShardFolder(folder)).toMatchObject({
      dataset: "x",
      licence: "https://example.org/licence",
      folder,
      triples: 1,
      shards: [{ id: "base", path: join(folder, "shards", "base.nt"), triples: 1 }],
    });
  });

  it("has another version when its content is another", async () => {
    const [one, same, other] = await Promise.all(
      [manifest, manifest, { ...manifest, title: "Y" }].map(async (each) => openShardFolder(await folderOf(each))),
    );
    expect(one?.version).toBe(same?.version);
    expect(one?.version).not.toBe(other?.version);
  });

  it.each<[string, object | string, RegExp]>([
    ["a manifest that is no JSON", "{", /manifest of the shards is damaged/],
    ["a manifest of another version", { ...manifest, version: 2 }, /damaged/],
    ["a dataset that is a path", { ...manifest, dataset: "../x" }, /field "dataset"/],
    ["no licence", { ...manifest, licence: undefined }, /field "licence"/],
    ["a licence that is no IRI", { ...manifest, licence: "<script>" }, /field "licence"/],
    ["a title of 3,000 characters", { ...manifest, title: "x".repeat(3_000) }, /field "title"/],
    ["a file outside", { ...manifest, shards: [{ ...shard, file: "../../etc/passwd" }] }, /field "shards"/],
    ["a shard id with a slash", { ...manifest, shards: [{ ...shard, id: "a/b" }] }, /field "shards"/],
    ["two shards with one id", { ...manifest, shards: [shard, shard] }, /there twice/],
    ["triples without shards", { ...manifest, shards: [] }, /there twice/],
    ["half a triple", { ...manifest, shards: [{ ...shard, triples: 0.5 }] }, /field "shards"/],
    ["a missing file", { ...manifest, shards: [{ ...shard, file: "shards/none.nt" }] }, /none\.nt is missing/],
    ["a file of another size", { ...manifest, shards: [{ ...shard, bytes: 5 }] }, /another size/],
    ["another checksum", { ...manifest, shards: [{ ...shard, sha256: "0".repeat(64) }] }, /has changed/],
  ])("is refused for %s", async (_, content, message) => {
    await expect(openShardFolder(await folderOf(content))).rejects.toMatchObject({
      code: "SHARDS_INVALID",
      message: expect.stringMatching(message),
    });
  });

  it("is none without a manifest", async () => {
    await expect(openShardFolder(join(root, "none"))).rejects.toMatchObject({ code: "SHARDS_UNKNOWN" });
  });
});
