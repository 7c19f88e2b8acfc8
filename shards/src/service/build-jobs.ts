import { readdir, realpath, stat } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { Job, JobContext, JobKind, JobQueue } from "../../../src/jobs/job-queue.ts";
import { isFlag, isObject, isShape, isText } from "../guards.ts";
import { readShardSpec, type ShardSpec } from "../spec.ts";
import { type LocatedSpec, locateSpec, readablePath, readSpecFile } from "../spec-paths.ts";
import { discardBuild } from "../materialise/materialise.ts";
import { lockTarget } from "../target-lock.ts";
import { systemClock } from "../../../src/clock.ts";
import type { RunShardTask } from "./run-task.ts";
import type { ShardSettings } from "./shard-service.ts";
import { dataFolderId, refuseOtherFolder } from "./data-folder.ts";

/** Payload of a build job. */
interface BuildPayload {
  readonly spec: ShardSpec;
  /** Folder of the paths in the description, below `shards-input/`. */
  readonly base: string;
  readonly dryRun: boolean;
  /** Id of the data folder that it was asked for. */
  readonly folder: string;
}

/** Result of a build job: the figures; the report has all. */
export interface BuildJobResult {
  readonly dataset: string;
  readonly dryRun: boolean;
  readonly triples: number;
  readonly rules: number;
  readonly lowerBound: number;
  readonly proven: boolean;
  readonly shards: number;
  readonly queries: number;
  readonly notFederated: number;
  readonly leftOut: number;
}

const kindName = "build-shards";

/** The folder of files that jobs may read, without symbolic links. */
export async function inputFolder(dataDir: string): Promise<string> {
  const folder = join(dataDir, "shards-input");
  return realpath(folder).catch(() => resolve(folder));
}

/**
 * Reads a request for a build: a description, or `{"file": ...}` that names one below `shards-input/`.
 * @throws FedwayError `REQUEST_INVALID`
 */
export async function readBuildRequest(dataDir: string, request: unknown, dryRun: boolean): Promise<BuildPayload> {
  const { json, base } = await describedBy(dataDir, request);
  const payload = { spec: readShardSpec(json), base, dryRun, folder: await dataFolderId(dataDir) };
  await locate(dataDir, payload);
  return payload;
}

async function describedBy(
  dataDir: string,
  request: unknown,
): Promise<{ readonly json: unknown; readonly base: string }> {
  if (typeof request !== "object" || request === null || !("file" in request)) return { json: request, base: "" };
  const { file } = request;
  if (typeof file !== "string" || Object.keys(request).length > 1) {
    throw new FedwayError("REQUEST_INVALID", "file has to be the name of a description, and nothing stands beside it.");
  }
  const folder = await inputFolder(dataDir);
  const path = await readablePath(file, { baseDir: folder, readable: [folder] });
  return { json: await readSpecFile(path), base: relative(folder, dirname(path)) };
}

async function locate(dataDir: string, { spec, base }: BuildPayload): Promise<LocatedSpec> {
  const folder = await inputFolder(dataDir);
  return locateSpec(spec, {
    baseDir: join(folder, base),
    readable: [folder],
    output: join(dataDir, "shards", spec.dataset),
    writable: [],
  });
}

/**
 * Enqueues a build. The same request again gives the job that is under way.
 * @throws FedwayError `SHARDS_BUSY` when another build of the dataset is under way
 */
export async function enqueueBuild(jobs: BuildQueue, payload: BuildPayload): Promise<Job> {
  const id = payload.dryRun ? `predict-shards.${payload.spec.dataset}` : buildJobId(payload.spec.dataset);
  return enqueueOnce(jobs, { kind: kindName, id, payload });
}

/** Id of the job that builds the shards of a dataset. */
const buildJobId = (dataset: string): string => `build-shards.${dataset}`;

/**
 * Enqueues a job of which there is one of its id at a time.
 * @throws FedwayError `SHARDS_BUSY` when the one that is under way was asked for otherwise
 */
export async function enqueueOnce(
  jobs: BuildQueue,
  { kind, id, payload }: { readonly kind: string; readonly id: string; readonly payload: object },
): Promise<Job> {
  const job = await jobs.enqueue(kind, payload, { id });
  if (JSON.stringify(job.payload) === JSON.stringify(payload)) return job;
  throw new FedwayError("SHARDS_BUSY", `The job ${id} is under way with other parameters.`, {
    next: `Wait for it, or cancel it: DELETE /api/jobs/${id}.`,
  });
}

/** The queue, as builds need it. */
export type BuildQueue = Pick<JobQueue, "get" | "enqueue">;

/** Parts that the job works with. */
interface BuildKindParts {
  readonly config: ShardSettings;
  readonly runTask: RunShardTask;
  readonly jobs: BuildQueue;
  /** Called when new shards are there. */
  readonly onBuilt: () => Promise<void>;
}

/** The job that builds the shards of one dataset into the data folder. */
export function buildKind(parts: BuildKindParts): JobKind {
  return {
    name: kindName,
    validate(payload) {
      payloadOf(payload);
    },
    run: (payload, context) => runBuildJob(payloadOf(payload), parts, context),
  };
}

async function runBuildJob(
  payload: BuildPayload,
  { config, jobs, runTask, onBuilt }: BuildKindParts,
  { id, signal, progress }: JobContext,
): Promise<BuildJobResult> {
  await refuseOtherFolder(config.dataDir, payload.folder);
  const spec = await locate(config.dataDir, payload);
  const { dryRun } = payload;
  try {
    const result = await runTask({ kind: "build", spec, dryRun }, { signal, onProgress: progress });
    if (!dryRun) await onBuilt();
    return result;
  } catch (error) {
    // A run that ends for another reason, such as a shutdown of the service, is resumed by the next one.
    if (signal.aborted && !dryRun && (await isCancelled(jobs, id))) await discardLeftovers(spec.output);
    throw error;
  }
}

/** True if a job was cancelled; false when the store cannot be read. */
async function isCancelled(jobs: BuildQueue, id: string): Promise<boolean> {
  const job = await jobs.get(id).catch(() => undefined);
  return job?.state === "cancelled";
}

const isPayload = isShape({
  spec: isObject,
  base: (value) => typeof value === "string",
  dryRun: isFlag,
  folder: isText,
});

function payloadOf(payload: unknown): BuildPayload {
  if (isPayload(payload)) return { ...payload, spec: readShardSpec(payload.spec) };
  throw new FedwayError("REQUEST_INVALID", `A ${kindName} job needs a description of the shards.`);
}

const ending = ".building";
/** How long runs of a cancelled build may still write. */
const lastWritesMs = 60_000;

/**
 * Removes what cancelled builds left when no run of them was active to do so, because the service or its worker had ended.
 * Work that was begun since, by the command line for instance, stays.
 * @throws FedwayError `STORE_FAILED`; errors of the file system
 */
export async function discardCancelled(root: string, jobs: Pick<JobQueue, "get">): Promise<void> {
  const names = await readdir(root).catch(() => []);
  for (const name of names.filter((each) => each.endsWith(ending))) {
    const dataset = name.slice(0, -ending.length);
    const job = await jobs.get(buildJobId(dataset));
    if (job?.state !== "cancelled" || job.finishedAt === undefined) continue;
    const found = await stat(join(root, name)).catch(() => undefined);
    const untilMs = Date.parse(job.finishedAt) + lastWritesMs;
    if (found !== undefined && found.mtimeMs <= untilMs) await discardLeftovers(join(root, dataset));
  }
}

/**
 * Removes what an unfinished build left, unless another build holds the target: that one resumes it.
 * @throws errors of the file system
 */
async function discardLeftovers(target: string): Promise<void> {
  const lock = await lockTarget(target, { now: systemClock.now }).catch((error: unknown) => {
    if (error instanceof FedwayError && error.code === "SHARDS_BUSY") return undefined;
    throw error;
  });
  if (lock === undefined) return;
  try {
    await discardBuild(target);
  } finally {
    await lock.release();
  }
}
