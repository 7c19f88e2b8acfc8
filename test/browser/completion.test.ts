import type { Page } from "playwright-core";
import { expect, it, vi } from "vitest";
import { startService } from "../support/running-service.ts";
import { accessibilityFaults, useStageOf } from "./browser-fixture.ts";

// The console's editor over the service with its examples, two of which are described.
const stage = useStageOf(async () => {
  const service = await startService({}, { FEDWAY_EXAMPLES: "on" });
  for (const id of ["people", "museums"])
    await fetch(`${service.url}/api/endpoints/${id}/describe`, { method: "POST" });
  const done = async (): Promise<number> => {
    const { jobs } = (await (await fetch(`${service.url}/api/jobs`)).json()) as { jobs: { state: string }[] };
    return jobs.filter(({ state }) => state === "done").length;
  };
  await vi.waitFor(async () => expect(await done()).toBe(4), { timeout: 120_000, interval: 200 });
  return service;
});

const editor = ".CodeMirror";
const options = ".CodeMirror-hint";

const textOf = (page: Page): Promise<string> =>
  page.evaluate<string>(`document.querySelector("${editor}").CodeMirror.getValue()`);

/** The console for a target, with a query and the cursor where `|` stands. */
async function open(text: string, target: Record<string, string>) {
  const query = text.replace("|", "");
  const visit = await stage.visit(`/query#${new URLSearchParams({ ...target, query }).toString()}`);
  await visit.page.locator("html[data-console=ready]").waitFor();
  await visit.page.evaluate(
    `const { CodeMirror } = document.querySelector("${editor}"); CodeMirror.focus(); CodeMirror.setCursor(CodeMirror.posFromIndex(${text.indexOf("|")}));`,
  );
  return visit;
}

const foaf = "PREFIX foaf: <http://xmlns.com/foaf/0.1/>\n";

it.each([
  ["SELECT * { SERVICE <pe|> { } }", {}, "people", "SELECT * { SERVICE <people> { } }"],
  [
    `${foaf}SELECT * { SERVICE <people> { ?p foaf:fam| ?n } }`,
    {},
    "foaf:familyName",
    `${foaf}SELECT * { SERVICE <people> { ?p foaf:familyName ?n } }`,
  ],
  [
    "SELECT * {\n  ?p a foaf:P|\n}",
    { federation: "examples" },
    "foaf:Person",
    `${foaf}SELECT * {\n  ?p a foaf:Person\n}`,
  ],
  [
    `${foaf}ASK { ?p foaf:name "Gonçalo C|" }`,
    { endpoint: "people" },
    "Gonçalo Conceição",
    `${foaf}ASK { ?p foaf:name "Gonçalo Conceição" }`,
  ],
  [`${foaf}ASK { ?person foaf:name ?n . ?pe| }`, {}, "?person", `${foaf}ASK { ?person foaf:name ?n . ?person }`],
])("completes %j with the keyboard", async (text, target, shown, completed) => {
  const visit = await open(text, target);
  const { page, complaints, strays } = visit;
  await page.keyboard.press("Control+Space");
  await page.locator(options, { hasText: shown }).first().waitFor();
  expect(await accessibilityFaults(visit)).toEqual([]);
  await page.keyboard.press("Enter");
  expect(await textOf(page)).toBe(completed);
  expect([complaints, strays]).toEqual([[], []]);
  await page.context().close();
});

it("offers while one types, and leaves Enter and Escape alone where there is nothing", async () => {
  const { page } = await open(`${foaf}SELECT * { ?p |`, { endpoint: "people" });
  await page.keyboard.type("foaf:kn");
  await expect.poll(() => page.locator(options).allTextContents()).toEqual([expect.stringContaining("foaf:knows")]);
  await page.keyboard.press("Enter");
  await page.keyboard.type(" 12");
  await page.keyboard.press("Enter");
  expect(await textOf(page)).toMatch(/\?p foaf:knows 12\n/);
  await page.context().close();
});

it("says why nothing is offered, when asked", async () => {
  const { page } = await open("SELECT * { # here |", {});
  await page.keyboard.press("Control+Space");
  await page.locator(options, { hasText: "Nothing is completed in comments" }).waitFor();
  await page.keyboard.press("Enter");
  expect(await textOf(page)).toBe("SELECT * { # here ");
  await page.context().close();
});
