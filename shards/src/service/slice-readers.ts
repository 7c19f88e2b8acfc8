import { sleep, systemClock } from "../../../src/clock.ts";
import { isErrorCode } from "../../../src/errors/codes.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { Job, JobKind, JobQueue } from "../../../src/jobs/job-queue.ts";
import type { SliceReaders } from "../build.ts";
import { type PassOptions, sizeOfSlice } from "../load/read-statements.ts";
import { runHere } from "../materialise/gather.ts";
import { shareSlices } from "../materialise/shared-slices.ts";
import { type Guarded, isCount, isShape, isText, matches } from "../guards.ts";
import { datasetPattern } from "../spec.ts";
import type { RunShardTask } from "./run-task.ts";

/** Where the workers of a deployment find builds and their inputs. */
export interface ReaderFolders {
  /** Folder that has the inputs of all builds below it, links resolved. */
  readonly inputs: () => Promise<string>;
  /** Target of a dataset's shards. */
  readonly target: (dataset: string) => string;
}

const sliceKind = "gather-slice";
const gatherKind = "gather-slices";
const pollMs = 500;
const patienceMs = 60_000;
/** Children of one job. */
const mostSlices = 1_000;

/**
 * The jobs that read parts of a build's inputs: each part is the child of a job that ends when all are read, a flow of
 * the queue. They run on any worker that has the same data folder.
 */
export function readerKinds(folders: ReaderFolders, runTask: RunShardTask): readonly JobKind[] {
  return [
    {
      name: sliceKind,
      validate: (payload) => void partOf(payload),
      async run(payload, { signal, progress }) {
        const { dataset, slice, fingerprint } = partOf(payload);
        const shared = { base: await folders.inputs(), target: folders.target(dataset), slice, fingerprint };
        await runTask({ kind: "slice", shared }, { signal, onProgress: progress });
        return { slice };
      },
    },
    {
      name: gatherKind,
      validate: (payload) => void datasetOf(payload),
      run: async (payload, { children }) => ({ dataset: datasetOf(payload), slices: children.length }),
    },
  ];
}

const isPart = isShape({ dataset: matches(datasetPattern), slice: isCount, fingerprint: isText });
const isDataset = isShape({ dataset: matches(datasetPattern) });

function datasetOf(payload: unknown): string {
  if (isDataset(payload)) return payload.dataset;
  throw new FedwayError("REQUEST_INVALID", "A part of a build belongs to a dataset.");
}

function partOf(payload: unknown): Guarded<typeof isPart> {
  if (isPart(payload)) return payload;
  throw new FedwayError("REQUEST_INVALID", "A part of a build has a dataset, a number and a fingerprint.");
}

/** Parts of a build that are to be read by the workers of a queue. */
export interface OpenSlices {
  readonly fingerprint: string;
  readonly open: readonly number[];
  /** Bytes of these parts. */
  readonly totalBytes: number;
}

/** Reads parts of a build; resolves when all are read. */
export type ReadSlices = (slices: OpenSlices, passes: PassOptions) => Promise<void>;

interface QueueReaderOptions {
  readonly jobs: Pick<JobQueue, "enqueue" | "get" | "list" | "cancel">;
  readonly dataset: string;
  /** How long the queue's store may fail without a break before the build does; default a minute. */
  readonly patienceMs?: number;
}

/** Reads the parts of a build on all workers of a queue, in several rounds when there are more than a job may have children. */
export function queueReaders(options: QueueReaderOptions): ReadSlices {
  return async (slices, passes) => {
    for (let from = 0; from < slices.open.length; from += mostSlices) {
      await runFlow(options, { ...slices, open: slices.open.slice(from, from + mostSlices) }, passes);
    }
  };
}

/**
 * Reads the parts of a build elsewhere when there are several.
 * @param readers bytes of the inputs for each reader, and the folder that has the inputs of all builds below it
 */
export const sharingReaders = (
  { sliceBytes, inputs }: { readonly sliceBytes: number; readonly inputs: string },
  read: ReadSlices,
): SliceReaders => ({
  sliceBytes,
  async runSlices(work, passes) {
    const { plan, open } = work;
    if (plan.slices.length === 1) return runHere(work, passes);
    await shareSlices(work, inputs);
    const totalBytes = open.reduce((sum, slice) => sum + sizeOfSlice(plan.slices[slice] ?? []), 0);
    await read({ fingerprint: plan.fingerprint, open, totalBytes }, passes);
  },
});

async function runFlow(
  { jobs, dataset, patienceMs: most = patienceMs }: QueueReaderOptions,
  { fingerprint, open, totalBytes }: OpenSlices,
  passes: PassOptions,
): Promise<void> {
  const children = open.map((slice) => ({
    name: String(slice),
    kind: sliceKind,
    payload: { dataset, slice, fingerprint },
  }));
  // An open flow of an earlier run of the build is the same flow, and is resumed.
  const flow = await jobs.enqueue(
    gatherKind,
    { dataset },
    { id: `gather.${dataset}.${fingerprint.slice(0, 12)}`, children },
  );
  try {
    await ended(withStoreRetries(jobs, most, passes.signal), flow, { ...passes, totalBytes });
  } catch (error) {
    // The parts end with the build. Finished ones stay for a run that resumes it.
    await jobs.cancel(flow.id).catch(() => {});
    throw error;
  }
}

type Asked = Pick<JobQueue, "get" | "list">;

/** Retries store failures for up to `mostMs` milliseconds. */
function withStoreRetries(jobs: Asked, mostMs: number, signal: AbortSignal | undefined): Asked {
  const until = async <T>(ask: () => Promise<T>): Promise<T> => {
    const startedMs = performance.now();
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        const isStore = error instanceof FedwayError && error.code === "STORE_FAILED";
        if (!isStore || performance.now() - startedMs >= mostMs) throw error;
      }
      await pause(signal);
    }
  };
  return { get: (id) => until(() => jobs.get(id)), list: (query) => until(() => jobs.list(query)) };
}

/** @throws what the signal was aborted with */
async function pause(signal = new AbortController().signal): Promise<void> {
  await sleep(pollMs, { clock: systemClock, signal });
  signal.throwIfAborted();
}

async function ended(
  jobs: Asked,
  { id }: Job,
  { signal, onProgress, totalBytes }: PassOptions & { readonly totalBytes: number },
): Promise<void> {
  for (;;) {
    await pause(signal);
    const flow = await jobs.get(id);
    if (flow === undefined)
      throw new FedwayError("STORE_FAILED", "The parts of the build are lost: their job is not known any more.");
    if (flow.state === "done") return;
    if (flow.state === "failed" || flow.state === "cancelled") throw failureOf(flow);
    if (onProgress === undefined) continue;
    onProgress({ ...progressOf(await jobs.list({ kind: sliceKind, limit: mostSlices }), id), totalBytes });
  }
}

function failureOf({ error, state }: Job): FedwayError {
  const code = error !== undefined && isErrorCode(error.code) ? error.code : "CANCELLED";
  return new FedwayError(code, error?.message ?? `The job that reads the parts of the build was ${state}.`);
}

function progressOf(jobs: readonly Job[], flow: string) {
  const parts = jobs.filter(({ parent }) => parent === flow).map(({ progress }) => progress);
  const sum = (read: (part: NonNullable<(typeof parts)[number]>) => number): number =>
    parts.reduce((total, part) => total + (part === undefined ? 0 : read(part)), 0);
  return {
    phase: "split" as const,
    triples: sum(({ figures }) => figures?.["triples"] ?? 0),
    bytes: sum(({ done }) => done),
  };
}
