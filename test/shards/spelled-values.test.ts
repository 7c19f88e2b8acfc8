import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Manifest } from "../../shards/src/materialise/manifest.ts";
import {
  fault,
  hostPackages,
  makePackage,
  packagedQueries,
  throughComunica,
  throughFedway,
} from "../support/benchmark-package.ts";
import type { RunningService } from "../support/running-service.ts";
import { openSpelledWorkspace } from "../support/spelled-dataset.ts";

// A store by value makes one triple of two spellings of a value; files, endpoints and gold are to be the same terms.

let folder: string;
let benchmark: string;
let manifest: Manifest;
let outcome: string;
let findings: readonly unknown[];
let service: RunningService;
beforeAll(async () => {
  const workspace = await openSpelledWorkspace();
  ({ folder } = workspace);
  manifest = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8")) as Manifest;
  expect(manifest.triples).toBe(new Set(workspace.lines).size);
  const found = await workspace.verify(folder);
  ({ outcome } = found);
  findings = found.checks.flatMap((check) => check.findings);
  ({ folder: benchmark } = await makePackage(folder));
  service = await hostPackages(benchmark);
}, 180_000);
afterAll(() => service.close());

it("verification finds the triples of the files in the hosted shards", () => {
  expect([outcome, findings]).toEqual(["held", []]);
});

it("hosted shards have the triples and the terms of their files", async () => {
  const lines: string[] = [];
  for (const { id, triples, file } of manifest.shards) {
    const url = `${service.url}/shards/spelled/${id}/sparql`;
    const ask = async (query: string, accept: string): Promise<string> =>
      (await fetch(`${url}?query=${encodeURIComponent(query)}`, { headers: { accept } })).text();
    expect(await ask("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", "text/csv")).toBe(`n\r\n${triples}\r\n`);
    const hosted = (await ask("CONSTRUCT WHERE { ?s ?p ?o }", "application/n-triples")).trim().split("\n");
    expect(hosted.toSorted()).toEqual((await readFile(join(folder, file), "utf8")).trim().split("\n").toSorted());
    lines.push(...hosted);
  }
  expect(new Set(lines).size).toBe(manifest.triples);
});

it("gold answers count and show the terms of the files", async () => {
  const gold = new Map((await packagedQueries(benchmark)).map(({ id, answer }) => [id, answer]));
  const rowsOf = (id: string): readonly (readonly string[])[] => {
    const answer = gold.get(id);
    return answer?.kind === "bindings" ? answer.rows : [];
  };
  expect(rowsOf("codeCount")).toEqual([["60"]]);
  expect(rowsOf("codes")).toHaveLength(60);
  expect(rowsOf("spelling")).toHaveLength(2);
  expect(rowsOf("value")).toHaveLength(3);
  expect(rowsOf("dearestThing")).toHaveLength(1);
  expect(rowsOf("midnight")).toHaveLength(14);
  expect(rowsOf("lasted").filter(([, lasted]) => lasted?.includes('"PT60M"') === true)).toHaveLength(1);
});

type Ask = (query: string) => Promise<string>;
const throughFederation =
  ({ query }: RunningService): Ask =>
  async (text) =>
    (await query(text, { path: "/federations/spelled/sparql" })).text();

it.each<[string, "gold" | "trivial" | "query", (of: RunningService) => Ask]>([
  ["Fedway over the endpoints of the gold queries", "gold", throughFedway],
  ["Fedway over the trivial queries", "trivial", throughFedway],
  ["Fedway over the federation", "query", throughFederation],
  ["Comunica", "gold", throughComunica],
])("%s gives the gold answers", async (_, form, through) => {
  const ask = through(service);
  const faults: string[] = [];
  for (const query of await packagedQueries(benchmark)) {
    const found = await fault(query, query[form], ask);
    if (found !== undefined) faults.push(`${query.id} ${found}`);
  }
  expect(faults).toEqual([]);
});
