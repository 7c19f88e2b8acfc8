import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { BenchmarkPackage } from "../../shards/src/package/open-package.ts";
import { baseUrl } from "../support/benchmark-package.ts";
import { evaluateRun, examplePackage, modelledService, perfectAgent, recordsIn } from "../support/evaluated-package.ts";
import type { RunningService } from "../support/running-service.ts";
import { newFolder } from "../support/scratch-folder.ts";
import { type ChatAnswer, startScriptedModel } from "../support/scripted-model.ts";

// What becomes of questions at a running service, whatever its model does: each end has a name.

const token = "a-token-of-these-tests";
let benchmark: BenchmarkPackage;
let model: Awaited<ReturnType<typeof startScriptedModel>>;
let service: RunningService;
let out: string;
beforeAll(async () => {
  benchmark = await examplePackage();
  model = await startScriptedModel();
  service = await modelledService(benchmark, model.url, { FEDWAY_ADMIN_TOKEN: token });
});
afterAll(async () => {
  await service?.close();
  await model?.close();
});
beforeEach(() => {
  out = join(newFolder(), "run");
});

const run = (...words: readonly string[]) => {
  const at = ["--service", service.url, "--token", token, "--model-name", "scripted", "--out", out];
  return evaluateRun([benchmark.folder, ...at, "--setup", "baseline", ...words]);
};
const first = (): readonly string[] => ["-q", benchmark.questions[0]?.id ?? ""];

const wrong = `SELECT * { SERVICE <${baseUrl}/shards/harbour/name/sparql> { ?s <urn:none> ?o } }`;
const runs = (query: string): ChatAnswer => ({ calls: [["run_sparql_query", JSON.stringify({ query })]] });

describe("a model that", () => {
  it.each<[string, readonly ChatAnswer[], readonly string[], object]>([
    ["never calls a tool", [{ text: "Let me think." }], [], { outcome: "no-query", final: null, turns: 4 }],
    [
      "calls tools that there are not",
      [{ calls: [["delete_all", "{}"]] }],
      [],
      { outcome: "turns", final: null, turns: 10 },
    ],
    ["runs queries for ever", [runs(wrong)], [], { outcome: "turns", final: wrong, turns: 10 }],
    ["gives up", [{ text: "UNKNOWN" }], [], { outcome: "gave-up", final: null }],
    [
      "submits what no parser takes",
      [{ calls: [["submit_final_query", '{"query": "SELEC"}']] }],
      [],
      { outcome: "submitted", final: "SELEC" },
    ],
    ["submits nothing", [{ calls: [["submit_final_query", "{}"]] }], [], { outcome: "turns", final: null }],
    [
      "writes its query as text",
      [{ text: `\`\`\`sparql\nASK {}\n\`\`\`` }],
      [],
      { outcome: "submitted", final: "ASK {}", why: expect.stringContaining("as text") },
    ],
    [
      "sends a megabyte",
      [{ status: 200, body: JSON.stringify({ choices: [{ message: { content: "x".repeat(1 << 20) } }] }) }],
      [],
      { outcome: "model-failed", why: expect.stringContaining("larger") },
    ],
    [
      "answers 429 to every try",
      [{ status: 429, body: "" }],
      [],
      { outcome: "model-failed", why: expect.stringContaining("429"), turns: 1 },
    ],
    ["hangs", ["silence"], ["--timeout", "1000"], { outcome: "time", why: expect.stringContaining("1000 ms") }],
  ])("%s", async (_what, script, words, expected) => {
    model.answer(...script);
    const { code, err } = await run(...first(), ...words);
    const records = await recordsIn(out);
    expect(records).toMatchObject([expected]);
    const isFailed = records[0]?.outcome === "model-failed";
    const why = `1 of 1 questions were not answered: ${records[0]?.why}`;
    expect({ code, err }).toEqual(isFailed ? { code: 1, err: expect.stringContaining(why) } : { code: 0, err: "" });
    expect(JSON.stringify(records).length).toBeLessThan(100_000);
  });

  it("fails for a moment is asked again", async () => {
    model.answer({ status: 429, body: "" }, { status: 500, body: "" }, perfectAgent(benchmark));
    await run(...first());
    expect(await recordsIn(out)).toMatchObject([{ outcome: "submitted", turns: 2 }]);
    expect(model.sent.length).toBe(4);
  });

  it("repeats and corrects itself is recorded call by call", async () => {
    model.answer(runs("SELEC"), runs(wrong), runs(wrong), perfectAgent(benchmark));
    await run(...first());
    const [record] = await recordsIn(out);
    const calls = record?.calls?.filter(({ tool }) => tool !== "model");
    expect(calls).toMatchObject([
      { tool: "run_sparql_query", query: "SELEC", outcome: "failed", code: "QUERY_SYNTAX" },
      { tool: "run_sparql_query", query: wrong, outcome: "empty", rows: 0, endpoints: ["name"] },
      { tool: "run_sparql_query", query: wrong, outcome: "empty", rows: 0, endpoints: [], requests: 0, bytes: 0 },
      { tool: "submit_final_query", outcome: "ok" },
    ]);
    expect(calls?.[1]?.requests).toBeGreaterThan(0);
  });
});

describe("the bounds of a run", () => {
  it("leave out questions that the budget has no room for, which another start asks", async () => {
    model.answer(perfectAgent(benchmark));
    const setup = join(newFolder(), "setup.json");
    const shipped = JSON.parse(
      await readFile(new URL("../../shards/src/evaluate/setups/baseline.json", import.meta.url), "utf8"),
    ) as object;
    await writeFile(
      setup,
      JSON.stringify({ ...shipped, limits: { turns: 10, rounds: 3, tokens: 50_000, timeoutMs: 60_000 } }),
    );
    const ids = benchmark.questions.slice(0, 8).map(({ id }) => id);
    const words = ["--setup", setup, "-q", ...ids, "--parallel", "3"];
    expect(await run(...words, "--max-tokens", "50500")).toMatchObject({
      code: 1,
      out: expect.stringContaining("5 not asked: the budget has no room"),
    });
    expect(await recordsIn(out)).toMatchObject(ids.slice(0, 3).map((question) => ({ question, outcome: "submitted" })));
    expect(await run(...words, "--max-cost", "0.6", "--price", "1/10")).toMatchObject({ code: 0 });
    const asked = (await recordsIn(out)).map(({ question }) => question);
    expect(asked.toSorted()).toEqual(ids.toSorted());
    for (const [wrongWords, message] of [
      [["--max-tokens", "40000"], "keeps its own FEDWAY_ASK_TOKENS"],
      [["--max-cost", "1"], "--max-cost needs --price"],
    ] as const)
      expect(await run(...words, ...wrongWords)).toMatchObject({ code: 2, err: expect.stringContaining(message) });
  });

  it("end the run where no question would be answered, and record nothing then", async () => {
    model.answer(perfectAgent(benchmark));
    for (const [words, message] of [
      [["--token", "wrong"], "TOKEN_REQUIRED"],
      [["--service", "http://127.0.0.1:9"], "could not be reached"],
      [["--setup", "nothing"], "There is no setup nothing"],
    ] as const)
      expect(await run(...first(), ...words)).toMatchObject({ code: 1, err: expect.stringContaining(message) });
    const tools = join(newFolder(), "tools.json");
    await writeFile(
      tools,
      JSON.stringify({
        name: "x",
        tools: ["fly"],
        lookup: false,
        prompt: ["x"],
        limits: { turns: 1, rounds: 1, tokens: 1_000, timeoutMs: 1_000 },
      }),
    );
    const elsewhere = ["--out", join(newFolder(), "run"), "--setup", tools];
    expect(await run(...first(), ...elsewhere)).toMatchObject({
      code: 1,
      err: expect.stringContaining('no tool "fly"'),
    });
    await writeFile(tools, '{"name": "x"}');
    expect(await run(...first(), "--setup", tools)).toMatchObject({
      code: 1,
      err: expect.stringContaining("has not all of"),
    });
    await expect(recordsIn(out)).resolves.toEqual([]);
  });
});
