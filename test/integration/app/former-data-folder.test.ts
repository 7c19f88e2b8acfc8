import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { backupDatabase } from "../../../src/store/sqlite/backup.ts";
import { answersOf, formerHours, formerState, shouldKeepUptime, writeDatabase } from "../../support/former-state.ts";
import { createMonitoredFolder, type MonitoredService } from "../../support/monitored-service.ts";
import { newFolder } from "../../support/scratch-folder.ts";

const everyHour = { FEDWAY_PROBE_EVERY_MS: "3600000" };
let service: MonitoredService;
let folder: Awaited<ReturnType<typeof createMonitoredFolder>>;
let dataDir: string;
beforeAll(async () => {
  dataDir = newFolder();
  expect(writeDatabase(join(dataDir, "store.db"))).toBeGreaterThan(50);
  folder = await createMonitoredFolder(formerState.files);
  service = await folder.start({ FEDWAY_DATA_DIR: dataDir, ...everyHour });
});
afterAll(() => service.close());

interface Entry {
  readonly id: string;
  readonly title: string;
}
interface Job {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly result?: unknown;
}

describe("the data folder of an earlier version", () => {
  it("keeps the changes of the catalogue", async () => {
    const { endpoints } = await service.json<{ endpoints: readonly Entry[] }>("/api/endpoints");
    const titles = endpoints.map(({ id, title }) => `${id}: ${title}`);
    expect(new Set(titles)).toEqual(
      new Set(["added: Added", "alpha: Alpha, changed", "broken: Title of broken", "slow: Title of slow"]),
    );
  });
  it("keeps descriptions and capabilities", async () => {
    expect(await service.text("/api/endpoints/alpha/void?format=ntriples")).toContain("http://a.example/title");
    expect(await service.text("/api/endpoints/alpha/schema")).toContain("http://a.example/Book");
    expect(await service.json("/api/endpoints/alpha/capabilities")).toMatchObject({ reachable: true });
    expect(await service.text("/api/search?q=Book")).toContain("http://a.example/Book");
  });
  it("keeps what the monitor knows", async () => {
    expect(await service.incidents()).toMatchObject([{ endpoint: "broken", state: "open", fault: "connect" }]);
    expect([await service.stateOf("broken"), await service.stateOf("alpha")]).toEqual(["down", "up"]);
    const maintenance = [{ endpoint: "alpha", reason: "Moving" }];
    expect(await service.json("/api/maintenance")).toMatchObject({ maintenance });
  });
  it("keeps the uptime of 90 days", async () => {
    await shouldKeepUptime(service);
    const { days } = await service.json<{ days: readonly unknown[] }>("/api/endpoints/alpha/availability");
    expect(days.length).toBeGreaterThanOrEqual(89);
  });
  it("keeps finished jobs, and runs again what was killed", async () => {
    expect(await service.json<Job>("/api/jobs/describe.alpha")).toMatchObject({
      state: "done",
      attempts: 1,
      result: { id: "alpha", classes: 1 },
    });
    await expect.poll(async () => (await service.json<Job>("/api/jobs/describe.slow")).attempts).toBeGreaterThan(1);
  });
  it("stays one that the earlier version reads: the schema, the form of the records, its series of hours", () => {
    const database = new DatabaseSync(join(dataDir, "store.db"), { readOnly: true });
    expect(database.prepare("PRAGMA user_version").get()).toEqual({
      user_version: formerState.pragmas["user_version"],
    });
    const [records, hours] = [
      "SELECT count(*) AS n FROM documents WHERE key LIKE 'monitor/health/%' AND value LIKE '{\"format\":1,\"past\":[%'",
      "SELECT count(*) AS n FROM points WHERE series = 'monitor/hour/alpha'",
    ].map((sql) => database.prepare(sql).get());
    expect([records, hours]).toEqual([{ n: 4 }, { n: formerHours }]);
    database.close();
  });
  it("gives the same answers from its backup in a clean folder", async () => {
    const clean = newFolder();
    await backupDatabase(join(dataDir, "store.db"), join(clean, "store.db"));
    const restored = await folder.start({ FEDWAY_DATA_DIR: clean, ...everyHour });
    try {
      expect(await answersOf(restored)).toEqual(await answersOf(service));
      expect(await restored.json("/api/jobs/describe.alpha")).toEqual(await service.json("/api/jobs/describe.alpha"));
    } finally {
      await restored.close();
    }
  });
});
