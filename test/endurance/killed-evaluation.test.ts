import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { QuestionRecord } from "../../shards/src/evaluate/records.ts";
import type { BenchmarkPackage } from "../../shards/src/package/open-package.ts";
import { until } from "../support/eventually.ts";
import { evaluateRun, examplePackage, modelledService, perfectAgent, recordsIn } from "../support/evaluated-package.ts";
import { createRandom } from "../support/random.ts";
import type { RunningService } from "../support/running-service.ts";
import { newFolder } from "../support/scratch-folder.ts";
import { type ChatSent, startScriptedModel } from "../support/scripted-model.ts";

// `fedway evaluate run`, killed at random moments and started again.

const kills = Number(process.env["FEDWAY_KILLS"] ?? 8);
const parallel = 2;
const root = fileURLToPath(new URL("../../", import.meta.url));

let benchmark: BenchmarkPackage;
let model: Awaited<ReturnType<typeof startScriptedModel>>;
let service: RunningService;
beforeAll(async () => {
  benchmark = await examplePackage();
  model = await startScriptedModel();
  service = await modelledService(benchmark, model.url);
});
afterAll(async () => {
  await service?.close();
  await model?.close();
});

/** A record without what depends on the moment: times, and what joins ask whom, whose order follows the first rows. */
const lasting = ({ ms: _ms, calls = [], ...record }: QuestionRecord) => ({
  ...record,
  calls: calls.map(({ tool, query, outcome, code, rows, repairs }) => ({ tool, query, outcome, code, rows, repairs })),
});
const sorted = async (folder: string) =>
  (await recordsIn(folder)).map(lasting).toSorted((one, other) => (one.question < other.question ? -1 : 1));

it(`killed ${kills} times has the records of a run that was not, and asks no question twice that has one`, async () => {
  const words = ["--service", service.url, "--token", "off", "--model-name", "scripted", "--setup", "baseline"];
  const run = [benchmark.folder, ...words, "--parallel", String(parallel), "--out"];
  const [whole, killed] = [join(newFolder(), "run"), join(newFolder(), "run")];
  model.answer(perfectAgent(benchmark));
  expect(await evaluateRun([...run, whole])).toMatchObject({ code: 0 });

  const begun: string[] = [];
  const agent = perfectAgent(benchmark);
  model.answer((sent: ChatSent) => {
    if (sent.messages.length === 2) begun.push(sent.messages[1]?.content ?? "");
    return agent(sent);
  });
  const random = createRandom(16);
  const seen: number[] = [];
  const textOf = new Map(benchmark.questions.map(({ id, question }) => [id, `Question: ${question}`]));
  const recorded = async () =>
    (await recordsIn(killed).catch(() => [])).map(({ question }) => textOf.get(question) ?? "");
  for (let kill = 0; kill < kills; kill += 1) {
    const child = spawn(process.execPath, ["src/cli/main.ts", "evaluate", "run", ...run, killed], {
      cwd: root,
      env: { PATH: process.env["PATH"], FEDWAY_DATA_DIR: newFolder() },
      stdio: "ignore",
    });
    const ended = once(child, "close");
    const [before, had] = [begun.length, new Set(await recorded())];
    const moment = begun.length + random.below(5);
    await Promise.race([until(() => begun.length >= moment), ended]);
    await sleep(random.below(30));
    child.kill("SIGKILL");
    await ended;
    expect(new Set(begun.slice(before)).isDisjointFrom(had)).toBe(true);
    seen.push((await recorded()).length);
  }
  expect(await evaluateRun([...run, killed])).toMatchObject({ code: 0 });
  const records = await sorted(killed);
  expect(records).toEqual(await sorted(whole));
  expect(new Set(records.map(({ question }) => question)).size).toBe(benchmark.questions.length);
  // Those under way when the process was killed have no record.
  expect(begun.length).toBeLessThanOrEqual(benchmark.questions.length + kills * parallel);
  console.log(`records after each kill: ${seen.join(" ")}; ${begun.length} began for ${records.length} records`);
});
