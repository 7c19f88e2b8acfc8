import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { useStageOf, type Visit } from "../browser/browser-fixture.ts";
import { named, queriesOf } from "./clients/clients.ts";
import { serveYasgui, shownBy } from "./clients/yasgui.ts";
import { type Fedway, startFedway } from "../support/fedway.ts";

const stage = useStageOf(serveYasgui);
let fedway: Fedway;
let yasgui: Visit;

beforeAll(async () => {
  fedway = await startFedway({}, { FEDWAY_EXAMPLES: "on" });
  yasgui = await stage.visit("/yasgui");
});
afterAll(() => fedway?.close());

type Form = keyof ReturnType<typeof queriesOf>;

/** The formats of YASGUI's menus, with the Accept header that it asks for each by; Zazuko's lets anything else do for graphs. */
const results = "application/sparql-results";
const rowMenu = [undefined, `${results}+json`, `${results}+xml`, "text/csv", "text/tab-separated-values"];
const graphTypes = ["turtle", "rdf+json", "rdf+xml", "trig", "n-triples", "n-quads", "csv", "tab-separated-values"];
const graphMenu = graphTypes
  .map((type) => (/^(?:turtle|csv|tab)/u.test(type) ? `text/${type}` : `application/${type}`))
  .flatMap((type) => [type, `${type},*/*;q=0.9`]);
const menus = { SELECT: rowMenu, ASK: rowMenu, CONSTRUCT: graphMenu, DESCRIBE: graphMenu };

/** Rows of the table, or what stands in the text that is shown instead. */
function expectedView(form: Form, accept = ""): number | string {
  if (form === "SELECT") return 3;
  if (form === "ASK") return /csv|tab/u.test(accept) ? "NOT_ACCEPTABLE" : "True";
  // YASR has no table for RDF/XML, and shows it as it is.
  if (accept.includes("rdf+xml")) return "<rdf:RDF";
  if (/^[^,]*(?:csv|tab|rdf\+json)[^,]*$/u.test(accept)) return "NOT_ACCEPTABLE";
  return form === "CONSTRUCT" ? 3 : 12;
}

describe("YASGUI at another origin", () => {
  it.each([
    ["/endpoints/people/sparql", "GET"],
    ["/endpoints/people/sparql", "POST"],
    ["/federations/examples/sparql", "POST"],
  ] as const)("shows every form in every format of its menus, from %s by %s", async (route, method) => {
    const endpoint = fedway.url + route;
    const queries = queriesOf({ url: endpoint, where: named });
    const unexpected: unknown[] = [];
    for (const form of ["SELECT", "ASK", "CONSTRUCT", "DESCRIBE"] as const) {
      for (const accept of menus[form]) {
        const shown = await shownBy(yasgui.page, { query: queries[form], endpoint, method, accept });
        const view = expectedView(form, accept);
        const isAsExpected = typeof view === "number" ? shown === view : String(shown).includes(view);
        if (!isAsExpected) unexpected.push({ form, accept, shown, view });
      }
    }
    expect(unexpected).toEqual([]);
  });

  it("sends headers that have to be allowed first", async () => {
    const request = { endpoint: `${fedway.url}/endpoints/people/sparql`, headers: { "X-Requested-With": "YASGUI" } };
    expect(await shownBy(yasgui.page, { ...request, query: `SELECT * { ${named} } LIMIT 2` })).toBe(2);
  });

  it("shows what is wrong with a query, and what to do next", async () => {
    const endpoint = `${fedway.url}/sparql`;
    const shown = (query: string) => shownBy(yasgui.page, { endpoint, query });
    expect(await shown(`SELECT * { ${named}`)).toMatch(/QUERY_SYNTAX.*"line": ?1.*"next"/su);
    expect(await shown(`SELECT * { ${named} }`)).toMatch(/SERVICE_REQUIRED.*SERVICE <\w+>/su);
    expect(await shown(`SELECT * { SERVICE <people> { ${named} } } LIMIT 2`)).toBe(2);
  });

  it("completes queries by the snippet of the guide", async () => {
    const guide = await readFile(new URL("../../deploy/guide/yasgui.md", import.meta.url), "utf8");
    const [, snippet = ""] = /```javascript skip\n(.*?)```/su.exec(guide) ?? [];
    const { page } = await stage.visit("/yasgui");
    await page.evaluate(
      `globalThis.Yasgui = { Yasqe }; ${snippet.replaceAll("http://127.0.0.1:3000", fedway.url)}
      yasqe.destroy(); document.getElementById("editor").replaceChildren();
      globalThis.own = new Yasgui.Yasqe(document.getElementById("editor"), { persistenceId: null, value: "SELECT * { SERVICE " });
      own.focus(); own.setCursor(0, 19);`,
    );
    await page.keyboard.type("<peo");
    await page.locator(".CodeMirror-hint", { hasText: "people" }).first().waitFor();
    await page.keyboard.press("Enter");
    await page.keyboard.type(" { ?p foa");
    await page.locator(".CodeMirror-hint", { hasText: "foaf:" }).first().waitFor();
    await page.keyboard.press("Enter");
    expect(await page.evaluate("own.getValue()")).toBe(
      "PREFIX foaf: <http://xmlns.com/foaf/0.1/>\nSELECT * { SERVICE <people> { ?p foaf:",
    );
  });

  it("asks nobody else, and complains of nothing but answers that are refused", () => {
    expect(yasgui.strays.filter((url) => !url.startsWith(`${fedway.url}/`))).toEqual([]);
    expect(yasgui.complaints.filter((complaint) => !/status of 40[06]/u.test(complaint))).toEqual([]);
  });
});
