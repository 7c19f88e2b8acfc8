import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import * as schemas from "../../../src/http/monitor-schemas.ts";
import { Problem } from "../../../src/http/schemas.ts";
import type { MaintenanceWindow, MonitorReader } from "../../../src/monitor/monitor.ts";
import { start } from "./http-fixture.ts";

interface Expectation {
  readonly status?: number;
  readonly schema: TSchema;
  readonly body: object;
}

const shouldAnswer = (path: string, { status = 200, schema, body }: Expectation): void =>
  it(`GET ${path} is ${status}`, async () => {
    const app = await start();
    const response = await fetch(app.url + path);
    const found: unknown = await response.json();
    expect(found).toMatchObject(body);
    expect([...Value.Errors(schema, found)]).toStrictEqual([]);
    expect(response.status).toBe(status);
    expect(response.headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(response.headers.get("Cache-Control")).toBe("no-store");
  });

describe("the availability of endpoints", () => {
  shouldAnswer("/api/status", {
    schema: schemas.StatusAnswer,
    body: { heartbeat: { enabled: true, alive: true }, counts: { up: 1, down: 1, unknown: 1 } },
  });
  shouldAnswer("/api/endpoints/alpha/availability", {
    schema: schemas.AvailabilityRecord,
    body: { endpoint: "alpha", state: "up" },
  });
  shouldAnswer("/api/endpoints/nobody/availability", {
    status: 404,
    schema: Problem,
    body: { code: "ENDPOINT_UNKNOWN" },
  });
  shouldAnswer("/api/incidents", { schema: schemas.IncidentList, body: { incidents: [{ endpoint: "evil" }] } });
  shouldAnswer("/api/endpoints/alpha/incidents", { schema: schemas.IncidentList, body: {} });
  shouldAnswer("/api/incidents/nothing", { status: 404, schema: Problem, body: { code: "INCIDENT_UNKNOWN" } });
  shouldAnswer("/api/incidents?open=maybe", { status: 400, schema: Problem, body: { code: "REQUEST_INVALID" } });
  shouldAnswer("/api/incidents?since=2020", { status: 400, schema: Problem, body: { code: "REQUEST_INVALID" } });
  shouldAnswer("/api/maintenance", { schema: schemas.MaintenanceList, body: {} });

  it("tells an incident with its evidence", async () => {
    const app = await start();
    const list = (await (await fetch(`${app.url}/api/incidents`)).json()) as { incidents: { id: string }[] };
    const response = await fetch(`${app.url}/api/incidents/${list.incidents[0]?.id}`);
    const incident = (await response.json()) as { evidence: { at: string; ok: boolean }[] };
    expect([...Value.Errors(schemas.IncidentRecord, incident)]).toStrictEqual([]);
    expect(incident.evidence.length).toBeGreaterThan(0);
    expect(incident.evidence[0]?.at).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  });

  it("is a feed for readers too", async () => {
    const app = await start();
    const response = await fetch(`${app.url}/incidents.atom`);
    expect(response.headers.get("Content-Type")).toBe("application/atom+xml; charset=utf-8");
    const feed = await response.text();
    expect(feed).toContain('<feed xmlns="http://www.w3.org/2005/Atom">');
    expect(feed).toContain("/incidents/");
  });
});

const json = { "Content-Type": "application/json" };

/** A monitor that takes down what it is told about maintenance. */
async function withMonitor(): Promise<{ url: string; windows: MaintenanceWindow[] }> {
  const windows: MaintenanceWindow[] = [];
  const reader = { maintenance: async () => windows } as unknown as MonitorReader;
  const monitor = {
    ...reader,
    addMaintenance: async (window: Omit<MaintenanceWindow, "id">) => {
      windows.push({ ...window, id: "m1" });
      return { ...window, id: "m1" };
    },
    removeMaintenance: async (id: string) => id === "m1" && windows.splice(0).length > 0,
  };
  const app = await start({ monitor });
  return { url: app.url, windows };
}

const announce = (url: string, body: unknown): Promise<Response> =>
  fetch(`${url}/api/endpoints/alpha/maintenance`, { method: "POST", headers: json, body: JSON.stringify(body) });

describe("maintenance", () => {
  it("is announced, listed and called off", async () => {
    const { url, windows } = await withMonitor();
    const wish = { from: "2030-01-01T22:00:00Z", to: "2030-01-02T00:30+00:00", reason: "New disks" };
    const response = await announce(url, wish);
    expect(response.status).toBe(201);
    expect(response.headers.get("Location")).toBe("/api/maintenance/m1");
    const fromMs = Date.UTC(2030, 0, 1, 22);
    expect(windows).toStrictEqual([
      { id: "m1", endpoint: "alpha", fromMs, toMs: fromMs + 9_000_000, reason: "New disks" },
    ]);
    const listed: unknown = await (await fetch(`${url}/api/endpoints/alpha/maintenance`)).json();
    expect(listed).toMatchObject({ maintenance: [{ id: "m1", from: "2030-01-01T22:00:00.000Z" }] });
    expect((await fetch(`${url}/api/maintenance/m1`, { method: "DELETE" })).status).toBe(204);
    expect((await fetch(`${url}/api/maintenance/m1`, { method: "DELETE" })).status).toBe(404);
  });

  it.each([{}, { to: "tomorrow" }, { to: "2030-13-01" }, { to: 5 }, { to: "2030-01-01", until: 1 }])(
    "is not taken as %j",
    async (body) => {
      const { url, windows } = await withMonitor();
      const response = await announce(url, body);
      expect(await response.json()).toMatchObject({ code: "REQUEST_INVALID" });
      expect(windows).toStrictEqual([]);
    },
  );

  it("is nobody's business but the operator's", async () => {
    const { url, windows } = await withMonitor();
    const foreign = { ...json, Origin: "https://elsewhere.example" };
    const body = JSON.stringify({ to: "2030-01-01" });
    const response = await fetch(`${url}/api/endpoints/alpha/maintenance`, { method: "POST", headers: foreign, body });
    expect(response.status).toBe(403);
    expect(windows).toStrictEqual([]);
  });
});

describe("a snapshot", () => {
  it("is published for the operator", async () => {
    const asked: object[] = [];
    const app = await start({
      publishSnapshot: async (options) => {
        asked.push(options);
        return { schema: 1 };
      },
    });
    const published = await fetch(`${app.url}/api/snapshot?reviewed=true`, { method: "POST" });
    expect(await published.json()).toStrictEqual({ schema: 1 });
    expect(asked).toStrictEqual([{ reviewed: true }]);
    const headers = { Origin: "https://elsewhere.example" };
    expect((await fetch(`${app.url}/api/snapshot`, { method: "POST", headers })).status).toBe(403);
    expect(asked).toHaveLength(1);
  });

  it("is refused with its reason", async () => {
    const app = await start({
      publishSnapshot: () => Promise.reject(new FedwayError("SNAPSHOT_IMPLAUSIBLE", "It lost half.")),
    });
    const response = await fetch(`${app.url}/api/snapshot`, { method: "POST" });
    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({ code: "SNAPSHOT_IMPLAUSIBLE", detail: "It lost half." });
  });
});

describe("messages that no receiver took", () => {
  it("are listed and sent again for the operator only", async () => {
    const app = await start();
    expect(await (await fetch(`${app.url}/api/webhooks/dead`)).json()).toStrictEqual({ dead: [] });
    expect((await fetch(`${app.url}/api/webhooks/dead/x`, { method: "POST" })).status).toBe(404);
    const headers = { Origin: "https://elsewhere.example" };
    expect((await fetch(`${app.url}/api/webhooks/dead`, { headers })).status).toBe(403);
  });
});
