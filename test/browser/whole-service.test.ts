import { expect, it } from "vitest";
import { startService } from "../support/running-service.ts";
import { accessibilityFaults, keepPicture, useStageOf, type Visit } from "./browser-fixture.ts";

// The real service with its examples, whose endpoints are probed every second.
const stage = useStageOf(() =>
  startService(
    { gone: "http://127.0.0.1:9/sparql" },
    {
      FEDWAY_EXAMPLES: "on",
      FEDWAY_MONITOR: "on",
      FEDWAY_FACTS: "on",
      FEDWAY_PROBE_EVERY_MS: "1000",
      FEDWAY_INCIDENT_AFTER: "2",
    },
  ),
);

async function shouldBeFlawless(visit: Visit, name: string): Promise<void> {
  expect(await accessibilityFaults(visit)).toStrictEqual([]);
  expect([visit.complaints, visit.strays]).toStrictEqual([[], []]);
  await keepPicture(visit, name);
}

/** Loads the page again until it shows what is waited for. */
async function reloadUntil({ page }: Visit, shown: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await shown()); tries++) {
    if (tries === 60) throw new Error(`it was not shown: ${await page.locator("main").innerText()}`);
    await page.waitForTimeout(500);
    await page.reload();
  }
}

it("shows what its probes find: the examples are up, an endpoint that nobody answers for goes down", async () => {
  const visit = await stage.visit("/status");
  const { page } = visit;
  const stateOf = async (title: string): Promise<string> =>
    page.locator(".fleet tbody tr", { hasText: title }).locator("td").first().innerText();
  await reloadUntil(visit, async () => (await stateOf("gone")).includes("down"));
  await reloadUntil(visit, async () => (await stateOf("People")).includes("up"));
  await shouldBeFlawless(visit, "whole-status");
  await page.getByRole("link", { name: "gone" }).first().click();
  expect(await page.locator("h1").innerText()).toBe("gone");
  await shouldBeFlawless(visit, "whole-endpoint-down");
  await page.getByRole("group", { name: "Incidents" }).getByRole("link").first().click();
  expect(await page.locator("main").innerText()).toContain("connect");
  await shouldBeFlawless(visit, "whole-incident");
});

it("shows a description and capabilities when they were asked for", async () => {
  for (const work of ["describe", "capabilities"]) {
    const asked = await fetch(`${stage.url}/api/endpoints/people/${work}`, { method: "POST" });
    const { id } = (await asked.json()) as { id: string };
    const state = async (): Promise<unknown> =>
      ((await (await fetch(`${stage.url}/api/jobs/${id}`)).json()) as { state: unknown }).state;
    await expect.poll(state).toBe("done");
  }
  const visit = await stage.visit("/endpoints/people");
  const text = await visit.page.locator("main").innerText();
  expect(text).toContain("exact");
  expect(text).toContain("right");
  await shouldBeFlawless(visit, "whole-endpoint-described");
});

it("finds endpoints by what is in their data", async () => {
  const visit = await stage.visit("/?q=museum");
  expect(await visit.page.locator(".hit").count()).toBeGreaterThan(0);
  await shouldBeFlawless(visit, "whole-search");
});
