import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { warehouseSql } from "../../shards/src/materialise/warehouse-sql.ts";
import type { Rule } from "../../shards/src/rules/problem.ts";
import { buildShards, sha256, writeInput } from "../support/shard-build.ts";
import { newFolder } from "../support/scratch-folder.ts";

const run = promisify(execFile);
const here = (path: string): string => new URL(path, import.meta.url).pathname;

let python: string;

beforeAll(async () => {
  const { stdout } = await run(here("../support/engines/fetch-clients.sh"));
  python = `${stdout.trim()}/python/bin/python`;
}, 600_000);

const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
// As UTF-8 U+FFEE comes first, as UTF-16 U+1F600 does.
const [low, high] = ["https://e.org/\uFFEE", "https://e.org/\u{1F600}"];

/** Canonical lines, some of them twice, with all that CSV readers and writers like to change. */
const lines = Array.from({ length: 400 }, (_, index) => {
  const subject = `<https://e.org/it's-${index % 90}>`;
  const classes = [low, high, "https://e.org/C", "https://e.org/D"].filter(
    (_iri, at) => (((index % 90) >> at) & 1) === 1,
  );
  return [
    ...classes.map((iri) => `${subject} ${type} <${iri}> .\n`),
    `${subject} <https://e.org/p> "${"é".repeat(index % 5)}\\n' \\\\x01 , \\"${index % 50}\\" NULL"@en .\n`,
    `${subject} <https://e.org/q> "" .\n`,
    `${subject} <https://e.org/r> <https://e.org/it's-${(index * 7) % 90}> .\n`,
  ];
}).flat();

const rules: readonly Rule[] = [
  { kind: "class", classes: [low, high] },
  { kind: "horizontal", class: "https://e.org/C", buckets: 3 },
  { kind: "vertical", predicates: ["https://e.org/p"] },
];

it.each([
  ["horizontal", "vertical", "class"],
  ["class", "horizontal", "vertical"],
] as const)("DuckDB writes the shards of a build byte by byte: %s, %s, %s", async (...precedence) => {
  const folder = newFolder();
  const inputs = [lines.slice(0, 700), lines.slice(500)].map((each, at) =>
    writeInput(folder, `in-${at}.nt`, each.join("")),
  );
  const manifest = await buildShards(folder, inputs, { rules, precedence });
  expect(manifest.shards.length).toBeGreaterThan(4);
  const running = run(python, [here("clients/duckdb-sql.py")], { cwd: folder, timeout: 120_000 });
  running.child.stdin?.end(warehouseSql(manifest, "duckdb"));
  await running;
  for (const { id, sha256: checksum, file } of manifest.shards) {
    const written = readFileSync(join(folder, `${id}.nt`));
    expect(written.toString("utf8")).toBe(readFileSync(join(folder, "out", file), "utf8"));
    expect(sha256(written)).toBe(checksum);
  }
});
