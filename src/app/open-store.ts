import { stat } from "node:fs/promises";
import { EndpointPool } from "../hosting/endpoint-pool.ts";
import { fileSource } from "../hosting/file-data.ts";
import { answerKindOf } from "../http/hosted-answer.ts";
import type { AnswerStore, OpenStore, StoreFile } from "../shards/verify/answer-store.ts";

/** Of one store: a query's time, the memory of data and queries, the bytes of an answer. */
export interface StoreLimits {
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly maxAnswerBytes: number;
}

/** Opens stores that run in processes of their own. */
export const storeOpener =
  (limits: StoreLimits): OpenStore =>
  (files, signal) =>
    openStore(files, limits, signal);

/** The files as one dataset: N-Quads keep their graphs, on both sides alike. */
async function openStore(files: readonly StoreFile[], limits: StoreLimits, signal: AbortSignal): Promise<AnswerStore> {
  let bytes = 0;
  for (const { path } of files) bytes += (await stat(path)).size;
  const packed = files.some(({ gzip }) => gzip);
  signal.throwIfAborted();
  const { timeoutMs, memoryMb, maxAnswerBytes } = limits;
  const pool = new EndpointPool({ timeoutMs, totalMb: memoryMb * 4, maxAnswerBytes, maxWaiting: 2, maxPerClient: 2 });
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
