import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Scores } from "../../shards/src/evaluate/score/score-runs.ts";
import { openPackage } from "../../shards/src/package/open-package.ts";
import { makePackage } from "../support/benchmark-package.ts";
import { evaluate, record, runFolder } from "../support/score-package.ts";
import { openBuiltWorkspace } from "../support/shard-workspace.ts";

const run = promisify(execFile);
const here = (path: string): string => new URL(path, import.meta.url).pathname;

it("rdflib, with nothing of Fedway, gives each final query the same accuracy", async () => {
  const clients = (await run(here("../support/engines/fetch-clients.sh"))).stdout.trim();
  const { folder } = await makePackage((await openBuiltWorkspace()).folder);
  const { questions, queries } = await openPackage(folder);
  const federation = "http://benchmark.example/federations/harbour/sparql";
  const records = questions.flatMap(({ id, query }, at) => {
    const { gold = "", trivial = "", query: plain = "" } = queries.get(query) ?? {};
    const other = queries.get(questions[(at + 1) % questions.length]?.query ?? "");
    const whole = plain.replace(/\{(.*)\}/su, `{ SERVICE SILENT <${federation}> {$1} }`);
    const finals = [
      gold,
      trivial,
      plain,
      whole,
      other?.gold ?? null,
      plain.replace("SELECT", "SELECT DISTINCT"),
      `${gold} }`,
      null,
    ];
    return finals.map((final, repeat) => record({ question: id, repeat, final }));
  });
  const runs = await runFolder(records);
  expect((await evaluate("score", folder, runs)).code).toBe(0);
  const scores = JSON.parse(await readFile(join(runs, "scores.json"), "utf8")) as Scores;
  const ours = scores.systems.flatMap((system) =>
    system.questions.map(({ question, repeat, right, final: { accuracy } }) => [
      `${question} ${repeat}`,
      { right, multiset: accuracy?.multiset, f1: Math.round((accuracy?.f1 ?? 0) * 1e9) / 1e9 },
    ]),
  );
  const script = here("clients/recompute_scores.py");
  const { stdout } = await run(`${clients}/python/bin/python`, [script, folder, runs], {
    maxBuffer: 1e8,
    timeout: 250_000,
  });
  const rights = ours.filter(([, each]) => typeof each === "object" && each.right === true).length;
  console.log(`${ours.length} final queries, ${rights} of them right`);
  expect(rights).toBeGreaterThan(questions.length * 3);
  expect(ours.length - rights).toBeGreaterThan(questions.length * 2);
  expect(Object.fromEntries(ours)).toEqual(JSON.parse(stdout));
});
