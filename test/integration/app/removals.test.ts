import { afterEach, beforeEach, expect, it } from "vitest";
import { pino } from "pino";
import { openClients } from "../../../src/app/open-clients.ts";
import { openJobs } from "../../../src/app/open-state.ts";
import { openMonitoring } from "../../../src/app/open-monitoring.ts";
import { openRegistry, type Registry } from "../../../src/app/open-registry.ts";
import { loadConfig } from "../../../src/config/config.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { createMetrics, type Metrics } from "../../../src/telemetry/metrics.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { type CatalogFolder, createCatalogFolder, endpointTurtle } from "../../support/catalog-folder.ts";
import { seriesIn } from "../../support/monitored-service.ts";
import { eventually } from "../../support/eventually.ts";

const url = "http://alpha.example/sparql";

let folder: CatalogFolder;
let store: Store;
let registry: Registry;
let metrics: Metrics;
/** Keys that the store does not let go now. */
let stuck: RegExp | undefined;
let refused: string[];
let closings: (() => Promise<unknown>)[];

beforeEach(async () => {
  folder = await createCatalogFolder();
  await folder.write({ "alpha.ttl": endpointTurtle("alpha", url), "beta.ttl": endpointTurtle("beta", `${url}/beta`) });
  [stuck, refused, closings] = [undefined, [], []];
  const whole = openSqliteStore({ path: ":memory:" });
  store = {
    ...whole,
    async delete(key, options) {
      if (stuck?.test(key) !== true) return whole.delete(key, options);
      refused.push(key);
      throw new FedwayError("STORE_FAILED", "The store is away.");
    },
  };
  metrics = createMetrics();
  await open();
});
afterEach(async () => {
  for (const close of closings.toReversed()) await close();
});

/** Registry and monitoring as the service has them, over a store that can fail. */
async function open(): Promise<void> {
  const config = loadConfig({ FEDWAY_CATALOG: folder.path, FEDWAY_EXAMPLES: "off", FEDWAY_MONITOR: "off" });
  const log = pino({ level: "silent" });
  const state = {
    store,
    soleOwner: true,
    writes: { fault: () => undefined, listen: () => undefined },
    announce: async () => {},
    close: async () => {},
  };
  const local = () => undefined;
  const clients = openClients(config, local);
  const jobs = openJobs(config, state, () => {});
  const foundation = { config, log, state, clients, local, jobs };
  registry = await openRegistry(foundation, { statusOf: () => "unknown", inMaintenance: () => false });
  const monitoring = openMonitoring({ ...foundation, registry, metrics });
  closings.push(
    () => clients.close(),
    () => jobs.close(),
    () => registry.close(),
    () => monitoring.close(),
  );
}

const kept = ["description/alpha", "description-work/alpha", "capabilities/alpha", "monitor/health/alpha"];
const others = kept.map((key) => key.replace("alpha", "beta"));
const there = async (keys: readonly string[]): Promise<readonly string[]> => {
  const found = await Promise.all(keys.map(async (key) => ((await store.get(key)) === undefined ? [] : [key])));
  return found.flat();
};

it.each([
  ["descriptions", /^description\//],
  ["unfinished descriptions", /^description-work\//],
  ["capabilities", /^capabilities\//],
  ["everything", /^(description|capabilities)/],
])("when the store fails to drop %s, nothing is left once it is back", async (_what, keys) => {
  for (const key of [...kept.slice(0, 3), ...others.slice(0, 3)]) await store.put(key, "{}");
  stuck = keys;
  await registry.catalog.remove("endpoint", "alpha");
  await eventually(() => expect(refused.length).toBeGreaterThan(0));
  expect((await there(kept)).length).toBeGreaterThan(0);
  stuck = undefined;
  await eventually(async () => expect(await there(kept)).toEqual([]));
  expect(await there(others)).toEqual(others.slice(0, 3));
});

it("an endpoint that leaves is forgotten by the metrics at once, as it may be back before the next scrape", async () => {
  const exchange = { endpoint: "alpha", outcome: "ok", ms: 5, wireBytes: 10, requests: 1 } as const;
  for (let n = 0; n < 7; n += 1) metrics.observeExchange(exchange);
  metrics.observeExchange({ ...exchange, endpoint: "beta" });
  metrics.setBreaker("alpha", "open");
  await registry.catalog.remove("endpoint", "alpha");
  await Promise.resolve();
  metrics.observeExchange(exchange);
  const text = await metrics.render();
  expect(seriesIn(text, 'fedway_upstream_requests_total{endpoint="alpha"}')).toBe(1);
  expect(seriesIn(text, 'fedway_upstream_requests_total{endpoint="beta"}')).toBe(1);
  expect(seriesIn(text, 'fedway_breaker_state{endpoint="alpha"}')).toBeUndefined();
});
