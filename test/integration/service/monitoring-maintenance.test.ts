import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type MonitoredService, startMonitored } from "../../support/monitored-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";

const hourMs = 3_600_000;
const later = (ms: number): string => new Date(Date.now() + ms).toISOString();

interface Window {
  readonly id: string;
  readonly endpoint: string;
  readonly from: string;
  readonly to: string;
  readonly reason?: string;
}

let server: SparqlTestServer;
let service: MonitoredService;

beforeAll(async () => {
  server = await startSparqlTestServer('<urn:x:s> <urn:x:p> "o" .');
  service = await startMonitored({ alpha: server.url });
});
afterAll(async () => {
  await service?.close();
  await server?.close();
});

const announce = (body: object, id = "alpha") => service.change("POST", `/api/endpoints/${id}/maintenance`, body);

const windows = async (path = "/api/maintenance"): Promise<readonly Window[]> =>
  (await service.json<{ maintenance: readonly Window[] }>(path)).maintenance;

const probesInMaintenance = async (): Promise<number> =>
  (await service.metric('fedway_probes_total{outcome="maintenance"}')) ?? 0;

describe("a maintenance window", () => {
  it("keeps everything that happens in it out of the record", async () => {
    await expect.poll(async () => (await service.turnsOf("alpha")).uptime).toBe(1);
    const made = await announce({ to: later(hourMs), reason: "a new disk" });
    expect(made).toMatchObject({ status: 201, body: { endpoint: "alpha", reason: "a new disk" } });
    server.setFault({ kind: "status", status: 404 });
    await expect.poll(probesInMaintenance).toBeGreaterThanOrEqual(1);
    const before = await service.turnsOf("alpha");
    const seen = await probesInMaintenance();
    await expect.poll(probesInMaintenance).toBeGreaterThanOrEqual(seen + 3);
    const availability = await service.availability("alpha");
    expect(availability).toMatchObject({
      state: "up",
      maintenanceUntil: (made.body as Window).to,
      last: { ok: false, fault: "http-4xx", maintenance: true },
    });
    expect(await service.turnsOf("alpha")).toEqual(before);
    expect(before).toMatchObject({ uptime: 1, faults: {} });
    expect(await service.incidents()).toEqual([]);
    expect(await service.metric('fedway_incidents_open{kind="down"}')).toBe(0);
    expect(await service.text("/status")).toMatch(/alpha<\/a>.*maintenance/);
    expect(await service.text("/endpoints/alpha")).toContain("a new disk");
  });

  it("is listed, and called off", async () => {
    const [window] = await windows();
    expect(await windows("/api/endpoints/alpha/maintenance")).toEqual([window]);
    expect((await service.change("DELETE", `/api/maintenance/${window?.id}`)).status).toBe(204);
    expect((await service.change("DELETE", `/api/maintenance/${window?.id}`)).status).toBe(404);
    expect(await windows()).toEqual([]);
    expect((await service.availability("alpha")).maintenanceUntil).toBeUndefined();
  });

  it("counts again what happens after it", async () => {
    await expect.poll(() => service.stateOf("alpha")).toBe("down");
    const [incident] = await service.incidents("?open=true");
    expect(incident).toMatchObject({ endpoint: "alpha", fault: "http-4xx" });
    expect(incident?.faults["http-4xx"]).toBeGreaterThanOrEqual(2);
    expect((await service.turnsOf("alpha")).uptime).toBeLessThan(1);
  });

  it("does not close an incident that is open, nor let it be closed by what happens in it", async () => {
    const { body } = await announce({ to: later(hourMs) });
    server.setFault(undefined);
    const seen = await probesInMaintenance();
    await expect.poll(probesInMaintenance).toBeGreaterThanOrEqual(seen + 3);
    expect(await service.stateOf("alpha")).toBe("down");
    expect(await service.incidents("?open=true")).toHaveLength(1);
    await service.change("DELETE", `/api/maintenance/${(body as Window).id}`);
    await expect.poll(() => service.stateOf("alpha")).toBe("up");
    expect(await service.incidents("?open=true")).toEqual([]);
  });

  it("that has not begun changes nothing", async () => {
    const { status, body } = await announce({ from: later(hourMs), to: later(2 * hourMs) });
    expect(status).toBe(201);
    expect((await windows()).map(({ id }) => id)).toEqual([(body as Window).id]);
    expect((await service.availability("alpha")).maintenanceUntil).toBeUndefined();
    expect((await service.change("DELETE", `/api/maintenance/${(body as Window).id}`)).status).toBe(204);
  });

  it.each([
    ["ends before it begins", { from: later(2 * hourMs), to: later(hourMs) }],
    ["has ended", { from: later(-2 * hourMs), to: later(-hourMs) }],
    ["has no end", {}],
    ["ends at no moment", { to: "tomorrow" }],
    ["lasts for years", { to: later(900 * 24 * hourMs) }],
    ["has a field that is not known", { to: later(hourMs), until: "noon" }],
  ])("that %s is refused", async (_name, wish) => {
    expect(await announce(wish)).toMatchObject({ status: 400, body: { code: "REQUEST_INVALID" } });
    expect(await windows()).toEqual([]);
  });

  it("of an endpoint that is not there is refused", async () => {
    const { status, body } = await announce({ to: later(hourMs) }, "nobody");
    expect({ status, body }).toMatchObject({ status: 404, body: { code: "ENDPOINT_UNKNOWN" } });
  });
});
