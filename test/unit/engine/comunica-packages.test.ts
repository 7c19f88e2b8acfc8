import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const root = new URL("../../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");
const readme = read("deploy/comunica/upstream/README.md");

test("the compiled engine requires Comunica's parser, buses and mediators, and our actor", () => {
  const compiled = read("dist/comunica/engine.cjs");
  const required = [...compiled.matchAll(/require\('([^']+)'\)/gu)].map(([, name]) => name);
  const named = new Set([
    "#engine-actors",
    "@comunica/actor-query-parse-sparql",
    "@comunica/actor-query-process-sequential",
    "@comunica/bus-query-operation",
    "@comunica/core",
    "@comunica/mediator-combine-pipeline",
    "@comunica/mediator-combine-union",
    "@comunica/mediator-number",
    "@comunica/mediator-race",
  ]);
  expect(new Set(required)).toEqual(named);
});

test("the faults of Comunica's were looked at with the versions in use", () => {
  const [, core, queryEngine] = /^Looked at with Comunica (\S+) and query-sparql (\S+)\.$/mu.exec(readme) ?? [];
  const inUse = (name: string): unknown => JSON.parse(read(`node_modules/@comunica/${name}/package.json`)).version;
  expect([inUse("core"), inUse("query-sparql")]).toEqual([core, queryEngine]);
});

test("every report is in the table", () => {
  const files = readdirSync(new URL("deploy/comunica/upstream/", root)).filter((file) => file !== "README.md");
  const linked = [...readme.matchAll(/\]\(([^)/]+\.md)\)/gu)].map(([, file]) => file);
  expect(new Set(linked)).toEqual(new Set(files));
  expect(linked).toHaveLength(files.length);
});
