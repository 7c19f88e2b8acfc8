import { createServer, type ServerResponse } from "node:http";
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
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

/** An endpoint that sends a row, and ends, on request of the test. */
const slow = createSlowEndpoint();
afterAll(() => slow.close());

function createSlowEndpoint() {
  const answers = new Set<ServerResponse>();
  let rows = 0;
  const server = createServer((_request, response) => {
    answers.add(response);
    response.on("close", () => answers.delete(response));
    response.setHeader("Content-Type", "application/sparql-results+json");
    response.write('{"head":{"vars":["s"]},"results":{"bindings":[{"s":{"type":"uri","value":"urn:x:first"}}');
  });
  let stop = async (): Promise<void> => undefined;
  return {
    async listen(): Promise<string> {
      const { origin, close } = await listening(server);
      stop = close;
      return `${origin}/sparql`;
    },
    send: (): void => {
      rows += 1;
      for (const each of answers) each.write(`,{"s":{"type":"uri","value":"urn:x:${rows}"}}`);
    },
    end: (): void => {
      for (const each of answers) each.end("]}}");
    },
    /** Requests that are not over. */
    get open(): number {
      return answers.size;
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

/** The tab that is shown. */
const tab = (page: Page): Locator => page.locator(".tabPanel.active");
const button = (page: Page, name: string): Locator => tab(page).getByRole("button", { name, exact: true });
const stateText = (page: Page): Promise<string> => tab(page).locator(".state").innerText();
const target = (page: Page): Promise<string> => tab(page).getByLabel("Endpoint or federation").inputValue();

/** Runs what is in the editor; the state in the end. */
async function run(page: Page): Promise<string> {
  await button(page, "Run").click();
  return endOf(page);
}

async function endOf(page: Page): Promise<string> {
  const state = tab(page).locator(".state .badge");
  await expect.poll(() => state.innerText()).not.toBe("running");
  return state.innerText();
}

const editorText = (page: Page): Promise<string> =>
  page.evaluate<string>(`document.querySelector(".tabPanel.active .yasqe .CodeMirror").CodeMirror.getValue()`);

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

const rowTexts = (page: Page): Promise<readonly string[]> => tab(page).locator(".yasr tbody tr").allInnerTexts();
/** Endpoints of the plan as it is shown. */
const planRows = (page: Page): Promise<readonly string[]> =>
  tab(page).locator(".planned table").first().locator("tbody tr").allInnerTexts();

async function openPlan(page: Page): Promise<readonly string[]> {
  await tab(page).getByRole("button", { name: "Shows Plan and steps view" }).click();
  await tab(page).locator(".yasr .planned").waitFor();
  return planRows(page);
}

describe.each(Object.keys(looks) as readonly (keyof typeof looks)[])("%s", (look) => {
  it("runs the first example: rows, the plan as a picture, what each endpoint contributed", async () => {
    const visit = await open("", looks[look]);
    const { page } = visit;
    await shouldBeFlawless(visit, `console-${look}`);
    await page.reload();
    await page.getByRole("button", { name: "Artists from Iceland" }).click();
    expect(await run(page)).toBe("ok");
    expect(await stateText(page)).toMatch(/^ok\s*12 rows, /);
    const rows = await rowTexts(page);
    expect(rows).toHaveLength(12);
    expect(rows[0]).toContain("Einar Þorsteinsson");
    await shouldBeFlawless(visit, `console-answer-${look}`);
    await page.context().close();
  });

  it("shows the plan as a picture, and what each endpoint contributed", async () => {
    const visit = await open("", looks[look]);
    const { page } = visit;
    expect(await run(page)).toBe("ok");
    const endpoints = await openPlan(page);
    expect(endpoints.map((text) => text.split(/\s+/, 2))).toStrictEqual([
      ["places", "ok"],
      ["people", "ok"],
      ["museums", "ok"],
    ]);
    const picture = page.getByRole("img", { name: "Plan: joined here, 3 endpoints: places, people, museums" });
    expect((await picture.boundingBox())?.width).toBeGreaterThan(200);
    await page.getByText("As text").click();
    expect(await page.getByRole("group", { name: "Plan as text" }).innerText()).toContain("member places");
    await shouldBeFlawless(visit, `console-plan-${look}`);
    await page.context().close();
  });

  it("shows an error at its line, with what to do next", async () => {
    const query = "SELECT ?name WHERE {\n  SERVICE <people> {\n    ?person zzz:nothing ?name .\n  }\n}";
    const visit = await open(fragmentOf({ query }), looks[look]);
    const { page } = visit;
    expect(await run(page)).toBe("failed");
    const problem = tab(page).getByRole("alert");
    expect(await problem.innerText()).toMatch(/QUERY_SYNTAX/);
    expect(await problem.innerText()).toContain('The prefix "zzz:" is not declared.');
    const marked = page.locator(".yasqe .CodeMirror-code > div", { has: page.locator(".faulty") });
    expect(await marked.innerText()).toContain("?person zzz:nothing ?name .");
    expect(await tab(page).locator(".yasr").isVisible()).toBe(false);
    await problem.getByRole("button", { name: "Go to line 3, column 13" }).click();
    const cursor = `JSON.stringify(document.querySelector(".yasqe .CodeMirror").CodeMirror.getCursor())`;
    expect(JSON.parse(await page.evaluate<string>(cursor))).toMatchObject({ line: 2, ch: 12 });
    await shouldBeFlawless(visit, `console-error-${look}`);
    await page.context().close();
  });
});

describe("tabs", () => {
  it("and drafts survive a reload, answers do not; they can be deleted", async () => {
    const visit = await open(fragmentOf({ query: "SELECT ?one { VALUES ?one { 1 } }" }));
    const { page } = visit;
    expect(await run(page)).toBe("ok");
    await page.getByRole("button", { name: "Add a new tab" }).click();
    await tab(page).getByLabel("Endpoint or federation").selectOption("endpoint:people");
    await tab(page).getByLabel("Allow partial results").check();
    await tab(page).locator(".CodeMirror-lines").click();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("ASK # a draft");
    await page.reload();
    expect(await page.getByRole("tab").count()).toBe(2);
    expect([await editorText(page), await target(page)]).toStrictEqual(["ASK # a draft", "endpoint:people"]);
    expect(await tab(page).getByLabel("Allow partial results").isChecked()).toBe(true);
    await page.getByRole("tab").first().click();
    expect([await editorText(page), await target(page)]).toStrictEqual(["SELECT ?one { VALUES ?one { 1 } }", ""]);
    expect([await stateText(page), await tab(page).locator(".yasr").isVisible()]).toStrictEqual(["", false]);
    await shouldBeFlawless(visit, "console-tabs");
    await page.getByText("Where tabs and drafts are kept").click();
    await page.getByRole("button", { name: "Delete all tabs and drafts" }).click();
    await expect.poll(() => page.getByRole("tab").count()).toBe(1);
    expect(await editorText(page)).toContain("SERVICE <museums>");
    await page.context().close();
  });

  it("come with links, which run nothing and leave drafts alone", async () => {
    const query = 'SELECT ?name { ?p <http://xmlns.com/foaf/0.1/name> ?name FILTER(CONTAINS(?name, "Ólafur & +#")) }';
    const permissions = ["clipboard-read", "clipboard-write"];
    const { page } = await open(fragmentOf({ query, endpoint: "people" }), { permissions });
    await button(page, "Copy link").click();
    await tab(page).getByText("Link copied.").waitFor();
    const link = await page.evaluate<string>("navigator.clipboard.readText()");
    await tab(page).locator(".CodeMirror-lines").click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type(" LIMIT 3");
    expect(await tab(page).getByText("Link copied.").count()).toBe(0);
    await button(page, "Copy link").click();
    await tab(page).getByText("Link copied.").waitFor();
    const fresh = await page.evaluate<string>("navigator.clipboard.readText()");
    expect(new URLSearchParams(new URL(fresh).hash.slice(1)).get("query")).toBe(`${query} LIMIT 3`);
    // The first link opens beside the draft, and a second time in the same tab.
    for (let times = 0; times < 2; times++) await page.goto(link);
    await expect.poll(() => page.getByRole("tab").count()).toBe(2);
    expect([await editorText(page), await target(page)]).toStrictEqual([query, "endpoint:people"]);
    expect(await stateText(page)).toBe("");
    expect(await run(page)).toBe("empty");
    await page.getByRole("tab").first().click();
    expect(await editorText(page)).toBe(`${query} LIMIT 3`);
    await page.context().close();
  });

  it("are named, closed and opened again with the keyboard and the menu", async () => {
    const { page, complaints } = await open();
    await page.getByRole("button", { name: "Add a new tab" }).click();
    await page.getByRole("tab").first().focus();
    await page.keyboard.press("Delete");
    await expect.poll(() => page.getByRole("tab").count()).toBe(1);
    await page.getByRole("tab").click({ button: "right" });
    await page.getByText("Undo close Tab").click();
    await expect.poll(() => page.getByRole("tab").count()).toBe(2);
    expect(await run(page)).toBe("ok");
    for (let left = 2; left > 0; left--) {
      await page.getByRole("tab", { selected: true }).focus();
      await page.keyboard.press("Delete");
    }
    await expect.poll(() => page.getByRole("tab").count()).toBe(1);
    expect(await editorText(page)).toContain("SERVICE <museums>");
    expect(complaints).toStrictEqual([]);
    await page.context().close();
  });
});

describe("the state of an answer", () => {
  const ends = async (query: string, partial = false): Promise<Visit & { readonly state: string }> => {
    const visit = await open(fragmentOf({ query }));
    if (partial) await visit.page.getByLabel("Allow partial results").check();
    return { ...visit, state: await run(visit.page) };
  };
  const twoSides =
    "SELECT * { { SERVICE <people> { ?s a ?type } } UNION { SERVICE <gone> { ?s a ?type } } } LIMIT 2000";

  it("distinguishes a partial answer from a failed one, which a button repairs", async () => {
    const failed = await ends(twoSides);
    expect(failed.state).toBe("failed");
    const { page } = failed;
    expect(await tab(page).getByRole("alert").innerText()).toContain("gone");
    await shouldBeFlawless(failed, "console-failed");
    await tab(page).getByRole("alert").getByRole("button", { name: "Allow partial results" }).click();
    await expect.poll(() => endOf(page)).toBe("partial");
    expect(await stateText(page)).toContain("Something is missing: gone");
    expect(await rowTexts(page)).toHaveLength(50);
    expect((await openPlan(page)).join("\n")).toMatch(/gone[^]*(failed|silenced)/);
    await shouldBeFlawless(failed, "console-partial");
    await page.context().close();
  });

  it("says why an answer is empty, which a button repairs", async () => {
    const empty = await ends("SELECT * { SERVICE <people> { ?person <http://xmlns.com/foaf/0.1/famlyName> ?name } }");
    expect(empty.state).toBe("empty");
    const { page } = empty;
    const repair = tab(page).getByRole("button", { name: "Run the repaired query" });
    await repair.waitFor();
    expect(await tab(page).getByRole("alert").innerText()).toContain("EMPTY_TERM");
    await shouldBeFlawless(empty, "console-empty");
    await repair.click();
    await expect.poll(() => endOf(page)).toBe("ok");
    expect(await editorText(page)).toContain("foaf/0.1/familyName");
    expect(await tab(page).getByRole("alert").innerText()).toBe("");
    await page.context().close();
  });

  it("shows rows and endpoints while a query runs, and can be cancelled", async () => {
    const query = "SELECT ?s { { SERVICE <people> { ?s a ?type } } UNION { SERVICE <slow> { ?s a ?type } } }";
    const { page, complaints } = await open(fragmentOf({ query }));
    const states = async (): Promise<readonly string[]> =>
      (await planRows(page)).map((text) => text.split(/\s+/, 2).join(" "));
    const received = async (): Promise<number> =>
      Number(/([\d,]+) rows? received/.exec(await tab(page).locator(".elapsed").innerText())?.[1]?.replace(",", ""));
    await button(page, "Run").click();
    await expect.poll(states).toStrictEqual(["people ok", "slow asking"]);
    await expect.poll(received).toBeGreaterThanOrEqual(621);
    const before = await received();
    for (let rows = 0; rows < 5; rows++) slow.send();
    await expect.poll(received).toBeGreaterThan(before);
    expect(await tab(page).locator(".elapsed").innerText()).toMatch(/^\d+\.\d s, .* 2 endpoints asked, 1 answered\.$/);
    expect(await stateText(page)).toContain("running");
    slow.end();
    expect(await endOf(page)).toBe("ok");
    expect(await stateText(page)).toContain("626 rows");
    await button(page, "Run").click();
    await expect.poll(states).toStrictEqual(["people ok", "slow asking"]);
    expect(slow.open).toBe(1);
    await button(page, "Cancel").click();
    expect(await endOf(page)).toBe("cancelled");
    await expect.poll(() => slow.open).toBe(0);
    expect(await states()).toStrictEqual(["people ok", "slow not"]);
    expect(await button(page, "Cancel").isVisible()).toBe(false);
    expect(complaints).toStrictEqual([]);
    await page.context().close();
  });

  it("is that of a federation, too, whose members the plan shows", async () => {
    const visit = await stage.visit("/federations/examples");
    const { page } = visit;
    await page.getByRole("link", { name: "Open in the query console" }).first().click();
    await page.locator("html[data-console=ready]").waitFor();
    expect(await target(page)).toBe("federation:examples");
    expect(await run(page)).toBe("ok");
    expect(await rowTexts(page)).toHaveLength(12);
    expect((await openPlan(page)).length).toBeGreaterThanOrEqual(3);
    await shouldBeFlawless(visit, "console-federation");
    // Members whose rows a LIMIT made needless are no faults.
    await page.reload();
    await page.getByRole("button", { name: "Things and their names" }).click();
    expect(await run(page)).toBe("ok");
    await expect.poll(() => planRows(page)).toContainEqual(expect.stringContaining("stopped: no more was needed"));
    expect(await tab(page).locator(".planned .down").count()).toBe(0);
    await page.context().close();
  });

  it("answers ASK with a word and CONSTRUCT with triples", async () => {
    const ask = await ends("ASK { SERVICE <people> { ?s ?p ?o } }");
    expect(ask.state).toBe("ok");
    await expect.poll(() => ask.page.locator(".yasr").innerText()).toContain("True");
    const graph = await ends("CONSTRUCT { ?s a ?type } WHERE { SERVICE <people> { ?s a ?type } } LIMIT 3");
    expect(graph.state).toBe("ok");
    expect(await rowTexts(graph.page)).toHaveLength(3);
    for (const { page } of [ask, graph]) await page.context().close();
  });
});

it("shows plain values, and datatypes and whole IRIs when they are wanted", async () => {
  const iri = "http://xmlns.com/foaf/0.1/Person";
  const query = `SELECT ?a ?b { VALUES (?a ?b) { (<${iri}> "1"^^<http://www.w3.org/2001/XMLSchema#int>) } }`;
  const { page } = await open(fragmentOf({ query }));
  expect(await run(page)).toBe("ok");
  expect((await rowTexts(page)).map((text) => text.split(/\s+/))).toStrictEqual([["foaf:Person", "1"]]);
  await tab(page).getByLabel("Plain values").uncheck();
  await expect.poll(() => rowTexts(page)).toStrictEqual([expect.stringContaining(`<${iri}>`)]);
  expect((await rowTexts(page))[0]).toContain('"1"^^<http://www.w3.org/2001/XMLSchema#int>');
  await page.context().close();
});

it("shows no answer for a graph without triples", async () => {
  const { page } = await open(
    fragmentOf({ query: "CONSTRUCT { ?s ?p ?o } WHERE { SERVICE <people> { ?s ?p ?o . ?s <urn:x:nothing> ?o } }" }),
  );
  expect(await run(page)).toBe("empty");
  expect(await tab(page).locator(".yasr").isVisible()).toBe(false);
  await page.context().close();
});

it("takes no answer of more than 32 MB, and says so", async () => {
  const { page } = await open(fragmentOf({ query: "ASK { SERVICE <people> { ?s ?p ?o } }" }));
  const body = Buffer.alloc(33 * 1024 * 1024, " ");
  await page.route(/\/sparql$/, async (route) => route.fulfill({ response: await route.fetch(), body }));
  expect(await run(page)).toBe("failed");
  expect(await stateText(page)).toContain("The answer is larger than the 32 MB that fit here: add a LIMIT.");
  expect(await tab(page).locator(".yasr").isVisible()).toBe(false);
  await page.context().close();
});

it("asks nobody with an empty query", async () => {
  const { page } = await open(fragmentOf({ query: " " }));
  expect(await run(page)).toBe("not run");
  expect(await stateText(page)).toContain("Write a query first.");
  expect(await button(page, "Cancel").isVisible()).toBe(false);
  await page.context().close();
});

it("inserts prefixes that were filled in", async () => {
  const { page } = await open(fragmentOf({ query: "SELECT ?name { ?person foaf:name ?name } LIMIT 5" }));
  expect(await run(page)).toBe("ok");
  await tab(page).getByRole("button", { name: "Insert the prefixes and run" }).click();
  await expect.poll(() => editorText(page)).toContain("PREFIX foaf: <http://xmlns.com/foaf/0.1/>");
  await expect.poll(() => endOf(page)).toBe("ok");
  expect(await rowTexts(page)).toHaveLength(5);
  await page.context().close();
});

it("leads from an endpoint's page to its examples and completes its terms with the keyboard alone", async () => {
  const visit = await stage.visit("/endpoints/people");
  const { page } = visit;
  await page.getByRole("link", { name: "Ask it in the console" }).click();
  await page.getByRole("button", { name: "Ten triples" }).click();
  expect(await editorText(page)).toContain("?subject ?property ?value .");
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

it("is at most 1.2 MB, and no other page loads it", async () => {
  const sizeOf = async (path: string): Promise<number> => {
    const { page } = await stage.visit("/status");
    const loaded: Promise<Buffer>[] = [];
    page.on("response", (response) => {
      if (/assets\/(?:console|chunk)/.test(response.url())) loaded.push(response.body());
    });
    await page.goto(stage.url + path, { waitUntil: "networkidle" });
    const sizes = (await Promise.all(loaded)).map(({ length }) => length);
    await page.context().close();
    return sizes.reduce((sum, size) => sum + size, 0);
  };
  expect(await sizeOf("/")).toBe(0);
  const size = await sizeOf("/query");
  expect(size).toBeGreaterThan(100_000);
  expect(size).toBeLessThanOrEqual(1_200_000);
});

it("is what a browser gets that opens a SPARQL route; foreign text in a query is only text", async () => {
  const visit = await stage.visit("/endpoints/people/sparql");
  const { page } = visit;
  await page.locator("html[data-console=ready]").waitFor();
  expect([page.url(), await target(page)]).toStrictEqual([`${stage.url}/query`, "endpoint:people"]);
  const evil = `SELECT ?a ?b { VALUES (?a ?b) { ("<img src=x onerror=alert(1)><b>bold</b>" <javascript:alert(1)>) } }`;
  await page.goto(`${stage.url}/query${fragmentOf({ query: evil, endpoint: "<script>alert(1)</script>" })}`);
  await page.reload();
  await page.locator("html[data-console=ready]").waitFor();
  expect(await target(page)).toBe("");
  expect(await run(page)).toBe("ok");
  expect(await tab(page).locator(".yasr tbody").innerText()).toContain("<b>bold</b>");
  expect(await tab(page).locator(".yasr tbody").locator("img, b").count()).toBe(0);
  // The sanitizer parses it in a document of its own, where the policy stops it a second time; no dialog opened.
  expect(told(visit).filter((each) => !each.startsWith("Executing inline event handler violates"))).toStrictEqual([]);
  expect(visit.strays).toStrictEqual([]);
  await page.context().close();
});
