import { sparqlAsker } from "../../support/sparql-asker.ts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { applyHealth } from "../../../src/monitor/apply-health.ts";
import { BreakerSharing } from "../../../src/outbound/share-breakers.ts";
import type { EndpointHealth, MonitorEvent } from "../../../src/monitor/monitor.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";
import type { BreakerReport } from "../../../src/outbound/observer.ts";
import { createSparqlClient } from "../../../src/outbound/client.ts";
import { type Clock, systemClock } from "../../../src/clock.ts";
import { read, requestTo, shouldFail } from "../../support/hostile-client.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";
import { eventually } from "../../support/eventually.ts";

let server: SparqlTestServer;
let store: Store;
let closings: (() => void | Promise<void>)[] = [];
/** Timers run in real time; what the clock shows is moved by tests. */
let aheadMs = 0;
const clock: Clock = { ...systemClock, now: () => Date.now() + aheadMs };
const coolDownMs = 60_000;

beforeEach(async () => {
  aheadMs = 0;
  server = await startSparqlTestServer('<urn:s> <urn:p> "o" .');
  store = openSqliteStore({ path: ":memory:", clock });
  closings = [() => server.close()];
});
afterEach(async () => {
  for (const closing of closings.toReversed()) await closing();
});

/** A process with a client that two faults keep away from an endpoint for a minute. */
function openProcess() {
  const client = createSparqlClient({
    version: "1",
    allowAddresses: ["127.0.0.1"],
    retry: { limit: 0 },
    breaker: { faults: 2, coolDownMs },
    clock,
  });
  closings.push(() => client.close());
  const reports: BreakerReport[] = [];
  client.breakers.onChange((report) => reports.push(report));
  return { client, reports, came: (state: string) => eventually(() => expect(reports.at(-1)?.state).toBe(state)) };
}

const onFault = (fault: unknown): never => expect.fail(String(fault));

function openSharing() {
  const opened = openProcess();
  const sharing = new BreakerSharing({
    breakers: opened.client.breakers,
    store,
    clock,
    onFault,
  });
  closings.push(() => sharing.close());
  return opened;
}

const query = () =>
  requestTo(server.url, { endpoint: { id: "alpha", url: server.url }, deadlineMs: clock.now() + 10_000 });

describe("two processes over one store", () => {
  it("leave a broken endpoint alone together, and come back together", async () => {
    const [a, b] = [openSharing(), openSharing()];
    server.setFault({ kind: "status", status: 500 });
    for (let round = 0; round < 2; round += 1) await shouldFail(a.client, query(), ["ENDPOINT_FAILED"]);
    await b.came("open");
    expect(server.requests).toHaveLength(2);
    const refused = await shouldFail(b.client, query(), ["CIRCUIT_OPEN", "circuit-open"]);
    expect(refused.details.retryAfterMs).toBeGreaterThan(0);
    expect(server.requests).toHaveLength(2);

    server.setFault(undefined);
    aheadMs += 2 * coolDownMs;
    expect((await read(b.client, query())).end.rows).toBe(1);
    await a.came("closed");
    expect(a.reports.map(({ state, by }) => `${state} ${by}`)).toEqual(["open own", "closed outside"]);
    expect(b.reports.map(({ state, by }) => `${state} ${by}`)).toEqual(["open outside", "half-open own", "closed own"]);
    expect((await read(a.client, query())).end.rows).toBe(1);
    expect(server.requests).toHaveLength(4);
  });
});

/** A monitor of which a test says what it knows. */
function scriptedMonitor() {
  const listeners = new Set<(event: MonitorEvent) => void>();
  let health: EndpointHealth | undefined;
  return {
    health: () => health,
    all: () => (health === undefined ? [] : [health]),
    onEvent(listener: (event: MonitorEvent) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    say(more: Partial<EndpointHealth>): void {
      health = { endpoint: "alpha", url: server.url, state: "up", streak: 0, hours: [], ...more };
      const observation = { atMs: clock.now(), ok: false, ms: 1, tries: 1, source: "turn" } as const;
      for (const listener of listeners) listener({ kind: "probed", endpoint: "alpha", observation });
    },
  };
}

describe("an endpoint that the monitor has found down", () => {
  const sinceMs = Date.UTC(2026, 0, 1, 12);
  const connectFault = () =>
    ({ atMs: clock.now(), ok: false, ms: 1, fault: "connect", tries: 2, source: "turn" }) as const;
  const probeOf = (client: ReturnType<typeof openProcess>["client"], pastBreaker: boolean) =>
    sparqlAsker({ client, clock, pastBreaker }).ask({
      endpoint: { id: "alpha", url: server.url },
      query: "SELECT ?x WHERE { VALUES ?x { 1 2 3 } }",
      kind: "bindings",
      signal: new AbortController().signal,
      timeoutMs: 10_000,
      maxRows: 10,
      maxBytes: 10_000,
    });

  function openWatched() {
    const opened = openProcess();
    const monitor = scriptedMonitor();
    const applied = applyHealth({
      monitor,
      breakers: opened.client.breakers,
      everyMs: 900_000,
      jitter: 0.1,
      clock,
      onFault,
    });
    closings.push(() => applied.close());
    return { ...opened, monitor, applied };
  }

  it("is sent no query, and the refusal says why; when the incident closes it is asked at once", async () => {
    const { client, monitor, applied } = openWatched();
    monitor.say({ state: "down", sinceMs, incident: "i-7", last: connectFault() });
    const refused = await shouldFail(client, query(), ["CIRCUIT_OPEN", "circuit-open"]);
    expect(refused.message).toBe("The endpoint is cooling down: down since 2026-01-01T12:00:00.000Z, incident i-7.");
    expect(refused.details.retryAfterMs).toBeGreaterThan(900_000);
    expect(server.requests).toHaveLength(0);
    expect(applied.availability.state("alpha")).toBe("down");
    monitor.say({ state: "up", sinceMs: clock.now() });
    expect((await read(client, query())).end.rows).toBe(1);
    expect(applied.availability.state("alpha")).toBe("up");
  });
  it("is probed all the same, and one good probe lets queries back", async () => {
    const { client, monitor, reports } = openWatched();
    monitor.say({ state: "down", sinceMs, incident: "i-7", last: connectFault() });
    await expect(probeOf(client, false)).rejects.toMatchObject({ code: "CIRCUIT_OPEN" });
    server.setFault({ kind: "status", status: 500 });
    await expect(probeOf(client, true)).rejects.toMatchObject({ code: "ENDPOINT_FAILED" });
    await shouldFail(client, query(), ["CIRCUIT_OPEN"]);
    expect(server.requests).toHaveLength(1);
    server.setFault(undefined);
    expect((await probeOf(client, true)).rows).toHaveLength(3);
    expect(reports.map(({ state, by }) => `${state} ${by}`)).toEqual(["open outside", "closed own"]);
    expect((await read(client, query())).end.rows).toBe(1);
  });
  it("is asked when it answers, be it wrongly", async () => {
    const { client, monitor } = openWatched();
    monitor.say({ state: "down", sinceMs, incident: "i-7", last: { ...connectFault(), fault: "wrong-answer" } });
    expect((await read(client, query())).end.rows).toBe(1);
  });
  it("gets one trial when nobody has probed it at its next turn", async () => {
    const { client, monitor, reports } = openWatched();
    monitor.say({ state: "down", sinceMs, incident: "i-7", last: connectFault() });
    aheadMs += 1_000_000;
    expect((await read(client, query())).end.rows).toBe(1);
    expect(reports.map(({ state }) => state)).toEqual(["open", "half-open", "closed"]);
  });
});
