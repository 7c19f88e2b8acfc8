import { stat } from "node:fs/promises";
import { EndpointPool } from "./endpoint-pool.ts";
import { answerKindOf } from "./query-form.ts";

/** Bounds of a store: a query's time, the memory of data and queries, the bytes of an answer. */
interface FileStoreLimits {
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly maxAnswerBytes: number;
}

type StoreFiles = readonly { readonly path: string; readonly gzip: boolean }[];

/** Opens stores in threads, one for each list of files. */
export const storeOpener = (limits: FileStoreLimits) => (files: StoreFiles, signal: AbortSignal) =>
  openStore(files, limits, signal);

/** The files as one dataset: N-Quads keep their graphs. */
async function openStore(files: StoreFiles, limits: FileStoreLimits, signal: AbortSignal) {
  let bytes = 0;
  for (const { path, gzip } of files) bytes += (await stat(path)).size * (gzip ? usualRatio : 1);
  signal.throwIfAborted();
  const { timeoutMs, memoryMb, maxAnswerBytes } = limits;
  const pool = new EndpointPool({ timeoutMs, totalMb: memoryMb * 4, maxAnswerBytes, maxWaiting: 2, maxPerClient: 2 });
  const paths = files.map(({ path }) => ({ path }));
  const endpoint = pool.endpoint({ id: "verification", source: { kind: "files", files: paths, bytes }, memoryMb });
  const answer = async (query: string, stop: AbortSignal, mostMs = timeoutMs) => {
    const kind = answerKindOf(query) ?? "bindings";
    const accept = kind === "quads" ? "application/n-triples" : "application/sparql-results+json";
    const { body, mediaType, stream } = await endpoint.query({ query, kind, accept, signal: stop, timeoutMs: mostMs });
    stream?.destroy();
    return { body, mediaType };
  };
  try {
    await answer("ASK {}", signal, mostLoadingMs);
  } catch (error) {
    await pool.close();
    throw error;
  }
  return { answer: (query: string, stop: AbortSignal) => answer(query, stop), close: () => pool.close() };
}

const mostLoadingMs = 300_000;

/** N-Triples are about as many times larger than their gzip. */
const usualRatio = 12;
