import { readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createShardCommands } from "../../../shards/src/service/commands.ts";
import type { ShardCommands } from "../../../shards/src/cli/shard-commands.ts";
import { overviewOf } from "../../../shards/src/report/overview.ts";
import { overviewPage, reportPage } from "../../../shards/src/report/report-page.ts";
import { reportOf, type ShardReport } from "../../../shards/src/report/shard-report.ts";
import { hostileInput, literal, reportInput } from "../../support/shard-benchmark.ts";
import { cli } from "../../support/run-cli.ts";
import { newFolder } from "../../support/scratch-folder.ts";

const folder = newFolder();

const { solution } = reportInput;
const guaranteed = reportOf(reportInput);
const paper = reportOf({
  ...reportInput,
  mode: "paper",
  predicted: true,
  solution: { ...solution, proven: false, lowerBound: 2 },
});
const bank = reportOf({ ...reportInput, dataset: { id: "bank", title: "A bank" } });
const evil = reportOf({
  ...hostileInput,
  dataset: { ...hostileInput.dataset, id: "evil\u001b[2J\u202e\nname" },
  solution: { ...hostileInput.solution, reading: literal },
});

const reports: Readonly<Record<string, ShardReport>> = { guaranteed, paper, bank, evil };
const shards: Pick<ShardCommands, "report"> = {
  report: async (name) => ({ report: reports[name] ?? expect.unreachable(name), folder: `/data/${name}` }),
};

const said = (...argv: string[]) => cli(["shards", "report", ...argv], { shards });

describe("of one folder", () => {
  it("gives the text, or the whole as JSON", async () => {
    expect((await said("guaranteed")).out).toMatch(
      /^shop: 40 triples, 6 questions with 4 queries\nleft out:\n- q9 .*\n3 rules/,
    );
    expect(JSON.parse((await said("guaranteed", "--json")).out)).toEqual(JSON.parse(JSON.stringify(guaranteed)));
  });

  it("is told as predicted when it is", async () =>
    expect((await said("paper")).out).toContain("\nsizes are predicted\n"));

  it("can be written as a page", async () => {
    const html = join(folder, "one.html");
    const { code, out, err } = await said("guaranteed", "--html", html);
    expect({ code, err }).toEqual({ code: 0, err: `${html}: ${Buffer.byteLength(reportPage(guaranteed))} bytes\n` });
    expect(out).toMatch(/^shop: /);
    expect(await readFile(html, "utf8")).toBe(reportPage(guaranteed));
  });
});

describe("of several folders", () => {
  it("has a row for each, with what is proven, predicted and not federated", async () => {
    const { code, out } = await said("guaranteed", "paper", "bank");
    expect(code).toBe(0);
    expect(out.split("\n").slice(0, 4)).toEqual([
      "dataset  made                       questions  rules  V/C/H  optimum     shards  variation  largest  not federated  one shard alone  realised fan-out",
      "shop     literal, guaranteed        6          3      1/1/1  proven      6       0.57       37.50 %  1              1, 1 unknown     mean 1.83, median 2, 0 to 3",
      "shop     literal, paper, predicted  6          3      1/1/1  at least 2  6       0.57       37.50 %  1              1, 1 unknown     mean 1.83, median 2, 0 to 3",
      "bank     literal, guaranteed        6          3      1/1/1  proven      6       0.57       37.50 %  1              1, 1 unknown     mean 1.83, median 2, 0 to 3",
    ]);
  });

  it("has every figure as what it is, of each way beside the published one", async () => {
    const { out } = await said("guaranteed", "paper", "bank");
    const figures = out.split("\n\n").slice(2);
    expect(figures.map((figure) => figure.slice(0, figure.indexOf(":")))).toEqual([
      "Shards of all datasets",
      "Rules per dataset",
      "Vertical rules",
      "Class rules",
      "Horizontal rules",
      "Shards per dataset",
      "Variation of shard sizes",
      "Largest shard",
      "Implied fan-out per question",
      "Realised fan-out per question",
      "Questions without a match, by solutions",
      "Questions without a match, by triple patterns",
      "Questions that touch exactly one shard",
      "Questions that touch exactly two shards",
      "Federated questions",
      "Questions that one shard answers alone",
    ]);
    expect(figures[5]?.split("\n")).toEqual([
      "Shards per dataset: Shards with at least one triple, the base shard included.",
      "  guaranteed mode, reading literal: 2 datasets           6",
      "  paper mode, reading literal: 1 dataset, all predicted  6",
      "  published                                              mean 6.21, median 6, 3 to 14",
    ]);
    expect(figures[9]).toMatch(/published {2,}not published$/);
  });

  it("says that the figures need not be the published ones", async () =>
    expect((await said("guaranteed", "bank")).out).toContain(
      "Other datasets, or some of these, need not have the same.",
    ));

  it("is the overview as JSON, and as a page", async () => {
    const html = join(folder, "several.html");
    const { out } = await said("guaranteed", "bank", "--json", "--html", html);
    const overview = overviewOf([guaranteed, bank]);
    expect(JSON.parse(out)).toEqual(JSON.parse(JSON.stringify(overview)));
    expect(await readFile(html, "utf8")).toBe(overviewPage(overview));
  });

  it("lets no text from elsewhere steer the terminal or break a row", async () => {
    const { out } = await said("guaranteed", "evil");
    expect(["\u001b", "\u202e"].filter((each) => out.includes(each))).toEqual([]);
    expect(out.split("\n")[2]).toMatch(/^evil\\u001B\[2J\\u202E name +literal, guaranteed +4 /);
  });
});

describe("that cannot be given", () => {
  const real = createShardCommands(tmpdir(), () => () => Promise.reject(new Error("asked for no store")));
  const shouldFail = async (argv: readonly string[], code: number, words: RegExp): Promise<void> => {
    const before = await readdir(folder);
    const outcome = await cli(["shards", "report", ...argv], { shards: { ...shards, ...real } });
    expect(outcome).toMatchObject({ code, out: "" });
    expect(outcome.err).toMatch(words);
    expect(await readdir(folder)).toEqual(before);
  };

  it("names the folder that has no shards, and writes nothing", async () =>
    shouldFail([join(folder, "none"), "--html", join(folder, "x.html")], 1, /SHARDS_UNKNOWN[^]*\/none: There are no/));

  it("takes a report without a manifest for no finished build", async () => {
    await writeFile(join(folder, "report.json"), JSON.stringify(guaranteed));
    await shouldFail([folder, "--html", join(folder, "x.html")], 1, /no finished shards/);
  });

  it("names a folder of another kind at once", async () =>
    shouldFail([folder, "--html", folder], 2, /is a folder; --html names a file/));

  it("wants a folder", async () => shouldFail([], 2, /missing required argument 'folder'/));

  it("does not count a folder twice", async () => {
    const html = join(folder, "twice.html");
    const outcome = await cli(["shards", "report", "bank", "guaranteed", "bank", "--html", html], { shards });
    expect(outcome).toMatchObject({ code: 2, out: "" });
    expect(outcome.err).toContain('the folder "/data/bank" is named twice');
    expect(await readdir(folder)).not.toContain("twice.html");
  });

  it("replaces a file only when all reports were read", async () => {
    const html = join(folder, "kept.html");
    await writeFile(html, "mine");
    const failing: ShardCommands["report"] = async (name) => {
      if (name === "bank") throw new Error("no");
      return shards.report(name);
    };
    expect(
      (await cli(["shards", "report", "paper", "bank", "--html", html], { shards: { report: failing } })).code,
    ).toBe(1);
    expect(await readFile(html, "utf8")).toBe("mine");
    expect((await said("paper", "bank", "--html", html)).code).toBe(0);
    expect(await readFile(html, "utf8")).toMatch(/^<!doctype html>/);
  });
});
