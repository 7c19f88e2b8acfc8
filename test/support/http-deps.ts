import { fileURLToPath } from "node:url";
import { openClientKeys } from "../../src/clients/client-keys.ts";
import { systemClock } from "../../src/clock.ts";
import type { HttpDeps } from "../../src/http/http-deps.ts";
import { openCatalog } from "../../src/registry/catalog/open-catalog.ts";
import { describedModels } from "./described-models.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { createMutes } from "../../src/monitor/receivers/webhooks.ts";
import type { Store } from "../../src/store/store.ts";
import { shapesFile } from "./catalog-folder.ts";
import { createFakeMonitor } from "./fake-monitor.ts";
import { createFakeQueryService, type FakeQueryService, fakeSettings } from "./fake-query-service.ts";
import type { EditableCatalog } from "../../src/registry/catalog.ts";

/** One request as it was reported to the metrics. */
type Observed = Parameters<HttpDeps["metrics"]["observeRequest"]>[0];

/** Dependencies of the HTTP shell with what tests look at. */
export interface FakeDeps extends HttpDeps {
  readonly queries: FakeQueryService;
  readonly observed: Observed[];
  readonly lines: object[];
}

const files = fileURLToPath(new URL("../fixtures/catalog/", import.meta.url));

/** A catalogue of three endpoints from files (alpha, beta, and one with a hostile title) with changes in `store`. */
export function openTestCatalog(store: Store): Promise<EditableCatalog> {
  return openCatalog({
    dirs: [{ path: files }],
    baseUrl: fakeSettings.publicUrl,
    store,
    now: () => Date.UTC(2026, 0, 1),
    shapesFile,
    refuseUrl: (url) => (new URL(url).hostname.startsWith("10.") ? "its address is private." : undefined),
  });
}

const noCost = { requests: 0, rows: 0, seconds: 0 };

/** When the fake monitor stands still. */
export const fakeNowMs = Date.UTC(2026, 2, 12, 14, 5);

function modelsOf(catalog: EditableCatalog) {
  const known = describedModels({ entries: catalog.entries });
  catalog.onChange(() => known.models.setEntries(catalog.entries));
  return known;
}

/** Dependencies of the HTTP shell: a catalogue over a memory store, no descriptions, no jobs, a fake query service. */
export async function createFakeDeps(more: Partial<HttpDeps> = {}): Promise<FakeDeps> {
  const observed: Observed[] = [];
  const lines: object[] = [];
  const write = (fields: object): void => void lines.push(fields);
  const queries = createFakeQueryService();
  const store = openSqliteStore({ path: ":memory:" });
  const catalog = more.catalog ?? (await openTestCatalog(store));
  const monitor = more.monitor ?? createFakeMonitor({ endpoints: catalog.entries, nowMs: fakeNowMs });
  const noJobs = async () => Promise.reject(new Error("no jobs in this test"));
  return {
    config: fakeSettings,
    catalog,
    ...modelsOf(catalog),
    monitor,
    descriptions: {
      get: async () => undefined,
      begun: async () => undefined,
      freshness: async () => ({ state: "none" }),
      request: noJobs,
    },
    capabilities: { get: async () => undefined, request: noJobs },
    linksets: { request: noJobs },
    acceptAdapter: noJobs,
    jobs: { get: async () => undefined, list: async () => [], cancel: async () => false, watch: () => () => undefined },
    watches: { get: noJobs, list: async () => [], save: noJobs, remove: noJobs, run: noJobs, accept: noJobs },
    webhooks: {
      dead: async () => [],
      redeliver: async () => undefined,
      mutes: createMutes({
        store: openSqliteStore({ path: ":memory:" }),
        secret: "a secret of tests",
        publicUrl: "http://127.0.0.1",
        clock: { now: Date.now },
      }),
    },
    clients: await openClientKeys({ store, clock: systemClock, onFault: () => {} }),
    quotas: { use: async () => ({ hour: noCost, day: noCost }), admit: () => undefined, settle: () => {} },
    publishSnapshot: noJobs,
    hosted: () => undefined,
    dataset: { endpoint: { id: "registry", query: noJobs, close: async () => undefined }, vocabulary: () => [] },
    metrics: {
      contentType: "text/plain; version=0.0.4; charset=utf-8",
      render: async () => "fedway_up 1\n",
      observeRequest: (request) => void observed.push(request),
    },
    ready: () => ({ ready: true, checks: { catalog: { ok: true } } }),
    version: "1.2.3",
    now: () => fakeNowMs,
    logger: { request: write, error: write },
    ...more,
    queries,
    observed,
    lines,
  };
}
