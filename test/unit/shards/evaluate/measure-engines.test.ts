import { expect, it } from "vitest";
import { type EngineRecord, measureEngines } from "../../../../shards/src/evaluate/engines/measure-engines.ts";
import { engineFigures } from "../../../../shards/src/evaluate/engines/engine-table.ts";
import type { PackagedQuery } from "../../../../shards/src/package/package-items.ts";
import type { BenchmarkPackage } from "../../../../shards/src/package/open-package.ts";

const query = {
  id: "q1",
  questions: ["q1"],
  query: "PLAIN",
  gold: "GOLD",
  trivial: "TRIVIAL",
  outcome: "answered",
  apartBy: ["names"],
  answer: {
    kind: "bindings",
    columns: ["x"],
    rows: [["<urn:a>"]],
    signature: "",
    multisetSignature: "",
    ordered: false,
  },
} as unknown as PackagedQuery;
const rows = (...iris: readonly string[]): string =>
  JSON.stringify({
    head: { vars: ["x"] },
    results: { bindings: iris.map((value) => ({ x: { type: "uri", value } })) },
  });

/** The records of one engine that answers so; `counted` is what its shards were asked. */
async function measured(
  answer: (signal: AbortSignal) => Promise<Response>,
  { counted, known = [] }: { counted?: { requests: number; bytes: number }; known?: readonly EngineRecord[] } = {},
) {
  const records: EngineRecord[] = [];
  const sent: string[] = [];
  await measureEngines({
    engines: [
      {
        name: "e",
        urls: { gold: "http://e/", trivial: "http://e/" },
        textOf: (text) => `${text}!`,
        traffic: async () => counted,
      },
    ],
    queries: [query],
    forms: ["gold", "trivial", "plain"],
    known,
    timeoutMs: 30,
    signal: new AbortController().signal,
    fetch: async (_, init) => {
      sent.push(await new Response(init?.body ?? "").text());
      return answer(init?.signal ?? AbortSignal.abort());
    },
    onRecord: async (record) => void records.push(record),
    onProgress: () => {},
  });
  return { records, sent };
}

it.each<readonly [string, (signal: AbortSignal) => Promise<Response>, string, string | undefined]>([
  ["gives the gold answer", async () => new Response(rows("urn:a")), "right", undefined],
  ["gives another row", async () => new Response(rows("urn:b")), "wrong", undefined],
  ["gives a row too many", async () => new Response(rows("urn:a", "urn:a")), "wrong", undefined],
  ["says no", async () => Response.json({ head: {}, boolean: false }), "wrong", undefined],
  ["fails with a page", async () => new Response("<html>", { status: 502 }), "failed", "http-502"],
  [
    "fails with a problem",
    async () => Response.json({ code: "ENDPOINT_TIMEOUT" }, { status: 504 }),
    "failed",
    "ENDPOINT_TIMEOUT",
  ],
  ["answers with a page", async () => new Response("<html>"), "failed", "not-results"],
  ["cuts its answer", async () => new Response(rows("urn:a").slice(0, -4)), "failed", "not-results"],
  [
    "breaks off",
    async () => new Response(new ReadableStream({ pull: (to) => to.error(new Error("reset")) })),
    "failed",
    "broken",
  ],
  ["is not there", () => Promise.reject(new TypeError("fetch failed")), "failed", "unreachable"],
  [
    "hangs",
    (signal) => new Promise((_, fail) => signal.addEventListener("abort", () => fail(signal.reason))),
    "failed",
    "timeout",
  ],
])("an engine that %s", async (_, answer, verdict, code) => {
  const { records } = await measured(answer, { counted: { requests: 3, bytes: 50 } });
  expect(records).toMatchObject([
    { engine: "e", form: "gold", query: "q1", verdict, code, requests: 3, bytes: 50 },
    { form: "trivial", verdict, code },
  ]);
});

it("asks what has no record yet, in the engine's words, and asks no engine a form that it has no URL for", async () => {
  const known: readonly EngineRecord[] = [{ engine: "e", form: "gold", query: "q1", verdict: "right", ms: 1 }];
  const { records, sent } = await measured(async () => new Response(rows("urn:a")), { known });
  expect(sent).toEqual(["query=TRIVIAL%21"]);
  expect(records).toHaveLength(1);
});

it("figures of strata and kinds of rules; what is unknown of one query is unknown of all", () => {
  const of = {
    manifest: { build: { rules: [{ name: "names", kind: "vertical" }] } },
    queries: new Map([
      ["q1", query],
      ["q2", Object.assign({}, query, { id: "q2", strata: ["join"] })],
    ]),
  } as unknown as Pick<BenchmarkPackage, "manifest" | "queries">;
  const record = { engine: "e", form: "gold", verdict: "right", bytes: 10, ms: 5 } as const;
  const figures = engineFigures(
    [
      { ...record, query: "q1", requests: 2 },
      { ...record, query: "q2", verdict: "failed", code: "timeout", ms: 7 },
    ],
    of,
  );
  expect(figures).toEqual([
    {
      engine: "e",
      form: "gold",
      group: "all",
      queries: 2,
      right: 1,
      wrong: 0,
      failed: { timeout: 1 },
      requests: null,
      bytes: 10,
      medianMs: 7,
      totalMs: 12,
    },
    {
      engine: "e",
      form: "gold",
      group: "join",
      queries: 1,
      right: 0,
      wrong: 0,
      failed: { timeout: 1 },
      requests: null,
      bytes: 10,
      medianMs: 7,
      totalMs: 7,
    },
    {
      engine: "e",
      form: "gold",
      group: "vertical",
      queries: 1,
      right: 1,
      wrong: 0,
      failed: {},
      requests: 2,
      bytes: 10,
      medianMs: 5,
      totalMs: 5,
    },
  ]);
});
