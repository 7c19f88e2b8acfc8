import { Readable } from "node:stream";
import type { HttpSettings } from "../../src/http/http-deps.ts";
import type { QueryAnswer, QueryRequest, QueryService } from "../../src/query/query-service.ts";
import type { RunRecord } from "../../src/query/records.ts";
import { createSessionLog } from "../../src/query/session-log.ts";
import type { TabularAnswer } from "../../src/query/table.ts";

/** Answer that a fake run gives unless told otherwise. */
export const fakeAnswer = (body: Buffer | Readable, more: Partial<QueryAnswer> = {}): QueryAnswer => ({
  runId: "run-1",
  plan: {
    kind: "direct",
    answer: "bindings",
    endpoint: { id: "alpha", url: "http://alpha.example/sparql" },
    query: "SELECT * {}",
    silent: undefined,
    defaultGraphs: [],
    namedGraphs: [],
    notes: [],
  },
  kind: "bindings",
  contentType: "application/sparql-results+json",
  contentEncoding: "identity",
  body,
  status: "ok",
  notes: [],
  timings: { planMs: 0.04, upstreamMs: 12.34, planCached: true },
  ...more,
});

export const smallBody = Buffer.from('{"head":{"vars":["x"]},"results":{"bindings":[]}}');

export const fakeTable: TabularAnswer = {
  run: "run-2",
  status: "ok",
  plan: { kind: "direct", endpoints: [], notes: [] },
  columns: ["x"],
  rows: [["<urn:x:a>"], [null]],
  truncated: false,
  sources: [{ endpoint: "alpha", requests: 1, bytes: 10, ms: 3, status: "ok" }],
  notes: [],
  diagnosis: null,
};

const record: RunRecord = {
  id: "run-1",
  startedAt: "2026-01-01T00:00:00.000Z",
  plan: "direct",
  queryHash: "abc",
  status: "ok",
  bytes: 10,
  sources: [],
  notes: [],
};

const hostile = `<script>alert("run")</script>\u202e`;

/** A run whose texts come from people and endpoints that mean no good, as its owner sees it. */
const hostileRun: RunRecord = {
  ...record,
  id: "run-hostile",
  plan: "federated",
  status: "partial",
  partial: "uncertain",
  rows: 1,
  bytes: 1_470,
  durationMs: 1_512.4,
  sources: [
    { endpoint: "people", requests: 1, cached: 1, rows: 2, bytes: 270, ms: 12, status: "ok" },
    {
      endpoint: `http://x.example/${hostile}`,
      requests: 2,
      bytes: 1_200,
      ms: 1_480,
      status: "failed",
      reason: hostile,
    },
  ],
  steps: [
    {
      pattern: `{ ?s ?p "${hostile}" }`,
      endpoints: ["people"],
      asked: 1,
      estimate: 2,
      keys: 0,
      whole: 1,
      requests: 1,
      rows: 2,
      bytes: 270,
      at: 0,
      ms: 12,
    },
    {
      pattern: "{ ?s ?q ?o }",
      endpoints: [hostile],
      asked: 12,
      estimate: 40,
      keys: 1,
      whole: 1,
      requests: 2,
      rows: 1,
      bytes: 1_200,
      at: 20,
      ms: 1_480,
    },
  ],
  notes: [{ code: "ENDPOINT_DOWN", message: hostile }],
  asked: {
    query: `SELECT * { ?s ?p "${hostile}" }`,
    federation: hostile,
    session: "errand",
    repairs: [{ kind: "prefix-missing", before: "", after: hostile, applied: true }],
  },
};

const runs: readonly RunRecord[] = [record, hostileRun];

/** A query service that remembers what it was asked. */
export interface FakeQueryService extends QueryService {
  readonly requests: QueryRequest[];
  answer: (request: QueryRequest) => Promise<QueryAnswer>;
  tableAnswer: (request: QueryRequest) => Promise<TabularAnswer>;
  runIdOf: (error: unknown) => string | undefined;
}

export function createFakeQueryService(): FakeQueryService {
  const requests: QueryRequest[] = [];
  const service: FakeQueryService = {
    requests,
    running: 0,
    sessions: createSessionLog({ now: Date.now }),
    answer: async () => fakeAnswer(smallBody),
    tableAnswer: async () => fakeTable,
    runIdOf: () => undefined,
    runs: async () => ({ runs }),
    cancel: async () => "cancelled",
    run: async (request) => {
      requests.push(request);
      return service.answer(request);
    },
    table: async (request) => {
      requests.push(request);
      return service.tableAnswer(request);
    },
    analyze: async (request) => {
      requests.push(request);
      return { kind: "direct", endpoints: [], notes: [], query: request.text, run: record };
    },
    explain: ({ text }) => ({ kind: "direct", endpoints: [], notes: [], query: text }),
    runRecord: async (id) => runs.find((run) => run.id === id),
    runOf: (error) => service.runIdOf(error),
  };
  return service;
}

export const fakeSettings: HttpSettings = {
  host: "127.0.0.1",
  port: 0,
  metricsPort: undefined,
  role: "all",
  publicUrl: "http://127.0.0.1:0",
  allowedHosts: [],
  trustProxy: false,
  adminToken: "off",
  anonymous: "query",
  clientHeader: undefined,
  clientHeaderRole: "query",
  corsOrigins: "*",
  contact: undefined,
  limits: {
    timeoutMs: 5000,
    maxRows: 100,
    maxQueryBytes: 4096,
    bodyBytes: 2 ** 26,
    bodyTimeoutMs: 30_000,
    rateLimit: 0,
    hostRate: 20,
    endpointConcurrency: 16,
  },
  log: { queries: false },
};

/** A stream that gives `chunks` and then fails with `error` when there is one. */
export const streamOf = (chunks: readonly string[], error?: Error): Readable =>
  Readable.from(
    (async function* () {
      for (const chunk of chunks) yield Buffer.from(chunk);
      if (error) throw error;
    })(),
    { objectMode: false },
  );
