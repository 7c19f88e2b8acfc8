import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { overviewOf, type ShardOverview } from "../../../../shards/src/report/overview.ts";
import { overviewPage, reportPage } from "../../../../shards/src/report/report-page.ts";
import { reportOf } from "../../../../shards/src/report/shard-report.ts";
import {
  brief,
  createNames,
  figureText,
  partsOfKey,
  shardWords,
  shareText,
} from "../../../../shards/src/report/words.ts";
import { hostileInput, literal, problem, reportInput } from "../../../support/shard-benchmark.ts";

const page = reportPage(reportOf(reportInput));
const text = (of: string): string =>
  of
    .replace(/<style>.*<\/style>/s, "")
    .replaceAll(/<(br|\/t[hd]|\/p|\/li|\/h\d|\/dt|\/dd)>/g, " ")
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(/\s+/g, " ");

describe("the page", () => {
  const shouldSay = (words: string): void => it(words, () => expect(text(page)).toContain(words));
  shouldSay("Shards of A shop");
  shouldSay("The choice has 3 rules; no choice of rules is smaller: proven.");
  shouldSay("Federated 83.33 %");
  shouldSay("1 query of 4 needs no federation");
  shouldSay("mean 1.67, median 2, 0 to 2 mean 6.48, median 6, 2 to 14");
  shouldSay("or an ASK says no. 20.00 % 4.84 % Questions without a match, by triple patterns Realised fan-out 0");
  shouldSay("no triple matches any pattern of the query. 16.67 % not published");
  shouldSay("Questions that one shard answers alone");
  shouldSay("One shard alone 25.00 %");
  shouldSay("Here, 3 rules: vertical 33.33 %, class 33.33 %, horizontal 33.33 %");
  shouldSay("Published, mean of 19 datasets: vertical 18.30 %, class 30.42 %, horizontal 51.28 %");
  shouldSay("instances of Order and Product apart");
  shouldSay("1 instances of Order order 15");
  shouldSay("15 37.50 %");
  shouldSay("R2 1, 2 1, 2, 6 R1, R2 3 one shard alone");
  shouldSay("asked 3 times");
  shouldSay("4 Who flies? 0 No triple of the data matches one of its patterns.");
  shouldSay("not proven, at least 2");
  shouldSay("q9 entry 9, line 2, column 7 of the query A } is missing.");
});

it("shows what is predicted as predicted, and a gap as a gap", () => {
  const report = reportOf({
    ...reportInput,
    predicted: true,
    solution: { ...reportInput.solution, proven: false, lowerBound: 1 },
  });
  expect(text(reportPage(report))).toContain(
    "Nothing was written: sizes are predicted. The choice has 3 rules; a choice of 1 rule is not ruled out: gap 2.",
  );
});

it("points at the rule file where there is one", () => {
  const withFile = reportPage(reportOf(reportInput), "rules.lp");
  expect(withFile).toContain('The choice can be checked with clingo: <a href="rules.lp">rules.lp</a>');
  expect(page).not.toContain("rules.lp");
});

it("names what was minimised, proven or not", () => {
  const criteria = [
    { name: "fewest_rules", cost: 3, proven: true },
    { name: "smallest_largest_shard", cost: 1_200, proven: false },
  ] as const;
  const words = text(reportPage(reportOf({ ...reportInput, solution: { ...reportInput.solution, criteria } })));
  expect(words).toContain(
    "rules: 3, proven to be the least 32nds of the triples that the largest shard exceeds: 1,200, not proven to be the least",
  );
});

it("of nothing says so", () => {
  const none = reportOf({
    ...reportInput,
    problem: { queries: [], candidates: [] },
    solution: { ...reportInput.solution, rules: [], cost: 0, lowerBound: 0, impossible: [] },
    shards: [],
    touched: [],
    sources: [],
    readings: [],
    leftOut: [],
  });
  const words = text(reportPage(none));
  for (const said of ["Federated unknown", "There are no shards.", "There are no queries.", "No rule was chosen"]) {
    expect(words).toContain(said);
  }
  expect(words).not.toMatch(/NaN|undefined|Infinity/);
});

describe("the policy", () => {
  it("allows the one stylesheet, by its hash", () => {
    const styles = [...page.matchAll(/<style>(.*?)<\/style>/gs)].map((match) => match[1] ?? "");
    expect(styles).toHaveLength(1);
    const hash = createHash("sha256")
      .update(styles[0] ?? "")
      .digest("base64");
    expect(page).toContain(`content="default-src &#39;none&#39;; style-src &#39;sha256-${hash}&#39;;`);
  });

  it("is needed for nothing else: no script, no style attribute, no address that is loaded", () => {
    expect(page).not.toMatch(/<script|<link|<img|<iframe|\sstyle=|\ssrc=|\son[a-z]+=|url\(|@import/i);
    expect([...page.matchAll(/href="([^"]*)"/g)].map((match) => match[1])).toStrictEqual([
      "https://creativecommons.org/licenses/by/4.0/",
      "#lacking",
    ]);
  });
});

describe("hostile texts", () => {
  const hostile = reportPage(reportOf(hostileInput));

  it("stay text", () => {
    const tags = new Set([...hostile.matchAll(/<([a-z0-9]+)/gi)].map((match) => match[1]?.toLowerCase()));
    expect(tags).toContain("table");
    for (const tag of ["script", "img", "a"]) expect([tag, tags.has(tag) && tag !== "a"]).toStrictEqual([tag, false]);
    expect(hostile).not.toMatch(/href="(?!#)/);
    expect(hostile.match(/&lt;script&gt;/g)?.length ?? 0).toBeGreaterThan(20);
  });

  it("are cut off", () => expect(hostile.length).toBeLessThan(150_000));
});

it("a thousand queries are one page of bounded size", () => {
  const queries = Array.from({ length: 2_500 }, (_, at) => ({
    ...problem.queries[1]!,
    query: { ...problem.queries[1]!.query, id: `q${at}` },
  }));
  const many = reportPage(
    reportOf({
      ...reportInput,
      problem: { queries, candidates: [] },
      touched: queries.map(() => ["base"]),
      sources: queries.map(() => undefined),
    }),
  );
  expect(text(many)).toContain("500 more queries are only in the JSON.");
  expect(many.match(/<details>/g)).toHaveLength(2_000);
  expect(many.length).toBeLessThan(3_000_000);
});

describe("the matrix", () => {
  const looksIn = (mode: "guaranteed" | "paper"): readonly (string | undefined)[] => {
    const missed = { ...reportInput, mode, touched: [[], ...reportInput.touched.slice(1)] };
    const svg = /<div class="panels.*?<\/div>/s.exec(reportPage(reportOf(missed)))?.[0] ?? "";
    return [...svg.matchAll(/<path class="(\w+)"/g)].map((match) => match[1]);
  };
  it("tells in paper mode what rules say from what data say", () =>
    expect(looksIn("paper")).toStrictEqual(["both", "more", "missed", "nothing"]));
  it("tells in guaranteed mode what data say", () => expect(looksIn("guaranteed")).toStrictEqual(["both", "nothing"]));
});

const [small, hostile] = [reportOf(reportInput), reportOf(hostileInput)];
const alike = reportOf({ ...hostileInput, solution: { ...hostileInput.solution, reading: literal } });
const overview = overviewOf([small, alike]);
type Group = ShardOverview["groups"][number];
type Figures = Pick<Group, "figures">;
const valueIn = ({ figures }: Figures, id: string) => figures.find((figure) => figure.id === id)?.value;

describe("several datasets together", () => {
  it("count queries that are not federated", () => {
    expect([overview.format, overview.version]).toStrictEqual(["fedway-shard-overview", 1]);
    expect(overview.datasets.map(({ notFederated, statistics }) => [notFederated, statistics.questions])).toStrictEqual(
      [
        [1, 6],
        [3, 4],
      ],
    );
  });

  // 3 rules and 1; 6 shards and 3; questions: 6 with fan-outs 2 2 2 2 3 0, and 4 with 1 1 0 2.
  it("have mean, median and range", () => {
    expect(overview.groups).toHaveLength(1);
    const [group] = overview.groups as [Group];
    expect(valueIn(group, "rules")).toStrictEqual({ count: 2, mean: 2, median: 2, min: 1, max: 3 });
    expect(valueIn(group, "realised-fan-out")).toStrictEqual({ count: 10, mean: 1.5, median: 2, min: 0, max: 3 });
    expect(valueIn(group, "total-shards")).toMatchObject({ count: 1, mean: 9 });
    expect(group.figures.find(({ id }) => id === "total-shards")?.published).toStrictEqual({ mean: 118 });
  });

  it("are the same after JSON, also as a page", () => {
    const parsed = overviewOf(JSON.parse(JSON.stringify([small, alike])));
    expect(overviewPage(parsed)).toBe(overviewPage(overview));
  });
});

describe("reports whose shards were made in different ways", () => {
  const paper = reportOf({ ...reportInput, mode: "paper", predicted: true });
  const other = reportOf({ ...reportInput, precedence: ["class", "vertical", "horizontal"] });
  const { groups } = overviewOf([small, paper, alike, other]);

  it("are never put together", () =>
    expect(
      groups.map(({ title, datasets, predicted, ...group }) => [
        title,
        datasets,
        predicted,
        valueIn(group, "total-shards")?.mean,
      ]),
    ).toStrictEqual([
      ["guaranteed mode, reading literal", 2, 0, 9],
      ["paper mode, reading literal", 1, 1, 6],
      ["guaranteed mode, reading literal (2)", 1, 0, 6],
    ]));

  it("have columns of their own", () => {
    const words = text(overviewPage(overviewOf([small, paper])));
    expect(words).toContain(
      "Figure guaranteed mode, reading literal: 1 dataset paper mode, reading literal: 1 dataset, all predicted Published, 19 datasets",
    );
    expect(words).toContain("of all datasets together; it grows with the number of datasets. 6 6 118 ");
  });
});

describe("the page of several", () => {
  const several = overviewPage(overviewOf([small, hostile]));
  it("says how its figures stand to the published ones", () =>
    expect(text(several)).toContain(
      "The published figures are of 19 datasets and of one choice of rules for each, of which several may be equally small. Other datasets, or some of these, need not have the same.",
    ));
  it("keeps hostile text as text", () => {
    expect(several).not.toMatch(/<script|<img|href=/);
    expect(several).toContain("&lt;script&gt;");
  });
  it("of nothing says so", () => {
    const none = overviewPage(overviewOf([]));
    expect(none).toContain("There are no reports.");
    expect(none).not.toMatch(/NaN|undefined|Infinity/);
  });
});

describe("words", () => {
  it.each([
    [0, "0 %"],
    [1, "100 %"],
    [0.0484, "4.84 %"],
    [0.99999, "99.99 %"],
    [0.000001, "0.01 %"],
  ])("the share %d is %s", (share, words) => expect(shareText(share)).toBe(words));

  it.each<[Parameters<typeof figureText>, string]>([
    [[{ mean: 3.7, median: 4, min: 2, max: 8 }, "number"], "mean 3.7, median 4, 2 to 8"],
    [[{ mean: 3, median: 3, min: 3, max: 3 }, "number"], "3"],
    [[{ mean: 0.183 }, "share"], "18.30 %"],
    [[{ mean: 0.25, median: 0.2, min: 0, max: 0.5 }, "share"], "mean 25.00 %, median 20.00 %, 0 % to 50.00 %"],
  ])("the figure %j is %s", (figure, words) => expect(figureText(...figure)).toBe(words));

  const nameOf = createNames(["http://a/x#Person", "http://b/x#Person", "http://a/x#Dog", "http://a/tail/"]);
  it.each([
    ["local where they are unique", "http://a/x#Dog", "Dog"],
    ["whole where they are not", "http://b/x#Person", "http://b/x#Person"],
    ["whole where nothing follows", "http://a/tail/", "http://a/tail/"],
    ["whole for strangers", "http://c/Dog2", "http://c/Dog2"],
  ])("names are %s", (_, iri, name) => expect(nameOf(iri)).toBe(name));

  it("a key may have slashes in the class", () =>
    expect(partsOfKey("h/http://a/b/c/12")).toStrictEqual({ kind: "horizontal", iri: "http://a/b/c", bucket: "12" }));

  it.each([
    ["h/http://a/x#Dog/1", "instances of Dog, bucket 1"],
    ["c/http://a/x#Dog", "instances of Dog"],
    ["v/http://a/x#Dog", "triples with Dog"],
    ["base", "base: what no rule claims"],
    ["elsewhere", "elsewhere"],
  ])("the key %s is %s", (key, words) => expect(shardWords(key, nameOf)).toBe(words));

  it("are one line, and end where they are too long, not inside a character", () => {
    expect(brief(" a\n\tb ")).toBe("a b");
    expect(brief("😀😀", 3)).toBe("😀\uFFFD …");
  });
});
