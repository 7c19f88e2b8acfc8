import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import type { Manifest } from "../../shards/src/materialise/manifest.ts";
import type { Check, Verification } from "../../shards/src/verify/verification.ts";
import { openWorkspace, type ShardWorkspace } from "../support/shard-workspace.ts";

const x = (name: string): string => `<https://fleet.example/${name}>`;
const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";
/** Ships in the default graph; who sails them in one graph a year. */
const quads = [
  ...["a", "b", "c", "d"].flatMap((id) => [
    `${x(id)} ${type} ${x("Ship")} .`,
    `${x(id)} ${x("name")} "Ship ${id}" .`,
    `${x(id)} ${x("crew")} "7" ${x("2024")} .`,
    `${x(id)} ${x("crew")} "9" ${x("2025")} .`,
    `${x(id)} ${x("home")} ${x("harbour")} ${x("2025")} .`,
  ]),
  `${x("harbour")} ${type} ${x("Harbour")} .`,
  `${x("harbour")} ${x("name")} "Harbour" .`,
  // The same triple in two graphs is two statements.
  `${x("harbour")} ${x("depth")} "12" ${x("2024")} .`,
  `${x("harbour")} ${x("depth")} "12" ${x("2025")} .`,
];
const queries = {
  plain: `SELECT ?s ?n { ?s a ${x("Ship")} ; ${x("name")} ?n }`,
  graph: `SELECT ?s ?n ?c { ?s a ${x("Ship")} ; ${x("name")} ?n GRAPH ${x("2024")} { ?s ${x("crew")} ?c } }`,
  anyGraph: `SELECT ?g (COUNT(?c) AS ?n) { ?s a ${x("Ship")} GRAPH ?g { ?s ${x("crew")} ?c } } GROUP BY ?g`,
  from: `SELECT ?s ?c FROM ${x("2025")} { ?s ${x("crew")} ?c ; ${x("home")} ?h }`,
  fromNamed: `SELECT ?d FROM NAMED ${x("2024")} { GRAPH ?g { ?s ${x("depth")} ?d } }`,
};

let workspace: ShardWorkspace;
let folder: string;
beforeAll(async () => {
  workspace = await openWorkspace();
  await writeFile(join(workspace.input, "fleet.nq"), `${quads.join("\n")}\n`);
  const entries = Object.entries(queries).map(([id, sparql]) => ({ id, sparql }));
  await writeFile(join(workspace.input, "fleet.json"), JSON.stringify(entries));
  await workspace.describe({ dataset: "fleet", inputs: ["fleet.nq"], queries: "fleet.json", ontology: undefined });
  folder = (await workspace.build()).folder ?? "";
});

const checkOf = ({ checks }: Verification, name: Check["name"]): Check | undefined =>
  checks.find((check) => check.name === name);

it("answers over named graphs are compared on datasets with the same graphs", async () => {
  const manifest = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8")) as Manifest;
  expect(manifest).toMatchObject({ format: "n-quads", triples: quads.length });
  expect(manifest.shards.length).toBeGreaterThan(1);
  const found = await workspace.verify(folder);
  expect(found.outcome).toBe("held");
  expect(checkOf(found, "answers")).toMatchObject({ checked: 5, notLookedAt: 0 });
});

it("a statement that has come into another graph breaks the answers of queries that look there, and of no other", async () => {
  const path = join(folder, "manifest.json");
  const manifest = JSON.parse(await readFile(path, "utf8")) as Manifest;
  const moved = `${x("a")} ${x("crew")} "7" ${x("2024")} .`;
  for (const shard of manifest.shards) {
    const file = join(folder, shard.file);
    const text = (await readFile(file, "utf8")).replace(moved, moved.replace(x("2024"), x("2023")));
    await writeFile(file, text);
    Object.assign(shard, { sha256: createHash("sha256").update(text).digest("hex") });
  }
  await writeFile(path, JSON.stringify(manifest));
  const found = await workspace.verify(folder);
  expect(found.checks.map(({ name, outcome }) => `${name} ${outcome}`)).toEqual([
    "files held",
    "disjoint held",
    "complete broken",
    "placement held",
    "federated held",
    "hosted held",
    "answers broken",
  ]);
  expect(checkOf(found, "answers")?.findings).toEqual([
    { subject: "graph", reason: "The union gives 3 rows, not 4." },
    { subject: "anyGraph", reason: "The union gives 3 rows, not 2." },
  ]);
});
