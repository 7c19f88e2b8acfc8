import { randomUUID } from "node:crypto";
import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../../../src/make-folder.ts";
import { systemClock } from "../../../src/clock.ts";
import { FedwayError, toFedwayError } from "../../../src/errors/fedway-error.ts";
import type { Job, JobContext, JobKind } from "../../../src/jobs/job-queue.ts";
import { type Guard, isCount, isShape, isText, matches, optional, isFlag } from "../guards.ts";
import { removeFolder } from "../materialise/build-folder.ts";
import { readManifest } from "../materialise/manifest.ts";
import { datasetPattern } from "../spec.ts";
import { type BuildQueue, enqueueOnce, inputFolder } from "./build-jobs.ts";
import { refuseOtherFolder } from "./data-folder.ts";
import type { RunShardTask } from "./run-task.ts";
import type { ShardSettings } from "./shard-service.ts";
import { packageFolder } from "../package/open-package.ts";
import { readOrigins, readReport } from "../finished-folder.ts";
import type { Input } from "../load/input.ts";
import { readablePath } from "../spec-paths.ts";
import type { VerifiedQuery } from "../verify/compare-answers.ts";
import type { Check, Verification } from "../verify/verification.ts";
import type { Unread } from "../verify/verify.ts";

/** `folder`: id of the data folder that the job was asked for. */
interface DatasetPayload {
  readonly dataset: string;
  readonly folder: string;
}

/** Parts of jobs on finished shards. */
interface DatasetParts {
  readonly config: ShardSettings;
  readonly host: FolderFinder;
  readonly runTask: RunShardTask;
}

/** Finds the folder of a dataset's shards: `ShardHost` does. */
interface FolderFinder {
  folderOf(dataset: string): Promise<string | undefined>;
}

/** One run: the folder of the shards, a folder for temporary files, and how its tasks end and report. */
interface DatasetRun {
  readonly config: ShardSettings;
  readonly runTask: RunShardTask;
  readonly folder: string;
  readonly scratch: string;
  readonly options: Parameters<RunShardTask>[1];
}

/** Result of these jobs; `fingerprint` is that of the build that was read. */
interface DatasetResult {
  readonly dataset: string;
  readonly fingerprint: string;
}

/** A kind of job on the finished shards of one dataset, hosted or refused for being damaged; one of them at a time. */
function datasetJobs<Payload extends DatasetPayload>({
  name,
  isPayload,
  run,
}: {
  readonly name: string;
  readonly isPayload: Guard<Payload>;
  readonly run: (payload: Payload, run: DatasetRun) => Promise<object>;
}) {
  const payloadOf = (payload: unknown): Payload => {
    if (isPayload(payload)) return payload;
    throw new FedwayError("REQUEST_INVALID", `A ${name} job needs the id of a dataset.`);
  };
  return {
    /**
     * The same request again gives the job that is under way.
     * @throws FedwayError `SHARDS_UNKNOWN`; `SHARDS_BUSY` when one of the dataset is under way with other parameters
     */
    async enqueue(jobs: BuildQueue, host: FolderFinder, payload: Payload): Promise<Job> {
      await folderOf(host, payload.dataset);
      return enqueueOnce(jobs, { kind: name, id: `${name}.${payload.dataset}`, payload });
    },
    kind: (parts: DatasetParts): JobKind => ({
      name,
      validate(payload) {
        payloadOf(payload);
      },
      run: (payload, context) => runOn(payloadOf(payload), { ...parts, run }, context),
    }),
  };
}

async function folderOf(host: FolderFinder, dataset: string): Promise<string> {
  const named = datasetPattern.test(dataset) ? await host.folderOf(dataset) : undefined;
  // One that is hosted may have been removed since.
  const folder = named && (await realpath(named).catch(() => undefined));
  if (folder !== undefined) return folder;
  throw new FedwayError("SHARDS_UNKNOWN", `This service has no shards of "${dataset.slice(0, 32)}".`);
}

async function runOn<Payload extends DatasetPayload>(
  payload: Payload,
  { run, ...parts }: DatasetParts & { readonly run: (payload: Payload, run: DatasetRun) => Promise<object> },
  { id, signal, progress }: JobContext,
): Promise<DatasetResult> {
  const startedMs = systemClock.now();
  const { config, host, runTask } = parts;
  const { dataset } = payload;
  await refuseOtherFolder(config.dataDir, payload.folder);
  const folder = await folderOf(host, dataset);
  const { fingerprint } = await readManifest(folder);
  signal.throwIfAborted();
  const options = { signal, onProgress: progress };
  const found = await withScratch(join(config.dataDir, "scratch"), { id, startedMs }, (scratch) =>
    run(payload, { config, runTask, folder, scratch, options }),
  );
  await refuseReplaced(folder, fingerprint);
  return { dataset, fingerprint, ...found };
}

/** Data read from two builds says nothing about either. */
async function refuseReplaced(folder: string, fingerprint: string): Promise<void> {
  const now = await readManifest(folder);
  if (now.fingerprint === fingerprint) return;
  throw new FedwayError("SHARDS_BUSY", "The shards were replaced by others while they were read.", {
    next: "Ask for the same once more.",
  });
}

/**
 * Works in a folder of its own, which is gone at the end, as is what runs of the same id left that started earlier. One of
 * these may still be about to begin or to end, cancelled or lost: it must not remove the folder of this one.
 */
async function withScratch<Result>(
  root: string,
  { id, startedMs }: { readonly id: string; readonly startedMs: number },
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const names = await readdir(root).catch(() => []);
  const isLater = (name: string): boolean => Number(name.split("~")[1]) >= startedMs;
  const earlier = names.filter((name) => name.startsWith(`${id}~`) && !isLater(name));
  await Promise.all(earlier.map((name) => removeFolder(join(root, name))));
  const folder = join(root, `${id}~${startedMs}~${randomUUID()}`);
  await makeFolder(folder);
  try {
    return await work(folder);
  } finally {
    await removeFolder(folder);
  }
}

const isPackagePayload = isShape({
  dataset: matches(datasetPattern),
  baseUrl: isText,
  timeoutMs: optional(isCount),
  folder: isText,
});

/** Jobs that make packages in `packages/` of the data folder, which replace those of before. */
export const packageJobs = datasetJobs({
  name: "package-shards",
  isPayload: isPackagePayload,
  async run({ dataset, baseUrl, timeoutMs }, { config, folder, scratch, runTask, options }) {
    const { dataDir, limits } = config;
    const output = packageFolder(dataDir, dataset);
    const made = { output, baseUrl, timeoutMs, memoryMb: limits.hostedTotalMb, scratch };
    return runTask({ kind: "package", folder, options: made }, options);
  },
});

const answersMs = 30 * 60_000;
const maxAnswerBytes = 16 * 1024 * 1024;
const mostInputs = 1_000;

/** Result of a verification job: the findings, each cut to a readable length. */
export interface VerifyJobResult extends Verification, DatasetResult {}

const isVerifyPayload = isShape({ dataset: matches(datasetPattern), answers: isFlag, folder: isText });

/**
 * Jobs that verify shards with inputs from below `shards-input/` of the data folder; `answers`: compare the answers of all
 * queries too.
 */
export const verifyJobs = datasetJobs({
  name: "verify-shards",
  isPayload: isVerifyPayload,
  async run({ answers }, { config, folder, scratch, runTask, options }) {
    const { hostedTimeoutMs, hostedTotalMb } = config.limits;
    const [inputs, queries] = await Promise.all([inputsOf(config.dataDir, folder), queriesOf(folder)]);
    const limits = { timeoutMs: hostedTimeoutMs, memoryMb: Math.ceil(hostedTotalMb / 2), maxAnswerBytes };
    const verified = { folder, inputs, queries, answers, limits, scratch };
    return inShort(await runTask({ kind: "verify", options: verified, answersMs }, options));
  },
});

const elsewhere =
  "What the shards were made of does not lie below shards-input/ of the data folder (any more). The command " +
  "fedway shards verify reads it anywhere.";

/** The inputs, where all of them lie where jobs may read: the note on where they lay may come from anybody. */
async function inputsOf(dataDir: string, folder: string): Promise<readonly Input[] | Unread> {
  const baseDir = await inputFolder(dataDir);
  try {
    const origins = await readOrigins(folder);
    if (origins.length > mostInputs) return { unread: elsewhere };
    const paths = await Promise.all(origins.map((path) => readablePath(path, { baseDir, readable: [baseDir] })));
    return paths.map((path) => ({ path }));
  } catch (error) {
    const { code, message } = toFedwayError(error);
    if (code === "REQUEST_INVALID") return { unread: elsewhere };
    if (code === "SHARDS_UNKNOWN" || code === "SHARDS_INVALID") return { unread: message };
    throw error;
  }
}

async function queriesOf(folder: string): Promise<readonly VerifiedQuery[] | Unread> {
  try {
    const { queries } = await readReport(folder);
    return queries.map(({ id, text, federated }) => ({ id, text, federated }));
  } catch (error) {
    const { code, message } = toFedwayError(error);
    if (code === "SHARDS_UNKNOWN" || code === "SHARDS_INVALID") return { unread: message };
    throw error;
  }
}

const longestSubject = 300;
const longestReason = 600;
const cut = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length)}…` : text);

const inFewWords = (check: Check): Check => ({
  ...check,
  findings: check.findings.map(({ subject, reason }) => ({
    subject: cut(subject, longestSubject),
    reason: cut(reason, longestReason),
  })),
});

/** A few dozen findings at most, which fits into a job whatever queries and data are called. */
const inShort = ({ outcome, checks }: Verification): Verification => ({ outcome, checks: checks.map(inFewWords) });
