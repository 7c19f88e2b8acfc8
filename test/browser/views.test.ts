import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { createHttpServer } from "../../src/http/server.ts";
import { fakeAnswer, fakeSettings } from "../support/fake-query-service.ts";
import { createFakeDeps } from "../support/http-deps.ts";
import { pageDeps } from "../support/page-deps.ts";
import { accessibilityFaults, keepPicture, looks, useStageOf } from "./browser-fixture.ts";

const xsd = "http://www.w3.org/2001/XMLSchema#";
const literal = (value: string, datatype?: string) => ({ type: "literal", value, ...(datatype && { datatype }) });

const cities = [
  { name: "Reykjavík", people: 139_875, at: "POINT(-21.94 64.15)" },
  { name: "Lima", people: 10_092_000, at: "POINT(-77.03 -12.05)" },
  { name: "<img src=x onerror=alert(1)>", people: 13_960_000, at: "POINT(139.69 35.68)" },
  { name: "Nowhere", people: 5, at: "<http://www.opengis.net/def/crs/EPSG/0/31370> POINT(1 2)" },
  { name: "Beyond", people: 6, at: "POINT(500 50)" },
].map(({ name, people, at }) => ({
  name: literal(name),
  people: literal(String(people), `${xsd}integer`),
  at: literal(at, "http://www.opengis.net/ont/geosparql#wktLiteral"),
}));

const turtle = `@prefix : <http://x.example/> . :ada :knows :bob , :cyd ; :name "Ada" . :bob :knows :cyd , :bob .`;
const table = JSON.stringify({ head: { vars: ["name", "people", "at"] }, results: { bindings: cities } });

const long = { id: literal("1"), text: literal("Lorem ipsum dolor ".repeat(60)), word: literal("x".repeat(500)) };
const longTable = JSON.stringify({ head: { vars: Object.keys(long) }, results: { bindings: [long] } });
const no = JSON.stringify({ head: {}, boolean: false });

const stage = useStageOf(async () => {
  const deps = await createFakeDeps({ ...pageDeps({ count: 0 }), config: fakeSettings });
  deps.queries.answer = async ({ text }) =>
    text.includes("CONSTRUCT")
      ? fakeAnswer(Buffer.from(turtle), { contentType: "text/turtle" })
      : fakeAnswer(Buffer.from(text.startsWith("ASK") ? no : text.includes("?word") ? longTable : table), {
          contentType: "application/sparql-results+json",
        });
  const server = await createHttpServer(deps);
  return { url: await server.listen(), close: () => server.close(0) };
});

const select = "SELECT ?name ?people ?at WHERE { ?city ?p ?name }";
const construct = "CONSTRUCT WHERE { ?s ?p ?o }";

/** Runs a query in the console. */
async function run(query: string, look: keyof typeof looks) {
  const visit = await stage.visit(`/query#${new URLSearchParams({ query }).toString()}`, looks[look]);
  const { page } = visit;
  await page.locator("html[data-console=ready]").waitFor();
  await page.getByRole("button", { name: /^Run/ }).first().click();
  return visit;
}

/** Runs a query in the console and opens a view of its answer. */
async function open(query: string, view: string, look: keyof typeof looks = "light") {
  const visit = await run(query, look);
  const { page } = visit;
  await page.locator(`.select_${view}`).first().click();
  await page.locator(`.view-${view}`).waitFor();
  return visit;
}

const loaded = (page: Page): Promise<readonly string[]> =>
  page.evaluate<string[]>(
    "performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.includes('chunk'))",
  );

describe.each(["light", "phone"] as const)("in %s", (look) => {
  it("draws numbers as a chart, and chooses another kind", async () => {
    const visit = await open(select, "chart", look);
    const { page, strays } = visit;
    const picture = page.getByRole("img", { name: "bar chart of people by name" });
    expect((await picture.boundingBox())?.height).toBeGreaterThan(150);
    await page.getByLabel("Kind").selectOption("pie");
    await page.getByRole("img", { name: "pie chart of people by name" }).waitFor();
    await keepPicture(visit, `view-chart-${look}`);
    expect([await accessibilityFaults(visit), strays]).toEqual([[], []]);
    await page.context().close();
  });

  it("draws places on a map of this service's own, and says which rows have none", async () => {
    const visit = await open(select, "map", look);
    const { page, strays } = visit;
    expect(await page.locator(".view-map > p").innerText()).toBe("3 of 5 rows have a place that can be drawn here.");
    await page.locator(".view-map path.leaflet-interactive").last().dispatchEvent("click");
    expect(await page.locator(".leaflet-popup-content").innerText()).toContain("<img src=x onerror=alert(1)>");
    await keepPicture(visit, `view-map-${look}`);
    expect([await accessibilityFaults(visit), strays]).toEqual([[], []]);
    await page.context().close();
  });

  it("draws triples as a graph", async () => {
    const visit = await open(construct, "graph", look);
    const { page, strays } = visit;
    await page.getByRole("img", { name: "4 nodes, 5 triples." }).waitFor();
    const loop = page.locator(".view-graph .edge path[d*=C]");
    expect((await loop.boundingBox())?.height).toBeGreaterThan(10);
    expect(await page.locator(".view-graph .node > text").allTextContents()).toEqual(
      expect.arrayContaining(["ada", "bob", "cyd", "Ada"]),
    );
    await keepPicture(visit, `view-graph-${look}`);
    expect([await accessibilityFaults(visit), strays]).toEqual([[], []]);
    await page.context().close();
  });
});

it.each(["light", "phone"] as const)("keeps a long text beside a long word readable, %s", async (look) => {
  const { page } = await run("SELECT ?id ?text ?word WHERE { ?s ?p ?o }", look);
  const cell = await page.locator(".answered .yasr td", { hasText: "Lorem" }).boundingBox();
  expect(cell?.width).toBeGreaterThan(250);
  expect(cell?.height).toBeLessThan(1_200);
  await page.context().close();
});

it("draws the mark of a boolean in the colour of the text", async () => {
  const { page } = await run("ASK { ?s ?p ?o }", "phone");
  await page.locator(".answered .booleanResult svg").waitFor();
  const [fill, color] = await page.evaluate<string[]>(
    "(({ fill, color }) => [fill, color])(getComputedStyle(document.querySelector('.booleanResult svg')))",
  );
  expect(fill).toBe(color);
  await page.context().close();
});

it("loads the library of a view when it is first opened", async () => {
  const { page } = await open(select, "chart");
  const withChart = await loaded(page);
  await page.locator(".select_map").first().click();
  await page.locator(".view-map svg").waitFor();
  expect((await loaded(page)).length).toBeGreaterThan(withChart.length);
  await page.context().close();
});
