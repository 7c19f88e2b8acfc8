import { describe, expect, it } from "vitest";
import { BlockSizes, type KeyBlock } from "../../../src/engine/clause-query.ts";
import { createClauseExecutor } from "../../../src/engine/clause-executor.ts";
import type { EvaluateHere } from "../../../src/engine/evaluated-clause.ts";
import { ExecutionAccount } from "../../../src/engine/execution-account.ts";
import type { ExecutionBounds } from "../../../src/engine/execution-bounds.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { FederatedClause } from "../../../src/plan/query-plan.ts";
import { namedNode } from "../../support/result-terms.ts";
import type { SparqlAnswer, SparqlRequest } from "../../../src/outbound/sparql-request.ts";

const clause: FederatedClause = {
  iri: "urn:fedway:clause:0",
  endpoint: { id: "a", url: "http://a.example/sparql" },
  silent: false,
  variables: [{ name: "s", certain: true }],
  prologue: "",
  pattern: "{ ?s ?p ?o }",
  selectivity: 0,
};

/** An executor whose endpoint answers a request with one row a key, unless `refuse` gives an error for it. */
function setUp(refuse: (request: SparqlRequest, nth: number) => FedwayError | undefined, evaluateHere?: EvaluateHere) {
  const requests: string[] = [];
  const bounds: ExecutionBounds = {
    signal: new AbortController().signal,
    deadlineMs: Number.MAX_SAFE_INTEGER,
    partial: false,
    sources: new Map(),
  };
  const query = async (request: SparqlRequest): Promise<SparqlAnswer> => {
    requests.push(request.query);
    const error = refuse(request, requests.length);
    if (error) throw error;
    const keys = [...request.query.matchAll(/\(<([^>]+)>\)/g)].map(([, key]) => key);
    const bindings = keys.map((value) => ({ s: { type: "uri", value } }));
    const body = Buffer.from(JSON.stringify({ head: { vars: ["s"] }, results: { bindings } }));
    const whole = { decodedBytes: body.length, wireBytes: body.length };
    return {
      status: 200,
      mediaType: "application/sparql-results+json",
      contentEncoding: "identity",
      body,
      requests: 1,
      whole,
      end: Promise.resolve(whole),
    };
  };
  const executor = createClauseExecutor({
    client: { query },
    bounds,
    sizes: new BlockSizes(),
    account: new ExecutionAccount({ maxSolutions: 1_000, maxHeldBytes: 2 ** 27, now: () => 0 }),
    ...(evaluateHere && { evaluateHere }),
  });
  return { executor, requests, bounds };
}

const keys = (count: number): KeyBlock => ({
  variables: ["s"],
  rows: Array.from({ length: count }, (_, i) => [namedNode(`http://ex.org/${i}`)]),
});

async function collect<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const items of batches) all.push(...items);
  return all;
}

describe("blocks of keys", () => {
  const keysIn = (query: string) => query.match(/\(</g)?.length ?? 0;
  const tooMany = (most: number) => (request: SparqlRequest) =>
    keysIn(request.query) > most
      ? new FedwayError("ENDPOINT_REFUSED", "too long", { fault: "http-4xx", upstreamStatus: 414 })
      : undefined;

  it("are halved until the endpoint takes them, and nothing is lost", async () => {
    const { executor, requests } = setUp(tooMany(10));
    const rows = await collect(executor.solutions(clause, keys(32)));
    expect(new Set(rows.map((row) => row.get("s")?.value)).size).toBe(32);
    expect(requests.map(keysIn)).toEqual([32, 16, 8, 8, 16, 8, 8]);
  });
  it("stay small when a larger one, sent before, is refused later", () => {
    const sizes = new BlockSizes();
    for (const size of [64, 32, 16, 64]) sizes.refused("a", size);
    for (let answered = 0; answered < 4; answered++) sizes.accepted("a", sizes.at("a").next());
    expect(sizes.at("a").next()).toBe(8);
  });
  it("are not halved for ever", async () => {
    const { executor } = setUp(tooMany(0));
    await expect(collect(executor.solutions(clause, keys(32)))).rejects.toMatchObject({ code: "ENDPOINT_REFUSED" });
  });
});

describe("a full queue", () => {
  const busy = new FedwayError("ENDPOINT_BUSY", "full", { fault: "busy" });
  it("of this execution's own requests is waited for", async () => {
    const { executor } = setUp((_, nth) => (nth === 2 ? busy : undefined));
    const [first, second] = await Promise.all([1, 2].map((count) => collect(executor.solutions(clause, keys(count)))));
    expect([first?.length, second?.length]).toEqual([1, 2]);
  });
  it("of others is an error", async () => {
    const { executor, bounds } = setUp(() => busy);
    await expect(collect(executor.solutions(clause, keys(1)))).rejects.toBe(busy);
    expect(bounds.sources.get("a")).toMatchObject({ status: "failed", reason: "ENDPOINT_BUSY" });
  });
});

describe("a SILENT clause", () => {
  const down = new FedwayError("ENDPOINT_FAILED", "down", { fault: "http-5xx" });
  const silent: FederatedClause = { ...clause, silent: true };
  const block = (first: number, count: number): KeyBlock => ({
    variables: ["s"],
    rows: Array.from({ length: count }, (_, i) => [namedNode(`http://ex.org/${first + i}`)]),
  });

  it("that fails first is one empty solution for all keys, and is not asked again", async () => {
    const { executor, requests, bounds } = setUp(() => down);
    const rows = await collect(executor.solutions(silent, block(0, 2)));
    rows.push(...(await collect(executor.solutions(silent, block(2, 2)))));
    expect(rows.map(({ size }) => size)).toEqual([0, 0]);
    expect(requests).toHaveLength(1);
    expect(bounds.sources.get("a")).toMatchObject({ status: "silenced", reason: "ENDPOINT_FAILED" });
  });
  it("that fails behind an answer gives no more, and the answer is partial", async () => {
    const { executor, bounds } = setUp((_, nth) => (nth > 1 ? down : undefined));
    expect(await collect(executor.solutions(silent, block(0, 2)))).toHaveLength(2);
    expect(await collect(executor.solutions(silent, block(2, 2)))).toEqual([]);
    expect(bounds.sources.get("a")).toMatchObject({ status: "failed", reason: "ENDPOINT_FAILED" });
  });
  it("that fails behind an empty answer gives no more, too", async () => {
    const { executor, bounds } = setUp((_, nth) => (nth > 1 ? down : undefined));
    expect(await collect(executor.solutions(silent, block(0, 0)))).toEqual([]);
    expect(await collect(executor.solutions(silent, block(2, 2)))).toEqual([]);
    expect(bounds.sources.get("a")).toMatchObject({ status: "failed" });
  });
  it("gives no rows of one block beside the empty solution of another", async () => {
    const { executor } = setUp((_, nth) => (nth === 2 ? down : undefined));
    const blocks = [block(0, 2), block(2, 2)].map((part) => collect(executor.solutions(silent, part)));
    const sizes = (await Promise.all(blocks)).flat().map((row) => row.size);
    expect([
      [0, 0],
      [1, 1],
    ]).toContainEqual(sizes);
  });
  it("that is evaluated here fails by the same rule", async () => {
    const failing = (rows: number): EvaluateHere =>
      async function* fail() {
        for (let n = 0; n < rows; n++) yield [new Map([["s", namedNode(`http://ex.org/${n}`)]])];
        throw down;
      };
    const run = async (rows: number) => {
      const { executor, bounds } = setUp(() => undefined, failing(rows));
      const given = await collect(executor.solutions({ ...silent, evaluatedHere: true }));
      return [given.map((row) => row.size), bounds.sources.get("a")?.status];
    };
    expect(await run(0)).toEqual([[0], "silenced"]);
    expect(await run(2)).toEqual([[1, 1], "failed"]);
  });
  it("is another one than its neighbour", async () => {
    const { executor } = setUp((_, nth) => (nth > 1 ? down : undefined));
    expect(await collect(executor.solutions(silent, block(0, 2)))).toHaveLength(2);
    const neighbour = { ...silent, iri: "urn:fedway:clause:1" };
    expect(await collect(executor.solutions(neighbour, block(2, 2)))).toEqual([new Map()]);
  });
});
