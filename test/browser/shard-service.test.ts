import { expect, it } from "vitest";
import { openWorkspace, type ShardWorkspace } from "../support/shard-workspace.ts";
import { startService } from "../support/running-service.ts";
import { accessibilityFaults, keepPicture, looks, type Served, useStageOf } from "./browser-fixture.ts";

let workspace: ShardWorkspace | undefined;

/** The real service over the example, built. */
async function serve(): Promise<Served> {
  workspace = await openWorkspace();
  await workspace.build();
  return startService({}, { FEDWAY_DATA_DIR: workspace.dataDir });
}

const stage = useStageOf(serve);

const path = "/api/shards/harbour/report";

it.each(Object.keys(looks) as readonly (keyof typeof looks)[])("the report of a running service: %s", async (look) => {
  const visit = await stage.visit(path, looks[look]);
  const { page, complaints, strays } = visit;
  await keepPicture(visit, `shard-service-${look}`);
  expect(await page.locator("h1").innerText()).toBe("Shards of Ferries of an invented coast");
  const seen = await page.evaluate<{ scrollWidth: number; clientWidth: number; colour: string; drawings: number }>(
    `({ scrollWidth: document.documentElement.scrollWidth, clientWidth: document.documentElement.clientWidth,
       colour: getComputedStyle(document.body).backgroundColor,
       drawings: [...document.querySelectorAll("svg")].filter((svg) => svg.getBoundingClientRect().width > 5).length })`,
  );
  // The stylesheet was let through by the policy of the route as well as by the page's own.
  expect(seen.colour).toBe(look === "phone" ? "rgb(17, 21, 26)" : "rgb(246, 247, 249)");
  expect(seen.drawings).toBeGreaterThan(10);
  expect(seen.scrollWidth).toBeLessThanOrEqual(seen.clientWidth);
  expect(complaints).toStrictEqual([]);
  expect(strays).toStrictEqual([]);
  // Last: axe-core leaves the page changed.
  expect(await accessibilityFaults(visit)).toStrictEqual([]);
  await page.context().close();
});

it("the report says in the browser what it says as JSON", async () => {
  const visit = await stage.visit(path);
  const { report } = (await (await fetch(`${stage.url}/api/shards/harbour`)).json()) as {
    report: { queries: { federated: boolean; reason?: string }[]; shards: unknown[] };
  };
  const text = await visit.page.locator("main").innerText();
  const lacking = report.queries.filter(({ federated }) => !federated);
  expect(lacking).toHaveLength(1);
  expect(text).toContain(`1 query of ${report.queries.length} needs no federation`);
  expect(text).toContain(lacking[0]?.reason);
  expect(await visit.page.getByRole("group", { name: "Shards", exact: true }).locator("tbody tr").count()).toBe(
    report.shards.length,
  );
  // A place on the page, the one link of a report that leads anywhere without leaving it.
  await visit.page.getByRole("link", { name: "the reasons" }).click();
  expect(visit.page.url()).toBe(`${stage.url}${path}#lacking`);
  expect([visit.complaints, visit.strays]).toStrictEqual([[], []]);
  await visit.page.context().close();
});

it("leads to the rule file beside it", async () => {
  const visit = await stage.visit(path);
  await visit.page.getByRole("link", { name: "rules.lp" }).click();
  expect(visit.page.url()).toBe(`${stage.url}/api/shards/harbour/rules.lp`);
  expect(await visit.page.locator("body").innerText()).toMatch(/^% with shards\/domain\.lp [^]*\nanswer\(\d+\)\./);
  expect([visit.complaints, visit.strays]).toStrictEqual([[], []]);
  await visit.page.context().close();
});

it("no script runs in it, and nothing is loaded, whatever gets into the page", async () => {
  const response = await fetch(`${stage.url}${path}`);
  expect(response.headers.get("content-security-policy")).toBe(
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  );
  const visit = await stage.visit(path);
  await visit.page.evaluate(`
    const script = document.createElement("script");
    script.textContent = "document.title = 'broken into'";
    document.body.append(script);
    const image = document.createElement("img");
    image.src = "/icon.png";
    document.body.append(image);
    const style = document.createElement("style");
    style.textContent = "body { background: red !important }";
    document.head.append(style);`);
  expect(await visit.page.title()).toBe("Shards of Ferries of an invented coast");
  expect(await visit.page.evaluate<string>("getComputedStyle(document.body).backgroundColor")).toBe(
    "rgb(246, 247, 249)",
  );
  const refused = (what: string) => visit.complaints.filter((each) => each.includes(what)).length;
  // Scripts and images are refused twice, by the route's policy and by the page's own, which alone knows its stylesheet.
  await expect.poll(() => [refused("script"), refused("image"), refused("style")]).toStrictEqual([2, 2, 1]);
  await visit.page.context().close();
});
