import { createServer } from "node:http";
import { describe, expect, it } from "vitest";
import { overviewOf } from "../../shards/src/report/overview.ts";
import { overviewPage, reportPage } from "../../shards/src/report/report-page.ts";
import { reportPolicy } from "../../shards/src/report/report-style.ts";
import { type ReportInput, reportOf } from "../../shards/src/report/shard-report.ts";
import { hostileInput, problem, reportInput, shards } from "../support/shard-benchmark.ts";
import { accessibilityFaults, keepPicture, looks, type Served, useStageOf } from "./browser-fixture.ts";
import { listening } from "../support/listening.ts";

/** Fourteen shards and sixty queries, as the largest published datasets have. */
const largeInput: ReportInput = {
  ...reportInput,
  mode: "paper",
  problem: {
    queries: Array.from({ length: 60 }, (_, at) => {
      const features = problem.queries[at % 4]!;
      return { ...features, query: { ...features.query, id: `q${at + 1}`, same: [`q${at + 1}`] } };
    }),
    candidates: problem.candidates.map(({ rule }, at) => ({ rule, covers: [at, at + 4, at + 9] })),
  },
  shards: Array.from(
    { length: 14 },
    (_, at) => shards[at] ?? { key: `v/http://shop.example/p${at}`, triples: at ** 4 },
  ),
  touched: Array.from({ length: 60 }, (_, at) => [
    shards[at % 6]!.key,
    ...Array.from({ length: at % 7 }, (_each, more) => `v/http://shop.example/p${6 + more}`),
  ]),
  sources: Array.from({ length: 60 }, (_, at) => reportInput.sources?.[at % 4]),
};

const pages: Readonly<Record<string, string>> = {
  small: reportPage(reportOf(reportInput)),
  large: reportPage(reportOf(largeInput)),
  hostile: reportPage(reportOf(hostileInput)),
  overview: overviewPage(overviewOf([reportInput, largeInput, hostileInput].map(reportOf))),
};

async function serve(): Promise<Served> {
  const server = createServer(({ url = "" }, response) => {
    const page = pages[url.slice(1)];
    // Without one the browser asks for an icon.
    response.writeHead(page === undefined ? 204 : 200, {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": reportPolicy,
    });
    response.end(page);
  });
  const { origin, close } = await listening(server);
  return { url: origin, close };
}

const stage = useStageOf(serve);

describe.each(Object.keys(pages))("the %s report", (name) => {
  it.each(Object.keys(looks) as readonly (keyof typeof looks)[])("%s", async (look) => {
    const visit = await stage.visit(`/${name}`, looks[look]);
    const { page, complaints, strays } = visit;
    await keepPicture(visit, `shard-report-${name}-${look}`);
    const seen = await page.evaluate<{ scrollWidth: number; clientWidth: number; colour: string; drawings: number }>(
      `({ scrollWidth: document.documentElement.scrollWidth, clientWidth: document.documentElement.clientWidth,
         colour: getComputedStyle(document.body).backgroundColor,
         drawings: [...document.querySelectorAll("svg")].filter((svg) => svg.getBoundingClientRect().width > 5).length })`,
    );
    // The stylesheet was let through by its hash.
    expect(seen.colour).toBe(look === "phone" ? "rgb(17, 21, 26)" : "rgb(246, 247, 249)");
    expect(seen.drawings).toBeGreaterThan(name === "overview" ? -1 : 10);
    expect(seen.scrollWidth).toBeLessThanOrEqual(seen.clientWidth);
    expect(complaints).toStrictEqual([]);
    expect(strays).toStrictEqual([]);
    // Last: axe-core leaves the page changed.
    expect(await accessibilityFaults(visit)).toStrictEqual([]);
    await page.context().close();
  });
});

it("can be printed: all tables are on the paper, none is cut off", async () => {
  const { page } = await stage.visit("/large");
  await page.emulateMedia({ media: "print" });
  const cut = await page.evaluate<number>(
    `[...document.querySelectorAll(".scroll")].filter((box) => getComputedStyle(box).overflowX !== "visible").length`,
  );
  expect(cut).toBe(0);
  const paper = await page.pdf({ format: "A4" });
  expect(paper.subarray(0, 5).toString()).toBe("%PDF-");
  await page.context().close();
});
