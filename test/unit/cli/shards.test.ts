import { describe, expect, it } from "vitest";
import type { ShardCommands } from "../../../shards/src/cli/shard-commands.ts";
import type { BuildResult } from "../../../shards/src/build.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { reportOf, type ShardReport } from "../../../shards/src/report/shard-report.ts";
import { reportInput } from "../../support/shard-benchmark.ts";
import { cli } from "../../support/run-cli.ts";

const h = "https://harbour.example/vocabulary#";

/** The parts of a report that the command line shows. */
const report = {
  dataset: { id: "harbour", title: "Ferries" },
  mode: "guaranteed",
  reading: { name: "literal" },
  optimum: { cost: 2, lowerBound: 2, proven: true },
  statistics: { triples: 416, questions: 15, distinctQueries: 14 },
  rules: [{ name: "R1", kind: "class", iris: [`${h}Port`, `${h}Ferry`], covers: ["owners"], questions: 2 }],
  shards: [{ number: 1, id: "base", key: "base", triples: 416 }],
  queries: [
    { id: "owners", federated: true, source: "several-shards" },
    { id: "submarines\u001b[2J", federated: false, reason: "No triple matches.\nReally." },
  ],
  leftOut: [{ id: "broken", place: "entry 3", code: "QUERY_SYNTAX", message: "Expected }" }],
} as unknown as ShardReport;

const outcome: BuildResult = { report, folder: "/data/shards/harbour" };

describe("fedway shards compare", () => {
  it("predicts in every mode and puts the figures side by side", async () => {
    const asked: Partial<Parameters<ShardCommands["build"]>[1]>[] = [];
    const build: ShardCommands["build"] = async (_, { fields, dryRun, allow, solveMs }) => {
      const { mode = "paper", ...targets } = fields ?? {};
      expect(Object.values(targets).filter((value) => value !== undefined)).toEqual([]);
      asked.push({ fields: { mode }, dryRun, allow, ...(solveMs !== undefined && { solveMs }) });
      return [{ report: reportOf({ ...reportInput, mode, predicted: dryRun }) }];
    };
    const argv = ["shards", "compare", "spec.json", "--allow", "a", "--solve-timeout", "9"];
    const { code, out } = await cli(argv, { shards: { build } });
    expect(asked).toEqual(
      ["balanced", "guaranteed", "paper"].map((mode) => ({ fields: { mode }, dryRun: true, allow: ["a"], solveMs: 9 })),
    );
    expect(code).toBe(0);
    expect(out.split("\n").slice(1, 4)).toEqual([
      expect.stringMatching(/^shop +literal, balanced, predicted /),
      expect.stringMatching(/^shop +literal, guaranteed, predicted /),
      expect.stringMatching(/^shop +literal, paper, predicted /),
    ]);
    expect(out).toMatch(/Questions that one shard answers alone: .*\n {2}balanced mode, reading literal: 1 dataset/);
  });
});

describe("fedway shards sql", () => {
  it.each(["spec.json", "src"])("prints statements for %s", async (source) => {
    const asked: unknown[] = [];
    const { code, out } = await cli(["shards", "sql", source, "--dialect", "spark"], {
      shards: {
        build: async (file) => {
          asked.push(file);
          return [outcome, { report, folder: "/data/shards/other" }];
        },
        sql: async (folder, dialect) => `-- ${dialect} ${folder}\n`,
      },
    });
    expect(code).toBe(0);
    expect(asked).toEqual(source === "src" ? [] : ["spec.json"]);
    const both = "-- spark /data/shards/harbour\n-- spark /data/shards/other\n";
    expect(out).toBe(source === "src" ? "-- spark src\n" : both);
  });
});

describe("fedway shards build", () => {
  it.each([
    ["where a query is left out", report, 1],
    ["of a whole outcome", { ...report, leftOut: [] }, 0],
    ["of no triples", { ...report, leftOut: [], statistics: { ...report.statistics, triples: 0 } }, 1],
  ])("is strict %s", async (_what, found, code) => {
    const built = await cli(["shards", "build", "spec.json", "--strict"], {
      shards: { build: async () => [{ ...outcome, report: found }] },
    });
    expect(built.code).toBe(code);
  });

  it("says what came of it", async () => {
    const asked: [string, Partial<Parameters<ShardCommands["build"]>[1]>][] = [];
    const { code, out } = await cli(["shards", "build", "spec.json"], {
      shards: {
        build: async (file, { dryRun, allow, fields = {}, output }) => {
          asked.push([file, { dryRun, allow, fields, ...(output && { output }) }]);
          return [outcome];
        },
      },
    });
    expect(asked).toEqual([["spec.json", { dryRun: false, allow: [], fields: {} }]]);
    expect({ code, out }).toEqual({
      code: 0,
      out: `harbour: 416 triples, 15 questions with 14 queries
left out:
- broken (entry 3): Expected }
1 rules (no choice is better), 1 shards; mode guaranteed, reading literal
rules:
- class ${h}Port ${h}Ferry: covers 2 questions
shards:
- base: 416 triples, base
not federated:
- submarines\\u001B[2J: No triple matches. Really.
answers: 1 need several shards, 0 one shard has alone, 0 are empty, 1 were not asked
folder: /data/shards/harbour (report.html is the report to read)
`,
    });
  });

  it("hands every option on and says that nothing was written", async () => {
    const shares = { vertical: 0.2, class: 0.3 };
    const given = { mode: "paper" as const, skipBadLines: true, maxShards: 6, minShardTriples: 9, shares };
    const asked: unknown[] = [];
    const argv = ["shards", "build", "s.json", "--dry-run", "-m", "paper", "-o", "out", "--allow", "a", "b"].concat([
      "--max-shards",
      "6",
      "--min-shard-triples",
      "9",
      "--shares",
      "vertical=0.2,class=0.3",
      "--skip-bad-lines",
    ]);
    const { code, out } = await cli(argv, {
      shards: {
        build: async (_, { dryRun, allow, fields, output }) => {
          asked.push({ dryRun, allow, fields, output });
          return [{ report: { ...report, optimum: { cost: 4, lowerBound: 3, proven: false } } }];
        },
      },
    });
    expect(asked).toEqual([{ dryRun: true, allow: ["a", "b"], fields: given, output: "out" }]);
    expect(code).toBe(0);
    expect(out).toMatch(/not proven: between 3 and 4/);
    expect(out).toMatch(/nothing was written/);
  });

  it("tells why it failed", async () => {
    const { code, out, err } = await cli(["shards", "build", "spec.json"], {
      shards: {
        build: async () => {
          throw new FedwayError("SHARDS_BUSY", "These shards are being built by process 7 already.");
        },
      },
    });
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("process 7");
  });

  it("says that it was interrupted, and that nothing is lost", async () => {
    const { code, out, err } = await cli(["shards", "build", "spec.json"], {
      interrupted: AbortSignal.abort(),
      shards: {
        build: async (_, { signal }) => {
          signal.throwIfAborted();
          return [outcome];
        },
      },
    });
    expect({ code, out }).toEqual({ code: 130, out: "" });
    expect(err).toMatch(/^Interrupted\. .* goes on/);
  });

  it("refuses a mode that is none", async () => {
    expect((await cli(["shards", "build", "spec.json", "--mode", "fast"])).code).toBe(2);
  });
});

describe("fedway shards verify", () => {
  it("hands its options on", async () => {
    const asked: unknown[] = [];
    const verify: ShardCommands["verify"] = async (folder, { inputs, answers, timeoutMs }) => {
      asked.push([folder, inputs, answers, timeoutMs]);
      return { outcome: "held", checks: [] };
    };
    await cli(["shards", "verify", "x"], { shards: { verify } });
    await cli(["shards", "verify", "x", "--no-answers", "-i", "a.nt", "b.nt"], { shards: { verify } });
    await cli(["shards", "verify", "x", "--timeout", "2500"], { shards: { verify } });
    expect(asked).toEqual([
      ["x", [], true, undefined],
      ["x", ["a.nt", "b.nt"], false, undefined],
      ["x", [], true, 2_500],
    ]);
  });

  it.each([
    ["held", 0, "files: held (3 looked at)\nthe shards hold\n"],
    ["broken", 1, "files: broken (3 looked at, 1 wrong)\n- base: its checksum\nthe shards do not hold\n"],
    [
      "unknown",
      1,
      "files: unknown (3 looked at, 1 not looked at)\n- base: its checksum\nnothing wrong was found, but not all could be looked at\n",
    ],
  ] as const)("ends with the outcome: %s", async (outcomeOf, code, out) => {
    const findings = outcomeOf === "held" ? [] : [{ subject: "base", reason: "its\nchecksum" }];
    const counts = { checked: 3, wrong: outcomeOf === "broken" ? 1 : 0, notLookedAt: outcomeOf === "unknown" ? 1 : 0 };
    const check = { name: "files", outcome: outcomeOf, ...counts, findings } as const;
    const shards = { verify: async () => ({ outcome: outcomeOf, checks: [check] }) };
    expect(await cli(["shards", "verify", "x"], { shards })).toMatchObject({ code, out });
  });
});

describe("fedway shards serve", () => {
  it("starts the service with these folders", async () => {
    const { code, overrides } = await cli(["shards", "serve", "a", "b", "--port", "0"], {
      interrupted: AbortSignal.abort(),
    });
    expect({ code, overrides }).toEqual({ code: 0, overrides: [{ FEDWAY_SHARDS: "a,b", PORT: "0" }] });
  });

  it("refuses a folder with a comma, which the setting would take for two", async () => {
    expect(await cli(["shards", "serve", "a,b"])).toMatchObject({ code: 2, overrides: [] });
  });
});
