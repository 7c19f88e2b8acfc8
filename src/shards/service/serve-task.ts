import type { JobProgress } from "../../jobs/job-queue.ts";
import type { PassOptions, Progress } from "../load/read-statements.ts";
import type { ShardReport } from "../report/shard-report.ts";
import { errorOf, tellError } from "../threads/thread-protocol.ts";
import type { OpenStores } from "../verify/answer-store.ts";
import { startChild } from "../../workers/start-child.ts";
import { systemClock } from "../../clock.ts";
import type { BuildJobResult } from "./build-jobs.ts";
import { type OpenSlices, sharingReaders } from "./slice-readers.ts";
import type { FromShardProcess, ShardTask, ToShardProcess } from "./run-task.ts";

const stopped = new AbortController();
const tell = (message: FromShardProcess<unknown>): void => void process.send?.(message);
const onProgress = (progress: JobProgress): void => tell({ kind: "progress", progress });

/** Who waits for readers in other processes; one round of them at a time. */
let reading: { onProgress(progress: Progress): void; end(error: Error | undefined): void } | undefined;

/**
 * Makes this process do one task. Input: a `task`, then `ToShardProcess` messages. Output: `FromShardProcess` messages,
 * the last one `done` or `failed`.
 */
export function serveShardTask(openStores: OpenStores): void {
  startChild();
  process.on("message", (told: ToShardProcess) => {
    if (told.kind === "task") void serve(told.task, openStores);
    else hear(told);
  });
}

function hear(told: Exclude<ToShardProcess, { kind: "task" }>): void {
  if (told.kind === "stop") stopped.abort(errorOf(told.reason));
  else if (told.kind === "reading") reading?.onProgress(told.progress);
  else reading?.end(told.error && errorOf(told.error));
}

async function serve(task: ShardTask, openStores: OpenStores): Promise<void> {
  try {
    tell({ kind: "done", result: await run(task, openStores) });
  } catch (error) {
    tell({ kind: "failed", error: tellError(error) });
  }
}

/** Each kind loads what it needs: all of it together takes as long as a small task. */
async function run(task: ShardTask, openStores: OpenStores): Promise<unknown> {
  const { signal } = stopped;
  if (task.kind === "build") {
    const { spec, dryRun } = task;
    const { runBuild } = await import("./commands.ts");
    const readers = task.readers && sharingReaders({ ...task.readers, read: askParent });
    const { report } = await runBuild(spec, { openStores, dryRun, signal, onProgress, ...(readers && { readers }) });
    return resultOf(report, dryRun);
  }
  if (task.kind === "verify") {
    const { verifyFinished } = await import("./commands.ts");
    const answersTime = { totalMs: task.answersMs, now: systemClock.now };
    return verifyFinished({ ...task.options, openStores, answersTime, signal, onProgress });
  }
  const { gatherShared } = await import("../materialise/shared-slices.ts");
  return gatherShared(task.shared, { signal, onProgress: tellPart });
}

const tellPart = ({ triples, bytes, totalBytes }: Progress): void =>
  onProgress({ stage: "splitting a part", done: bytes, total: totalBytes, figures: { triples } });

function askParent(slices: OpenSlices, passes: PassOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    reading = {
      onProgress: (progress) => passes.onProgress?.(progress),
      end: (error) => (error === undefined ? resolve() : reject(error)),
    };
    tell({ kind: "readSlices", slices });
  });
}

function resultOf(report: ShardReport, dryRun: boolean): BuildJobResult {
  const { dataset, statistics, rules, optimum, shards, queries, leftOut } = report;
  return {
    dataset: dataset.id,
    dryRun,
    triples: statistics.triples,
    rules: rules.length,
    lowerBound: optimum.lowerBound,
    proven: optimum.proven,
    shards: shards.length,
    queries: queries.length,
    notFederated: queries.filter(({ federated }) => !federated).length,
    leftOut: leftOut.length,
  };
}
