import { describe, expect, it } from "vitest";
import { type OverviewGroup, overviewOf } from "../../../../src/shards/report/overview.ts";
import { overviewPage } from "../../../../src/shards/report/report-page.ts";
import { reportOf } from "../../../../src/shards/report/shard-report.ts";
import { hostileInput, literal, reportInput } from "../../../support/shard-benchmark.ts";

const [small, hostile] = [reportOf(reportInput), reportOf(hostileInput)];
const alike = reportOf({ ...hostileInput, solution: { ...hostileInput.solution, reading: literal } });
const overview = overviewOf([small, alike]);
type Figures = Pick<OverviewGroup, "figures">;
const valueIn = ({ figures }: Figures, id: string) => figures.find((figure) => figure.id === id)?.value;

const text = (page: string): string =>
  page
    .replace(/<style>.*<\/style>/s, "")
    .replaceAll(/<(br|\/t[hd]|\/p|\/h\d)>/g, " ")
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(/\s+/g, " ");

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
    const [group] = overview.groups as [OverviewGroup];
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

describe("the page", () => {
  const page = overviewPage(overviewOf([small, hostile]));
  it("says how its figures stand to the published ones", () =>
    expect(text(page)).toContain(
      "The published figures are of 19 datasets and of one choice of rules for each, of which several may be equally small. Other datasets, or some of these, need not have the same.",
    ));
  it("keeps hostile text as text", () => {
    expect(page).not.toMatch(/<script|<img|href=/);
    expect(page).toContain("&lt;script&gt;");
  });
  it("of nothing says so", () => {
    const none = overviewPage(overviewOf([]));
    expect(none).toContain("There are no reports.");
    expect(none).not.toMatch(/NaN|undefined|Infinity/);
  });
});
