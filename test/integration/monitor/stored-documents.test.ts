import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import {
  createHealthRepository,
  createIncidentRepository,
  createMaintenance,
} from "../../../src/monitor/repositories.ts";
import { createHeartbeat, createTurnClaims, createTurnTable } from "../../../src/monitor/turns.ts";
import { publishSnapshot } from "../../../src/monitor/snapshot.ts";
import { createWebhookService } from "../../../src/monitor/receivers/webhooks.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";

/** What version 1.0 stored (`documents`, by key) and what it read of it (the rest). Never written anew. */
const fixture = JSON.parse(
  readFileSync(new URL("../../fixtures/monitor/stored-documents.json", import.meta.url), "utf8"),
);
const { nowMs, documents } = fixture;
const clock = { now: () => nowMs };
const store = openSqliteStore({ path: ":memory:", clock });

beforeAll(async () => {
  expect(Object.keys(documents)).toHaveLength(15);
  for (const [key, value] of Object.entries(documents)) await store.put(key, String(value));
});

/** What was stored is written by this version as it was. */
const written = async (key: string): Promise<unknown> => JSON.parse((await store.get(key))?.value ?? "null");

describe("documents of an earlier version", () => {
  it("health, with an open incident, an outbox and hours that are over", async () => {
    const records = createHealthRepository(store);
    await records.refresh();
    expect(Object.fromEntries(records.entries())).toEqual(fixture.health);
    const before = await written("monitor/health/flaky");
    await records.change("flaky", (record) => record && { ...record });
    expect(await written("monitor/health/flaky")).toEqual(before);
  });
  it("incidents, of all endpoints and of one", async () => {
    const incidents = createIncidentRepository({ store, now: clock.now });
    const all = { limit: 100, fits: () => true };
    expect(await incidents.list(all)).toEqual(fixture.incidents);
    expect(await incidents.list({ ...all, endpoint: "flaky" })).toEqual(fixture.incidents);
    const key = "monitor/incident/2hmnnmkjk.flaky";
    await incidents.write(fixture.incidents[0]);
    expect(await written(key)).toEqual(JSON.parse(documents[key]));
  });
  it("maintenance and the heartbeat", async () => {
    const maintenance = createMaintenance(store);
    await maintenance.mirror.refresh();
    expect(maintenance.list(nowMs)).toEqual(fixture.maintenance);
    const heartbeat = createHeartbeat({ store, enabled: true, quietMs: 600_000 });
    await heartbeat.mirror.refresh();
    expect(heartbeat.view(nowMs)).toEqual(fixture.heartbeat);
    expect(fixture.heartbeat.gaps.length).toBeGreaterThan(0);
  });
  it("deliveries that were given up, which can be sent again", async () => {
    const enqueued: unknown[] = [];
    const webhooks = createWebhookService({
      urls: [],
      secret: undefined,
      publicUrl: "https://fedway.example",
      catalog: { byId: () => undefined },
      jobs: { enqueue: async (_kind: string, payload: unknown) => enqueued.push(payload) },
      store,
      send: () => Promise.reject(new Error("nothing is sent")),
      clock,
    } as unknown as Parameters<typeof createWebhookService>[0]);
    const letters = await webhooks.dead();
    expect(letters).toEqual(fixture.deadLetters);
    await webhooks.redeliver(letters[0]?.id ?? "");
    expect(enqueued).toMatchObject([{ id: letters[0]?.id, round: 2, message: { type: "incident.closed" } }]);
  });
  it("claims of turns and the figures of a snapshot", async () => {
    const rules = { everyMs: 900_000, jitter: 0.1 };
    const claims = createTurnClaims({ store, table: createTurnTable(rules), everyMs: rules.everyMs });
    expect(await claims.claim(["good", "flaky"], nowMs)).toEqual([]);
    const monitor = {
      availability: async () => undefined,
      heartbeat: () => ({ enabled: true, alive: true, gaps: [] }),
      health: () => undefined,
      incident: async () => undefined,
      score: async () => undefined,
    };
    const options = { catalog: { entries: [] }, monitor, store, clock, version: "1.1.0", publicUrl: "" };
    await expect(publishSnapshot(options, { reviewed: false })).rejects.toThrow(/1/u);
  });
});
