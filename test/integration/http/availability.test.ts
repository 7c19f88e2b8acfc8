import { type TSchema, Type } from "typebox";
import { Value } from "typebox/value";
import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import * as schemas from "../../../src/http/monitor-schemas.ts";
import { Problem } from "../../../src/http/schemas.ts";
import { createMaintenance } from "../../../src/monitor/repositories.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { createFakeMonitor } from "../../support/fake-monitor.ts";
import { json, shouldAnswer, start } from "./http-fixture.ts";

describe("the availability of endpoints", () => {
  const status = { heartbeat: { enabled: true, alive: true }, counts: { up: 1, down: 1, unknown: 1 } };
  shouldAnswer("/api/status", [200, schemas.StatusAnswer, status]);
  const first = { endpoints: [{ endpoint: "alpha" }], counts: status.counts, next: "1" };
  shouldAnswer("/api/status?limit=1", [200, schemas.StatusAnswer, first]);
  const rest = { endpoints: [{ state: "unknown" }, { state: "down" }] };
  shouldAnswer("/api/status?cursor=1", [200, schemas.StatusAnswer, rest]);
  shouldAnswer("/api/status?cursor=x", [400, Problem, { code: "REQUEST_INVALID" }]);
  const alpha = { endpoint: "alpha", state: "up" };
  shouldAnswer("/api/endpoints/alpha/availability", [200, schemas.AvailabilityRecord, alpha]);
  shouldAnswer("/api/endpoints/nobody/availability", [404, Problem, { code: "ENDPOINT_UNKNOWN" }]);
  const listOf = (name: string, each: TSchema) => Type.Object({ [name]: Type.Array(each) });
  const incidents = listOf("incidents", schemas.IncidentRecord);
  shouldAnswer("/api/incidents", [200, incidents, { incidents: [{ endpoint: "evil" }] }]);
  shouldAnswer("/api/endpoints/alpha/incidents", [200, incidents, {}]);
  shouldAnswer("/api/incidents/nothing", [404, Problem, { code: "INCIDENT_UNKNOWN" }]);
  shouldAnswer("/api/incidents?open=maybe", [400, Problem, { code: "REQUEST_INVALID" }]);
  shouldAnswer("/api/incidents?since=2020", [400, Problem, { code: "REQUEST_INVALID" }]);
  shouldAnswer("/api/maintenance", [200, listOf("maintenance", schemas.MaintenanceRecord), {}]);

  it("is of the moment", async () => {
    const app = await start();
    for (const path of ["/api/status", "/api/endpoints/alpha/availability", "/api/incidents", "/api/maintenance"]) {
      expect((await fetch(app.url + path)).headers.get("Cache-Control")).toBe("no-store");
    }
  });

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

const nowMs = Date.UTC(2026, 5, 1);

/** A service that really keeps its windows, and what announcing one there gives. */
async function withMaintenance() {
  const windows = createMaintenance(openSqliteStore({ path: ":memory:" }));
  const monitor = createFakeMonitor({ endpoints: [{ id: "alpha", url: "https://alpha.example/sparql" }], nowMs });
  const { url } = await start({
    monitor: {
      ...monitor,
      maintenance: async (endpoint) => windows.list(nowMs, endpoint),
      addMaintenance: (window) => windows.add(window, nowMs),
      removeMaintenance: (id) => windows.remove(id),
    },
  });
  const announce = async (body: unknown, headers: Readonly<Record<string, string>> = {}) => {
    const init = json(body);
    const response = await fetch(`${url}/api/endpoints/alpha/maintenance`, {
      ...init,
      headers: { "Content-Type": "application/json", ...headers },
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as { id?: string } };
  };
  const listed = async (): Promise<unknown> => (await fetch(`${url}/api/endpoints/alpha/maintenance`)).json();
  return { url, announce, listed };
}

describe("maintenance", () => {
  it("is announced, listed and called off", async () => {
    const { url, announce, listed } = await withMaintenance();
    const reason = "New disks";
    const { status, headers, body } = await announce({ from: "2026-06-02", to: "2026-06-03", reason });
    const path = `/api/maintenance/${body.id}`;
    expect({ status, location: headers.get("Location") }).toStrictEqual({ status: 201, location: path });
    expect(await listed()).toMatchObject({ maintenance: [{ ...body, endpoint: "alpha", reason }] });
    expect((await fetch(url + path, { method: "DELETE" })).status).toBe(204);
    expect((await fetch(url + path, { method: "DELETE" })).status).toBe(404);
    expect(await listed()).toStrictEqual({ maintenance: [] });
  });

  it.each([{}, { to: "tomorrow" }, { to: "2030-13-01" }, { to: 5 }, { to: "2026-06-02", until: 1 }])(
    "is not taken as %j",
    async (body) => {
      const { announce, listed } = await withMaintenance();
      expect((await announce(body)).body).toMatchObject({ code: "REQUEST_INVALID" });
      expect(await listed()).toStrictEqual({ maintenance: [] });
    },
  );

  it("is nobody's business but the operator's", async () => {
    const { announce, listed } = await withMaintenance();
    const window = { from: "2026-06-02", to: "2026-06-03" };
    expect((await announce(window, { Origin: "https://elsewhere.example" })).status).toBe(403);
    expect(await listed()).toStrictEqual({ maintenance: [] });
  });
});

const shouldTake = (from: string, to: string, fromMs: number, toMs: number): void =>
  it(`takes ${from} to ${to}`, async () => {
    const [begin, end] = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()];
    expect(await (await withMaintenance()).announce({ from, to })).toMatchObject({
      status: 201,
      body: { from: begin, to: end },
    });
  });

const shouldRefuse = (from: string, to: string, detail: RegExp): void =>
  it(`refuses ${from} to ${to}`, async () => {
    const { status, body } = await (await withMaintenance()).announce({ from, to });
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { code: "REQUEST_INVALID", detail: expect.stringMatching(detail) },
    });
  });

const day = 24 * 3_600_000;

describe("a moment", () => {
  shouldTake("2026-06-02", "2026-06-03", nowMs + day, nowMs + 2 * day);
  shouldTake("2026-06-02T00:00Z", "2026-06-02T01:00:00.5Z", nowMs + day, nowMs + day + 3_600_500);
  shouldTake("2026-06-02T02:00+02:00", "2026-06-02T02:00:01-00:00", nowMs + day, nowMs + day + 7_201_000);
  shouldTake("2028-02-29", "2028-03-01", Date.UTC(2028, 1, 29), Date.UTC(2028, 2, 1));
  // Whose clock is meant is not known.
  shouldRefuse("2026-06-02T10:00", "2026-06-02T11:00:00Z", /^"from" is not a moment/);
  shouldRefuse("2026-06-02T10:00Z", "2026-06-02T11:00:00", /^"to" is not a moment/);
  // Days that are not in the calendar.
  shouldRefuse("2027-02-29", "2027-03-05", /^"from" is not a moment/);
  shouldRefuse("2026-06-30", "2026-06-31", /^"to" is not a moment/);
  shouldRefuse("2026-06-02T25:00Z", "2026-06-04", /^"from" is not a moment/);
  shouldRefuse("2026-06-02", "NaN", /^"to" is not a moment/);
  shouldRefuse("2026-06-02", "1780358400000", /^"to" is not a moment/);
});

describe("a maintenance window", () => {
  shouldRefuse("2026-06-03", "2026-06-02", /ends after its beginning/);
  shouldRefuse("2026-06-03", "2026-06-03", /ends after its beginning/);
  shouldRefuse("2026-05-01", "2026-05-02", /in the future/);
  shouldRefuse("2026-06-02", "2036-06-02", /at most a year/);
  shouldRefuse("2036-06-02", "2036-06-03", /within two/);
  shouldRefuse("0001-01-01", "2026-06-02", /at most a year/);
  shouldRefuse("2026-06-02", "9999-12-31", /at most a year/);
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
