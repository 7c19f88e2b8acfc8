import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createApp } from "../../src/app.ts";
import { loadConfig } from "../../src/config/config.ts";
import { addEvaluate } from "../../shards/src/cli/evaluate-program.ts";
import type { QuestionRecord } from "../../shards/src/evaluate/records.ts";
import { type BenchmarkPackage, openPackage } from "../../shards/src/package/open-package.ts";
import { baseUrl, makePackage } from "./benchmark-package.ts";
import { cli, type Outcome } from "./run-cli.ts";
import { type RunningService, startService } from "./running-service.ts";
import type { ChatAnswer, ChatSent } from "./scripted-model.ts";
import { openBuiltWorkspace } from "./shard-workspace.ts";

/** The package of the example. */
export async function examplePackage(): Promise<BenchmarkPackage> {
  const { folder } = await makePackage((await openBuiltWorkspace()).folder);
  return openPackage(folder);
}

/** A service that hosts the package and has described it, with a model that calls tools. */
export async function modelledService(
  { folder, endpoints }: BenchmarkPackage,
  modelUrl: string,
  env: Readonly<Record<string, string>> = {},
): Promise<RunningService> {
  const service = await startService(
    {},
    {
      FEDWAY_SHARDS: join(folder, "build"),
      FEDWAY_PUBLIC_URL: baseUrl,
      FEDWAY_HOSTED_TOTAL_MB: "4096",
      FEDWAY_CHAT: modelUrl,
      FEDWAY_CHAT_MODEL: "scripted",
      FEDWAY_CHAT_MODE: "tools",
      ...env,
    },
  );
  for (const { entry } of endpoints)
    while (!(await fetch(`${service.url}/api/endpoints/${entry}/schema`)).ok) await sleep(50);
  return service;
}

/** `fedway evaluate run` with a service of its own where it starts one. */
export const evaluateRun = (words: readonly string[], interrupted?: AbortSignal): Promise<Outcome> =>
  evaluate(["run", ...words], interrupted);

/** Any `fedway evaluate`. */
export const evaluate = (words: readonly string[], interrupted = new AbortController().signal): Promise<Outcome> =>
  cli(["evaluate", ...words], {
    plugins: [addEvaluate],
    interrupted,
    fetch,
    openApp: (overrides) =>
      createApp(
        loadConfig({
          FEDWAY_EVALUATORS: "1",
          FEDWAY_FACTS: "off",
          ...overrides,
        }),
      ),
  });

export async function recordsIn(folder: string): Promise<readonly QuestionRecord[]> {
  const lines = (await readFile(join(folder, "runs.jsonl"), "utf8")).split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as QuestionRecord);
}

/** An agent that runs the gold query of its question, and submits it. */
export function perfectAgent({ questions, queries }: BenchmarkPackage) {
  return ({ messages, tools = [] }: ChatSent): ChatAnswer => {
    const asked = messages.find(({ role }) => role === "user")?.content ?? "";
    const question = questions.find((each) => asked.endsWith(`Question: ${each.question}`));
    const query = queries.get(question?.query ?? "")?.gold ?? "";
    const run = tools.find(({ function: { name } }) => name.startsWith("run_"))?.function.name ?? "";
    const isRun = messages.some(({ role }) => role === "tool");
    return { calls: [[isRun ? "submit_final_query" : run, JSON.stringify({ query })]] };
  };
}
