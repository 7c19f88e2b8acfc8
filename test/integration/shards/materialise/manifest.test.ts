import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { readManifest } from "../../../../shards/src/materialise/manifest.ts";
import { manifestWith, sha256 } from "../../../support/shard-build.ts";
import { newFolder } from "../../../support/scratch-folder.ts";

let root: string;
let made = 0;
beforeAll(async () => {
  root = newFolder();
});

async function folderWith(text: string): Promise<string> {
  made += 1;
  const folder = join(root, String(made));
  await mkdir(folder);
  await writeFile(join(folder, "manifest.json"), text);
  return folder;
}

const shard = {
  id: "base",
  key: "base",
  file: "shards/base.nt",
  triples: 3,
  bytes: 100,
  lineBytes: 100,
  sha256: sha256("x"),
};
const input = { name: "in.nt", format: "n-triples", bytes: 120, sha256: sha256("in") };
const whole = manifestWith([shard], {
  citation: "A. Author: Data",
  source: "https://example.org/data",
  rules: [
    { kind: "vertical", predicates: ["urn:x:p", "urn:x:q"] },
    { kind: "class", classes: ["urn:x:C"] },
    { kind: "horizontal", class: "urn:x:D", buckets: 2 },
  ],
  inputs: [input],
  statements: 4,
});

describe("a manifest", () => {
  it("is read as it was written", async () => {
    expect(await readManifest(await folderWith(JSON.stringify(whole)))).toStrictEqual(whole);
  });

  it("may have fields of a later version beside those that are known", async () => {
    const later = { ...whole, note: "new", shards: [{ ...shard, note: "new" }] };
    expect(await readManifest(await folderWith(JSON.stringify(later)))).toStrictEqual(later);
  });

  it("may be without a citation and a source", async () => {
    const { citation: _, source: __, ...least } = whole;
    expect(await readManifest(await folderWith(JSON.stringify(least)))).toStrictEqual(least);
  });

  it("is missed where there is none", async () => {
    await expect(readManifest(join(root, "none"))).rejects.toMatchObject({ code: "SHARDS_UNKNOWN" });
  });

  it("that is a folder is damaged", async () => {
    const folder = join(root, "folder");
    await mkdir(join(folder, "manifest.json"), { recursive: true });
    await expect(readManifest(folder)).rejects.toMatchObject({ code: "SHARDS_INVALID" });
  });
});

const without = (name: keyof typeof whole): object =>
  Object.fromEntries(Object.entries(whole).filter(([each]) => each !== name));
const withShard = (more: object): object => ({ ...whole, shards: [{ ...shard, ...more }] });
const withInput = (more: object): object => ({ ...whole, inputs: [{ ...input, ...more }] });
const withRule = (rule: unknown): object => ({ ...whole, rules: [rule] });
const withReading = (more: object): object => ({ ...whole, reading: { ...whole.reading, ...more } });

const isDamaged = /is damaged, or of another version/;
const unfit = /there twice, or numbers that do not fit together/;
const field = (name: string): RegExp => new RegExp(`field "${name}"`);

describe("a damaged manifest is refused:", () => {
  const shouldRefuse = (what: string, content: unknown, message: RegExp): void => {
    it(what, async () => {
      const folder = await folderWith(typeof content === "string" ? content : JSON.stringify(content));
      await expect(readManifest(folder)).rejects.toMatchObject({
        code: "SHARDS_INVALID",
        message: expect.stringMatching(message),
      });
    });
  };
  shouldRefuse("nothing in it", "", isDamaged);
  shouldRefuse("cut off", JSON.stringify(whole).slice(0, -2), isDamaged);
  shouldRefuse("null", null, isDamaged);
  shouldRefuse("a list", [whole], isDamaged);
  shouldRefuse("a number", 1, isDamaged);
  shouldRefuse("another version", { ...whole, version: 2 }, isDamaged);
  shouldRefuse("a version that is a text", { ...whole, version: "1" }, isDamaged);

  const required = [
    "fingerprint",
    "dataset",
    "title",
    "licence",
    "rules",
    "reading",
    "precedence",
    "format",
    "gzip",
    "inputs",
    "statements",
    "triples",
    "untypedSubjects",
    "shards",
  ] as const;
  for (const name of required) {
    shouldRefuse(`no ${name}`, without(name), field(name));
    shouldRefuse(`${name} that is null`, { ...whole, [name]: null }, field(name));
    shouldRefuse(`${name} that is an object`, { ...whole, [name]: { length: 1 } }, field(name));
  }
  shouldRefuse("a version from a prototype", '{"__proto__": {"version": 1}}', isDamaged);
  shouldRefuse("a dataset that is a path", { ...whole, dataset: "../x" }, field("dataset"));
  shouldRefuse("a title of 3,000 characters", { ...whole, title: "x".repeat(3_000) }, field("title"));
  shouldRefuse("a licence that is no IRI", { ...whole, licence: "<script>" }, field("licence"));
  shouldRefuse("a citation that is a number", { ...whole, citation: 7 }, field("citation"));
  shouldRefuse("an empty citation", { ...whole, citation: "" }, field("citation"));
  shouldRefuse("a source that is no IRI", { ...whole, source: "a book" }, field("source"));
  shouldRefuse("a rule of an unknown kind", withRule({ kind: "diagonal", classes: [] }), field("rules"));
  shouldRefuse("a rule that is a text", withRule("class"), field("rules"));
  shouldRefuse("a rule without its classes", withRule({ kind: "class" }), field("rules"));
  shouldRefuse("a rule with numbers for predicates", withRule({ kind: "vertical", predicates: [1] }), field("rules"));
  shouldRefuse("a horizontal rule without buckets", withRule({ kind: "horizontal", class: "urn:x:C" }), field("rules"));
  shouldRefuse("a reading without buckets", withReading({ buckets: undefined }), field("reading"));
  shouldRefuse("a reading with an unknown form", withReading({ classRule: "triple" }), field("reading"));
  shouldRefuse(
    "a kind twice in the order",
    { ...whole, precedence: ["class", "class", "vertical"] },
    field("precedence"),
  );
  shouldRefuse("an order of two", { ...whole, precedence: ["class", "vertical"] }, field("precedence"));
  shouldRefuse("a format that shards do not have", { ...whole, format: "turtle" }, field("format"));
  shouldRefuse("inputs that are names", { ...whole, inputs: ["in.nt"] }, field("inputs"));
  shouldRefuse("an input without a name", withInput({ name: undefined }), field("inputs"));
  shouldRefuse("an input without a checksum", withInput({ sha256: undefined }), field("inputs"));
  shouldRefuse("an input with half a checksum", withInput({ sha256: input.sha256.slice(32) }), field("inputs"));
  shouldRefuse("an input of less than nothing", withInput({ bytes: -1 }), field("inputs"));
  shouldRefuse("an input twice", { ...whole, inputs: [input, input] }, unfit);
  shouldRefuse("statements as a text", { ...whole, statements: "4" }, field("statements"));
  shouldRefuse("more than can be counted", { ...whole, statements: 1e300 }, field("statements"));
  shouldRefuse("half a triple", { ...whole, triples: 2.5 }, field("triples"));
  shouldRefuse("fewer statements than triples", { ...whole, statements: 2 }, unfit);
  shouldRefuse("triples that are in no shard", { ...whole, triples: 4 }, unfit);
  shouldRefuse("untyped subjects as a number", { ...whole, untypedSubjects: 0 }, field("untypedSubjects"));
  shouldRefuse("triples without shards", { ...whole, shards: [] }, unfit);
  shouldRefuse("a shard that is null", { ...whole, shards: [null] }, field("shards"));
  for (const name of ["id", "key", "file", "triples", "bytes", "sha256", "lineBytes"]) {
    shouldRefuse(`a shard without ${name}`, withShard({ [name]: undefined }), field("shards"));
  }
  shouldRefuse("a shard whose id is a path", withShard({ id: "a/b" }), field("shards"));
  shouldRefuse("a shard whose file lies outside", withShard({ file: "shards/../../secret" }), field("shards"));
  shouldRefuse("a shard whose file is absolute", withShard({ file: "/etc/passwd" }), field("shards"));
  shouldRefuse("a shard twice", { ...whole, shards: [shard, shard], triples: 6, statements: 6 }, unfit);
  shouldRefuse(
    "two shards in one file",
    { ...whole, shards: [shard, { ...shard, id: "b" }], triples: 6, statements: 6 },
    unfit,
  );
});
