import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { looks, useStage } from "./browser-fixture.ts";

const stage = useStage();

const heading = (page: Page): Promise<string> => page.locator("h1").innerText();
const pathOf = (page: Page): string => page.url().slice(stage.url.length);
const namesIn = (page: Page): Promise<readonly string[]> => page.locator(".fleet tbody th").allInnerTexts();
const focused = (page: Page): Promise<string> => page.evaluate<string>("document.activeElement.textContent.trim()");

describe("with the mouse", () => {
  it("from the catalogue to an endpoint, its incident, the status and back", async () => {
    const { page, complaints, strays } = await stage.visit("/?q=museums+once");
    await page.getByRole("link", { name: "Museums, once" }).click();
    expect(await heading(page)).toBe("Museums, once");
    await page.getByRole("group", { name: "Incidents" }).getByRole("link").first().click();
    expect(await heading(page)).toBe("Incident of Museums, once");
    await page.getByRole("navigation", { name: "Site" }).getByRole("link", { name: "Status" }).click();
    expect(await heading(page)).toBe("Status");
    expect(await page.locator("[aria-current=page]").innerText()).toBe("Status");
    await page.getByRole("link", { name: "Fedway", exact: true }).click();
    expect(pathOf(page)).toBe("/");
    expect([complaints, strays]).toStrictEqual([[], []]);
  });

  it("search tells why, filters narrow, all comes back", async () => {
    const { page } = await stage.visit("/");
    expect(await page.locator("#found").innerText()).toBe("65 endpoints");
    await page.getByLabel("Search", { exact: true }).fill("ancient proteins");
    await page.getByRole("button", { name: "Search" }).click();
    const wide = await page.locator(".hit").count();
    expect(wide).toBeGreaterThan(1);
    expect(await page.locator(".hit .why mark").first().innerText()).toMatch(/ancient|proteins/);
    await page.getByLabel("Keyword", { exact: true }).fill("cities");
    await page.getByLabel("Status", { exact: true }).selectOption("up");
    await page.getByRole("button", { name: "Search" }).click();
    expect(await page.locator(".hit").count()).toBe(1);
    expect(await page.getByLabel("Search", { exact: true }).inputValue()).toBe("ancient proteins");
    expect(await page.getByLabel("Status", { exact: true }).inputValue()).toBe("up");
    await page.getByRole("link", { name: "Show all endpoints" }).click();
    expect(await page.locator("#found").innerText()).toBe("65 endpoints");
  });

  it("pages of the list lead on and back", async () => {
    const { page } = await stage.visit("/");
    const first = await page.locator(".hit h3").first().innerText();
    await page.getByRole("link", { name: "Next" }).click();
    expect(await page.locator(".pages span").last().innerText()).toBe("26 to 50 of 65");
    expect(await page.locator(".hit h3").first().innerText()).not.toBe(first);
    await page.getByRole("link", { name: "Previous" }).click();
    expect(await page.locator(".hit h3").first().innerText()).toBe(first);
  });

  it("a keyword and a class lead to the endpoints that have them", async () => {
    const { page } = await stage.visit("/endpoints/people");
    await page.getByRole("link", { name: "authority files" }).click();
    expect(await page.locator(".hit h3").allInnerTexts()).toStrictEqual(["People of the north"]);
    await page.goto(`${stage.url}/endpoints/people`);
    await page.getByRole("link", { name: "foaf:Person" }).click();
    expect(await page.locator("#found").innerText()).toBe("2 of 65 endpoints");
    expect(await page.getByLabel("Has the class").inputValue()).toBe("http://xmlns.com/foaf/0.1/Person");
  });

  it("the status is sorted by its headings and filtered by its counts", async () => {
    const { page } = await stage.visit("/status");
    const byState = await namesIn(page);
    expect(byState).toHaveLength(65);
    await page.getByRole("columnheader", { name: "Name" }).getByRole("link").click();
    const byName = await namesIn(page);
    expect(byName.toSorted()).toStrictEqual(byState.toSorted());
    expect(byName).not.toEqual(byState);
    await page.getByRole("columnheader", { name: "Name" }).getByRole("link").click();
    expect(await namesIn(page)).toStrictEqual([...byName].toReversed());
    await page.getByRole("columnheader", { name: "Uptime" }).getByRole("link").click();
    expect(await page.getByRole("columnheader", { name: "Uptime" }).getAttribute("aria-sort")).toBe("ascending");
    const uptimes = (await page.locator(".fleet tbody td:nth-child(3)").allInnerTexts()).map(Number.parseFloat);
    const known = uptimes.filter((uptime) => !Number.isNaN(uptime));
    expect(known).toStrictEqual(known.toSorted((left, right) => left - right));
    expect(uptimes.slice(known.length).every(Number.isNaN)).toBe(true);
    expect(known.length).toBeLessThan(uptimes.length);
    await page.getByRole("link", { name: "4 down" }).click();
    expect(await namesIn(page)).toHaveLength(4);
    expect(pathOf(page)).toBe("/status?sort=uptime&order=asc&state=down");
  });

  it("a federation leads to its members, with what is known of them", async () => {
    const { page } = await stage.visit("/");
    await page.getByRole("link", { name: "Federations" }).click();
    await page.getByRole("link", { name: "The <b>north</b> and what is said of it" }).click();
    expect(pathOf(page)).toBe("/federations/north");
    const row = async (name: string): Promise<string> =>
      (await page.getByRole("row", { name }).innerText())
        .split(/\s*\t\s*/)
        .slice(1)
        .join(" ");
    expect(await row("Coins that nobody has probed")).toBe("unknown no data unknown unknown");
    expect(await row("People of the north")).toMatch(/^up [\d.]+ % (≥ )?\d+ (≥ )?\d+$/);
    expect(await page.locator("#main").innerText()).toContain("not in the catalogue: nowhere.");
    await page.getByRole("link", { name: "People of the north" }).click();
    expect(await heading(page)).toBe("People of the north");
  });

  it("a path that is not known leads to the catalogue", async () => {
    const { page } = await stage.visit("/nothing/here");
    expect(await heading(page)).toBe("There is nothing here");
    await page.getByRole("link", { name: "Go to the catalogue" }).click();
    expect(pathOf(page)).toBe("/");
  });

  it("an id that is not known leads to the one that was meant", async () => {
    const { page } = await stage.visit("/endpoints/peple");
    await page.getByRole("link", { name: "people" }).click();
    expect(await heading(page)).toBe("People of the north");
  });
});

describe("with the keyboard alone", () => {
  it("the first stop skips to the content", async () => {
    const { page } = await stage.visit("/status");
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("Skip to the content");
    const box = await page.locator(".skip").boundingBox();
    expect(box?.y).toBeGreaterThanOrEqual(0);
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.id")).toBe("main");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(`document.activeElement.closest("main") !== null`)).toBe(true);
  });

  it("search, and open what was found", async () => {
    const { page } = await stage.visit("/");
    await tabTo(page, "q");
    await page.keyboard.type("people north");
    await page.keyboard.press("Enter");
    await page.waitForURL(/q=people/);
    await tabTo(page, "People of the north");
    await page.keyboard.press("Enter");
    await page.waitForURL(/endpoints\/people/);
    expect(await heading(page)).toBe("People of the north");
  });

  it("what has the focus shows it", async () => {
    const { page } = await stage.visit("/status");
    await tabTo(page, "Uptime 24 h");
    const outline = await page.evaluate<string>(
      `(({ outlineStyle, outlineWidth }) => outlineStyle + " " + outlineWidth)(getComputedStyle(document.activeElement))`,
    );
    expect(outline).toBe("solid 3px");
    await page.keyboard.press("Enter");
    await page.waitForURL(/sort=uptime/);
    expect(await page.getByRole("columnheader", { name: "Uptime" }).getAttribute("aria-sort")).toBe("ascending");
  });

  it("tables that are wider than the screen can be scrolled", async () => {
    const { page } = await stage.visit("/endpoints/people", looks.phone);
    const region = page.getByRole("group", { name: "Uptime" });
    await region.focus();
    await page.keyboard.press("ArrowRight");
    // Polled from here: what waits inside the page is evaluated there, which the content security policy forbids.
    await expect.poll(() => page.evaluate<number>("document.activeElement.scrollLeft")).toBeGreaterThan(0);
  });
});

/** Presses Tab until the element with this id, or this text, has the focus. */
async function tabTo(page: Page, wanted: string): Promise<void> {
  for (let stops = 0; stops < 60; stops++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate<readonly string[]>(
      "[document.activeElement.id, document.activeElement.textContent.trim()]",
    );
    if (at.includes(wanted)) return;
  }
  throw new Error(`60 stops of the Tab key did not come to ${wanted}`);
}

it("on a phone the columns that the rows are sorted by are there", async () => {
  const { page } = await stage.visit("/status", looks.phone);
  const latency = page.getByRole("columnheader", { name: "Latency" });
  expect(await latency.isVisible()).toBe(false);
  await page.getByLabel("Sort by").selectOption("latency");
  await page.getByRole("button", { name: "Show" }).click();
  await page.waitForURL(/sort=latency/);
  expect(await latency.isVisible()).toBe(true);
});

it("nothing of a hostile entry runs or changes the page", async () => {
  const { page, complaints, strays } = await stage.visit("/endpoints/hostile");
  expect(await heading(page)).toContain('<script>alert("title")</script>');
  expect(await page.locator("script, style, main img, iframe").count()).toBe(0);
  expect(await page.locator("h1").count()).toBe(1);
  expect(await page.locator('a[href^="javascript"], a[href^="data"]').count()).toBe(0);
  expect([complaints, strays]).toStrictEqual([[], []]);
});

it("the page's policy would stop a script", async () => {
  const { page, complaints } = await stage.visit("/");
  const ran = await page.evaluate<boolean>(`
    const script = document.createElement("script");
    script.textContent = "globalThis.ran = true";
    document.body.append(script);
    "ran" in globalThis;`);
  expect(ran).toBe(false);
  expect(complaints.join(" ")).toContain("Content Security Policy");
});
