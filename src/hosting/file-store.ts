import { stat } from "node:fs/promises";
import { mendedQuery } from "../sparql/query.ts";
import { HostedJob } from "./hosted-endpoint.ts";
import { answerKindOf } from "./query-form.ts";
import { StoreRunner } from "./store-runner.ts";

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

/** The files as one dataset: N-Quads keep their graphs. Queries are answered one after the other. */
async function openStore(files: StoreFiles, limits: FileStoreLimits, signal: AbortSignal) {
  let bytes = 0;
  for (const { path, gzip } of files) bytes += (await stat(path)).size * (gzip ? usualRatio : 1);
  signal.throwIfAborted();
  const { timeoutMs, memoryMb, maxAnswerBytes } = limits;
  const paths = files.map(({ path }) => ({ path }));
  const runner = new StoreRunner({ id, source: { kind: "files", files: paths, bytes }, memoryMb, maxAnswerBytes });
  let before = Promise.resolve();
  const answer = async (text: string, stop: AbortSignal, mostMs = timeoutMs) => {
    const mediaType = answerKindOf(text) === "quads" ? "application/n-triples" : "application/sparql-results+json";
    const request = { query: mendedQuery(text), signal: stop, timeoutMs: mostMs };
    const job = new HostedJob({ endpointId: id, request, mediaType, runLimitMs: timeoutMs });
    before = before.then(() => runner.run(job));
    return job.answer;
  };
  try {
    await answer("ASK {}", signal, mostLoadingMs);
  } catch (error) {
    await runner.close();
    throw error;
  }
  return { answer: (query: string, stop: AbortSignal) => answer(query, stop), close: () => runner.close() };
}

const id = "verification";
const mostLoadingMs = 300_000;

/** N-Triples are about as many times larger than their gzip. */
const usualRatio = 12;
