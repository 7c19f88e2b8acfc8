import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { VerifyShardsOptions } from "../cli/cli-io.ts";
import { createEndpointPool } from "../hosting/endpoint-pool.ts";
import { fileSource } from "../hosting/file-data.ts";
import { answerKindOf } from "../http/query-form.ts";
import type { JobProgress } from "../jobs/job-queue.ts";
import { readOrigins, readReport } from "../shards/finished-folder.ts";
import { readManifest } from "../shards/materialise/manifest.ts";
import type { AnswerStore } from "../shards/verify/answer-store.ts";
import type { Verification } from "../shards/verify/verification.ts";
import { type StoreFile, verifyShards, type VerifyOptions, type VerifyProgress } from "../shards/verify.ts";

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
  readonly limits: { readonly timeoutMs: number; readonly memoryMb: number; readonly maxAnswerBytes: number };
  readonly onProgress: (progress: JobProgress) => void;
}

/** Verifies with stores of this process. @throws FedwayError as `verifyShards` */
export function verifyFinished({ answers, limits, onProgress, ...options }: FinishedOptions): Promise<Verification> {
  return verifyShards({
    ...options,
    ...(answers && {
      openStore: (files: readonly StoreFile[], signal: AbortSignal) => openStore(files, limits, signal),
    }),
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

/** The files as one dataset: N-Quads keep their graphs, on both sides alike. */
async function openStore(
  files: readonly StoreFile[],
  limits: FinishedOptions["limits"],
  signal: AbortSignal,
): Promise<AnswerStore> {
  let bytes = 0;
  for (const { path } of files) bytes += (await stat(path)).size;
  const packed = files.some(({ gzip }) => gzip);
  signal.throwIfAborted();
  const { timeoutMs, memoryMb, maxAnswerBytes } = limits;
  const pool = createEndpointPool({ timeoutMs, totalMb: memoryMb * 4, maxAnswerBytes, maxWaiting: 2, maxPerClient: 2 });
  const endpoint = pool.endpoint({
    id: "verification",
    source: fileSource(
      files.map(({ path }) => ({ path })),
      packed ? bytes * usualRatio : bytes,
    ),
    memoryMb,
  });
  const ask = async (
    query: string,
    stop: AbortSignal,
    mostMs: number,
  ): Promise<{ body: Buffer; mediaType: string }> => {
    const kind = answerKindOf(query) ?? "bindings";
    const accept = kind === "quads" ? "application/n-triples" : "application/sparql-results+json";
    const { body, mediaType, stream } = await endpoint.query({
      query,
      kind,
      accept,
      signal: stop,
      timeoutMs: mostMs,
    });
    stream?.destroy();
    return { body, mediaType };
  };
  try {
    await ask("ASK {}", signal, mostLoadingMs);
  } catch (error) {
    await pool.close();
    throw error;
  }
  return { answer: (query, stop) => ask(query, stop, timeoutMs), close: () => pool.close() };
}

const mostLoadingMs = 300_000;

/** N-Triples are about as many times larger than their gzip. */
const usualRatio = 12;
