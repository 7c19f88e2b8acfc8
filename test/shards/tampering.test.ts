import { createHash } from "node:crypto";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, beforeEach, expect, it } from "vitest";
import type { Manifest } from "../../shards/src/materialise/manifest.ts";
import type { ShardReport } from "../../shards/src/report/shard-report.ts";
import type { CheckName } from "../../shards/src/verify/verification.ts";
import { openBuiltWorkspace, type ShardWorkspace } from "../support/shard-workspace.ts";

// Whoever tampers with shards mends the manifest, so that checksums and counts are right again. What is wrong with files and
// with triples that are missing, foreign or repeated is tested without a build (integration/shards/verify).

let workspace: ShardWorkspace;
let folder: string;
let manifest: Mutable<Manifest>;
let report: Mutable<ShardReport>;

type Mutable<Value> = Value extends string | number | boolean
  ? Value
  : { -readonly [Key in keyof Value]: Mutable<Value[Key]> };

beforeAll(async () => {
  ({ folder, ...workspace } = await openBuiltWorkspace());
  await cp(folder, `${folder}.kept`, { recursive: true });
});
let undo = async (): Promise<void> => {};
beforeEach(async () => {
  await undo();
  await rm(folder, { recursive: true });
  await cp(`${folder}.kept`, folder, { recursive: true });
  manifest = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));
  report = JSON.parse(await readFile(join(folder, "report.json"), "utf8"));
});

const isBase = ({ key }: { readonly key: string }): boolean => key === "base";
const isBucket = ({ key }: { readonly key: string }): boolean => key.startsWith("h/");

async function linesOf(which: (shard: Manifest["shards"][number]) => boolean): Promise<string[]> {
  const shard = manifest.shards.find(which);
  return (await readFile(join(folder, shard?.file ?? ""), "utf8")).trimEnd().split("\n");
}

async function replace(which: (shard: Manifest["shards"][number]) => boolean, lines: readonly string[]): Promise<void> {
  const shard = manifest.shards.find(which);
  if (shard === undefined) throw new Error("there is no such shard");
  const text = lines.map((line) => `${line}\n`).join("");
  await writeFile(join(folder, shard.file), text);
  const bytes = Buffer.byteLength(text);
  manifest.triples += lines.length - shard.triples;
  manifest.statements = Math.max(manifest.statements, manifest.triples);
  const sha256 = createHash("sha256").update(text).digest("hex");
  Object.assign(shard, { triples: lines.length, bytes, lineBytes: bytes, sha256 });
}

async function brokenChecks(): Promise<readonly CheckName[]> {
  await writeFile(join(folder, "manifest.json"), JSON.stringify(manifest));
  await writeFile(join(folder, "report.json"), JSON.stringify(report));
  const { outcome, checks } = await workspace.verify(folder);
  expect(outcome).toBe("broken");
  return checks.flatMap((check) => (check.outcome === "broken" ? [check.name] : []));
}

it.each<[string, () => Promise<void>, readonly CheckName[]]>([
  [
    "a triple that was moved to another shard",
    async () => {
      const [first = "", ...rest] = await linesOf(isBase);
      await replace(isBase, rest);
      await replace(isBucket, [...(await linesOf(isBucket)), first]);
    },
    ["placement"],
  ],
  [
    "two shards that became one",
    async () => {
      const [from, to] = manifest.shards.filter(isBucket);
      const all = [...(await linesOf(({ id }) => id === from?.id)), ...(await linesOf(({ id }) => id === to?.id))];
      manifest.triples -= from?.triples ?? 0;
      manifest.shards.splice(
        manifest.shards.findIndex(({ id }) => id === from?.id),
        1,
      );
      await replace(({ id }) => id === to?.id, all);
    },
    ["placement"],
  ],
  ["a rule that the manifest leaves out", async () => void manifest.rules.pop(), ["placement"]],
  [
    "shards that have changed names",
    async () => {
      const [one, other] = manifest.shards.filter(isBucket);
      if (one === undefined || other === undefined) throw new Error("there are no two buckets");
      [one.file, other.file] = [other.file, one.file];
      for (const field of ["triples", "bytes", "lineBytes"] as const)
        [one[field], other[field]] = [other[field], one[field]];
      [one.sha256, other.sha256] = [other.sha256, one.sha256];
    },
    ["placement"],
  ],
  [
    "a query that the report calls federated and one shard answers",
    async () => {
      for (const query of report.queries) query.federated = true;
    },
    ["federated"],
  ],
  [
    "a federated query that the report does not call so",
    async () => {
      for (const query of report.queries) query.federated = false;
    },
    ["federated"],
  ],
  [
    "a literal that was changed",
    async () => {
      const isLiteral = (line: string): boolean => line.includes('"');
      const all = await Promise.all(manifest.shards.map(({ key }) => linesOf((shard) => shard.key === key)));
      const which = all.findIndex((lines) => lines.some(isLiteral));
      const lines = all[which] ?? [];
      const at = lines.findIndex(isLiteral);
      lines[at] = (lines[at] ?? "").replace(/"(.)/u, '"~$1');
      await replace(({ key }) => key === manifest.shards[which]?.key, lines);
    },
    ["complete"],
  ],
  [
    "a triple that was copied to another shard",
    async () => replace(isBucket, [...(await linesOf(isBucket)), ...(await linesOf(isBase)).slice(0, 1)]),
    ["disjoint", "placement"],
  ],
  [
    "a triple that is twice in its shard, as in the input",
    async () => {
      const lines = await linesOf(isBase);
      await replace(isBase, [lines[0] ?? "", ...lines]);
      const [path = ""] = JSON.parse(await readFile(join(folder, "origins.json"), "utf8")).inputs;
      const input = await readFile(path, "utf8");
      await writeFile(path, `${input}${lines[0]}\n`);
      undo = () => writeFile(path, input);
    },
    ["disjoint"],
  ],
])("verify finds %s", async (_, tamper, expected) => {
  await tamper();
  expect(await brokenChecks()).toEqual(expect.arrayContaining([...expected]));
});
