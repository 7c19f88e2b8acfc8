import { link, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { JobContext, JobKind } from "../../../src/jobs/job-queue.ts";
import { incident } from "../monitor-records.ts";
import { openLedger, type RunStep } from "./ledger.ts";
import { openWork, type Work } from "./open-work.ts";
import type { WorkerMessage, WorkerTask } from "./worker-fleet.ts";

// A worker process. It runs jobs from the message `go` on, until it is killed or has seen the end of all jobs after `drain`.

const task = JSON.parse(process.argv[2] ?? "") as WorkerTask;
const { name: worker } = task;
const ledger = openLedger(task.ledger);
let holdAt: RunStep | undefined;
let feeding = task.feeds;
let enqueued = 0;

const note = (step: RunStep, { id, attempt }: JobContext): void => ledger.note({ worker, step, job: id, attempt });

/** Notes that a stamp has come so far, where it then stays if it was told so. */
async function reach(step: RunStep, context: JobContext): Promise<void> {
  note(step, context);
  if (holdAt !== step) return;
  holdAt = undefined;
  note("held", context);
  await new Promise(() => {});
}

const pause = (signal: AbortSignal): Promise<void> => sleep(20 + 60 * Math.random(), undefined, { signal });

/** Leaves a file named by the job that says which run made it, whole or not at all; gives what the file says. */
async function leaveEffect({ id, attempt }: JobContext): Promise<string> {
  const draft = join(task.drafts, `${id}.${attempt}.${worker}`);
  const effect = join(task.effects, id);
  await writeFile(draft, `${worker} ${attempt}`);
  try {
    await link(draft, effect);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  await rm(draft);
  return readFile(effect, "utf8");
}

const stamp: JobKind = {
  name: "stamp",
  validate: () => {},
  concurrency: 4,
  async run(_, context) {
    context.progress({ stage: "thinking", done: 0, total: 2 });
    await reach("begun", context);
    await pause(context.signal);
    const effect = await leaveEffect(context);
    context.progress({ stage: "thinking again", done: 1, total: 2 });
    await reach("effect", context);
    await pause(context.signal);
    context.progress({ stage: "thought", done: 2, total: 2 });
    return { effect };
  },
};

/** Enqueues one job more. */
async function feed({ queue, webhooks }: Work, kind: string): Promise<void> {
  if (!feeding) return;
  enqueued += 1;
  const id = `${worker}-${enqueued}`;
  if (kind === stamp.name) await queue.enqueue(stamp.name, null, { id });
  else await webhooks.tell({ kind: "incident-opened", incident: incident({ id }) });
}

/** The kind with the ends of its runs in the ledger, each of which leaves a job to those who come after it. */
const noted = (work: Work, kind: JobKind): JobKind => ({
  ...kind,
  async run(payload, context) {
    if (kind !== stamp) note("begun", context);
    try {
      const result = await kind.run(payload, context);
      note("ended", context);
      // Not waited for: the outcome is to be written while something else is going on.
      feed(work, kind.name).catch((error: unknown) => ledger.note({ worker, step: "fault", text: String(error) }));
      return result;
    } catch (error) {
      note("failed", context);
      throw error;
    }
  },
});

async function start(): Promise<Work> {
  const work = await openWork(task, ledger);
  await work.queue.start([stamp, ...work.webhooks.kinds].map((kind) => noted(work, kind)));
  for (let index = 0; index < 12; index += 1) await feed(work, index % 3 === 2 ? "webhook" : stamp.name);
  return work;
}

async function drain(work: Work): Promise<void> {
  feeding = false;
  const open = async (): Promise<number> =>
    (await Promise.all((["waiting", "running"] as const).map((state) => work.queue.list({ state, limit: 1 })))).flat()
      .length;
  while ((await open()) > 0) await sleep(50);
  await work.close();
  process.disconnect();
}

let begun: Promise<Work> | undefined;

async function obey(message: WorkerMessage): Promise<void> {
  if (message.order === "hold") holdAt = message.at;
  if (message.order === "go") {
    begun = start();
    await begun;
    process.send?.("working");
  }
  if (message.order === "drain" && begun !== undefined) await drain(await begun);
}

process.on("message", (message) => void obey(message as WorkerMessage));
// Nobody is there to kill it any more.
process.on("disconnect", () => process.exit(0));
process.send?.("ready");
