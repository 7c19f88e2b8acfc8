import { afterAll, expect, it } from "vitest";
import { listening, type Listening } from "../support/listening.ts";
import { startService } from "../support/running-service.ts";
import { createServer } from "node:http";
import { accessibilityFaults, keepPicture, useStageOf } from "./browser-fixture.ts";

// A person finds a running query and cancels it.

let slow: Listening | undefined;
const stage = useStageOf(async () => {
  slow = await listening(createServer((request) => void request.resume()));
  return startService({ slow: `${slow.origin}/sparql` }, { FEDWAY_ADMIN_TOKEN: "a-token-of-these-tests" });
});
afterAll(() => slow?.close());

it("/runs shows a running query with its text, and cancels it", async () => {
  const text = "SELECT * { ?s ?p ?o }";
  const answer = fetch(`${stage.url}/endpoints/slow/sparql?query=${encodeURIComponent(text)}`);
  const visit = await stage.visit("/runs");
  const { page } = visit;
  const row = page.locator("tbody tr", { hasText: "running" });
  await row.waitFor();
  expect(await row.innerText()).toContain(text);
  expect(await accessibilityFaults(visit)).toStrictEqual([]);
  await keepPicture(visit, "runs");
  await row.getByRole("button", { name: "Cancel" }).click();
  await page.locator("tbody tr", { hasText: "cancelled" }).waitFor();
  expect(await (await answer).json()).toMatchObject({ code: "CANCELLED" });
  await page.locator("tbody tr").getByRole("link").first().click();
  expect(await page.locator("main").innerText()).toContain("The client that sent the query cancelled it.");
  expect([visit.complaints, visit.strays]).toStrictEqual([[], []]);
});
