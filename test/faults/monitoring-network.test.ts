import { afterEach, describe, expect, it } from "vitest";
import { fakeNetwork } from "../support/cut-network.ts";
import { eventually } from "../support/eventually.ts";
import { type MonitoredService, startMonitored } from "../support/monitored-service.ts";
import { startSparqlTestServer } from "../support/sparql-test-server.ts";
import { startWebhookReceiver } from "../support/webhook-receiver.ts";

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

interface StartOptions {
  /** Endpoints of hosts of their own. */
  readonly count: number;
  /** Others, by id. */
  readonly own?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

async function start({ count, own, env }: StartOptions) {
  const server = await startSparqlTestServer('<urn:x:s> <urn:x:p> "o" .');
  closings.push(() => server.close());
  const network = fakeNetwork(server);
  closings.push(() => network.close());
  const receiver = await startWebhookReceiver("a-secret-of-this-test");
  closings.push(() => receiver.close());
  const open = async (): Promise<MonitoredService> => {
    const service = await startMonitored(
      { ...network.endpoints(count), ...own },
      {
        FEDWAY_INCIDENT_AFTER: "2",
        FEDWAY_WEBHOOK_GROUP_MS: "0",
        FEDWAY_WEBHOOKS: `${receiver.origin}/hook`,
        FEDWAY_WEBHOOK_SECRET: "a-secret-of-this-test",
        ...env,
      },
    );
    closings.push(() => service.close());
    return service;
  };
  return { network, receiver, open };
}

interface Status {
  readonly counts: Readonly<Record<string, number>>;
  readonly heartbeat: { readonly offline?: { readonly since: string; readonly incident: string } };
}

const statusOf = (service: MonitoredService): Promise<Status> => service.json("/api/status");
const isAll = async (service: MonitoredService, state: string): Promise<void> =>
  expect((await statusOf(service)).counts).toEqual({
    up: 0,
    degraded: 0,
    flapping: 0,
    down: 0,
    unknown: 0,
    [state]: 24,
  });

describe("a service without a network", () => {
  it("says so once, calls nothing down, stays ready, and comes back by itself", async () => {
    const { network, receiver, open } = await start({ count: 24 });
    network.cut();
    const service = await open();
    await eventually(async () => expect((await statusOf(service)).heartbeat.offline).toBeDefined());
    // Long enough for every endpoint to have been down with an incident of its own.
    await expect.poll(() => service.metric('fedway_probes_total{outcome="offline"}')).toBeGreaterThan(4 * 24);
    await isAll(service, "unknown");
    const [incident, ...others] = await service.incidents();
    expect(others).toEqual([]);
    expect(incident).toMatchObject({ subject: "network", state: "open", fault: "dns" });
    expect(incident).not.toHaveProperty("endpoint");
    for (const id of ["e0", "e11", "e23"]) {
      expect(await service.turnsOf(id)).toMatchObject({ probes: 0 });
      expect((await service.availability(id)).last).toMatchObject({ ok: false, offline: true });
    }
    const page = await service.text("/status");
    const banner = "This service has not been able to reach the network since";
    for (const shown of [page, await service.text("/")]) expect(shown).toContain(banner);
    expect(page.match(/This service cannot reach the network/gu)).toHaveLength(1);
    expect(page).toContain("1 open incident<");
    expect(await service.text(`/incidents/${incident?.id}`)).toContain("<h1>Network incident</h1>");
    expect(await service.text("/incidents.atom")).toContain("This service cannot reach the network (dns)");
    expect(await service.json("/health/ready")).toMatchObject({ ready: true, checks: { network: { ok: false } } });
    expect(await service.metric('fedway_incidents_open{kind="network"}')).toBe(1);
    expect((await service.change("POST", "/api/snapshot")).body).toMatchObject({ code: "SNAPSHOT_IMPLAUSIBLE" });

    network.mend();
    await eventually(() => isAll(service, "up"));
    const [closed, ...more] = await service.incidents();
    expect(more).toEqual([]);
    expect(closed).toMatchObject({ id: incident?.id, state: "closed", closedBy: "recovered" });
    expect(await service.incidents("?open=true")).toEqual([]);
    expect(await service.json("/health/ready")).toMatchObject({ ready: true, checks: { network: { ok: true } } });
    for (const id of ["e0", "e11", "e23"]) {
      const { probes, good } = await service.turnsOf(id);
      expect(good).toBe(probes);
    }
    await eventually(() => expect(receiver.received).toHaveLength(2));
    const told = receiver.received.map(({ body }) => JSON.parse(body) as { type: string; data: object });
    expect(told.map(({ type }) => type).toSorted()).toEqual(["incident.closed", "incident.opened"]);
    for (const { data } of told) expect(data).toMatchObject({ subject: "network", id: incident?.id });
  });
});

describe("a host whose endpoints fail alike", () => {
  it("has one incident that names them, and one message", async () => {
    const broken = await startSparqlTestServer('<urn:x:s> <urn:x:p> "o" .');
    closings.push(() => broken.close());
    const { port } = new URL(broken.url);
    const ids = ["h1", "h2", "h3"];
    const own = Object.fromEntries(ids.map((id) => [id, `http://data.shared.example:${port}/${id}`]));
    // Endpoints fail alike when all have had a turn within a round, which a busy machine does not get done in one second.
    const { receiver, open } = await start({ count: 3, own, env: { FEDWAY_PROBE_EVERY_MS: "4000" } });
    const service = await open();
    await eventually(async () => expect((await statusOf(service)).counts["up"]).toBe(6));
    broken.setFault({ kind: "status", status: 404 });
    await eventually(async () => {
      for (const id of ids) expect(await service.stateOf(id)).toBe("down");
    });
    const [incident, ...others] = await service.incidents();
    expect(others).toEqual([]);
    expect(incident).toMatchObject({ subject: "host", host: "data.shared.example", fault: "http-4xx" });
    expect(incident?.endpoints?.toSorted()).toEqual(ids);
    expect((await service.availability("h2")).incident).toBe(incident?.id);
    const page = await service.text("/status");
    expect(page).toContain("The host data.shared.example");
    for (const id of ids) expect(page).toContain(`<a href="/endpoints/${id}">Title of ${id}</a>, `);
    broken.setFault(undefined);
    await eventually(async () => expect((await statusOf(service)).counts["up"]).toBe(6));
    await eventually(() => expect(receiver.received).toHaveLength(2));
    type Message = { readonly data: { readonly host: string; readonly endpoints: readonly { readonly id: string }[] } };
    const [opened] = receiver.received.map(({ body }) => JSON.parse(body) as Message);
    expect(opened?.data.host).toBe("data.shared.example");
    // Those that were down when it was opened; on a busy machine the third may follow later.
    const named = opened?.data.endpoints.map(({ id }) => id) ?? [];
    expect(named.length).toBeGreaterThan(1);
    expect(ids).toEqual(expect.arrayContaining(named));
    expect(await service.incidents("?endpoint=h3")).toMatchObject([{ id: incident?.id, state: "closed" }]);
  });
});
