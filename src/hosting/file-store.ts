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

type StoreFiles = readonly { readonly path: string; readonly graph?: string | undefined }[];

/** Opens stores in threads, one for each list of files. */
export const storeOpener = (limits: FileStoreLimits) => (files: StoreFiles, signal: AbortSignal) =>
  openStore(files, limits, signal);

/** The files as one dataset: N-Quads keep their graphs. Queries are answered one after the other. */
async function openStore(files: StoreFiles, limits: FileStoreLimits, signal: AbortSignal) {
  signal.throwIfAborted();
  const { timeoutMs, memoryMb, maxAnswerBytes } = limits;
  const data = files.map(({ path, graph }) => ({ path, graph }));
  const source = { kind: "files", files: data } as const;
  const runner = new StoreRunner({ id, source, memoryMb, maxAnswerBytes, roomMb: memoryMb * roomShare });
  let before = Promise.resolve();
  const prepare = ofLast((text: string) => ({
    mediaType: answerKindOf(text) === "quads" ? "application/n-triples" : "application/sparql-results+json",
    query: mendedQuery(text),
  }));
  const answer = async (text: string, stop: AbortSignal, composed?: readonly string[], mostMs = timeoutMs) => {
    const { mediaType, query } = prepare(text);
    const request = { query, composed, signal: stop, timeoutMs: mostMs };
    const job = new HostedJob({ endpointId: id, request, mediaType, runLimitMs: timeoutMs });
    before = before.then(() => runner.run(job));
    return job.answer;
  };
  try {
    await answer("ASK {}", signal, undefined, mostLoadingMs);
  } catch (error) {
    await runner.close();
    throw error;
  }
  return {
    answer: (query: string, stop: AbortSignal, from?: readonly string[]) => answer(query, stop, from),
    close: () => runner.close(),
  };
}

/** The result for a text, kept until another one comes: one query is often asked of many parts in a row. */
function ofLast<Result>(work: (text: string) => Result): (text: string) => Result {
  let last: { readonly text: string; readonly result: Result } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, result: work(text) };
    return last.result;
  };
}

const id = "verification";
const mostLoadingMs = 300_000;
/** One store is open at a time, so that its queries may have memory from the beginning. */
const roomShare = 1 / 8;
