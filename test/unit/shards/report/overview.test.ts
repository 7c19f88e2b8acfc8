import { describe, expect, it } from "vitest";
import { overviewOf } from "../../../../src/shards/report/overview.ts";
import { overviewPage } from "../../../../src/shards/report/overview-page.ts";
import { reportOf } from "../../../../src/shards/report/shard-report.ts";
import { hostileInput, reportInput } from "../../../support/shard-benchmark.ts";

const [small, hostile] = [reportOf(reportInput), reportOf(hostileInput)];
const overview = overviewOf([small, hostile]);

describe("several datasets together", () => {
  it("count shards and queries that are not federated", () => {
    expect([overview.format, overview.version, overview.shards]).toStrictEqual(["fedway-shard-overview", 1, 6 + 3]);
    expect(overview.datasets.map(({ notFederated, statistics }) => [notFederated, statistics.questions])).toStrictEqual(
      [
        [1, 6],
        [3, 4],
      ],
    );
  });

  // 3 rules and 1; questions: 6 with fan-outs 2 2 2 2 3 0, and 4 with 1 1 0 2.
  it("have mean, median and range", () => {
    const value = (id: string): unknown => overview.figures.find((figure) => figure.id === id)?.value;
    expect(value("rules")).toStrictEqual({ count: 2, mean: 2, median: 2, min: 1, max: 3 });
    expect(value("realised-fan-out")).toStrictEqual({ count: 10, mean: 1.5, median: 2, min: 0, max: 3 });
  });

  it("are the same after JSON, also as a page", () => {
    const parsed = overviewOf(JSON.parse(JSON.stringify([small, hostile])));
    expect(overviewPage(parsed)).toBe(overviewPage(overview));
  });
});

describe("the page", () => {
  const page = overviewPage(overview);
  it("stands beside the published figures", () =>
    expect(page).toContain("9 shards in all; published: 118 of 19 datasets."));
  it("keeps hostile text as text", () => {
    expect(page).not.toMatch(/<script|<img|href=/);
    expect(page).toContain("&lt;script&gt;");
  });
  it("of nothing says so", () => {
    const none = overviewPage(overviewOf([]));
    expect(none).toContain("There are no datasets.");
    expect(none).not.toMatch(/NaN|undefined|Infinity/);
  });
});
