import { describe, expect, it } from "vitest";
import { createHttpServer } from "../../src/http/server.ts";
import { signInCode } from "../../src/http/write-access.ts";
import { fakeAnswer, fakeSettings } from "../support/fake-query-service.ts";
import { createFakeDeps } from "../support/http-deps.ts";
import { pageDeps, pageEntries, readOnlyCatalog } from "../support/page-deps.ts";
import { accessibilityFaults, useStageOf } from "./browser-fixture.ts";

// What an endpoint, or whoever writes into one, would have run in the browser of somebody who opens an answer.

const xhtml = 'xmlns:h="http://www.w3.org/1999/xhtml"';
const mark = "document.documentElement.setAttribute('ran', 'yes'); document.title = 'ran'";
const results = (inside: string, before = ""): string =>
  `<?xml version="1.0"?>${before}<sparql xmlns="http://www.w3.org/2005/sparql-results#" ${xhtml}><head/>${inside}<results/></sparql>`;
const transform = `<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><html><head><title>transformed</title></head><body><script>${mark}</script></body></html></xsl:template></xsl:stylesheet>`;

const hostile: Readonly<Record<string, string>> = {
  script: results(`<h:script>${mark}</h:script>`),
  handler: results(`<h:img src="data:," onerror="${mark}"/>`),
  frame: results(`<h:iframe src="javascript:${mark}"/>`),
  stylesheet: results("", '<?xml-stylesheet type="text/xsl" href="/sparql?query=transform"?>'),
  style: results("", '<?xml-stylesheet type="text/css" href="/sparql?query=css"?>'),
  transform,
  css: "* { display: none }",
};

const turned = "\u202Egpj.exe\u202C\u001B[2J";
const token = "a-token-of-these-tests";

const stage = useStageOf(async () => {
  const [first, ...others] = pageEntries(0);
  const catalog = readOnlyCatalog(first === undefined ? [] : [{ ...first, title: `Data ${turned}` }, ...others]);
  const deps = await createFakeDeps({
    ...pageDeps({ count: 0 }),
    catalog,
    config: { ...fakeSettings, adminToken: token },
  });
  deps.queries.answer = async ({ text }) =>
    fakeAnswer(Buffer.from(hostile[text] ?? ""), {
      // As many endpoints call their results, and browsers then show.
      contentType: text === "css" ? "text/css" : "application/xml",
    });
  const server = await createHttpServer(deps);
  return { url: await server.listen(), close: () => server.close(0) };
});

describe("an answer that passes through runs nothing", () => {
  for (const name of ["script", "handler", "frame", "stylesheet", "style"]) {
    it(name, async () => {
      const { page, strays } = await stage.visit(`/sparql?query=${name}`);
      await page.waitForLoadState("networkidle");
      expect(await page.evaluate("document.documentElement?.getAttribute('ran') ?? document.title")).toBe("");
      expect(strays).toEqual([]);
    });
  }

  it("and stands apart from the pages: it has no origin, so no cookie", async () => {
    const { page } = await stage.visit("/sparql?query=script");
    expect(await page.evaluate("self.origin")).toBe("null");
  });
});

it("a page shows what would turn a title round", async () => {
  const { page, complaints } = await stage.visit("/endpoints/people");
  expect(await page.locator("h1").innerText()).toBe(String.raw`Data \u202Egpj.exe\u202C\u001B[2J`);
  expect(complaints).toEqual([]);
});

it("the link of the start message signs in, once and without a trace in the address", async () => {
  const visit = await stage.visit(`/login?token=${signInCode(token)}`);
  const { page, complaints } = visit;
  expect(page.url()).toBe(`${stage.url}/`);
  expect(await page.evaluate("document.cookie")).toBe("");
  await page.goto(`${stage.url}/endpoints/dark`);
  expect(await accessibilityFaults(visit)).toEqual([]);
  await page.reload();
  await page.getByRole("button", { name: "Probe it" }).click();
  // These fakes take no jobs: the change was let through, and failed for that.
  expect(await page.locator("main").innerText()).toContain("Status 500");
  const dead = await page.goto(`${stage.url}/api/webhooks/dead`);
  expect(dead?.status()).toBe(200);
  expect(complaints.filter((text) => !text.includes("500"))).toEqual([]);
});

it("the form signs in, and a page without a session has no buttons", async () => {
  const { page } = await stage.visit("/endpoints/dark");
  expect(await page.getByRole("button").count()).toBe(0);
  await page.getByRole("link", { name: "Sign in" }).first().click();
  await page.getByLabel("Admin token").fill("wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  expect(await page.getByRole("alert").innerText()).toContain("nor the admin token");
  await page.getByLabel("Admin token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.goto(`${stage.url}/endpoints/dark`);
  expect(await page.getByRole("button", { name: "Probe it" }).count()).toBe(1);
});
