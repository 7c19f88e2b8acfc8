import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMonitoredFolder, type MonitoredService } from "../../support/monitored-service.ts";
import { newFolder } from "../../support/scratch-folder.ts";

/** What a service of version 0.1.0 left when it was killed in the middle of a job: `test/support/write-data-folder.ts`. */
const text = readFileSync(new URL("../../fixtures/data-folder.json", import.meta.url), "utf8");
const written: { readonly atMs: number } = JSON.parse(text);
const ageMs = Date.now() - written.atMs;
const hourMs = 3_600_000;
const hoursWritten = 89 * 24;
/** The same with all moments as if it had been written just now, since much is kept for a time only. */
const fixture: {
  readonly files: Readonly<Record<string, string>>;
  readonly pragmas: Readonly<Record<string, number>>;
  readonly schema: readonly { readonly sql: string }[];
  readonly rows: Readonly<Record<string, readonly Readonly<Record<string, SQLInputValue>>[]>>;
} = JSON.parse(
  text
    .replaceAll(/\b1[789]\d{11}\b/g, (ms) => String(Number(ms) + ageMs))
    .replaceAll(/(?<=\\"h\\":)\d{6}\b/g, (h) => String(Number(h) + Math.floor(ageMs / hourMs))),
);

/** The hours of 89 days as release 0.1.0 summed them up: four turns each, a good one in 10 ms, two in 100 ms, and a timeout. */
function writeHours(database: DatabaseSync): void {
  const toMs = Math.floor(Date.now() / hourMs - 2) * hourMs;
  const insert = database.prepare("INSERT INTO points (series, at_ms, arrival, value) VALUES (?, ?, ?, ?)");
  database.exec("BEGIN");
  for (let hour = 0; hour < hoursWritten; hour += 1) {
    const value = JSON.stringify({ n: 4, g: 3, a: 1_000, h: [116, 1, 57, 2], f: { timeout: 1 } });
    insert.run("monitor/hour/alpha", toMs - hour * hourMs, 1_000 + hour, value);
  }
  database.exec("COMMIT");
}

function writeDatabase(path: string): number {
  const database = new DatabaseSync(path);
  let count = 0;
  for (const { sql } of fixture.schema) database.exec(sql);
  for (const [name, value] of Object.entries(fixture.pragmas)) database.exec(`PRAGMA ${name} = ${value}`);
  for (const [table, rows] of Object.entries(fixture.rows)) {
    for (const row of rows) {
      const names = Object.keys(row);
      const places = names.map(() => "?").join(", ");
      database.prepare(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${places})`).run(...Object.values(row));
      count += 1;
    }
  }
  writeHours(database);
  database.close();
  return count;
}

let service: MonitoredService;
beforeAll(async () => {
  const dataDir = newFolder();
  expect(writeDatabase(join(dataDir, "store.db"))).toBeGreaterThan(50);
  const folder = await createMonitoredFolder(fixture.files);
  service = await folder.start({ FEDWAY_DATA_DIR: dataDir, FEDWAY_PROBE_EVERY_MS: "3600000" });
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
    const window = async (name: string) =>
      (await service.availability("alpha")).windows.find((one) => one.window === name);
    // Two turns of the record that ran.
    const good = 3 * hoursWritten + 2;
    await expect.poll(async () => (await window("90d"))?.good).toBe(good);
    expect(await window("90d")).toMatchObject({ probes: 4 * hoursWritten + 2, faults: { timeout: hoursWritten } });
    expect(await window("24h")).toMatchObject({ probes: 4 * 23 + 2, p50Ms: expect.closeTo(100, -1) as number });
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
});
