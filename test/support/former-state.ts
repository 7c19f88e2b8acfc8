import { readFileSync } from "node:fs";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { expect } from "vitest";
import type { MonitoredService } from "./monitored-service.ts";

/** What a service of version 0.1.0 left when it was killed in the middle of a job: `write-data-folder.ts`. */
const text = readFileSync(new URL("../fixtures/data-folder.json", import.meta.url), "utf8");
const written: { readonly atMs: number } = JSON.parse(text);
const ageMs = Date.now() - written.atMs;
const hourMs = 3_600_000;

type Rows = readonly Readonly<Record<string, SQLInputValue>>[];

/** The same with all moments as if it had been written just now, since much is kept for a time only. */
export const formerState: {
  readonly files: Readonly<Record<string, string>>;
  readonly pragmas: Readonly<Record<string, number>>;
  readonly schema: readonly { readonly sql: string }[];
  readonly rows: Readonly<Record<string, Rows>> & {
    readonly documents: readonly { readonly key: string; readonly value: string }[];
  };
} = JSON.parse(
  text
    .replaceAll(/\b1[789]\d{11}\b/g, (ms) => String(Number(ms) + ageMs))
    .replaceAll(/(?<=\\"h\\":)\d{6}\b/g, (h) => String(Number(h) + Math.floor(ageMs / hourMs))),
);

/** Hours of 89 days. */
export const formerHours = 89 * 24;

/** Hours of `alpha` as that version summed them up: four turns each, a good one in 10 ms, two in 100 ms, and a timeout. */
export const hourPoints = Array.from({ length: formerHours }, (_, hour) => ({
  atMs: Math.floor(Date.now() / hourMs - 2 - hour) * hourMs,
  value: JSON.stringify({ n: 4, g: 3, a: 1_000, h: [116, 1, 57, 2], f: { timeout: 1 } }),
}));

/** Writes the state as a database file; resolves to its rows. */
export function writeDatabase(path: string): number {
  const database = new DatabaseSync(path);
  let count = 0;
  for (const { sql } of formerState.schema) database.exec(sql);
  for (const [name, value] of Object.entries(formerState.pragmas)) database.exec(`PRAGMA ${name} = ${value}`);
  database.exec("BEGIN");
  for (const [table, rows] of Object.entries(formerState.rows)) {
    for (const row of rows) {
      const names = Object.keys(row);
      const places = names.map(() => "?").join(", ");
      database.prepare(`INSERT INTO ${table} (${names.join(", ")}) VALUES (${places})`).run(...Object.values(row));
      count += 1;
    }
  }
  const insert = database.prepare("INSERT INTO points (series, at_ms, arrival, value) VALUES (?, ?, ?, ?)");
  for (const [at, { atMs, value }] of hourPoints.entries()) insert.run("monitor/hour/alpha", atMs, 1_000 + at, value);
  database.exec("COMMIT");
  database.close();
  return count;
}

/** What the service says of all that an operator would miss. */
export async function answersOf(service: MonitoredService) {
  const { endpoints } = await service.json<{ endpoints: readonly { id: string; title: string }[] }>("/api/endpoints");
  const { windows } = await service.availability("alpha");
  return {
    titles: endpoints.map(({ id, title }) => `${id}: ${title}`).toSorted(),
    incidents: (await service.incidents()).map(({ id, state, fault }) => ({ id, state, fault })),
    windows: windows.map(({ window, probes, good, faults }) => ({ window, probes, good, faults })),
    maintenance: await service.json("/api/maintenance"),
    words: (await service.text("/api/endpoints/alpha/schema")).includes("http://a.example/Book"),
  };
}

/** Waits until the hours of 89 days, and the two turns of the hour that ran, are in the record of `alpha`. */
export async function shouldKeepUptime(service: MonitoredService): Promise<void> {
  const window = async (name: string) =>
    (await service.availability("alpha")).windows.find((one) => one.window === name);
  await expect.poll(async () => (await window("90d"))?.good, { timeout: 10_000 }).toBe(3 * formerHours + 2);
  expect(await window("90d")).toMatchObject({ probes: 4 * formerHours + 2, faults: { timeout: formerHours } });
  expect(await window("24h")).toMatchObject({ probes: 4 * 23 + 2, p50Ms: expect.closeTo(100, -1) as number });
}
