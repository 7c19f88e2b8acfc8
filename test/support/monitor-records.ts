import { join } from "node:path";
import type { Incident, Observation } from "../../src/monitor/monitor.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { newFolder } from "./scratch-folder.ts";

/** A turn that took 12 ms. */
export const turn = (atMs: number, more: Partial<Observation> = {}): Observation => ({
  atMs,
  ok: true,
  ms: 12,
  tries: 1,
  source: "turn",
  ...more,
});

/** A turn that failed. */
export const fault = (atMs: number, kind: NonNullable<Observation["fault"]>): Observation =>
  turn(atMs, { ok: false, fault: kind });

/** An open incident of `people` that began at 2026-03-01T10:00Z; more makes it another one. */
export const incident = (more: Partial<Incident> = {}): Incident => ({
  id: "people-1",
  endpoint: "people",
  url: "http://people.example/sparql",
  startedMs: Date.parse("2026-03-01T10:00:00Z"),
  openedMs: Date.parse("2026-03-01T10:30:00Z"),
  fault: "timeout",
  faults: { timeout: 2, "http-5xx": 1 },
  evidence: [fault(Date.parse("2026-03-01T10:00:00Z"), "timeout")],
  ...more,
});

/** Stores by name, each opened anew; `close` removes what it left. */
export const stores: readonly (readonly [string, () => Promise<{ store: Store; close(): Promise<void> }>])[] = [
  [
    "sqlite in memory",
    async () => {
      const store = openSqliteStore({ path: ":memory:" });
      return { store, close: () => store.close() };
    },
  ],
  [
    "sqlite",
    async () => {
      const folder = newFolder();
      const store = openSqliteStore({ path: join(folder, "store.db") });
      const close = async (): Promise<void> => {
        await store.close();
      };
      return { store, close };
    },
  ],
];
