import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createApp } from "../../src/app.ts";
import { loadConfig } from "../../src/config/config.ts";
import { addEvaluate } from "../../shards/src/cli/evaluate-program.ts";
import type { QuestionRecord } from "../../shards/src/evaluate/records.ts";
import { type BenchmarkPackage, openPackage } from "../../shards/src/package/open-package.ts";
import { makePackage } from "./benchmark-package.ts";
import { cli, type Outcome } from "./run-cli.ts";
import type { ChatAnswer, ChatSent } from "./scripted-model.ts";
import { openBuiltWorkspace } from "./shard-workspace.ts";

/** The package of the example. */
export async function examplePackage(): Promise<BenchmarkPackage> {
  const { folder } = await makePackage((await openBuiltWorkspace()).folder);
  return openPackage(folder);
}

/** `fedway evaluate run` with a service of its own where it starts one. */
export const evaluateRun = (words: readonly string[], interrupted = new AbortController().signal): Promise<Outcome> =>
  cli(["evaluate", "run", ...words], {
    plugins: [addEvaluate],
    interrupted,
    fetch,
    openApp: (overrides) =>
      createApp(
        loadConfig({
          FEDWAY_ALLOW_ADDRESSES: "127.0.0.0/8",
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
