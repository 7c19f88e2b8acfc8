import { appendFile, readFile, truncate, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addEvaluate } from "../../shards/src/cli/evaluate-program.ts";
import type { Scores } from "../../shards/src/evaluate/score/score-runs.ts";
import type { QuestionRecord } from "../../shards/src/evaluate/records.ts";
import { openPackage, type PackagedQuestion } from "../../shards/src/package/open-package.ts";
import { makePackage } from "../support/benchmark-package.ts";
import { listening } from "../support/listening.ts";
import { cli } from "../support/run-cli.ts";
import { newFolder } from "../support/scratch-folder.ts";
import { openBuiltWorkspace } from "../support/shard-workspace.ts";

// `fedway evaluate run` over the package of the example.

let packaged: string;
let questions: readonly PackagedQuestion[];
beforeAll(async () => {
  ({ folder: packaged } = await makePackage((await openBuiltWorkspace()).folder));
  ({ questions } = await openPackage(packaged));
});

const signal = new AbortController().signal;
const evaluate = (...words: readonly string[]) =>
  cli(["evaluate", "run", ...words], { plugins: [addEvaluate], interrupted: signal });
const recordsIn = async (folder: string): Promise<readonly QuestionRecord[]> => {
  const lines = (await readFile(join(folder, "runs.jsonl"), "utf8")).trim().split("\n");
  return lines.map((line) => JSON.parse(line) as QuestionRecord);
};

describe("a foreign trace", () => {
  const query = "SELECT ?s { ?s ?p ?o }";
  const imported = async (...lines: readonly (object | string)[]) => {
    const [trace, out] = [join(newFolder(), "trace.jsonl"), join(newFolder(), "run")];
    await writeFile(trace, lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"));
    return { folder: out, ...(await evaluate(packaged, "--trace", trace, "--out", out, "--model-name", "theirs")) };
  };
  const line = (at: number, fields: object = { query }) => ({ id: questions[at]?.id, ...fields });

  it("is a record a question; gaps are missing, a line without a query is no query", async () => {
    const call = { tool: "run", query, outcome: "empty", rows: 0, other: 1 };
    const found = await imported(
      line(2, { generated: query }),
      line(0, { final: query, calls: [call] }),
      "",
      line(1, { query: " " }),
    );
    expect(found).toMatchObject({
      code: 0,
      out: expect.stringContaining(`2 submitted, 1 no-query, ${questions.length - 3} missing`),
    });
    const records = await recordsIn(found.folder);
    expect(records.map(({ question }) => question)).toEqual(questions.map(({ id }) => id));
    expect(records.slice(0, 4).map(({ outcome, final }) => [outcome, final])).toEqual([
      ["submitted", query],
      ["no-query", null],
      ["submitted", query],
      ["missing", null],
    ]);
    expect(records[0]).toEqual({
      question: questions[0]?.id,
      setup: "trace",
      model: "theirs",
      repeat: 0,
      outcome: "submitted",
      final: query,
      calls: [{ tool: "run", atMs: 0, ms: 0, query, outcome: "empty", rows: 0 }],
      turns: 0,
      tokens: { input: 0, output: 0, estimated: true },
      cost: null,
      ms: 0,
    });
  });

  it.each<[string, () => (object | string)[], string]>([
    [
      "of an unknown question",
      () => [line(0), { id: "elsewhere", query }],
      'Line 2 of .* "elsewhere", which the package',
    ],
    ["twice of a question", () => [line(1), "", line(1)], "Line 3 of .* as line 1 is"],
    ["that is no JSON", () => [line(0), "{"], "Line 2 of .* no JSON object"],
    ["without an id", () => [{ query }], "Line 1 of .* no JSON object with an id"],
    ["longer than 1 MB", () => [line(0), line(1, { query: "x".repeat(1 << 20) })], "Line 2 of .* longer than 1 MB"],
    ["with a malformed call", () => [line(0, { query, calls: [{ query }] })], "Line 1 of .* malformed call"],
  ])("with a line %s is refused, and nothing is written", async (_what, lines, message) => {
    const { code, err, folder } = await imported(...lines());
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(new RegExp(message, "u")) });
    await expect(recordsIn(folder)).rejects.toThrow("ENOENT");
  });
});

describe("a run folder", () => {
  it("goes on without a torn line, and is of one package, setup and model", async () => {
    const [trace, out] = [join(newFolder(), "trace.jsonl"), join(newFolder(), "run")];
    await writeFile(trace, "");
    const again = (...words: string[]) => evaluate(packaged, "--trace", trace, "--out", out, ...words);
    expect(await again()).toMatchObject({ code: 0, out: expect.stringContaining(`${questions.length} missing`) });
    const whole = await readFile(join(out, "runs.jsonl"), "utf8");
    await truncate(join(out, "runs.jsonl"), whole.length - 40);
    expect((await again()).code).toBe(0);
    expect(await readFile(join(out, "runs.jsonl"), "utf8")).toBe(whole);
    expect(await again("--model-name", "another")).toMatchObject({
      code: 1,
      err: expect.stringContaining("another model"),
    });
    const other = await makePackage((await openBuiltWorkspace()).folder);
    await appendFile(join(other.folder, "manifest.json"), "\n");
    expect(await evaluate(other.folder, "--trace", trace, "--out", out)).toMatchObject({
      code: 1,
      err: expect.stringContaining("another package"),
    });
    await appendFile(join(out, "runs.jsonl"), '{"question": 1}\n');
    expect(await again()).toMatchObject({
      code: 1,
      err: expect.stringContaining(`line ${questions.length + 1} of its runs.jsonl`),
    });
  });
});

describe("a system behind the text2sparql API", () => {
  let server: Server;
  let url: string;
  const asked: URLSearchParams[] = [];
  const answers: [status: number, body: string][] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(new URL(request.url ?? "", "http://localhost").searchParams);
      const [status, body] = answers[Math.min(asked.length, answers.length) - 1] ?? [500, ""];
      response.writeHead(status, { "content-type": "application/json" }).end(body);
    });
    url = `${(await listening(server)).origin}/api`;
  });
  afterAll(() => void server.close());

  it.each<[string, [number, string][], object]>([
    ["with a query", [[200, '{"query": "ASK {}"}']], { outcome: "submitted", final: "ASK {}" }],
    ["with an empty query", [[200, '{"query": ""}']], { outcome: "no-query", final: null }],
    ["with no query", [[200, "{}"]], { outcome: "model-failed", why: "Its answer is no JSON object with a query." }],
    [
      "with a megabyte",
      [[200, "x".repeat(1 << 21)]],
      { outcome: "model-failed", why: "Its answer is larger than 1 MB." },
    ],
    ["with a refusal", [[404, ""]], { outcome: "model-failed", why: "It answered with HTTP status 404." }],
    [
      "too busy once",
      [
        [429, ""],
        [200, '{"query": "ASK {}"}'],
      ],
      { outcome: "submitted" },
    ],
  ])("that answers %s is recorded by name", async (_how, script, expected) => {
    answers.splice(0, answers.length, ...script);
    asked.length = 0;
    const out = join(newFolder(), "run");
    const [first] = questions;
    const { code } = await cli(
      ["evaluate", "run", packaged, "--text2sparql", url, "--out", out, "-q", first?.id ?? ""],
      {
        plugins: [addEvaluate],
        interrupted: signal,
        fetch,
      },
    );
    const records = await recordsIn(out);
    expect(records).toEqual([expect.objectContaining({ question: first?.id, ...expected })]);
    expect(code).toBe(records[0]?.outcome === "model-failed" ? 1 : 0);
    expect(Object.fromEntries(asked[0] ?? [])).toEqual({
      question: first?.question,
      dataset: "http://benchmark.example/federations/harbour",
    });
  });
});

describe("a system that goes away", () => {
  it("stops the run at three failures in a row; the next start asks these and the rest, and each counts once", async () => {
    let isThere = false;
    const server = createServer((_request, response) => {
      response.writeHead(isThere ? 200 : 404, { "content-type": "application/json" }).end('{"query": "ASK {}"}');
    });
    const url = `${(await listening(server)).origin}/api`;
    const out = join(newFolder(), "run");
    const ids = questions.slice(0, 5).map(({ id }) => id);
    const start = () =>
      cli(["evaluate", "run", packaged, "--text2sparql", url, "--out", out, "-q", ...ids], {
        plugins: [addEvaluate],
        interrupted: signal,
        fetch,
      });
    try {
      expect(await start()).toMatchObject({
        code: 1,
        out: expect.stringContaining("2 not asked: the model or the service failed"),
        err: expect.stringMatching(/3 of 3 questions were not answered, and 2 not asked: .*404/u),
      });
      isThere = true;
      expect(await start()).toMatchObject({ code: 0, out: expect.stringContaining("5 submitted") });
    } finally {
      server.close();
    }
    expect((await recordsIn(out)).length).toBe(8);
    const { code } = await cli(["evaluate", "score", packaged, out], { plugins: [addEvaluate], interrupted: signal });
    expect(code).toBe(0);
    const { systems } = JSON.parse(await readFile(join(out, "scores.json"), "utf8")) as Scores;
    // Questions that were not to be asked are no errors.
    expect(systems.map((system) => system.questions.map(({ question }) => question))).toEqual([ids]);
  });
});

describe("a trace that is scored at once", () => {
  it("knows nothing of calls that it does not have, and ranks nothing in one row", async () => {
    const trace = join(newFolder(), "theirs.jsonl");
    const [first] = questions;
    await writeFile(trace, JSON.stringify({ id: first?.id, query: "ASK {}", turns: 2 }));
    const out = join(newFolder(), "scores");
    const score = (...words: string[]) =>
      cli(["evaluate", "score", packaged, ...words], { plugins: [addEvaluate], interrupted: signal });
    expect(await score("--trace", trace, "--out", out)).toMatchObject({
      code: 0,
      out: expect.stringContaining("theirs"),
    });
    const { systems } = JSON.parse(await readFile(join(out, "scores.json"), "utf8")) as Scores;
    const [system] = systems;
    expect(system?.questions.length).toBe(questions.length);
    const values = system?.groups[0]?.metrics;
    for (const name of ["consultation", "requests", "bytes", "corrections", "queries"])
      expect([name, values?.[name]?.value]).toEqual([name, null]);
    expect(await score()).toMatchObject({ code: 2, err: expect.stringContaining("name a run") });
    expect(await score(out, "--trace", trace)).toMatchObject({ code: 2 });
  });
});

it("unknown questions and wrong packages are refused", async () => {
  const refused = [
    [packaged, "--trace", "x", "--out", newFolder(), "-q", "nothing"],
    [newFolder(), "--trace", "x", "--out", newFolder()],
    [packaged, "--out", newFolder()],
    [packaged, "--trace", "missing.jsonl", "--out", newFolder()],
  ];
  const found: (number | string | undefined)[][] = [];
  for (const words of refused) {
    const { code, err } = await evaluate(...words);
    found.push([code, err.split("\n").find((line) => /question|package|asked|missing/u.test(line))]);
  }
  expect(found).toEqual([
    [1, expect.stringContaining('no question "nothing"')],
    [1, expect.stringContaining("cannot be read")],
    [2, expect.stringContaining("name who is asked")],
    [1, expect.stringContaining("missing.jsonl is missing")],
  ]);
});
