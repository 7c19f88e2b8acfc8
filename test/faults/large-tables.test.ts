import { afterAll, beforeAll, expect, test } from "vitest";
import type { TabularAnswer } from "../../src/query/table.ts";
import { startEndpoints, type TestEndpoints } from "../support/federation-harness.ts";
import { problemOf, type RunningService, startService } from "../support/running-service.ts";

// Tables of POST /api/query lie in memory as a whole: they are bounded in bytes, and large ones are written in pieces.

const triples = Array.from({ length: 3_000 }, (_, n) => `<urn:s${n}> <urn:p> "value ${n} with \\"quotes\\"" .`).join(
  "\n",
);
let endpoints: TestEndpoints;
let service: RunningService;

beforeAll(async () => {
  endpoints = await startEndpoints({ data: triples });
  service = await startService(endpoints.urls);
});
afterAll(async () => {
  await service.close();
  await endpoints.close();
});

const table = (body: object): Promise<Response> =>
  fetch(`${service.url}/api/query`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
const numbers = Array.from({ length: 100 }, (_, n) => n).join(" ");
/** 100 rows of this many characters each. */
const wide = (characters: number): string =>
  `SELECT ?a (CONCAT(${Array.from({ length: characters / 1_000 }, () => "?t").join(", ")}) AS ?z) {
    VALUES ?a { ${numbers} } BIND("${"x".repeat(1_000)}" AS ?t) }`;

test("a large table comes in pieces and is the same as a small one", async () => {
  const response = await table({ query: "SELECT * { ?s <urn:p> ?o } ORDER BY ?s", endpoint: "data" });
  expect(response.headers.get("content-length")).toBeNull();
  expect(response.headers.get("fedway-status")).toBe("ok");
  const answer = (await response.json()) as TabularAnswer;
  expect(answer.rows).toHaveLength(3_000);
  expect(answer.rows.at(-1)).toEqual({
    s: { iri: expect.any(String) },
    o: expect.stringMatching(/^value \d+ with "quotes"$/),
  });
  expect(answer).toMatchObject({ status: "ok", columns: expect.arrayContaining(["s", "o"]), diagnosis: null });
});

test("a table that is too large is an error that says where to go instead", async () => {
  const response = await table({ query: wide(200_000) });
  const answer = (await response.json()) as TabularAnswer;
  expect(answer).toMatchObject({ status: "failed", rows: [], diagnosis: { code: "ANSWER_TOO_LARGE" } });
  expect(answer.diagnosis?.next).toContain("/sparql");
});

test("with partial, the rows before that are kept", async () => {
  const response = await table({ query: wide(200_000), partial: true });
  const answer = (await response.json()) as TabularAnswer;
  expect(answer.status).toBe("partial");
  expect(answer.rows.length).toBeGreaterThan(10);
  expect(answer.rows.length).toBeLessThan(100);
});

test("tables that nobody reads are bounded together; small ones go on", async () => {
  const leaving = new AbortController();
  const ask = () =>
    fetch(`${service.url}/api/query`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query: wide(150_000) }),
      signal: leaving.signal,
    });
  const unread = [];
  let refused: Response | undefined;
  for (let asked = 0; asked < 16 && refused === undefined; asked++) {
    const response = await ask();
    if (response.status === 503) refused = response;
    else unread.push(response);
  }
  expect(refused && (await problemOf(refused))).toMatchObject({ code: "SERVICE_BUSY", retryable: true });
  expect((await table({ query: "SELECT * { VALUES ?a { 1 } }" })).status).toBe(200);
  leaving.abort();
  await Promise.allSettled(unread.map((response) => response.text()));
});
