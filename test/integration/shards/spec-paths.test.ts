import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { readShardSpec, type ShardSpec } from "../../../shards/src/spec.ts";
import { isInside, locateSpec } from "../../../shards/src/spec-paths.ts";
import { newFolder } from "../../support/scratch-folder.ts";

type SpecPlaces = Parameters<typeof locateSpec>[1];

let root: string;
let places: SpecPlaces;
beforeAll(async () => {
  root = newFolder();
  await mkdir(join(root, "in", "below"), { recursive: true });
  await mkdir(join(root, "in-other"));
  for (const file of ["in/a.nt", "in/below/q.json", "secret.nt", "in-other/a.nt"])
    await writeFile(join(root, file), "");
  await symlink(join(root, "secret.nt"), join(root, "in", "link.nt"));
  await symlink(join(root, "in", "a.nt"), join(root, "in", "fine.nt"));
  await symlink(root, join(root, "in", "up"));
  const folder = join(root, "in");
  places = { baseDir: folder, readable: [folder], output: join(root, "shards", "x"), writable: [folder] };
});

const spec = (more: object = {}): ShardSpec =>
  readShardSpec({ dataset: "x", inputs: ["a.nt"], queries: "below/q.json", licence: "urn:x:licence", ...more });

describe("the paths of a description", () => {
  it("are made absolute, and the result lies where the service keeps shards", async () => {
    expect(await locateSpec(spec({ inputs: ["fine.nt"] }), places)).toMatchObject({
      inputs: [join(root, "in", "a.nt")],
      queries: join(root, "in", "below", "q.json"),
      output: join(root, "shards", "x"),
    });
  });

  it("may name a result below the allowed folder", async () => {
    expect((await locateSpec(spec({ output: "out/deep" }), places)).output).toBe(join(root, "in", "out", "deep"));
  });

  it.each([
    ["a way up", { inputs: ["../secret.nt"] }],
    ["a folder whose name begins alike", { inputs: ["../in-other/a.nt"] }],
    ["an absolute path", { inputs: ["/etc/hostname"] }],
    ["a link that leads out", { inputs: ["link.nt"] }],
    ["a linked folder", { inputs: ["up/secret.nt"] }],
    ["queries outside", { queries: "../secret.nt" }],
    ["an ontology outside", { ontology: "../secret.nt" }],
    ["what is not there outside", { ontology: "../nothing.ttl" }],
  ])("refuses %s", async (_, more) => {
    await expect(locateSpec(spec(more), places)).rejects.toMatchObject({
      code: "REQUEST_INVALID",
      message: expect.stringMatching(/leads out of the folders that may be read/),
    });
  });

  it.each([
    ["outside", { output: "../elsewhere" }, /leads out of the folders that may be written/],
    ["through a link", { output: "up/elsewhere" }, /leads out of the folders that may be written/],
    ["the allowed folder itself", { output: "." }, /may be written/],
    ["a folder with the queries", { output: "below" }, /has files of the source in it/],
  ])("refuses a result %s", async (_, more, message) => {
    await expect(locateSpec(spec(more), places)).rejects.toMatchObject({
      code: "REQUEST_INVALID",
      message: expect.stringMatching(message),
    });
  });

  it("says which file is missing", async () => {
    await expect(locateSpec(spec({ inputs: ["b.nt"] }), places)).rejects.toThrow(/"b.nt" is not there/);
  });

  it("refuses a named result where none may be named", async () => {
    await expect(locateSpec(spec({ output: "out" }), { ...places, writable: [] })).rejects.toThrow(/cannot be chosen/);
  });

  it.each([
    ["/a/b", "/a", true],
    ["/a", "/a", true],
    ["/a", "/a/b", false],
    ["/ab", "/a", false],
    ["/a/..b", "/a", true],
  ])("knows whether %s is inside %s", (path, folder, inside) => expect(isInside(path, folder)).toBe(inside));
});
