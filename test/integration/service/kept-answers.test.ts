import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startEndpoints, type TestEndpoints } from "../../support/federation-harness.ts";
import { startService, type RunningService } from "../../support/running-service.ts";

// Answers of endpoints that are kept for a while, as clients of the service see them.

let endpoints: TestEndpoints;
let service: RunningService;
beforeAll(async () => {
  endpoints = await startEndpoints({ a: '<x:s> <x:n> "1" .', b: '<x:s> <x:m> "2" .' });
  service = await startService(endpoints.urls, { FEDWAY_SUBANSWER_TTL_MS: "600000" });
});
afterAll(async () => {
  await service.close();
  await endpoints.close();
});

interface Table {
  readonly run: string;
  readonly status: string;
  readonly rows: readonly unknown[];
  readonly sources: readonly Source[];
}
interface Source {
  readonly requests: number;
  readonly cached?: number;
  readonly status: string;
}

async function ask(headers: Readonly<Record<string, string>> = {}): Promise<Table> {
  const query = `SELECT ?n ?m { SERVICE <${endpoints.url("a")}> { ?s <x:n> ?n } SERVICE <${endpoints.url("b")}> { ?s <x:m> ?m } }`;
  const response = await fetch(`${service.url}/api/query`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ query }),
  });
  return (await response.json()) as Table;
}

describe("an answer that is kept", () => {
  it("is given again, and says so in the answer and its run's record", async () => {
    const first = await ask();
    const second = await ask();
    expect(first.sources.map(({ requests, cached }) => [requests, cached])).toEqual([
      [1, undefined],
      [1, undefined],
    ]);
    expect(second).toMatchObject({ status: "ok", rows: first.rows });
    const shown = second.sources.map(({ requests, cached, status }) => [requests, cached, status]);
    expect(shown).toEqual([
      [0, 1, "ok"],
      [0, 1, "ok"],
    ]);
    const record = (await (await fetch(`${service.url}/api/runs/${second.run}`)).json()) as Table;
    expect(record.sources.map(({ cached }) => cached)).toEqual([1, 1]);
  });
  it("is not given to whoever wants a fresh one", async () => {
    await ask();
    const fresh = await ask({ "cache-control": "no-cache" });
    expect(fresh.sources.map(({ requests, cached }) => [requests, cached])).toEqual([
      [1, undefined],
      [1, undefined],
    ]);
  });
});
