import { describe, expect, it } from "vitest";
import { fakeNowMs } from "../support/http-deps.ts";
import { accessibilityFaults, keepPicture, looks, useStage } from "./browser-fixture.ts";

const stage = useStage();

const pages: Readonly<Record<string, string>> = {
  catalogue: "/",
  search: "/?q=proteins+ancient&class=foaf:Person",
  "no-hits": "/?q=xyzzy",
  query: "/query",
  endpoint: "/endpoints/people",
  "endpoint-hostile": "/endpoints/hostile",
  "endpoint-unknown-state": "/endpoints/dark",
  federations: "/federations",
  jobs: "/jobs",
  watches: "/watches",
  federation: "/federations/north",
  status: "/status",
  "status-by-latency": "/status?sort=latency&order=desc",
  incident: `/incidents/gone-${fakeNowMs - 5 * 3_600_000}`,
  run: "/runs/run-hostile",
  ask: "/ask",
  help: "/help",
  guide: "/help/monitoring",
  login: "/login",
  missing: "/endpoints/peple",
  "unknown-path": "/nothing/here",
};

/** The browser itself tells of every answer that is no success. */
const expected = (path: string): readonly string[] =>
  [pages["missing"], pages["unknown-path"]].includes(path)
    ? ["Failed to load resource: the server responded with a status of 404 (Not Found)"]
    : [];

describe.each(Object.entries(pages))("%s", (name, path) => {
  it.each(Object.keys(looks) as readonly (keyof typeof looks)[])("%s", async (look) => {
    const visit = await stage.visit(path, looks[look]);
    const { page, complaints, strays } = visit;
    await keepPicture(visit, `${name}-${look}`);
    const sizes = await page.evaluate<{ scrollWidth: number; clientWidth: number; styled: string }>(
      `({ scrollWidth: document.documentElement.scrollWidth, clientWidth: document.documentElement.clientWidth,
         styled: getComputedStyle(document.body).display })`,
    );
    // The stylesheet came: without it nothing here would mean much.
    expect(sizes.styled).toBe("flex");
    expect(sizes.scrollWidth).toBeLessThanOrEqual(sizes.clientWidth);
    expect(complaints).toStrictEqual(expected(path));
    expect(strays).toStrictEqual([]);
    // Last: axe-core leaves the page changed.
    expect(await accessibilityFaults(visit)).toStrictEqual([]);
    await page.context().close();
  });
});

it("the dark scheme is dark, the light one light", async () => {
  const brightness = async (colorScheme: "light" | "dark"): Promise<number> => {
    const { page } = await stage.visit("/", { colorScheme });
    const colour = await page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
    await page.context().close();
    const channels = (colour.match(/\d+/g) ?? []).map(Number);
    expect(channels).toHaveLength(3);
    return channels.reduce((sum, channel) => sum + channel, 0) / 3;
  };
  expect(await brightness("dark")).toBeLessThan(60);
  expect(await brightness("light")).toBeGreaterThan(220);
});

it("axe-core would find faults", async () => {
  const visit = await stage.visit("/status");
  await visit.page.evaluate(`
    document.documentElement.removeAttribute("lang");
    for (const label of document.querySelectorAll("label")) label.remove();`);
  const faults = await accessibilityFaults(visit);
  expect(faults.map((fault) => fault.split(":", 1)[0])).toContain("html-has-lang");
  expect(faults.map((fault) => fault.split(":", 1)[0])).toContain("select-name");
  await visit.page.context().close();
});
