import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Job, JobQueue } from "../../../src/jobs/job-queue.ts";
import { isDelivery, type LedgerEntry, phaseOf, type Run, runsOf } from "./ledger.ts";
import type { SlowReceiver } from "./slow-receiver.ts";

/** What is left when all work is over. */
export interface Remains {
  readonly entries: readonly LedgerEntry[];
  /** All jobs of the queue, with their results. */
  readonly jobs: readonly Job[];
  /** What the effects say, by job. */
  readonly effects: ReadonlyMap<string, string>;
  /** Messages that arrived, by delivery id. */
  readonly deliveries: ReadonlyMap<string, SlowReceiver["received"]>;
}

/** Looks at a queue, a folder of effects and a receiver. */
export async function remainsOf(
  queue: JobQueue,
  { entries, effects, receiver }: { entries: readonly LedgerEntry[]; effects: string; receiver: SlowReceiver },
): Promise<Remains> {
  const listed = await queue.list({ limit: 100_000 });
  const jobs = await Promise.all(listed.map(async ({ id }) => (await queue.get(id)) ?? missing(id)));
  const files = await readdir(effects);
  const texts = await Promise.all(files.map((file) => readFile(join(effects, file), "utf8")));
  return {
    entries,
    jobs,
    effects: new Map(files.map((file, index) => [file, texts[index] ?? ""])),
    deliveries: Map.groupBy(receiver.received, ({ headers }) => String(headers["webhook-id"])),
  };
}

const missing = (id: string): never => {
  throw new Error(`The job ${id} is in the list and nowhere else`);
};

/** Sentences about jobs that were lost, are left over, or left other effects than one; none when all is well. */
export function lostWork(remains: Remains): readonly string[] {
  const { entries, jobs, effects, deliveries } = remains;
  const ids = new Set(jobs.map(({ id }) => id));
  const runs = Map.groupBy(runsOf(entries), ({ job }) => job);
  const lost = [...enqueuedIn(entries)].filter((id) => !ids.has(id)).map((id) => `${id} was enqueued and is gone`);
  const strange = [...effects.keys(), ...deliveries.keys(), ...runs.keys()].filter((id) => !ids.has(id));
  return [
    ...lost,
    ...strange.map((id) => `${id} left a trace and is no job`),
    ...jobs.flatMap((job) => faultsOf(job, runs.get(job.id) ?? [], remains)),
  ];
}

const faultsOf = (job: Job, runs: readonly Run[], remains: Remains): readonly string[] => {
  const trace = isDelivery(job.id) ? wrongDeliveries(job, remains) : wrongEffect(job, runs, remains);
  return [...unfinished(job), ...wrongRuns(job, runs), ...trace];
};

const enqueuedIn = (entries: readonly LedgerEntry[]): ReadonlySet<string> =>
  new Set(entries.flatMap(({ step, job }) => (step === "enqueued" && job !== undefined ? [job] : [])));

/** What `isSo` is not. */
const unless = (isSo: boolean, text: string): readonly string[] => (isSo ? [] : [text]);

function unfinished({ id, state, error, startedAt, finishedAt }: Job): readonly string[] {
  const isWhole = startedAt !== undefined && finishedAt !== undefined && error === undefined;
  return unless(state === "done" && isWhole, `${id} is ${state} (${error?.message})`);
}

/** The last run ended, and is the one that was written down; runs follow each other. */
function wrongRuns({ id, attempts }: Job, runs: readonly Run[]): readonly string[] {
  const last = runs.at(-1);
  const isAscending = runs.every(({ attempt }, index) => attempt > (runs[index - 1]?.attempt ?? 0));
  return [
    ...unless(isAscending, `${id} had the runs ${runs.map(({ attempt }) => attempt).join(", ")}`),
    ...unless(last?.attempt === attempts, `${id} has ${attempts} attempts, the last run was ${last?.attempt}`),
    ...unless(last?.steps.has("ended") ?? false, `${id} is over, its last run is not`),
  ];
}

/** The effect is that of the first run that had it done, or of one before that could not say so any more. */
function wrongEffect({ id, result, progress }: Job, runs: readonly Run[], { effects }: Remains): readonly string[] {
  const effect = effects.get(id);
  const maker = runs.findIndex(({ worker, attempt }) => effect === `${worker} ${attempt}`);
  const first = runs.findIndex(({ steps }) => steps.has("effect"));
  const isMade = maker >= 0 && maker <= first;
  const told = (result as { readonly effect?: string } | undefined)?.effect;
  return [
    ...unless(isMade, `${id} has the effect ${effect}, but its run ${runs[first]?.attempt} was the first`),
    ...unless(told !== undefined && told === effect, `${id} gave the result ${told}, its effect is ${effect}`),
    ...unless(progress?.done === 2 && progress.total === 2, `${id} shows ${progress?.done} of ${progress?.total}`),
  ];
}

function wrongDeliveries({ id, attempts, result }: Job, { deliveries }: Remains): readonly string[] {
  const messages = deliveries.get(id) ?? [];
  const bodies = new Set(messages.map(({ body }) => body));
  const isTaken = (result as { readonly delivered?: boolean } | undefined)?.delivered === true;
  return [
    ...unless(messages.length > 0, `${id} was never delivered`),
    ...unless(messages.length <= attempts, `${id} was delivered ${messages.length} times in ${attempts} attempts`),
    ...unless(bodies.size === 1, `${id} was delivered with ${bodies.size} bodies`),
    ...unless(isTaken, `${id} does not say that it was delivered`),
    ...messages.flatMap(({ authentic }) => unless(authentic, `${id} came with a wrong signature`)),
  ];
}

/** Runs that were followed by another one of the same job. */
export function repeatedRuns(entries: readonly LedgerEntry[]): readonly (Run & { readonly nextAt: number })[] {
  const byJob = Map.groupBy(runsOf(entries), ({ job }) => job);
  return [...byJob.values()].flatMap((runs) =>
    runs.flatMap((run, index) => {
      const next = runs[index + 1];
      return next === undefined ? [] : [{ ...run, nextAt: next.begunAt }];
    }),
  );
}

/** Sentences about runs that began while the one before had not failed and its worker was alive. */
export function runsAtOnce(entries: readonly LedgerEntry[]): readonly string[] {
  const killedAt = new Map(entries.flatMap(({ step, worker }, at) => (step === "killed" ? [[worker, at]] : [])));
  return repeatedRuns(entries)
    .filter(
      ({ steps, worker, nextAt }) =>
        !steps.has("failed") && (killedAt.get(worker) ?? Number.POSITIVE_INFINITY) > nextAt,
    )
    .map((run) => `${run.job} ran again while run ${run.attempt} was alive (${phaseOf(run)})`);
}
