import { expect, it } from "vitest";
import { accessibilityFaults, keepPicture, looks, useStage } from "./browser-fixture.ts";

// The API reference is Scalar's. What is ours: that it works here, asks no other host, and has no critical fault.

const stage = useStage();

it.each(Object.keys(looks) as readonly (keyof typeof looks)[])("shows all parts of the API: %s", async (look) => {
  const visit = await stage.visit("/docs", looks[look]);
  const { page, complaints, strays } = visit;
  await page.getByRole("heading", { name: "SPARQL", exact: true }).first().waitFor();
  await keepPicture(visit, `docs-${look}`);
  const widths = await page.evaluate<readonly number[]>(
    "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
  );
  expect(widths[0]).toBeLessThanOrEqual(widths[1] ?? 0);
  expect(complaints).toStrictEqual([]);
  expect(strays).toStrictEqual([]);
  // Last: axe-core leaves the page changed.
  const faults = await accessibilityFaults(visit, "critical");
  // Scalar's button that copies a snippet has no name.
  expect(
    faults.filter((each) => !each.startsWith('button-name: <button type="button" class="group/copy-button')),
  ).toEqual([]);
  await page.context().close();
});

it("tries an operation out, at this service", async () => {
  const { page, complaints, strays } = await stage.visit("/docs#tag/operation/GET/health/live");
  const answered = page.waitForResponse((response) => response.url() === `${stage.url}/health/live`);
  await page
    .getByRole("button", { name: /Test Request.*\/health\/live/i })
    .first()
    .click();
  await page.getByRole("button", { name: /^Send/ }).first().click();
  expect((await answered).status()).toBe(200);
  await page.getByText('"live"').first().waitFor();
  expect(complaints).toStrictEqual([]);
  expect(strays).toStrictEqual([]);
  await page.context().close();
});
