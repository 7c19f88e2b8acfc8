import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { warehouseSql } from "../../../../shards/src/materialise/warehouse-sql.ts";
import type { Rule } from "../../../../shards/src/rules/problem.ts";
import { buildShards, writeInput } from "../../../support/shard-build.ts";
import { newFolder } from "../../../support/scratch-folder.ts";

const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
// As UTF-8 U+FFEE comes first, as UTF-16 U+1F600 does.
const [low, high] = ["https://e.org/\uFFEE", "https://e.org/\u{1F600}"];

const text = [
  ...Array.from({ length: 40 }, (_, index) => {
    const subject = `<https://e.org/it's ${index}>`.replace(" ", "-");
    const classes = [low, high, "https://e.org/C", "https://e.org/D"].filter((_iri, at) => ((index >> at) & 1) === 1);
    return [
      ...classes.map((iri) => `${subject} ${type} <${iri}> .`),
      `${subject} <https://e.org/p> "${"é".repeat(index % 5)}\\n' \\\\x01 ${index}"@en .`,
      `${subject} <https://e.org/q> <https://e.org/it's-${(index * 7) % 40}> .`,
    ];
  }).flat(),
  `<https://e.org/it's-0> <https://e.org/q> "twice" .`,
  `<https://e.org/it's-0> <https://e.org/q> "twice" .`,
].join("\n");

const rules: readonly Rule[] = [
  { kind: "class", classes: [low, high] },
  { kind: "horizontal", class: "https://e.org/C", buckets: 3 },
  { kind: "vertical", predicates: ["https://e.org/p", "https://e.org/r"] },
];

it("places a subject with classes of two rules by the bytes of their IRIs", async () => {
  const folder = newFolder();
  const both = `<x:s> ${type} <${low}> .\n<x:s> ${type} <${high}> .\n`;
  const { shards } = await buildShards(folder, [writeInput(folder, "in.nt", both)], { rules });
  expect(shards.map(({ key, triples }) => [key, triples])).toEqual([[`c/${low}`, 2]]);
});

/** The statements between reading and writing files, which SQLite runs too; it lacks two functions. */
function runInSqlite(sql: string, lines: readonly string[]): DatabaseSync {
  const database = new DatabaseSync(":memory:");
  database.function("split_part", (line, _space, number) => String(line).split(" ")[Number(number) - 1] ?? "");
  database.function("subject_hash", (iri) =>
    BigInt(`0x${createHash("md5").update(String(iri)).digest("hex").slice(0, 8)}`),
  );
  database.exec("CREATE TABLE lines (line TEXT PRIMARY KEY)");
  const insert = database.prepare("INSERT OR IGNORE INTO lines VALUES (?)");
  for (const line of lines) insert.run(line);
  for (const name of ["types", "claims", "placed"]) {
    const statement = new RegExp(String.raw`^CREATE TEMP TABLE ${name} AS\n[\s\S]*?;$`, "mu").exec(sql)?.[0];
    database.exec(statement ?? `no statement for ${name}`);
  }
  return database;
}

it.each([
  ["horizontal", "vertical", "class"],
  ["vertical", "horizontal", "class"],
  ["class", "horizontal", "vertical"],
] as const)("prints statements that write the same shards: %s, %s, %s", async (...precedence) => {
  const folder = newFolder();
  const manifest = await buildShards(folder, [writeInput(folder, "in.nt", text)], { rules, precedence });
  expect(manifest.shards.length).toBeGreaterThan(4);
  const sql = warehouseSql(manifest, "duckdb");
  const database = runInSqlite(sql, text.split("\n"));
  const writing = [...sql.matchAll(/^COPY \((?<select>.*)\) TO '(?<file>.*?)' /gmu)].map(({ groups }) => groups);
  expect(writing.length).toBe(manifest.shards.length);
  for (const [at, { file, sha256, id, triples }] of manifest.shards.entries()) {
    const rows = database.prepare(writing[at]?.["select"] ?? "").all();
    const written = rows.map(({ line }) => `${String(line)}\n`).join("");
    expect(writing[at]?.["file"]).toBe(`${id}.nt`);
    expect(written).toBe(readFileSync(join(folder, "out", file), "utf8"));
    expect(sql).toContain(`-- shard ${id} (`);
    expect(sql).toContain(`${triples} triples, ${Buffer.byteLength(written)} bytes, sha256 ${sha256}`);
  }
});

it("escapes texts as each warehouse reads them", async () => {
  const folder = newFolder();
  const odd: readonly Rule[] = [{ kind: "vertical", predicates: ["https://e.org/it's", "https://e.org/p"] }];
  const manifest = await buildShards(folder, [writeInput(folder, "in.nt", text)], { rules: odd });
  expect(warehouseSql(manifest, "duckdb")).toContain("'https://e.org/it''s'");
  expect(warehouseSql(manifest, "spark")).toContain(String.raw`'https://e.org/it\'s'`);
});
