import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { CallRecord, QuestionRecord } from "../../shards/src/evaluate/records.ts";
import { openPackage } from "../../shards/src/package/open-package.ts";
import type { PackagedQuery } from "../../shards/src/package/package-items.ts";
import type { Scores } from "../../shards/src/evaluate/score/score-runs.ts";
import { newFolder } from "../support/scratch-folder.ts";
import { makePackage } from "../support/benchmark-package.ts";
import { openBuiltWorkspace } from "../support/shard-workspace.ts";
import { evaluate, ran, record, runFolder, tinyPackage } from "../support/score-package.ts";

let folder: string;
let texts: Readonly<Record<"ages" | "oldest", { gold: string; trivial: string }>>;
let urlOf: (id: string) => string;

beforeAll(async () => {
  const made = await tinyPackage();
  ({ folder } = made);
  const { pkg } = made;
  expect(pkg.endpoints.map(({ id }) => id).toSorted()).toEqual(["age", "base", "name"]);
  for (const { touched } of pkg.queries.values()) expect(touched).toEqual(["age", "name"]);
  const formsOf = (id: string) => {
    const { gold = "", trivial = "" } = pkg.queries.get(id) ?? {};
    return { gold, trivial };
  };
  texts = { ages: formsOf("ages"), oldest: formsOf("oldest") };
  urlOf = (id) => pkg.endpoints.find((endpoint) => endpoint.id === id)?.url ?? "";
});

type Question = keyof typeof texts;
type Planted = (question: Question) => Partial<QuestionRecord>;

const prefix = "PREFIX : <https://tiny.example/>";
const model: CallRecord = { tool: "model", atMs: 0, ms: 100, outcome: "ok" };
const found: CallRecord = { tool: "find_endpoints", atMs: 100, ms: 20, outcome: "ok" };
const failed = (query: string, code: string): CallRecord => ({
  tool: "run_query",
  atMs: 100,
  ms: 50,
  query,
  outcome: "failed",
  code,
});
/** One of the endpoints by its id in a catalogue. */
const needed = ["name", "harbour-age"];
const namesIn = (url: string): string =>
  `${prefix} SELECT ?name { SERVICE <${url}> { ?p :name ?name } } ORDER BY ?name`;

const agents: Readonly<Record<string, Planted>> = {
  perfect: (id) => ({
    final: texts[id].gold,
    calls: [model, found, ran(texts[id].gold, { atMs: 200, endpoints: needed, requests: 2, bytes: 100 })],
    turns: 3,
  }),
  trivial: (id) => ({
    final: texts[id].trivial,
    calls: [ran(texts[id].trivial, { endpoints: ["name", "age", "base"], requests: 6 })],
  }),
  narrow: (id) => ({
    final: namesIn(urlOf("name")),
    calls: [
      ran(namesIn(urlOf("name")), { rows: 2, endpoints: ["name"] }),
      ran(`${prefix} ${id === "ages" ? "ASK" : "SELECT *"} { SERVICE <${urlOf("base")}> { ?p :age ?age } }`, {
        outcome: "empty",
        rows: 0,
        endpoints: ["base"],
      }),
    ],
  }),
  repeating: (id) => ({
    final: texts[id].gold,
    calls: [1, 2, 3].map(() => ran(texts[id].gold, { endpoints: needed })),
  }),
  mending: (id) => ({
    final: texts[id].gold,
    calls: [
      failed(`SELECT ?name { SERVICE <${urlOf("name")}> { ?p :name ?name } }`, "QUERY_SYNTAX"),
      failed(`${prefix} SELECT ?name { SERVICE name { ?p :name ?name } }`, "QUERY_SYNTAX"),
      failed(`${prefix} SELECT ?name { SERVICE <${urlOf("name")}> { ?p :name ?name }`, "QUERY_SYNTAX"),
      failed(`SELECT * { SERVICE <http://elsewhere.example/sparql> { ?s ?p ?o } }`, "SERVICE_TARGET_REFUSED"),
      failed(`${texts[id].gold} # slow`, "ENDPOINT_TIMEOUT"),
      ran(texts[id].gold, { endpoints: needed }),
    ],
  }),
  resigned: () => ({
    outcome: "gave-up",
    why: "I do not know.",
    final: null,
    calls: [model, { tool: "describe_endpoint", atMs: 100, ms: 5, outcome: "failed", code: "ENDPOINT_UNKNOWN" }],
  }),
};

/**
 * Worked out by hand from the two questions of each agent; of what is not here the value is that of the agent `perfect`. `-`: not
 * known. ages: 2 rows of 2 columns, without an order. oldest: 1 row of 1 column, ordered. Both need 2 of 3 endpoints.
 */
const expected: Readonly<Record<string, string>> = {
  perfect: `right 1, multiset 1, exact 1, precision 1, recall 1, f1 1, hit1 1, hit5 1, hit10 1, mrr 1, lucky 0, submitted 1, faulty 0,
    valid 1, parse-error 0, prefix-error 0, malformed-service 0, other-endpoint 0, named-graph 0, timeout 0, too-large 0, runtime 0,
    consultation 1, all-endpoints 0, trivial 0, queries 1, tool-calls 1, model-calls 1, turns 3, redundant 0, empty 0, switches 0,
    corrections 0, corrected -, repairs 0, tool-errors 0, time 1000, input-tokens 100, output-tokens 10, cost 1/2, requests 2,
    bytes 100, first-rows 250`, // From the call of the model at 0 to the end of the query that began at 200 and took 50.
  // The query is the first call: 50 ms after it begins.
  trivial: "all-endpoints 1, trivial 1, requests 6, bytes 10, tool-calls 0, model-calls 0, turns 1, first-rows 50",
  // ages: one column for two, no row right. oldest: Ann, Bob for Bob; precision 1/2, recall 1, F1 2/3; one gold row has no rank.
  // Of the needed name and age, name was asked. The second of two queries names another endpoint and is empty.
  narrow: `right 0, multiset 0, exact 0, precision 1/4, recall 1/2, f1 1/3, hit1 0, hit5 0, hit10 0, mrr 0, lucky -,
    consultation 1/2, queries 2, switches 1, empty 1/2, requests 2, bytes 20, tool-calls 0, model-calls 0, turns 1, first-rows 50`,
  // Three times the same: two of three are repetitions.
  repeating: "queries 3, redundant 2/3, requests 3, bytes 30, tool-calls 0, model-calls 0, turns 1, first-rows 50",
  // Six queries: three with wrong syntax, one elsewhere, one too slow, one right. Each but the first follows a failed one; one of
  // these five gives rows.
  mending: `queries 6, valid 1/2, prefix-error 1/6, malformed-service 1/6, parse-error 1/6, other-endpoint 1/6, timeout 1/6,
    corrections 5, corrected 1/5, requests 1, bytes 10, tool-calls 0, model-calls 0, turns 1, first-rows 50`,
  // Shares of no query are not known.
  resigned: `right 0, multiset 0, exact 0, precision 0, recall 0, f1 0, hit1 0, hit5 0, hit10 0, mrr 0, lucky -, submitted 0, faulty -, queries 0,
    tool-errors 1, turns 1, consultation 0, first-rows -, valid -, parse-error -, prefix-error -, malformed-service -,
    other-endpoint -, named-graph -, timeout -, too-large -, runtime -, all-endpoints -, trivial -, redundant -, empty -,
    requests 0, bytes 0`,
};

/** `name value, ...`, a value being a number, a fraction or `-`. */
const valuesIn = (text = ""): Readonly<Record<string, number | null>> =>
  Object.fromEntries(
    text.split(/,\s+/u).map((each) => {
      const [name = "", value = ""] = each.split(" ");
      const [part = "", of = "1"] = value.split("/");
      return [name, value === "-" ? null : Number(part) / Number(of)];
    }),
  );

const planted = (name: string, setup = "baseline"): readonly QuestionRecord[] =>
  (["ages", "oldest"] as const).map((question) =>
    record({ question, setup, model: name, ...agents[name]?.(question) }),
  );

const scoresIn = async (run: string): Promise<Scores> => JSON.parse(await readFile(join(run, "scores.json"), "utf8"));

describe("six scripted agents", () => {
  let run: string;
  let scores: Scores;
  beforeAll(async () => {
    run = await runFolder(Object.keys(agents).flatMap((name) => planted(name)));
    expect(await evaluate("score", folder, run)).toMatchObject({ code: 0 });
    scores = await scoresIn(run);
  });

  it.each(Object.keys(agents))("%s: each metric is the value worked out by hand", (name) => {
    const system = scores.systems.find((each) => each.name === `baseline, ${name}`);
    const all = system?.groups.find(({ group }) => group === "all questions");
    const wanted = { ...valuesIn(expected["perfect"]), ...valuesIn(expected[name]) };
    expect(Object.keys(wanted)).toHaveLength(43);
    const metrics = Object.entries(all?.metrics ?? {});
    expect(Object.fromEntries(metrics.map(([id, { value }]) => [id, value]))).toEqual(
      Object.fromEntries(Object.entries(wanted).map(([id, value]) => [id, value && expect.closeTo(value, 9)])),
    );
  });

  it("has the same bytes when the runs are scored again, also with their lines in another order", async () => {
    const again = await runFolder(
      Object.keys(agents)
        .toReversed()
        .flatMap((name) => planted(name).toReversed()),
    );
    await evaluate("score", folder, again);
    for (const name of ["scores.json", "scores.csv", "report.html"])
      expect(await readFile(join(again, name), "utf8"), name).toBe(await readFile(join(run, name), "utf8"));
  });

  it("names failed runs, the questions that differ and the published figures", async () => {
    const { out } = await evaluate("report", run);
    expect(out).toContain("- ages (baseline, resigned): gave-up");
    expect(out).toMatch(/baseline, narrow beside baseline, perfect: 2 questions, equal accuracy p = 0.500/u);
    expect(out).toContain("right in baseline, perfect alone: ages, oldest");
    expect(out).toMatch(/Accuracy \(set of rows\) .* baseline 42.10 %, void_tool 43.50 %, high_level 45.40 %/u);
    const page = await readFile(join(run, "report.html"), "utf8");
    for (const text of [
      "gave-up",
      "I do not know.",
      "baseline 90.20 %, high_level 11.00 %",
      "prefers-color-scheme: dark",
    ])
      expect(page).toContain(text);
    expect(page.match(/(?:src|href)="[^"]*"|url\(/gu)).toBeNull();
  });

  it("compares two runs by question", async () => {
    const [left, right] = [await runFolder(planted("perfect")), await runFolder(planted("perfect", "high_level"))];
    const other = await runFolder(
      planted("perfect", "high_level").map((each, at) => record(at === 0 ? { ...each, final: null } : each)),
    );
    for (const each of [left, right, other]) await evaluate("score", folder, each);
    const compared = async (one: string) => JSON.parse((await evaluate("compare", left, one, "--json")).out)[0];
    expect(await compared(right)).toMatchObject({ questions: 2, onlyLeft: [], onlyRight: [], mcNemar: 1 });
    expect(await compared(other)).toMatchObject({ onlyLeft: ["ages"], onlyRight: [], mcNemar: 1 });
    expect((await evaluate("compare", left, left)).out).toContain("baseline, perfect (fedway-");
  });
});

describe("runs that cannot be scored:", () => {
  const good = record({ question: "ages" });
  it.each<[string, readonly (object | string)[], object | string, RegExp]>([
    ["no JSON", [good, "{"], {}, /runs.jsonl, line 2 is not a JSON object/u],
    ["a field is missing", [{ ...good, turns: undefined }], {}, /line 1 has no valid "turns"/u],
    ["a field is of another type", [{ ...good, final: 5 }], {}, /line 1 has no valid "final"/u],
    ["an outcome is unknown", [{ ...good, outcome: "won" }], {}, /line 1 has no valid "outcome"/u],
    ["a call is damaged", [{ ...good, calls: [model, { tool: "x" }] }], {}, /line 1 has no valid "calls\[1\].atMs"/u],
    ["a question twice", [good, "", good], {}, /line 3 repeats line 1/u],
    [
      "an unknown question",
      [record({ question: "who" })],
      {},
      /line 1 is of the question "who", which the package does not/u,
    ],
    ["run.json is damaged", [good], "[]", /run.json is not a JSON object/u],
    ["of another package", [good], { package: { dataset: "tiny", sha256: "0" } }, /are of another package/u],
  ])("%s", async (_, lines, settings, message) => {
    const { code, err } = await evaluate("score", folder, await runFolder(lines, settings));
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(message) });
  });

  it("no folder, no scores, no package", async () => {
    const run = await runFolder([good]);
    expect((await evaluate("score", folder, join(run, "none"))).err).toContain("run.json is missing");
    expect((await evaluate("report", run)).err).toContain("Score it first: fedway evaluate score.");
    expect((await evaluate("score", run, run)).err).toContain("cannot be read");
  });
});

describe("a run in which everything failed", () => {
  it("has an accuracy of 0, and no behaviour where nothing was recorded", async () => {
    const run = await runFolder([], { setup: { name: "high_level" }, model: "silent" });
    expect((await evaluate("score", folder, run)).code).toBe(0);
    const [system] = (await scoresIn(run)).systems;
    expect(system?.questions.map(({ question, outcome, right }) => [question, outcome, right])).toEqual([
      ["ages", "missing", false],
      ["oldest", "missing", false],
    ]);
    const { right, queries, time } = system?.groups[0]?.metrics ?? {};
    expect([right?.value, queries?.value, time?.value]).toEqual([0, null, null]);
  });

  it("does not count a right query that was not submitted", async () => {
    const lines = [record({ question: "ages", outcome: "turns", final: texts.ages.gold })];
    const run = await runFolder(lines);
    await evaluate("score", folder, run);
    const [system] = (await scoresIn(run)).systems;
    expect(system?.questions[0]).toMatchObject({ outcome: "turns", right: false, final: { accuracy: { set: true } } });
    expect(system?.groups[0]?.metrics["f1"]?.value).toBe(0);
  });
});

/** The package with other lines in some of its files. */
async function changedPackage(files: Readonly<Record<string, (line: string) => string>>): Promise<string> {
  const copy = join(newFolder(), "package");
  await cp(folder, copy, { recursive: true });
  for (const [name, change] of Object.entries(files)) {
    const text = await readFile(join(copy, name), "utf8");
    await writeFile(join(copy, name), text.split("\n").filter(Boolean).map(change).join(""));
  }
  return copy;
}

describe("packages", () => {
  it("with flags and strata: figures by group", async () => {
    const changed = await changedPackage({
      "questions.jsonl": (line) =>
        `${JSON.stringify({ ...JSON.parse(line), flags: line.includes('"ages"') ? ["empty"] : [] })}\n`,
      "queries.jsonl": (line) =>
        `${JSON.stringify({ ...JSON.parse(line), strata: line.includes('"id":"ages"') ? ["union"] : ["join", "union"] })}\n`,
    });
    const run = await runFolder(
      [planted("perfect").slice(0, 1), planted("narrow").slice(1)]
        .flat()
        .map((each) => Object.assign(each, { model: "m" })),
    );
    expect(await evaluate("score", changed, run)).toMatchObject({ code: 0 });
    const [system] = (await scoresIn(run)).systems;
    expect(system?.groups.map(({ group, questions, metrics }) => [group, questions, metrics["right"]?.value])).toEqual([
      ["all questions", 2, 1 / 2],
      ["flagged", 1, 1],
      ["not flagged", 1, 0],
      ["stratum join", 1, 0],
      ["stratum union", 2, 1 / 2],
    ]);
    expect(system?.tools).toEqual({ find_endpoints: 1 / 2, model: 1 / 2 });
  });

  it("without a question: no system, and a page", async () => {
    const empty = await changedPackage({ "questions.jsonl": () => "", "queries.jsonl": () => "" });
    const run = await runFolder([]);
    expect((await evaluate("score", empty, run)).code).toBe(0);
    expect((await scoresIn(run)).systems).toEqual([]);
    expect(await readFile(join(run, "report.html"), "utf8")).toContain("0 systems");
  });

  it("with a query without a gold answer: left out of accuracy", async () => {
    const changed = await changedPackage({
      "queries.jsonl": (line) =>
        `${JSON.stringify({ ...JSON.parse(line), ...(line.includes('"id":"ages"') && { answer: undefined }) })}\n`,
    });
    const run = await runFolder(planted("perfect"));
    await evaluate("score", changed, run);
    const [system] = (await scoresIn(run)).systems;
    expect(system?.questions.map(({ right }) => right)).toEqual([null, true]);
    expect(system?.groups[0]?.metrics["right"]?.value).toBe(1);
  });

  it("without any gold answer: the page draws no bar of an accuracy that is unknown", async () => {
    const changed = await changedPackage({
      "queries.jsonl": (line) => `${JSON.stringify({ ...JSON.parse(line), answer: undefined })}\n`,
    });
    const run = await runFolder(planted("perfect"));
    await evaluate("score", changed, run);
    const page = await readFile(join(run, "report.html"), "utf8");
    expect(page).toContain("1 system");
    expect(page).not.toContain('class="track"');
  });
});

it("finds gold terms in forms of descriptions", async () => {
  const { forms, questions } = JSON.parse((await evaluate("ablation", folder, "--json")).out);
  expect(questions).toBe(2);
  // Both queries name two properties. The data have no class; paths and lines name the properties by a prefix.
  const rows = forms.map(({ form, iris }: { form: string; iris: number }) => [form, iris]);
  expect(rows).toEqual([
    ["URL only", 0],
    ["one sentence", 0],
    ["class names", 0],
    ["one line a class", 1],
    ["full paths", 1],
    ["VoID, standard", 1],
    ["VoID, extended", 1],
  ]);
  const tokens = forms.map((each: { tokens: number }) => each.tokens);
  expect(tokens.every((each: number) => each > 0)).toBe(true);
  expect(Math.max(...tokens)).toBe(tokens.at(-1));
  expect((await evaluate("ablation", folder)).out).toMatch(/^form +tokens +IRIs found +words found/u);
});

it("knows queries that are right by luck: on altered copies of the data they give other answers", async () => {
  const { folder: harbour } = await makePackage((await openBuiltWorkspace()).folder);
  const { questions, queries } = await openPackage(harbour);
  /** A query that has the gold rows in it instead of asking for them. */
  const listed = (query: PackagedQuery | undefined): string | undefined => {
    const { answer } = query ?? {};
    if (answer?.kind !== "bindings" || answer.rows.length === 0 || answer.rows.flat().includes("")) return undefined;
    const names = answer.columns.map((name) => `?${name}`).join(" ");
    return `SELECT ${names} { VALUES (${names}) { ${answer.rows.map((row) => `(${row.join(" ")})`).join(" ")} } }`;
  };
  const lines = questions.flatMap(({ id, query }) => {
    const [gold, list] = [queries.get(query)?.gold, listed(queries.get(query))];
    if (gold === undefined || list === undefined) return [];
    return [
      record({ question: id, final: gold, setup: "asking" }),
      record({ question: id, final: list, setup: "listing" }),
    ];
  });
  const run = await runFolder(lines);
  expect(await evaluate("score", harbour, run)).toMatchObject({ code: 0 });
  const { systems } = await scoresIn(run);
  const luckyOf = (setup: string) =>
    systems
      .find((each) => each.setup === setup)
      ?.questions.filter(({ right }) => right)
      .map(({ final }) => final.lucky) ?? [];
  expect(luckyOf("asking").length).toBeGreaterThan(10);
  expect(new Set(luckyOf("asking"))).toEqual(new Set([false]));
  expect(luckyOf("listing")).toHaveLength(luckyOf("asking").length);
  expect(new Set(luckyOf("listing"))).toEqual(new Set([true]));
  expect(await readFile(join(run, "report.html"), "utf8")).toContain("right by luck");
});
