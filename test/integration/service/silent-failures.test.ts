import { text as readText } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  startEndpoints,
  startFederation,
  type Federation,
  type TestEndpoints,
} from "../../support/federation-harness.ts";
import { startFaultyEndpoints } from "../../support/faulty-endpoint.ts";
import type { Fault } from "../../support/sparql-test-server.ts";
import { until } from "../../support/eventually.ts";

const count = 20_000;
const people = Array.from({ length: 300 }, (_, n) => `<x:s${n}> <x:n> "${n}" .`).join("\n");
const many = Array.from({ length: count }, (_, n) => `<x:s${n}> <x:q> "${"q".repeat(40)}${n}" .`);
const some = many.slice(0, 300).join("\n");

let endpoints: TestEndpoints;
let faulty: Awaited<ReturnType<typeof startFaultyEndpoints>>;
let federation: Federation;
beforeAll(async () => {
  // One endpoint for each test: those that fail often cool down.
  const failing = Array.from({ length: 8 }, (_, n) => [`b${n}`, some] as const);
  endpoints = await startEndpoints({ a: people, ...Object.fromEntries(failing) });
  faulty = await startFaultyEndpoints({ small: many.slice(0, 3).join("\n"), large: many.join("\n") });
  const hanging = {
    silent: faulty.url("hang", "small", "b"),
    begun: faulty.url("hang in the body", "small", "b"),
    late: faulty.url("hang in the body", "large", "b"),
  };
  federation = await startFederation({ ...endpoints.urls, ...hanging });
});
afterAll(async () => {
  await federation.close();
  await Promise.all([endpoints.close(), faulty.close()]);
});

let tests = 0;
/** A copy of `<b>` for one test. */
const nextEndpoint = (): string => `b${tests++}`;
const inFull = (query: string, b: string): string =>
  query.replace("<a>", `<${endpoints.url("a")}>`).replace("<b>", `<${endpoints.url(b)}>`);

/** The answer as a document, and the record of its run. */
async function documentOf(text: string, timeoutMs?: number) {
  const request = { text, defaultGraphs: [], namedGraphs: [], strict: false, partial: false, timeoutMs };
  const { body, runId } = await federation.app.queries.run({ ...request, signal: new AbortController().signal });
  const document = JSON.parse(Buffer.isBuffer(body) ? body.toString() : await readText(body));
  const rows: readonly object[] = document.results.bindings;
  const ended = await until(async () => {
    const record = await federation.app.queries.runRecord(runId);
    return record?.status === "running" ? undefined : record;
  });
  return { rows, record: ended };
}

const down: Fault = { kind: "status", status: 500 };
const direct = "SELECT ?s ?q { SERVICE SILENT <b> { ?s <x:q> ?q } }";
const joined = "SELECT ?s ?q { SERVICE <a> { ?s <x:n> ?n } SERVICE SILENT <b> { ?s <x:q> ?q } }";

describe("SILENT around an endpoint that fails before it has answered", () => {
  const shouldGiveOneEmptySolution = (name: string, query: string, fault: Fault, rows: number) =>
    it(name, async () => {
      const b = nextEndpoint();
      endpoints.setFault(b, fault);
      const table = await federation.table(inFull(query, b));
      const { rows: written, record } = await documentOf(inFull(query, b));
      expect(table).toMatchObject({ status: "ok", diagnosis: null });
      expect(table.rows).toHaveLength(rows);
      expect(table.rows.every(([, q]) => q === null)).toBe(true);
      expect(written).toHaveLength(rows);
      expect(written.some((row) => "q" in row)).toBe(false);
      expect(record).toMatchObject({ status: "ok" });
      expect(record?.sources.find(({ endpoint }) => endpoint === b)).toMatchObject({ status: "silenced" });
    });
  shouldGiveOneEmptySolution("is one empty solution", direct, down, 1);
  const cut = (afterBytes: number): Fault => ({ kind: "reset", afterBytes });
  shouldGiveOneEmptySolution("also when its answer breaks off at once", direct, cut(5), 1);
  shouldGiveOneEmptySolution("also when its answer breaks off before the first row", direct, cut(40), 1);
  shouldGiveOneEmptySolution("joined with all solutions of the others", joined, down, 300);
});

describe("SILENT around an endpoint that fails later", () => {
  const shouldBePartial = (name: string, query: string, fault: Fault, [after, most]: readonly [number, number]) =>
    it(name, async () => {
      // Blocks of keys are larger once an endpoint is known to take them.
      const [b, c] = [nextEndpoint(), nextEndpoint()];
      if (query === direct) for (const one of [b, c]) endpoints.setData(one, many.join("\n"));
      for (const one of [b, c]) endpoints.setFault(one, fault, Number.POSITIVE_INFINITY, after);
      const table = await federation.table(inFull(query, b));
      const { rows, record } = await documentOf(inFull(query, c));
      for (const given of [table.rows.map(([, q]) => q), rows.map((row) => ("q" in row ? row.q : null))]) {
        expect(given.length).toBeGreaterThan(0);
        expect(given.length).toBeLessThan(most);
        expect(given.every((q) => q !== null)).toBe(true);
      }
      expect(table).toMatchObject({ status: "partial", diagnosis: { code: "ENDPOINT_PARTIAL" } });
      expect(record).toMatchObject({ status: "partial" });
      expect(record?.sources.find(({ endpoint }) => endpoint === c)).toMatchObject({ status: "failed" });
    });
  shouldBePartial("keeps what came of one answer", direct, { kind: "reset", afterBytes: 1_000_000 }, [0, count]);
  // 300 keys are two blocks.
  shouldBePartial("keeps what came for the keys before", joined, down, [1, 300]);
});

describe.concurrent("SILENT around an endpoint that hangs", () => {
  // The other member has a fifth of it: enough on a busy machine.
  const timeoutMs = 20_000;
  const url = (fault: "hang" | "hang in the body", store: "small" | "large"): string => faulty.url(fault, store, "b");

  it.each([
    ["direct, before the head", direct, "hang", "small", 1],
    ["direct, in a small body", direct, "hang in the body", "small", 1],
    ["joined", joined, "hang", "small", 300],
  ] as const)("is one empty solution: %s", async (_where, query, fault, store, rows) => {
    const text = query.replace("<a>", `<${endpoints.url("a")}>`).replace("<b>", `<${url(fault, store)}>`);
    const [table, document] = await Promise.all([federation.table(text, { timeoutMs }), documentOf(text, timeoutMs)]);
    const { rows: written, record } = document;
    expect(table).toMatchObject({ status: "ok", diagnosis: null });
    expect([table.rows.length, written.length]).toEqual([rows, rows]);
    expect(record).toMatchObject({ status: "ok" });
    expect(record?.sources.find(({ endpoint }) => endpoint !== "a")).toMatchObject({
      status: "silenced",
      reason: "ENDPOINT_TIMEOUT",
    });
  });

  it("keeps the rows that came before", async () => {
    const text = direct.replace("<b>", `<${url("hang in the body", "large")}>`);
    const [table, document] = await Promise.all([federation.table(text, { timeoutMs }), documentOf(text, timeoutMs)]);
    const { rows, record } = document;
    for (const { length } of [table.rows, rows]) {
      expect(length).toBeGreaterThan(0);
      expect(length).toBeLessThan(count);
    }
    expect(table).toMatchObject({ status: "partial", diagnosis: { code: "ENDPOINT_PARTIAL" } });
    expect(record).toMatchObject({ status: "partial" });
    expect(record?.sources).toMatchObject([{ status: "timeout", reason: "ENDPOINT_TIMEOUT" }]);
  });
});
