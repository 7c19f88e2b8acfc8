import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { type RedisServer, startRedis } from "../support/engines/start-redis.ts";
import {
  type Ledger,
  openLedger,
  type Phase,
  phaseOf,
  type Run,
  runsOf,
  tally,
} from "../support/killed-workers/ledger.ts";
import { lostWork, type Remains, remainsOf, repeatedRuns, runsAtOnce } from "../support/killed-workers/lost-work.ts";
import { openWork, type Work, type WorkPlace } from "../support/killed-workers/open-work.ts";
import { type SlowReceiver, startSlowReceiver } from "../support/killed-workers/slow-receiver.ts";
import { createWorkerFleet, type WorkerFleet, type WorkerProcess } from "../support/killed-workers/worker-fleet.ts";
import { incident } from "../support/monitor-records.ts";
import { newFolder } from "../support/scratch-folder.ts";

const closings: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

interface Site {
  readonly ledger: Ledger;
  readonly receiver: SlowReceiver;
  readonly fleet: WorkerFleet;
  /** The queue as a process sees it that does not work on it. */
  open(): Promise<Work>;
  remains(work: Work): Promise<Remains>;
}

interface SiteOptions {
  readonly redis?: RedisServer;
  readonly leaseMs: number;
  readonly feeds: boolean;
}

async function openSite({ redis, leaseMs, feeds }: SiteOptions): Promise<Site> {
  const scratch = newFolder();
  const effects = join(scratch, "effects");
  const drafts = join(scratch, "drafts");
  await Promise.all([mkdir(effects), mkdir(drafts)]);
  const path = join(scratch, "ledger");
  const ledger = openLedger(path);
  closings.push(() => ledger.close());
  const receiver = await startSlowReceiver(ledger);
  closings.push(() => receiver.close());
  const dataDir = join(scratch, "data");
  const patience = feeds ? { commandTimeoutMs: 30_000 } : {};
  const place = { dataDir, leaseMs, receiver: receiver.url, ...patience, ...(redis && { redisUrl: redis.url }) };
  const fleet = createWorkerFleet({ ...place, ledger: path, effects, drafts, feeds }, ledger);
  closings.push(() => fleet.close());
  return {
    ledger,
    receiver,
    fleet,
    async open() {
      const work = await openWork({ ...place, name: "onlooker" } satisfies WorkPlace, ledger);
      closings.push(() => work.close());
      const idle = { name: "stamp", validate: () => {}, run: async () => null };
      await work.queue.start([idle, ...work.webhooks.kinds], { work: false });
      return work;
    },
    remains: ({ queue }) => remainsOf(queue, { entries: ledger.entries(), effects, receiver }),
  };
}

/** Steps of a worker so far, e.g. how many runs it ended. */
const count = ({ ledger }: Site, step: string, worker?: WorkerProcess): number =>
  ledger.entries().filter((entry) => entry.step === step && (worker === undefined || entry.worker === worker.name))
    .length;

/** Runs under way, as far as anybody knows. */
const openRuns = ({ ledger }: Site, worker?: WorkerProcess): readonly Run[] => {
  const repeated = new Set(repeatedRuns(ledger.entries()).map(({ begunAt }) => begunAt));
  return runsOf(ledger.entries()).filter(
    (run) =>
      !run.steps.has("ended") &&
      !run.steps.has("failed") &&
      !repeated.has(run.begunAt) &&
      (worker === undefined || run.worker === worker.name),
  );
};

const aims = ["before the effect", "after the effect", "while delivering", "at the outcome"] as const satisfies Phase[];
type Aim = (typeof aims)[number];

/** Resolves when a run of the worker is where it is wanted, and stays there. */
async function corner(site: Site, victim: WorkerProcess, aim: Aim): Promise<void> {
  const held = count(site, "held", victim);
  if (aim === "while delivering") site.receiver.holdNextOf(victim.name);
  else victim.tell({ order: "hold", at: aim === "after the effect" ? "effect" : "begun" });
  await victim.until(() => count(site, "held", victim) > held);
  if (aim !== "at the outcome") return;
  // One run stays, so that the kill hits one for certain; another one is about to write its outcome.
  const ended = count(site, "ended", victim);
  await victim.until(() => count(site, "ended", victim) > ended, 1);
}

/** Kills a worker in the middle of its jobs, and tells where these were. */
async function killAt(site: Site, victim: WorkerProcess, aim: Aim): Promise<readonly Phase[]> {
  const ended = count(site, "ended", victim);
  await victim.until(() => count(site, "ended", victim) >= ended + 3);
  await corner(site, victim, aim);
  await victim.kill();
  return openRuns(site, victim).map(phaseOf);
}

const wanted = (aim: Aim): Phase => (aim === "at the outcome" ? "before the effect" : aim);

async function killAll(site: Site, kills: number, atOnce: number): Promise<readonly Phase[]> {
  const workers = await Promise.all(Array.from({ length: atOnce }, () => site.fleet.deploy()));
  const interrupted: Phase[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    const aim = aims[kill % aims.length] ?? "at the outcome";
    const victim = workers.shift();
    if (victim === undefined) throw new Error("There is no worker left");
    const phases = await killAt(site, victim, aim);
    expect(phases).toContain(wanted(aim));
    interrupted.push(...phases);
    workers.push(await site.fleet.deploy());
  }
  const codes = await Promise.all(workers.map((worker) => worker.drain()));
  expect(codes).toEqual(workers.map(() => 0));
  return interrupted;
}

function print(title: string, figures: Readonly<Record<string, unknown>>): void {
  const lines = Object.entries(figures).map(([name, figure]) => `  ${name}: ${JSON.stringify(figure)}`);
  process.stdout.write(`${title}\n${lines.join("\n")}\n`);
}

const figuresOf = ({ jobs, deliveries, entries }: Remains): Readonly<Record<string, unknown>> => {
  const attempts = jobs.reduce((sum, job) => sum + job.attempts, 0);
  return {
    jobs: jobs.length,
    attempts,
    "attempts that never came to run": attempts - runsOf(entries).length,
    "most attempts of a job": Math.max(...jobs.map((job) => job.attempts)),
    "runs repeated, by where they were": tally(repeatedRuns(entries).map(phaseOf)),
    webhooks: deliveries.size,
    "deliveries, by how often one id came": tally([...deliveries.values()].map(({ length }) => `${length} times`)),
  };
};

/** Three at each aim. */
const kills = Number(process.env["FEDWAY_KILLS"] ?? 12);

const seconds = (sinceMs: number): number => Math.round((performance.now() - sinceMs) / 100) / 10;

describe.each(["bullmq", "embedded"] as const)(
  `workers of the queue %s that are killed ${kills} times in mid-job`,
  (name) => {
    it("lose no job, leave each effect once, and deliver each webhook under one id", { timeout: 400_000 }, async () => {
      const startedMs = performance.now();
      const redis = name === "bullmq" ? await startRedis() : undefined;
      closings.push(() => redis?.stop());
      const site = await openSite({ leaseMs: 5_000, feeds: true, ...(redis && { redis }) });
      const interrupted = await killAll(site, kills, redis === undefined ? 1 : 2);

      const work = await site.open();
      const remains = await site.remains(work);
      const phases = tally(interrupted);
      print(`${name}: ${count(site, "killed")} kills in ${seconds(startedMs)} s`, {
        "interrupted jobs": interrupted.length,
        "by where they were": phases,
        ...figuresOf(remains),
      });
      expect(count(site, "killed")).toBe(kills);
      expect(phases).toMatchObject({
        "before the effect": expect.any(Number),
        "after the effect": expect.any(Number),
        "while delivering": expect.any(Number),
      });
      expect(remains.jobs.length).toBeGreaterThan(kills);
      expect(lostWork(remains)).toEqual([]);
      expect(runsAtOnce(remains.entries)).toEqual([]);
      expect(remains.entries.filter(({ step }) => step === "fault" || step === "failed")).toEqual([]);
    });
  },
);

/** Enqueues as fast as jobs end; resolves, once told to stop, to how often Redis was not there. */
async function enqueueUntil(site: Site, { queue, webhooks }: Work, stop: AbortSignal): Promise<readonly string[]> {
  const refusals: string[] = [];
  for (let turn = 1; !stop.aborted; turn += 1) {
    try {
      const id = `told-${turn}`;
      if (turn % 4 === 0) await webhooks.tell({ kind: "incident-opened", incident: incident({ id }) });
      else await queue.enqueue("stamp", null, { id });
      await sleep(10);
      while (!stop.aborted && count(site, "enqueued") - count(site, "ended") > 40) await sleep(10);
    } catch (error) {
      refusals.push((error as { readonly code: string }).code);
      await sleep(20);
    }
  }
  return refusals;
}

async function killRedis(site: Site, redis: RedisServer, worker: WorkerProcess): Promise<readonly Phase[]> {
  const enqueued = count(site, "enqueued");
  const ended = count(site, "ended");
  await worker.until(() => count(site, "enqueued") > enqueued + 5 && count(site, "ended") > ended + 10);
  await sleep(100 * Math.random());
  await worker.until(() => openRuns(site).length > 0);
  const phases = openRuns(site).map(phaseOf);
  await redis.kill();
  await sleep(500 * Math.random());
  await redis.restart();
  return phases;
}

describe("a Redis that is killed 5 times while jobs are enqueued and run", () => {
  it("brings every job that was acknowledged to its end", { timeout: 400_000 }, async () => {
    const startedMs = performance.now();
    const redis = await startRedis();
    closings.push(() => redis.stop());
    // Longer than any outage: jobs stay with the workers that have them.
    const site = await openSite({ redis, leaseMs: 15_000, feeds: false });
    const workers = await Promise.all([site.fleet.deploy(), site.fleet.deploy(), site.fleet.deploy()]);
    const [first] = workers as [WorkerProcess, ...WorkerProcess[]];
    const work = await site.open();
    const stop = new AbortController();
    const enqueuing = enqueueUntil(site, work, stop.signal);
    const hit: Phase[] = [];
    const ends = 5;
    for (let kill = 0; kill < ends; kill += 1) {
      const phases = await killRedis(site, redis, first);
      expect(phases.length).toBeGreaterThan(0);
      hit.push(...phases);
    }
    stop.abort();
    const refusals = await enqueuing;
    const states = async (): Promise<readonly string[]> =>
      (await work.queue.list({ limit: 100_000 })).map(({ state }) => state);
    await expect.poll(async () => Object.keys(tally(await states()))).toEqual(["done"]);
    expect(await Promise.all(workers.map((worker) => worker.drain()))).toEqual([0, 0, 0]);

    const remains = await site.remains(work);
    const faults = remains.entries.flatMap(({ step, text = "" }) => (step === "fault" ? [text] : []));
    print(`Redis: ${ends} kills in ${seconds(startedMs)} s`, {
      "jobs under way at the kills": hit.length,
      "by where they were": tally(hit),
      "enqueuings refused": tally(refusals),
      faults: tally(faults),
      ...figuresOf(remains),
    });
    expect(remains.jobs.length).toBeGreaterThan(10 * ends);
    expect(lostWork(remains)).toEqual([]);
    expect(runsAtOnce(remains.entries)).toEqual([]);
    expect(faults.filter((text) => !text.startsWith("STORE_FAILED:"))).toEqual([]);
    expect(refusals.filter((code) => code !== "STORE_FAILED")).toEqual([]);
  });
});
