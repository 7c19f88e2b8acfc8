import { resolve } from "node:path";
import type { VerifyShardsOptions } from "../cli/cli-io.ts";
import type { JobProgress } from "../jobs/job-queue.ts";
import { readOrigins, readReport } from "../shards/finished-folder.ts";
import { readManifest } from "../shards/materialise/manifest.ts";
import type { Verification } from "../shards/verify/verification.ts";
import { verifyShards, type VerifyOptions, type VerifyProgress } from "../shards/verify.ts";
import { type StoreLimits, storeOpener } from "./open-store.ts";

/** For a person who waits: two minutes a query, and all that WebAssembly can address, but for some room. */
const generous = { timeoutMs: 120_000, memoryMb: 3_584, maxAnswerBytes: 512 * 1024 * 1024 };

/**
 * Verifies a finished folder against what it was made of.
 * @throws FedwayError `SHARDS_UNKNOWN`, `SHARDS_INVALID`, `DISK_FULL`; the signal's reason when it is aborted
 */
export async function verifyFolder(path: string, options: VerifyShardsOptions): Promise<Verification> {
  const folder = resolve(path);
  // Before anything else is missed in a folder that is none.
  await readManifest(folder);
  const { queries } = await readReport(folder);
  const { answers, timeoutMs, signal, onProgress } = options;
  const inputs = options.inputs.length > 0 ? options.inputs.map((each) => resolve(each)) : await readOrigins(folder);
  return verifyFinished({
    folder,
    inputs: inputs.map((each) => ({ path: each })),
    queries: queries.map(({ id, text, federated }) => ({ id, text, federated })),
    answers,
    limits: generous,
    ...(timeoutMs !== undefined && { timeUp: AbortSignal.timeout(timeoutMs) }),
    signal,
    onProgress,
  });
}

/** What is verified, and how far the stores that are asked may go. */
export interface FinishedOptions extends Omit<VerifyOptions, "openStore" | "onProgress"> {
  /** Compare the answers of all queries too. */
  readonly answers: boolean;
  /** Of each of two stores, which hold the whole dataset both. */
  readonly limits: StoreLimits;
  readonly onProgress: (progress: JobProgress) => void;
}

/** Verifies with stores of this process. @throws FedwayError as `verifyShards` */
export function verifyFinished({ answers, limits, onProgress, ...options }: FinishedOptions): Promise<Verification> {
  return verifyShards({
    ...options,
    ...(answers && { openStore: storeOpener(limits) }),
    onProgress: (progress) => onProgress(shown(progress)),
  });
}

const stages = {
  read: "reading inputs and shards",
  compare: "comparing triples",
  place: "checking where triples lie",
  answers: "comparing answers",
} as const;

const shown = ({ stage, step, steps, done, total }: VerifyProgress): JobProgress => ({
  stage: `${stages[stage]} (${step} of ${steps})`,
  done,
  total,
});
