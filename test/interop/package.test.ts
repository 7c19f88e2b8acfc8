import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openPackage } from "../../shards/src/package/open-package.ts";
import { hostPackages, makePackage } from "../support/benchmark-package.ts";
import type { RunningService } from "../support/running-service.ts";
import { openBuiltWorkspace } from "../support/shard-workspace.ts";

// What the field scores text-to-SPARQL systems with reads a package as it is; its own queries are the best system there is.

const run = promisify(execFile);
const here = (path: string): string => new URL(path, import.meta.url).pathname;

let python: string;
let folder: string;
let service: RunningService;
let ids: readonly string[];
beforeAll(async () => {
  python = `${(await run(here("../support/engines/fetch-scorers.sh"))).stdout.trim()}/bin/python`;
  ({ folder } = await makePackage((await openBuiltWorkspace()).folder));
  service = await hostPackages(folder);
  ids = (await openPackage(folder)).questions.map(({ id }) => id);
}, 600_000);
afterAll(() => service?.close());

async function scored<Result>(tool: string): Promise<Result> {
  const words = [here("scorers/score_package.py"), tool, folder, `${service.url}/federations/harbour/sparql`];
  const { stdout } = await run(python, words, { timeout: 250_000, maxBuffer: 1e8 });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Result;
}

it("t2s-metrics gives gold and trivial queries full marks, and none to a broken one and one of another question", async () => {
  const found = await scored<Record<string, Record<string, number>>>("t2s_metrics");
  const full = Object.fromEntries(ids.map((id) => [id, 1]));
  expect(found["t2s-metrics.gold"]).toEqual(full);
  expect(found["t2s-metrics.trivial"]).toEqual(full);
  expect(found["wrong"]).toEqual({ ...full, [ids[0] ?? ""]: 0, [ids[1] ?? ""]: 0 });
}, 300_000);

it("text2sparql-client gives gold queries full marks, and fewer to those of other questions", async () => {
  const { questions, gold, wrong } = await scored<Record<string, number>>("text2sparql");
  expect([questions, gold]).toEqual([ids.length, 1]);
  expect(wrong).toBeLessThan(0.5);
}, 300_000);

it("rdflib reads QALD and SHACL back, and finds the signature of each gold answer", async () => {
  const { rows, executables } = await scored<{ rows: Record<string, number>; executables: number }>("exports");
  expect([Object.keys(rows), executables]).toEqual([ids, ids.length]);
  const pairs = Object.entries(await scored<Record<string, readonly string[]>>("signatures"));
  expect(pairs.filter(([, [theirs, ours]]) => theirs !== ours)).toEqual([]);
  expect(pairs.length).toBeGreaterThan(10);
}, 300_000);
