import { open, realpath } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import type { Job, JobContext, JobKind, JobQueue } from "../jobs/job-queue.ts";
import { readShardSpec, type ShardSpec } from "../shards/spec.ts";
import { type LocatedSpec, locateSpec, readablePath } from "../shards/spec-paths.ts";
import { discardLeftovers } from "./run-build.ts";
import { runShardTask } from "./run-shard-task.ts";
import { queueReaders, type ReaderFolders } from "./shard-readers.ts";

/** What a build job is given. */
export interface BuildPayload {
  readonly spec: ShardSpec;
  /** Folder of the paths in the description, below `shards-input/`. */
  readonly base: string;
  readonly dryRun: boolean;
}

/** What a build job gives: the figures; all of it is in the report. */
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
const maxSpecBytes = 200_000;

/** The folder of files that jobs may read, without symbolic links. */
export async function inputFolder({ dataDir }: Pick<Config, "dataDir">): Promise<string> {
  const folder = join(dataDir, "shards-input");
  return realpath(folder).catch(() => resolve(folder));
}

const outputFolder = ({ dataDir }: Pick<Config, "dataDir">, dataset: string): string =>
  join(dataDir, "shards", dataset);

/**
 * Reads what somebody wants to have built: a description, or `{"file": ...}` that names one below `shards-input/`.
 * @throws FedwayError `REQUEST_INVALID`
 */
export async function buildWish(config: Config, wish: unknown, dryRun: boolean): Promise<BuildPayload> {
  const { json, base } = await describedBy(config, wish);
  const payload = { spec: readShardSpec(json), base, dryRun };
  await locate(config, payload);
  return payload;
}

async function describedBy(config: Config, wish: unknown): Promise<{ readonly json: unknown; readonly base: string }> {
  if (typeof wish !== "object" || wish === null || !("file" in wish)) return { json: wish, base: "" };
  const { file } = wish;
  if (typeof file !== "string" || Object.keys(wish).length > 1) {
    throw new FedwayError("REQUEST_INVALID", "file has to be the name of a description, and nothing stands beside it.");
  }
  const folder = await inputFolder(config);
  const path = await readablePath(file, { baseDir: folder, readable: [folder] });
  return { json: await readSpecFile(path), base: relative(folder, dirname(path)) };
}

/** The JSON of a description's file. @throws FedwayError `REQUEST_INVALID` */
export async function readSpecFile(path: string): Promise<unknown> {
  const text = await readBounded(path);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new FedwayError("REQUEST_INVALID", "The description of the shards is not JSON.", { cause });
  }
}

async function readBounded(path: string): Promise<string> {
  const file = await open(path).catch((cause: unknown) => {
    throw new FedwayError("REQUEST_INVALID", "The description of the shards cannot be read.", { cause });
  });
  try {
    if (!(await file.stat()).isFile())
      throw new FedwayError("REQUEST_INVALID", "The description of the shards is no file.");
    const { bytesRead, buffer } = await file.read(Buffer.alloc(maxSpecBytes + 1), 0, maxSpecBytes + 1, 0);
    if (bytesRead <= maxSpecBytes) return buffer.toString("utf8", 0, bytesRead);
    throw new FedwayError("REQUEST_INVALID", `The description of the shards is larger than ${maxSpecBytes} bytes.`);
  } finally {
    await file.close();
  }
}

async function locate(config: Config, { spec, base }: Pick<BuildPayload, "spec" | "base">): Promise<LocatedSpec> {
  const folder = await inputFolder(config);
  return locateSpec(spec, {
    baseDir: join(folder, base),
    readable: [folder],
    output: outputFolder(config, spec.dataset),
    writable: [],
  });
}

/**
 * Enqueues a build. The same wish again gives the job that is under way.
 * @throws FedwayError `SHARDS_BUSY` when another build of the dataset is under way
 */
export async function enqueueBuild(jobs: Pick<JobQueue, "enqueue">, payload: BuildPayload): Promise<Job> {
  const id = payload.dryRun ? `predict-shards.${payload.spec.dataset}` : buildJobId(payload.spec.dataset);
  return enqueueOnce(jobs, { kind: kindName, id, payload });
}

/** Id of the job that builds the shards of a dataset. */
export const buildJobId = (dataset: string): string => `build-shards.${dataset}`;

/**
 * Enqueues a job of which there is one of its id at a time.
 * @throws FedwayError `SHARDS_BUSY` when the one that is under way was asked for otherwise
 */
export async function enqueueOnce(
  jobs: Pick<JobQueue, "enqueue">,
  { kind, id, payload }: { readonly kind: string; readonly id: string; readonly payload: object },
): Promise<Job> {
  const job = await jobs.enqueue(kind, payload, { id });
  if (JSON.stringify(job.payload) === JSON.stringify(payload)) return job;
  throw new FedwayError("SHARDS_BUSY", `The job ${id} is under way with another wish.`, {
    next: `Wait for it, or cancel it: DELETE /api/jobs/${id}.`,
  });
}

/** The queue, as builds need it. */
export type BuildQueue = Pick<JobQueue, "name" | "get" | "enqueue" | "list" | "cancel">;

/** What the job works with. */
export interface BuildKindParts {
  readonly config: Config;
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
    run: (payload, context) => runWish(payloadOf(payload), parts, context),
  };
}

async function runWish(
  wish: BuildPayload,
  { config, jobs, onBuilt }: BuildKindParts,
  { id, signal, progress }: JobContext,
): Promise<BuildJobResult> {
  const spec = await locate(config, wish);
  const { dryRun } = wish;
  const { shardMemoryMb: memoryMb, shardSliceBytes: sliceBytes } = config.limits;
  // Several workers read a large build's inputs; in one process that would only cost time.
  const readers = jobs.name === "bullmq" ? { sliceBytes, inputs: await inputFolder(config) } : undefined;
  try {
    const result = await runShardTask(
      { kind: "build", spec, dryRun, ...(readers && { readers }) },
      { memoryMb, signal, onProgress: progress, readSlices: queueReaders({ jobs, dataset: spec.dataset }) },
    );
    if (!dryRun) await onBuilt();
    return result;
  } catch (error) {
    // A run that ends for another reason, such as the end of the service, is gone on with by the next one.
    if (signal.aborted && !dryRun && (await isCancelled(jobs, id))) await discardLeftovers(spec.output);
    throw error;
  }
}

/** Where the parts of builds find what they need, in every process that has this data folder. */
export const readerFolders = (config: Pick<Config, "dataDir">): ReaderFolders => ({
  inputs: () => inputFolder(config),
  target: (dataset) => outputFolder(config, dataset),
});

/** Whether somebody cancelled a job; nobody knows while the store is away. */
async function isCancelled(jobs: Pick<JobQueue, "get">, id: string): Promise<boolean> {
  const job = await jobs.get(id).catch(() => undefined);
  return job?.state === "cancelled";
}

function payloadOf(payload: unknown): BuildPayload {
  const found = typeof payload === "object" && payload !== null ? payload : {};
  const base = "base" in found ? found.base : undefined;
  const dryRun = "dryRun" in found ? found.dryRun : undefined;
  if (typeof base !== "string" || typeof dryRun !== "boolean" || !("spec" in found)) {
    throw new FedwayError("REQUEST_INVALID", `A ${kindName} job needs a description of the shards.`);
  }
  return { spec: readShardSpec(found.spec), base, dryRun };
}
