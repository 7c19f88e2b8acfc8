import { randomUUID } from "node:crypto";
import { mkdir, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../../src/clock.ts";
import { FedwayError, toFedwayError } from "../../../src/errors/fedway-error.ts";
import type { Job, JobContext, JobKind, JobQueue } from "../../../src/jobs/job-queue.ts";
import { readOrigins, readReport } from "../finished-folder.ts";
import type { Input } from "../load/input.ts";
import { removeFolder } from "../materialise/build-folder.ts";
import { readManifest } from "../materialise/manifest.ts";
import { type Guarded, isFlag, isShape, isText, matches, optional } from "../guards.ts";
import { datasetPattern } from "../spec.ts";
import { readablePath } from "../spec-paths.ts";
import type { VerifiedQuery } from "../verify/compare-answers.ts";
import type { Check, Verification } from "../verify/verification.ts";
import type { Unread } from "../verify/verify.ts";
import type { RunShardTask } from "./run-task.ts";
import type { ShardSettings } from "./shard-service.ts";
import { enqueueOnce, inputFolder } from "./build-jobs.ts";
import { refuseOtherFolder } from "./data-folder.ts";
import type { ShardHost } from "./host.ts";

/** What a verification job is given; `answers`: compare the answers of all queries too. */
const isPayload = isShape({ dataset: matches(datasetPattern), answers: isFlag, folder: optional(isText) });
type VerifyPayload = Guarded<typeof isPayload>;

/** What a verification job gives: the findings, each cut to a length that is fit to be read. */
export interface VerifyJobResult extends Verification {
  readonly dataset: string;
  /** Fingerprint of the verified build. */
  readonly fingerprint: string;
}

const kindName = "verify-shards";
const answersMs = 30 * 60_000;
const maxAnswerBytes = 16 * 1024 * 1024;
const mostInputs = 1_000;

/**
 * Enqueues the verification of a dataset's shards, hosted or refused for being damaged. The same request again gives the job
 * that is under way.
 * @throws FedwayError `SHARDS_UNKNOWN`; `SHARDS_BUSY` when another verification of the dataset is under way
 */
export async function enqueueVerify(
  jobs: Pick<JobQueue, "enqueue">,
  host: Pick<ShardHost, "folderOf">,
  payload: VerifyPayload,
): Promise<Job> {
  await folderOf(host, payload.dataset);
  return enqueueOnce(jobs, { kind: kindName, id: `${kindName}.${payload.dataset}`, payload });
}

async function folderOf(host: Pick<ShardHost, "folderOf">, dataset: string): Promise<string> {
  const named = datasetPattern.test(dataset) ? await host.folderOf(dataset) : undefined;
  // One that is hosted may have been removed since.
  const folder = named && (await realpath(named).catch(() => undefined));
  if (folder !== undefined) return folder;
  throw new FedwayError("SHARDS_UNKNOWN", `This service has no shards of "${dataset.slice(0, 32)}".`);
}

/** What the job works with. */
interface VerifyKindParts {
  readonly config: Pick<ShardSettings, "dataDir" | "limits">;
  readonly host: Pick<ShardHost, "folderOf">;
  readonly runTask: RunShardTask;
}

/** The job that verifies the shards of one dataset, with inputs from below `shards-input/` of the data folder. */
export function verifyKind(parts: VerifyKindParts): JobKind {
  return {
    name: kindName,
    validate(payload) {
      payloadOf(payload);
    },
    run: (payload, context) => verify(payloadOf(payload), parts, context),
  };
}

function payloadOf(payload: unknown): VerifyPayload {
  if (isPayload(payload)) return payload;
  throw new FedwayError("REQUEST_INVALID", `A ${kindName} job needs the id of a dataset.`);
}

async function verify(
  { dataset, answers, folder: askedFor }: VerifyPayload,
  { config, host, runTask }: VerifyKindParts,
  { id, signal, progress }: JobContext,
): Promise<VerifyJobResult> {
  const startedMs = systemClock.now();
  await refuseOtherFolder(config.dataDir, askedFor);
  const folder = await folderOf(host, dataset);
  const { fingerprint } = await readManifest(folder);
  const { hostedTimeoutMs, hostedTotalMb } = config.limits;
  const [inputs, queries] = await Promise.all([inputsOf(config, folder), queriesOf(folder)]);
  const limits = { timeoutMs: hostedTimeoutMs, memoryMb: Math.ceil(hostedTotalMb / 2), maxAnswerBytes };
  signal.throwIfAborted();
  const found = await withScratch(join(config.dataDir, "scratch"), { id, startedMs }, (scratch) =>
    runTask(
      { kind: "verify", options: { folder, inputs, queries, answers, limits, scratch }, answersMs },
      { signal, onProgress: progress },
    ),
  );
  await refuseReplaced(folder, fingerprint);
  return { dataset, fingerprint, ...inShort(found) };
}

/** Data read from two builds says nothing about either. */
async function refuseReplaced(folder: string, fingerprint: string): Promise<void> {
  const now = await readManifest(folder);
  if (now.fingerprint === fingerprint) return;
  throw new FedwayError("SHARDS_BUSY", "The shards were replaced by others while they were verified.", {
    next: "Have them verified once more.",
  });
}

const elsewhere =
  "What the shards were made of does not lie below shards-input/ of the data folder (any more). The command " +
  "fedway shards verify reads it anywhere.";

/** The inputs, where all of them lie where jobs may read: the note on where they lay may come from anybody. */
async function inputsOf(config: Pick<ShardSettings, "dataDir">, folder: string): Promise<readonly Input[] | Unread> {
  const baseDir = await inputFolder(config);
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
  await mkdir(folder, { recursive: true });
  try {
    return await work(folder);
  } finally {
    await removeFolder(folder);
  }
}
