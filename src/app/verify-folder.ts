import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { VerifyShardsOptions } from "../cli/cli-io.ts";
import { createHostedEndpoint } from "../hosting/create-hosted-endpoint.ts";
import { fileSource } from "../hosting/file-data.ts";
import { answerKindOf } from "../http/query-form.ts";
import { readManifest } from "../shards/materialise/manifest.ts";
import { readOrigins, readReport } from "../shards/finished-folder.ts";
import type { AnswerStore } from "../shards/verify/compare-answers.ts";
import type { Verification } from "../shards/verify/verification.ts";
import { type StoreFile, verifyShards, type VerifyProgress } from "../shards/verify.ts";

const queryTimeoutMs = 120_000;
const maxAnswerBytes = 512 * 1024 * 1024;
/** All that WebAssembly can address, but for some room: both stores hold the whole dataset. */
const memoryMb = 3_584;

/**
 * Verifies a finished folder against what it was made of.
 * @throws FedwayError `SHARDS_UNKNOWN`, `SHARDS_INVALID`; the signal's reason when it is aborted
 */
export async function verifyFolder(path: string, options: VerifyShardsOptions): Promise<Verification> {
  const folder = resolve(path);
  const { format } = await readManifest(folder);
  const { queries } = await readReport(folder);
  const inputs = options.inputs.length > 0 ? options.inputs.map((each) => resolve(each)) : await readOrigins(folder);
  const { answers, signal, onProgress } = options;
  return verifyShards({
    folder,
    inputs: inputs.map((each) => ({ path: each })),
    queries: queries.map(({ id, text }) => ({ id, text })),
    // Queries are about the default graph: where there are others, nobody can say what the answer should be.
    ...(answers && format === "n-triples" && { openStore }),
    signal,
    onProgress: (progress) => onProgress(shown(progress)),
  });
}

const stages = {
  read: "reading inputs and shards",
  compare: "comparing triples",
  answers: "comparing answers",
} as const;

function shown({ stage, done, total }: VerifyProgress) {
  return { stage: stages[stage], done, ...(total !== undefined && { total }) };
}

async function openStore(files: readonly StoreFile[], signal: AbortSignal): Promise<AnswerStore> {
  let bytes = 0;
  for (const { path } of files) bytes += (await stat(path)).size;
  const packed = files.some(({ gzip }) => gzip);
  signal.throwIfAborted();
  const endpoint = await createHostedEndpoint({
    id: "verification",
    source: fileSource(
      files.map(({ path }) => ({ path })),
      packed ? bytes * usualRatio : bytes,
    ),
    limits: { timeoutMs: queryTimeoutMs, memoryMb, maxAnswerBytes, maxQueue: 1 },
  });
  return {
    answer: (query, stop) => {
      const kind = answerKindOf(query) ?? "bindings";
      const accept = kind === "quads" ? "application/n-triples" : "application/sparql-results+json";
      return endpoint.query({ query, kind, accept, signal: stop, timeoutMs: queryTimeoutMs });
    },
    close: () => endpoint.close(),
  };
}

/** N-Triples are about as many times larger than their gzip. */
const usualRatio = 12;
