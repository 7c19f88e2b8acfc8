import { afterEach, describe, expect, it } from "vitest";
import type { JobQueue } from "../../../src/jobs/job-queue.ts";
import type { TabularAnswer } from "../../../src/query/table.ts";
import type { Store } from "../../../src/store/store.ts";
import { createWatches, type Watches } from "../../../src/watch/create-watches.ts";
import { catalogEntry } from "../../support/catalog-entry.ts";
import { eventually } from "../../support/eventually.ts";

/** Stores and queues of as many processes as a deployment may have. */
export interface WatchesHarness {
  readonly processes: readonly { readonly store: Store; readonly jobs: JobQueue }[];
  dispose(): Promise<void>;
}

const hourMs = 3_600_000;
const query = "SELECT ?s { ?s a <http://e.org/Thing> }";
const entry = catalogEntry("e");

/** What watches promise over any store and queue, in one process or several. */
export function describeWatches(name: string, open: () => Promise<WatchesHarness>): void {
  let harness: WatchesHarness;
  let nowMs = Date.parse("2026-03-02T00:00:00Z");
  let asked: string[] = [];
  let size = 3;
  let reports: string[] = [];

  /** One process with its part of the queue. */
  async function start({ store, jobs }: WatchesHarness["processes"][number]): Promise<Watches> {
    const watches = createWatches({
      store,
      jobs,
      queries: {
        table: async ({ text, owner }) => {
          if (text.includes("?person")) asked.push(`${text} ${owner}`);
          return answerOf(size);
        },
        explain: () => ({
          kind: "direct",
          endpoints: [{ endpoint: "e", url: entry.url, clauses: 1, silent: false }],
          notes: [],
          text: "",
        }),
        runRecord: async () => undefined,
      },
      catalog: { byId: (id) => (id === "e" ? entry : undefined), byUrl: () => undefined },
      finder: { hasTerm: () => "unknown" },
      monitor: {
        report: async ({ key }) => void reports.push(`open ${key}`),
        clear: async ({ key }) => void reports.push(`close ${key}`),
      },
      troubleOf: () => undefined,
      mend: async () => undefined,
      now: () => nowMs,
      confirmMs: hourMs / 2,
    });
    await jobs.start(watches.kinds);
    return watches;
  }

  /** All turns that are due by now, swept for by every process at once. */
  async function sweepAll(): Promise<void> {
    const swept = await Promise.all(harness.processes.map(({ jobs }) => jobs.enqueue("watch-sweep", {})));
    const [first] = harness.processes;
    for (const { id } of swept) await eventually(async () => expect((await first?.jobs.get(id))?.state).toBe("done"));
    await eventually(async () => expect(await first?.jobs.list({ kind: "watch-run", state: "waiting" })).toEqual([]));
    await eventually(async () => expect(await first?.jobs.list({ kind: "watch-run", state: "running" })).toEqual([]));
    expect(await first?.jobs.list({ kind: "watch-run", state: "failed" })).toEqual([]);
  }

  describe(`watches over ${name}`, () => {
    afterEach(() => harness.dispose());

    it("runs each once a turn in the whole deployment, and keeps what it learned", async () => {
      [asked, reports, size] = [[], [], 3];
      harness = await open();
      const all = await Promise.all(harness.processes.map(start));
      const [watches] = all;
      const texts = Array.from({ length: 12 }, (_, at) => query.replaceAll("?s", `?person${at}`));
      for (const [at, text] of texts.entries())
        await watches?.save({ id: `w${at}`, query: text, endpoint: "e", everyMs: 2 * hourMs });
      const each = texts.map((text) => `${text} watch`).toSorted();
      for (let turn = 1; turn <= 3; turn++) {
        nowMs += 2 * hourMs;
        asked = [];
        await sweepAll();
        expect(asked.toSorted()).toEqual(each);
      }
      asked = [];
      await sweepAll();
      expect(asked).toEqual([]);
      for (const one of all) expect((await one.get("w7")).baseline).toMatchObject({ runs: 3, last: { size: 3 } });
      expect(reports).toEqual([]);
    });

    it("opens an incident and closes it, whoever runs the turns, and forgets a watch that is removed", async () => {
      [asked, reports, size] = [[], [], 3];
      harness = await open();
      const all = await Promise.all(harness.processes.map(start));
      const [first, last = first] = [all[0], all.at(-1)];
      await first?.save({ id: "one", query: query.replaceAll("?s", "?person"), endpoint: "e", everyMs: 8 * hourMs });
      for (let turn = 0; turn < 31; turn++) {
        nowMs += 8 * hourMs;
        if (turn === 25) size = 30;
        if (turn === 28) size = 3;
        await sweepAll();
      }
      expect(reports.at(-1)).toBe("close one.count");
      expect(new Set(reports)).toEqual(new Set(["open one.count", "close one.count"]));
      expect(await last?.get("one")).toMatchObject({ drifts: {} });
      await last?.remove("one");
      await expect(first?.run("one")).rejects.toMatchObject({ code: "WATCH_UNKNOWN" });
    });
  });
}

const answerOf = (rows: number): TabularAnswer => ({
  run: "r",
  status: "ok",
  plan: { kind: "direct", endpoints: [], notes: [] },
  columns: ["person"],
  rows: Array.from({ length: rows }, (_, at) => [`<http://e.org/${at}>`]),
  truncated: false,
  sources: [],
  notes: [],
  diagnosis: null,
});
