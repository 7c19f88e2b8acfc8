import { once } from "node:events";
import { text as readText } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { createDirectExecutor } from "../../../src/engine/direct-executor.ts";
import { createInProcessExecutor, type Executor, sourceReport } from "../../../src/engine/executor.ts";
import { createTestedEngine } from "../../support/tested-engine.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { createPlanner } from "../../../src/plan/create-planner.ts";
import type { FederatedPlan } from "../../../src/plan/query-plan.ts";
import { Admission } from "../../../src/query/admission.ts";
import { createQueryService } from "../../../src/query/create-query-service.ts";
import { ownRun, type QueryRequest, type QueryService } from "../../../src/query/query-service.ts";
import { catalogEntry, createCatalog } from "../../support/catalog-entry.ts";
import { createStoreClient } from "../../support/store-client.ts";

const a = "http://a.example/sparql";
const b = "http://b.example/sparql";
const data = {
  [a]: Array.from({ length: 5 }, (_, i) => `<http://ex.org/s${i}> <http://ex.org/p> "${i}" .`).join("\n"),
  [b]: `<http://ex.org/s1> <http://ex.org/q> "one" .`,
};
const down = new FedwayError("ENDPOINT_UNREACHABLE", "The endpoint could not be reached.", { fault: "connect" });

function setUp(
  limits: Partial<Record<"timeoutMs" | "maxConcurrent" | "maxWaitMs" | "runs", number>> = {},
  admission = new Admission({ maxConcurrent: 20, ...limits }),
  evaluate?: Executor<FederatedPlan>["evaluate"],
) {
  const client = createStoreClient(data);
  const now = () => performance.now();
  const catalog = createCatalog([catalogEntry("a", { url: a }), catalogEntry("b", { url: b })], [], {
    publicUrl: "http://127.0.0.1:3000",
  });
  const finished: string[] = [];
  const queries = createQueryService({
    planner: createPlanner({ catalog, egress: "catalog", publicUrl: "http://127.0.0.1:3000" }),
    direct: createDirectExecutor(client, now),
    federated: {
      ...createInProcessExecutor(createTestedEngine({ client, maxSolutions: 1_000, now })),
      ...(evaluate && { evaluate }),
    },
    admission,
    limits: { timeoutMs: 5_000, maxRows: 100, runs: 3, ...limits },
    metrics: {
      observeRun: (plan, status) => finished.push(`${plan} ${status}`),
      observePlan: () => {},
      observeBusy: () => {},
    },
    isCutOff: (endpoint) => endpoint === "a",
    now,
  });
  return { client, queries, finished };
}

const request = (text: string, more: Partial<QueryRequest> = {}): QueryRequest & { maxRows: number } => ({
  text,
  defaultGraphs: [],
  namedGraphs: [],
  strict: false,
  partial: false,
  signal: new AbortController().signal,
  maxRows: 100,
  ...more,
});

const direct = `SELECT * { SERVICE <${a}> { ?s ?p ?o } }`;
const joined = `SELECT ?s ?q { SERVICE <${a}> { ?s ?p ?o } SERVICE <${b}> { ?s <http://ex.org/q> ?q } }`;
const union = `SELECT ?s { { SERVICE <${a}> { ?s ?p ?o } } UNION { SERVICE <${b}> { ?s ?p ?o } } }`;

async function bodyOf(queries: QueryService, query: QueryRequest): Promise<{ body: string; run: string }> {
  const { body, runId } = await queries.run(query);
  return { body: Buffer.isBuffer(body) ? body.toString() : await readText(body), run: runId };
}

it("says that its own network is gone, where it is, instead of blaming the endpoint", async () => {
  const { client, queries } = setUp();
  const failed = (endpoint: string) =>
    new FedwayError(down.code, down.message, { fault: "connect", where: { endpoint } });
  client.fail(a, failed("a"));
  client.fail(b, failed("b"));
  const nextOf = async (url: string): Promise<unknown> => {
    const { diagnosis } = await queries.table(request(direct.replace(a, url)));
    return diagnosis?.next;
  };
  expect(await nextOf(a)).toContain("This service cannot reach the network");
  expect(await nextOf(b)).toBeUndefined();
});

it("at the deadline an endpoint that is still being asked has timed out", async () => {
  const { queries } = setUp({ timeoutMs: 30 }, undefined, async (_plan, { signal, sources }) => {
    sourceReport(sources, "a").status = "ok";
    sourceReport(sources, "b").requests = 1;
    await once(signal, "abort");
    throw signal.reason;
  });
  const { run, ...table } = await queries.table(request(joined));
  const ended = {
    status: "failed",
    sources: [
      { endpoint: "a", status: "ok" },
      { endpoint: "b", status: "timeout", reason: "DEADLINE_EXCEEDED" },
    ],
  };
  expect(table).toMatchObject({ ...ended, diagnosis: { code: "DEADLINE_EXCEEDED" } });
  expect(await queries.runRecord(run)).toMatchObject({ ...ended, code: "DEADLINE_EXCEEDED" });
});

describe("run", () => {
  it("delivers a direct answer and keeps its record", async () => {
    const { queries, finished } = setUp();
    const { body, run } = await bodyOf(queries, request(direct));
    expect(JSON.parse(body).results.bindings).toHaveLength(5);
    expect(await queries.runRecord(run)).toMatchObject({
      status: "ok",
      plan: "direct",
      sources: [{ endpoint: "a", requests: 1 }],
    });
    expect(finished).toEqual(["direct ok"]);
    expect(queries.running).toBe(0);
  });

  it("gives a run with its text to its owner, and to anybody else as an unknown one", async () => {
    const { queries } = setUp();
    const { run } = await bodyOf(queries, request(direct, { owner: "ada", endpointId: "a", session: "s" }));
    expect(await ownRun(queries, run, "ada")).toMatchObject({
      status: "ok",
      asked: { query: direct, endpoint: "a", session: "s" },
    });
    for (const [id, owner] of [
      [run, "bob"],
      [run, undefined],
      ["none", "ada"],
    ] as const) {
      await expect(ownRun(queries, id, owner)).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
    }
  });

  it("tells ok, empty and failed apart", async () => {
    const { queries, client, finished } = setUp();
    await bodyOf(queries, request(joined));
    await bodyOf(queries, request(`${joined} LIMIT 0`));
    client.fail(b, down);
    await expect(bodyOf(queries, request(joined))).rejects.toMatchObject({ code: "ENDPOINT_UNREACHABLE" });
    expect(finished).toEqual(["federated ok", "federated empty", "federated failed"]);
  });

  it("answers SILENT here when the only endpoint fails, and that is ok", async () => {
    const { queries, client } = setUp();
    client.fail(a, down);
    const { body, run } = await bodyOf(queries, request(`SELECT * { SERVICE SILENT <${a}> { ?s ?p ?o } }`));
    expect(JSON.parse(body).results.bindings).toEqual([{}]);
    expect(await queries.runRecord(run)).toMatchObject({
      status: "ok",
      sources: [{ endpoint: "a", status: "silenced" }],
    });
  });

  it("remembers the run of a failure, also of a rejected plan, each its own", async () => {
    const { queries } = setUp();
    const rejected = request("SELECT * { ?s ?p ?o }");
    const errors = await Promise.all([0, 1].map(() => queries.run(rejected).catch((error: unknown) => error)));
    const runs = errors.map((error) => queries.runOf(error));
    expect(new Set(runs).size).toBe(2);
    for (const run of runs) {
      expect(await queries.runRecord(run ?? "")).toMatchObject({
        plan: "rejected",
        status: "failed",
        code: "SERVICE_REQUIRED",
      });
    }
  });

  it("lets a query wait for its place, and refuses it when none comes free", async () => {
    const { queries } = setUp({ maxConcurrent: 0, maxWaitMs: 20 });
    await expect(queries.run(request(direct))).rejects.toMatchObject({ code: "SERVICE_BUSY" });
    const { queries: patient } = setUp({ maxConcurrent: 1, maxWaitMs: 60_000 });
    const runs = await Promise.all([1, 2, 3, 4].map(() => bodyOf(patient, request(direct))));
    expect(runs.map(({ body }) => body)).toEqual(Array.from(runs, () => runs[0]!.body));
    expect(patient.running).toBe(0);
  });

  it("gives a place back when a query cannot be planned, and when its client leaves", async () => {
    const { queries } = setUp({ maxConcurrent: 1, maxWaitMs: 60_000 });
    for (let round = 0; round < 3; round += 1) {
      await expect(queries.run(request("SELECT"))).rejects.toMatchObject({ code: "QUERY_SYNTAX" });
    }
    const { body } = await bodyOf(queries, request(direct));
    expect(JSON.parse(body)).toHaveProperty("results");
  });

  it("takes no second place, nor other requests, for a query that is part of a call", async () => {
    const admission = new Admission({ maxConcurrent: 1, callRequests: 2 });
    const { queries } = setUp({}, admission);
    const signal = new AbortController().signal;
    const admitted = await admission.enter({ client: "a", characters: 0, timeoutMs: 1_000, signal });
    const asked = request(direct, { admitted });
    for (let round = 0; round < 2; round += 1) expect((await queries.table(asked)).status).toBe("ok");
    expect((await queries.table(asked)).diagnosis?.code).toBe("BUDGET_SPENT");
    expect(admitted.requests.spent).toBe(2);
  });

  it("forgets old records", async () => {
    const others = setUp().queries;
    const runs: string[] = [];
    for (let i = 0; i < 4; i++) runs.push((await bodyOf(others, request(direct))).run);
    const records = await Promise.all(runs.map((run) => others.runRecord(run)));
    expect(records.map((record) => record !== undefined)).toEqual([false, true, true, true]);
  });

  it("a query that is refused says why, whatever format is wanted", async () => {
    const { queries } = setUp();
    for (const accept of ["text/turtle", "image/png", undefined]) {
      await expect(queries.run(request("CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }", { accept }))).rejects.toMatchObject(
        { code: "SERVICE_REQUIRED" },
      );
    }
  });

  it("an unacceptable format names what there is", async () => {
    const { queries } = setUp();
    await expect(queries.run(request(direct, { accept: "image/png" }))).rejects.toMatchObject({
      code: "NOT_ACCEPTABLE",
      details: { next: expect.stringContaining("application/sparql-results+json") },
    });
  });
});

describe("table", () => {
  it("gives columns and rows", async () => {
    const table = await setUp().queries.table(request(joined));
    expect(table).toMatchObject({
      status: "ok",
      columns: ["s", "q"],
      rows: [["<http://ex.org/s1>", '"one"']],
      diagnosis: null,
    });
  });

  it("stops at maxRows and says so", async () => {
    const table = await setUp().queries.table(request(direct, { maxRows: 2 } as Partial<QueryRequest>));
    expect(table).toMatchObject({ status: "partial", truncated: true, diagnosis: null });
    expect(table.rows).toHaveLength(2);
  });

  it("an ASK is a boolean, and false is not empty", async () => {
    const table = await setUp().queries.table(
      request(`ASK { SERVICE <${a}> { ?s <http://ex.org/none> ?o } SERVICE <${b}> {?s ?p ?q} }`),
    );
    expect(table).toMatchObject({ status: "ok", boolean: false, rows: [] });
  });

  it("a failing member fails the whole without rows", async () => {
    const { queries, client } = setUp();
    client.fail(b, down);
    const table = await queries.table(request(union));
    expect(table).toMatchObject({ status: "failed", rows: [], diagnosis: { code: "ENDPOINT_UNREACHABLE" } });
    expect(await queries.runRecord(table.run)).toMatchObject({ status: "failed", code: "ENDPOINT_UNREACHABLE" });
  });

  it("with partial it is left out, and the diagnosis names it", async () => {
    const { queries, client } = setUp();
    client.fail(b, down);
    const table = await queries.table(request(union, { partial: true }));
    expect(table.rows).toHaveLength(5);
    expect(table).toMatchObject({
      status: "partial",
      diagnosis: { code: "ENDPOINT_PARTIAL", where: { endpoint: "b" } },
    });
    expect(await queries.runRecord(table.run)).toMatchObject({ status: "partial", rows: 5 });
  });

  it("a cancelled query is cancelled, not failed", async () => {
    const controller = new AbortController();
    controller.abort();
    const table = await setUp().queries.table(request(union, { signal: controller.signal }));
    expect(table.status).toBe("cancelled");
  });
});

describe("explain", () => {
  it("describes a plan without a run", () => {
    const { queries, client } = setUp();
    expect(queries.explain(request(joined))).toMatchObject({
      kind: "federated",
      endpoints: [
        { endpoint: "a", url: a, clauses: 1, silent: false },
        { endpoint: "b", url: b, clauses: 1, silent: false },
      ],
    });
    expect(client.requests).toEqual([]);
  });
  it("a rejection is data", () => {
    expect(setUp().queries.explain(request("SELECT * { ?s ?p ?o }"))).toMatchObject({
      kind: "rejected",
      problem: { code: "SERVICE_REQUIRED" },
    });
  });
});
