import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, describe, expect, it, vi } from "vitest";
import { freePort, listening } from "../support/listening.ts";
import { startService } from "../support/running-service.ts";
import { accessibilityFaults, keepPicture, looks, useStageOf, type Visit } from "./browser-fixture.ts";

// The real service with its examples, and an endpoint that nobody answers for; below a path, which no request may leave.
const stage = useStageOf(async () => {
  const port = String(await freePort());
  const service = await startService(
    { gone: "http://127.0.0.1:9/sparql", slow: await slow.listen() },
    { FEDWAY_EXAMPLES: "on", PORT: port, FEDWAY_PUBLIC_URL: `http://127.0.0.1:${port}/fedway` },
  );
  const asked = await fetch(`${service.url}/api/endpoints/people/describe`, { method: "POST" });
  const { id } = (await asked.json()) as { id: string };
  const state = async (): Promise<unknown> =>
    ((await (await fetch(`${service.url}/api/jobs/${id}`)).json()) as { state: unknown }).state;
  await vi.waitFor(async () => expect(await state()).toBe("done"), { timeout: 120_000 });
  return { ...service, url: `${service.url}/fedway` };
});

/** An endpoint that gives its one answer when it is told to. */
const slow = createSlowEndpoint();
afterAll(() => slow.close());

function createSlowEndpoint() {
  const waiting: (() => void)[] = [];
  const server = createServer((_request, response) => {
    waiting.push(() => {
      response.setHeader("Content-Type", "application/sparql-results+json");
      response.end('{"head":{"vars":["s"]},"results":{"bindings":[{"s":{"type":"uri","value":"urn:x:slow"}}]}}');
    });
  });
  let stop = async (): Promise<void> => undefined;
  return {
    async listen(): Promise<string> {
      const { origin, close } = await listening(server);
      stop = close;
      return `${origin}/sparql`;
    },
    answer: (): void => {
      for (const give of waiting.splice(0)) give();
    },
    close: () => stop(),
  };
}

/** Opens the console with this fragment and waits for its script. */
async function open(fragment = "", options?: BrowserContextOptions): Promise<Visit> {
  const visit = await stage.visit(`/query${fragment}`, options);
  await visit.page.locator("html[data-console=ready]").waitFor();
  return visit;
}

const fragmentOf = (parameters: Record<string, string>): string => `#${new URLSearchParams(parameters).toString()}`;

/** Runs what is in the editor; the state in the end. */
async function run(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Run" }).click();
  return endOf(page);
}

async function endOf(page: Page): Promise<string> {
  const state = page.locator("#state .badge");
  await expect.poll(() => state.innerText()).not.toBe("running");
  return state.innerText();
}

const editorText = (page: Page): Promise<string> =>
  page.evaluate<string>(`document.querySelector("#editor .CodeMirror").CodeMirror.getValue()`);

/** The browser itself tells of answers that are no success. */
const told = ({ complaints }: Visit): readonly string[] =>
  complaints.filter(
    (each) =>
      !/^Failed to load resource: (?:the server responded with a status of [45]|net::ERR_INCOMPLETE_CHUNKED_ENCODING)/.test(
        each,
      ),
  );

async function shouldBeFlawless(visit: Visit, name: string): Promise<void> {
  const { page, strays } = visit;
  await keepPicture(visit, name);
  const [needed, there] = await page.evaluate<[number, number]>(
    "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
  );
  expect(needed).toBeLessThanOrEqual(there);
  expect([told(visit), strays]).toStrictEqual([[], []]);
  expect(await accessibilityFaults(visit)).toStrictEqual([]);
}

const rowTexts = (page: Page): Promise<readonly string[]> => page.locator("#results tbody tr").allInnerTexts();
const planRows = (page: Page): Promise<readonly string[]> =>
  page
    .getByRole("group", { name: /endpoints?$/ })
    .locator("tbody tr")
    .allInnerTexts();

describe.each(Object.keys(looks) as readonly (keyof typeof looks)[])("%s", (look) => {
  it("runs the first example: rows, the plan as a picture, what each endpoint contributed", async () => {
    const visit = await open("", looks[look]);
    const { page } = visit;
    await shouldBeFlawless(visit, `console-${look}`);
    await page.reload();
    await page.getByRole("button", { name: "Artists from Iceland" }).click();
    expect(await run(page)).toBe("ok");
    expect(await page.locator("#state").innerText()).toMatch(/^ok\s*12 rows, /);
    const rows = await rowTexts(page);
    expect(rows).toHaveLength(12);
    expect(rows[0]).toContain("Einar Þorsteinsson");
    const picture = page.getByRole("img", { name: "Plan: joined here, 3 endpoints: places, people, museums" });
    expect((await picture.boundingBox())?.width).toBeGreaterThan(200);
    expect((await planRows(page)).map((text) => text.split(/\s+/, 2))).toStrictEqual([
      ["places", "ok"],
      ["people", "ok"],
      ["museums", "ok"],
    ]);
    await page.getByText("As text").click();
    expect(await page.getByRole("group", { name: "Plan as text" }).innerText()).toContain("member places");
    await shouldBeFlawless(visit, `console-answer-${look}`);
    await page.context().close();
  });

  it("shows an error at its line, with what to do next", async () => {
    const query = "SELECT ?name WHERE {\n  SERVICE <people> {\n    ?person foaf:name ?name .\n  }\n}";
    const visit = await open(fragmentOf({ query }), looks[look]);
    const { page } = visit;
    expect(await run(page)).toBe("failed");
    const problem = page.getByRole("alert");
    expect(await problem.innerText()).toMatch(/QUERY_SYNTAX/);
    expect(await problem.innerText()).toContain('The prefix "foaf:" is not declared.');
    expect(await problem.innerText()).toContain("PREFIX foaf: <http://xmlns.com/foaf/0.1/>");
    const marked = page.locator("#editor .CodeMirror-code > div", { has: page.locator(".faulty") });
    expect(await marked.innerText()).toContain("?person foaf:name ?name .");
    expect(await page.locator("#answer").isVisible()).toBe(false);
    await problem.getByRole("button", { name: "Go to line 3, column 13" }).click();
    const cursor = `JSON.stringify(document.querySelector("#editor .CodeMirror").CodeMirror.getCursor())`;
    expect(JSON.parse(await page.evaluate<string>(cursor))).toMatchObject({ line: 2, ch: 12 });
    await shouldBeFlawless(visit, `console-error-${look}`);
    await page.context().close();
  });
});

describe("the state of an answer", () => {
  const ends = async (query: string, partial = false): Promise<Visit & { readonly state: string }> => {
    const visit = await open(fragmentOf({ query }));
    if (partial) await visit.page.getByLabel("Take what can be had").check();
    return { ...visit, state: await run(visit.page) };
  };
  const twoSides =
    "SELECT * { { SERVICE <people> { ?s a ?type } } UNION { SERVICE <gone> { ?s a ?type } } } LIMIT 2000";

  it("tells an empty answer from a partial and from a failed one, and says why", async () => {
    const empty = await ends("SELECT * { SERVICE <people> { ?s <urn:x:nothing> ?o } }");
    expect(empty.state).toBe("empty");
    const failed = await ends(twoSides);
    expect(failed.state).toBe("failed");
    expect(await failed.page.getByRole("alert").innerText()).toContain("gone");
    const partial = await ends(twoSides, true);
    expect(partial.state).toBe("partial");
    expect(await rowTexts(partial.page)).toHaveLength(50);
    expect((await planRows(partial.page)).join("\n")).toMatch(/gone[^]*(failed|silenced)/);
    for (const [name, visit] of Object.entries({ empty, failed, partial })) {
      await shouldBeFlawless(visit, `console-${name}`);
      await visit.page.context().close();
    }
  });

  it("shows what each endpoint does while the query runs, and can be stopped", async () => {
    const query = "SELECT ?s { { SERVICE <people> { ?s a ?type } } UNION { SERVICE <slow> { ?s a ?type } } }";
    const { page, complaints } = await open(fragmentOf({ query }));
    const states = async (): Promise<readonly string[]> => page.locator("#plan tbody .badge").allInnerTexts();
    await page.getByRole("button", { name: "Run" }).click();
    // The rows of one are here while the other has not answered yet.
    await expect.poll(states).toStrictEqual(["ok", "asking"]);
    expect(await page.locator("#state .badge").innerText()).toBe("running");
    slow.answer();
    expect(await endOf(page)).toBe("ok");
    expect(await states()).toStrictEqual(["ok", "ok"]);
    expect(await page.locator("#state").innerText()).toContain("621 rows");
    await page.getByRole("button", { name: "Run" }).click();
    await expect.poll(states).toStrictEqual(["ok", "asking"]);
    await page.getByRole("button", { name: "Stop" }).click();
    expect(await endOf(page)).toBe("cancelled");
    expect(await states()).toStrictEqual(["ok", "not finished"]);
    expect(await page.getByRole("button", { name: "Stop" }).isVisible()).toBe(false);
    expect(complaints).toStrictEqual([]);
    await page.context().close();
  });

  it("is that of a federation, too, whose members the plan shows", async () => {
    const visit = await stage.visit("/federations/examples");
    const { page } = visit;
    await page.getByRole("link", { name: "Open this query in the console" }).first().click();
    await page.locator("html[data-console=ready]").waitFor();
    expect(await page.locator("#target").inputValue()).toBe("federation:examples");
    expect(await run(page)).toBe("ok");
    expect(await rowTexts(page)).toHaveLength(12);
    expect((await planRows(page)).length).toBeGreaterThanOrEqual(3);
    await shouldBeFlawless(visit, "console-federation");
    // Members whose rows a LIMIT made needless are no faults.
    await page.reload();
    await page.getByRole("button", { name: "Things and their names" }).click();
    expect(await run(page)).toBe("ok");
    expect((await planRows(page)).join("\n")).toContain("stopped: no more was needed");
    expect(await page.locator("#plan .down, #plan .reason").count()).toBe(0);
    expect(await page.locator("#examples button").allInnerTexts()).toStrictEqual([
      "Artists from Iceland, and how many of their works are in museums",
      "Which classes are there?",
      "Things and their names",
    ]);
    await page.context().close();
  });

  it("answers ASK with a word and CONSTRUCT with triples", async () => {
    const ask = await ends("ASK { SERVICE <people> { ?s ?p ?o } }");
    expect(ask.state).toBe("ok");
    await expect.poll(() => ask.page.locator("#results").innerText()).toContain("True");
    const graph = await ends("CONSTRUCT { ?s a ?type } WHERE { SERVICE <people> { ?s a ?type } } LIMIT 3");
    expect(graph.state).toBe("ok");
    expect(await rowTexts(graph.page)).toHaveLength(3);
    expect(await graph.page.locator("#format").inputValue()).toBe("text/turtle");
    for (const { page } of [ask, graph]) await page.context().close();
  });
});

it("shows no answer for a graph without triples", async () => {
  const { page } = await open(
    fragmentOf({ query: "CONSTRUCT { ?s ?p ?o } WHERE { SERVICE <people> { ?s ?p ?o . ?s <urn:x:nothing> ?o } }" }),
  );
  expect(await run(page)).toBe("empty");
  expect(await page.locator("#answer").isVisible()).toBe(false);
  await page.context().close();
});

it("asks nobody with an empty query", async () => {
  const { page } = await open(fragmentOf({ query: " " }));
  expect(await run(page)).toBe("not run");
  expect(await page.locator("#state").innerText()).toContain("Write a query first.");
  expect(await page.getByRole("button", { name: "Stop" }).isVisible()).toBe(false);
  await page.context().close();
});

it("helps with a query that names no endpoint: one click asks one that fits", async () => {
  // A federation has no named graphs, so this one cannot be meant for all endpoints.
  const pattern = "?person <http://xmlns.com/foaf/0.1/name> ?name";
  const { page } = await open(
    fragmentOf({ query: `SELECT * { { ${pattern} } UNION { GRAPH ?g { ${pattern} } } } LIMIT 5` }),
  );
  expect(await run(page)).toBe("failed");
  expect(await page.getByRole("alert").innerText()).toContain("SERVICE_REQUIRED");
  await page.getByRole("alert").getByRole("button", { name: "people" }).click();
  expect(await page.locator("#target").inputValue()).toBe("endpoint:people");
  expect(await run(page)).toBe("ok");
  expect(await rowTexts(page)).toHaveLength(5);
  await page.context().close();
});

it("leads from an endpoint's page to its examples and completes its terms with the keyboard alone", async () => {
  const visit = await stage.visit("/endpoints/people");
  const { page } = visit;
  await page.getByRole("link", { name: "Ask it in the console" }).click();
  await page.getByRole("button", { name: "foaf:Person" }).click();
  expect(await editorText(page)).toContain("?thing a foaf:Person .");
  // The editor has the focus now.
  await page.keyboard.press("Control+A");
  await page.keyboard.type("PREFIX foaf: <http://xmlns.com/foaf/0.1/>\nSELECT ?name WHERE { ?person foaf:fam");
  await page.keyboard.press("Control+Space");
  await page.locator(".CodeMirror-hint", { hasText: "foaf:familyName" }).waitFor();
  await page.keyboard.press("Enter");
  expect(await editorText(page)).toContain("?person foaf:familyName");
  await page.keyboard.type(" ?name } LIMIT 7");
  await page.keyboard.press("Control+Enter");
  expect(await endOf(page)).toBe("ok");
  expect(await rowTexts(page)).toHaveLength(7);
  await page.keyboard.press("Tab");
  expect(await page.evaluate<string>("document.activeElement.textContent")).toBe("Run");
  expect([told(visit), visit.strays]).toStrictEqual([[], []]);
  await page.context().close();
});

it("a link brings query and endpoint to somebody else, and runs nothing by itself", async () => {
  const query = 'SELECT ?name { ?p <http://xmlns.com/foaf/0.1/name> ?name FILTER(CONTAINS(?name, "Ólafur & +#")) }';
  const first = await open(fragmentOf({ query, endpoint: "people" }));
  await first.page.getByRole("button", { name: "Copy link" }).click();
  const link = await first.page.getByLabel("Link to this query").inputValue();
  await first.page.context().close();
  const { page } = await stage.visit(link.slice(stage.url.length));
  await page.locator("html[data-console=ready]").waitFor();
  expect([await editorText(page), await page.locator("#target").inputValue()]).toStrictEqual([
    query,
    "endpoint:people",
  ]);
  expect(await page.locator("#state").innerText()).toBe("");
  expect(await run(page)).toBe("empty");
  await page.context().close();
});

it("downloads the answer in another format", async () => {
  const { page } = await open(fragmentOf({ query: "SELECT ?one { VALUES ?one { 1 2 } }" }));
  await page.locator("#format").selectOption("text/csv");
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download" }).click(),
  ]);
  expect(file.suggestedFilename()).toBe("answer.csv");
  expect((await readFile(await file.path(), "utf8")).split(/\r?\n/)).toStrictEqual(["one", "1", "2", ""]);
  await page.context().close();
});

it("is what a browser gets that opens a SPARQL route; foreign text in a query is only text", async () => {
  const visit = await stage.visit("/endpoints/people/sparql");
  const { page } = visit;
  await page.locator("html[data-console=ready]").waitFor();
  expect(page.url()).toBe(`${stage.url}/query#endpoint=people`);
  const evil = `SELECT ?a ?b { VALUES (?a ?b) { ("<img src=x onerror=alert(1)><b>bold</b>" <javascript:alert(1)>) } }`;
  await page.goto(`${stage.url}/query${fragmentOf({ query: evil, endpoint: "<script>alert(1)</script>" })}`);
  await page.reload();
  await page.locator("html[data-console=ready]").waitFor();
  expect(await page.locator("#target").inputValue()).toBe("");
  expect(await run(page)).toBe("ok");
  expect(await page.locator("#results tbody").innerText()).toContain("<b>bold</b>");
  expect(await page.locator("#results tbody").locator("img, b").count()).toBe(0);
  // The sanitizer parses it in a document of its own, where the policy stops it a second time; no dialog opened.
  expect(told(visit).filter((each) => !each.startsWith("Executing inline event handler violates"))).toStrictEqual([]);
  expect(visit.strays).toStrictEqual([]);
  await page.context().close();
});
