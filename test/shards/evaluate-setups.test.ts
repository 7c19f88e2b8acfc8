import { join } from "node:path";
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BenchmarkPackage } from "../../shards/src/package/open-package.ts";
import { evaluateRun, examplePackage, perfectAgent, recordsIn } from "../support/evaluated-package.ts";
import { newFolder } from "../support/scratch-folder.ts";
import { startScriptedModel } from "../support/scripted-model.ts";

// Agents over the package of the example: the command hosts it and asks a model that follows a script.

let benchmark: BenchmarkPackage;
let model: Awaited<ReturnType<typeof startScriptedModel>>;
beforeAll(async () => {
  benchmark = await examplePackage();
  model = await startScriptedModel();
});
afterAll(() => model?.close());

const run = (out: string, ...words: readonly string[]) =>
  evaluateRun([benchmark.folder, "--model", model.url, "--model-name", "scripted", "--out", out, ...words]);

const goldOf = (question: string) =>
  benchmark.queries.get(benchmark.questions.find(({ id }) => id === question)?.query ?? "");

it("lowers the budget of a question where the whole run may use less", async () => {
  model.answer(perfectAgent(benchmark));
  const words = ["--setup", "baseline", "-q", benchmark.questions[0]?.id ?? ""];
  for (const least of [
    ["--max-tokens", "5000"],
    ["--max-cost", "0.05", "--price", "1/10"],
  ]) {
    const { code, out } = await run(join(newFolder(), "run"), ...words, ...least);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining("1 submitted") });
  }
});

describe("a setup", () => {
  it.each([
    [
      "baseline",
      "run_sparql_query submit_final_query",
      /- http:\/\/benchmark\.example\/shards\/harbour\/\w+\/sparql$/mu,
    ],
    ["high_level", "run_sparql_query submit_final_query", /- http:\S+: [A-Z].+$/mu],
    ["void_tool", "get_void_descriptions run_sparql_query submit_final_query", /- http:\S+$/mu],
    [
      "full",
      "find_endpoints describe_endpoint search_terms find_examples check_query run_query explain_result submit_final_query",
      /Write no SERVICE/u,
    ],
    ["one_dataset", "describe_endpoint search_terms run_query submit_final_query", /the dataset "harbour"/u],
  ])("%s runs end to end", async (setup, tools, prompt) => {
    model.answer(perfectAgent(benchmark));
    const out = join(newFolder(), setup);
    const ids = benchmark.questions.slice(0, 3).map(({ id }) => id);
    const { code, out: said, err } = await run(out, "--setup", setup, "-q", ...ids, "--price", "1/10");
    expect({ code, said, err }).toMatchObject({ code: 0, said: expect.stringContaining("3 submitted") });
    const [sent] = model.sent;
    expect(sent?.tools?.map((tool) => tool.function.name).join(" ")).toBe(tools);
    expect(sent?.messages[0]?.content).toMatch(prompt);
    for (const record of await recordsIn(out)) {
      const gold = goldOf(record.question);
      expect(record).toMatchObject({
        setup,
        model: "scripted",
        repeat: 0,
        outcome: "submitted",
        final: gold?.gold,
        turns: 2,
        tokens: { input: 200, output: 20, estimated: false },
        cost: 0.0004,
      });
      const ran = (record.calls ?? []).filter(({ query }) => query !== undefined);
      expect(ran).toMatchObject([{ query: gold?.gold, outcome: "ok", requests: expect.any(Number), repairs: 0 }]);
      // A join without keys left asks the last shard nothing.
      const contacted = new Set(ran.flatMap(({ endpoints = [] }) => endpoints));
      expect(contacted.size).toBeGreaterThan(0);
      expect(contacted.isSubsetOf(new Set(gold?.endpoints))).toBe(true);
      const called = new Set((record.calls ?? []).map(({ tool }) => tool));
      expect(called.isSupersetOf(new Set(["model", "submit_final_query"]))).toBe(true);
      expect(called.has("find_endpoints")).toBe(setup === "full");
    }
    const about = JSON.parse(await readFile(join(out, "run.json"), "utf8")) as object;
    expect(about).toMatchObject({
      package: { dataset: "harbour" },
      setup: { name: setup, lookup: setup === "full" },
      model: "scripted",
    });
  });
});
