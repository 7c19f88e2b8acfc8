import { afterEach, describe, expect, it } from "vitest";
import { type IncidentAnswer, type MonitoredService, startMonitored } from "../../support/monitored-service.ts";
import { problemOf } from "../../support/running-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";
import { eventually, until } from "../../support/eventually.ts";

const closings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

/** One endpoint, and a service whose next scheduled probe is far away. */
async function start(env: Readonly<Record<string, string>>): Promise<[SparqlTestServer, MonitoredService]> {
  const server = await startSparqlTestServer('<urn:x:s> <urn:x:p> "o" .');
  closings.push(() => server.close());
  const service = await startMonitored(
    { alpha: server.url },
    { FEDWAY_PROBE_EVERY_MS: "86400000", FEDWAY_PROBE_JITTER: "0", ...env },
  );
  closings.push(() => service.close());
  return [server, service];
}

const ask = (service: MonitoredService): Promise<Response> =>
  service.query("SELECT ?o WHERE { ?s <urn:x:p> ?o }", { path: "/endpoints/alpha/sparql" });

const canaries = ({ requests }: SparqlTestServer): number =>
  requests.filter(({ query }) => query?.includes("1 2 3")).length;

describe("queries that fail", () => {
  it("call for a probe before its turn, which may open an incident and does not count in the uptime", async () => {
    const [server, service] = await start({ FEDWAY_INCIDENT_AFTER: "1" });
    await expect.poll(() => service.stateOf("alpha")).toBe("up");
    const { probes, good } = await service.turnsOf("alpha");
    expect((await ask(service)).status).toBe(200);
    server.setFault({ kind: "reset" });
    for (let count = 0; count < 3; count += 1) expect((await ask(service)).status).toBe(502);
    await expect.poll(() => service.stateOf("alpha")).toBe("down");
    const { last, incident } = await service.availability("alpha");
    expect(last).toMatchObject({ ok: false, fault: "reset", source: "early", tries: 2 });
    const evidence = async () => (await service.json<IncidentAnswer>(`/api/incidents/${incident}`)).evidence;
    await eventually(evidence);
    expect(await evidence()).toMatchObject([{ ok: false, source: "early", fault: "reset" }]);
    expect(await service.turnsOf("alpha")).toMatchObject({ probes, good });
    const problem = await problemOf(await ask(service));
    expect(problem).toMatchObject({ code: "CIRCUIT_OPEN", detail: expect.stringContaining(String(incident)) });
  });
});

describe("a service that does not monitor", () => {
  it("sends no probe, calls nothing down, and says so", async () => {
    const [server, service] = await start({ FEDWAY_MONITOR: "off", FEDWAY_PROBE_EVERY_MS: "1000" });
    server.setFault({ kind: "reset" });
    for (let count = 0; count < 4; count += 1) expect((await ask(service)).ok).toBe(false);
    // As long as three turns take of a service that monitors.
    const [watched] = await start({ FEDWAY_PROBE_EVERY_MS: "1000" });
    await until(() => canaries(watched) >= 3);
    expect(server.requests.length).toBeGreaterThan(0);
    expect(canaries(server)).toBe(0);
    expect(await service.availability("alpha")).toMatchObject({ state: "unknown", streak: 0 });
    const readiness = await service.json<{ ready: boolean; checks: object }>("/health/ready");
    expect(readiness).toMatchObject({ ready: true, checks: { monitor: { ok: true, detail: "off" } } });
    const status = await service.json("/api/status");
    expect(status).toMatchObject({ heartbeat: { enabled: false }, counts: { up: 0, down: 0, unknown: 1 } });
    expect(await service.text("/status")).toContain("Monitoring is switched off.");
    expect(await service.metric("fedway_monitor_enabled")).toBe(0);
    expect(await service.metric('fedway_endpoint_up{endpoint="alpha"}')).toBeUndefined();
    expect(await service.metric('fedway_incidents_open{kind="down"}')).toBe(0);
    expect(await service.incidents()).toEqual([]);
    const refused = await service.change("POST", "/api/snapshot");
    expect(refused).toMatchObject({
      status: expect.any(Number),
      body: { code: "SNAPSHOT_IMPLAUSIBLE", detail: expect.stringContaining("switched off") },
    });
  });
});
