import type { ChildProcess } from "node:child_process";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { JobProgress } from "../../../src/jobs/job-queue.ts";
import { errorOf, tellError, type ToldError } from "../../../src/workers/told-error.ts";
import { type ChildEnd, childEnd, forkScript, startChild, yieldToService } from "../../../src/workers/child-process.ts";
import { type OpenSlices, type ReadSlices, sharingReaders } from "./slice-readers.ts";
import type { Progress, PassOptions } from "../load/read-statements.ts";
import type { SharedSlice } from "../materialise/shared-slices.ts";
import type { LocatedSpec } from "../spec-paths.ts";
import type { Verification } from "../verify/verification.ts";
import type { BuildJobResult } from "./build-jobs.ts";
import type { FinishedOptions } from "./commands.ts";
import type { ShardReport } from "../report/shard-report.ts";
import type { OpenStores } from "../verify/answer-store.ts";
import { systemClock } from "../../../src/clock.ts";

interface RunOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: JobProgress) => void;
  /** Reads parts of a build elsewhere. */
  readonly readSlices?: ReadSlices;
}

/** How long a task may take to stop before it is killed; what it has written stays either way. */
const stopMs = 10_000;

/**
 * Runs a task in a process of its own: the caller's event loop stays free, and a heap that overflows ends the task alone.
 * @throws FedwayError what the task throws, `REQUEST_TOO_LARGE` when it runs out of memory, `INTERNAL` when its process
 *   is lost; the signal's reason when that is aborted
 */
export type RunShardTask = <Task extends ShardTask>(
  task: Task,
  options: RunOptions,
) => Promise<ShardResults[Task["kind"]]>;

/**
 * Runs tasks in processes of this script, which calls `serveShardTask`.
 * @param memoryMb JavaScript heap of each process
 */
export const shardTaskRunner =
  (script: URL, memoryMb: number): RunShardTask =>
  async (task, options) => {
    options.signal.throwIfAborted();
    return runIn(forkScript(script, { memoryMb }), { task, memoryMb, ...options });
  };

async function runIn<Task extends ShardTask>(
  child: ChildProcess,
  { task, memoryMb, ...options }: RunOptions & { readonly task: Task; readonly memoryMb: number },
): Promise<ShardResults[Task["kind"]]> {
  const { signal } = options;
  const end = childEnd(child);
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    send(child, { kind: "stop", reason: tellError(signal.reason) });
    timer = setTimeout(() => child.kill("SIGKILL"), stopMs);
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    const result = answerOf<ShardResults[Task["kind"]]>(child, options);
    send(child, { kind: "task", task });
    return await Promise.race([
      result,
      end.then((how): never => {
        throw lostError(how, memoryMb);
      }),
    ]);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    // It ends with its channel.
    if (child.connected) child.disconnect();
    await end;
  }
}

/** A send to a process that has ended is ignored: `childEnd` reports the end. */
function send(child: ChildProcess, message: ToShardProcess): void {
  child.send(message, () => {});
}

function answerOf<Result>(child: ChildProcess, options: RunOptions): Promise<Result> {
  return new Promise((resolve, reject) => {
    child.on("message", (said: FromShardProcess<Result>) => {
      if (said.kind === "progress") options.onProgress(said.progress);
      else if (said.kind === "readSlices") void readFor(child, said.slices, options);
      else if (said.kind === "done") resolve(said.result);
      else reject(errorOf(said.error));
    });
  });
}

async function readFor(child: ChildProcess, slices: OpenSlices, options: RunOptions): Promise<void> {
  const { readSlices, signal } = options;
  try {
    if (readSlices === undefined) throw new Error("there are no readers");
    await readSlices(slices, { signal, onProgress: (progress) => send(child, { kind: "reading", progress }) });
    send(child, { kind: "read" });
  } catch (error) {
    send(child, { kind: "read", error: tellError(error) });
  }
}

function lostError({ reason, detail }: ChildEnd, memoryMb: number): FedwayError {
  const cause = new Error(detail);
  if (reason !== "memory") {
    const how = reason === "killed" ? "was killed, as a machine or container does that has no memory left" : "ended";
    return new FedwayError("INTERNAL", `The process that works on the shards ${how}, before it was done.`, { cause });
  }
  return new FedwayError("REQUEST_TOO_LARGE", `The work on the shards needs more than its memory of ${memoryMb} MiB.`, {
    cause,
    next: "Raise FEDWAY_SHARD_MEMORY_MB, or build shards of fewer triples or queries.",
  });
}

/** Work on shards that takes a processor for long, and so a process of its own (`shard-process.ts`). */
type ShardTask =
  | {
      readonly kind: "build";
      readonly spec: LocatedSpec;
      readonly dryRun: boolean;
      /** Large inputs are read by others too, whom the parent asks. */
      readonly readers?: { readonly sliceBytes: number; readonly inputs: string } | undefined;
    }
  | { readonly kind: "slice"; readonly shared: SharedSlice }
  | {
      readonly kind: "verify";
      readonly options: Omit<FinishedOptions, "signal" | "timeUp" | "onProgress" | "answersTime">;
      /** For the answers of all queries together. */
      readonly answersMs: number;
    };

/** The results of tasks. */
interface ShardResults {
  readonly build: BuildJobResult;
  readonly slice: void;
  readonly verify: Verification;
}

/** Messages to the process. */
type ToShardProcess =
  | { readonly kind: "task"; readonly task: ShardTask }
  /** The task is to end soon, for this reason. */
  | { readonly kind: "stop"; readonly reason: ToldError }
  /** How far the readers are that the process asked for. */
  | { readonly kind: "reading"; readonly progress: Progress }
  | { readonly kind: "read"; readonly error?: ToldError | undefined };

/** What the process says; `done` or `failed` is its last word. */
type FromShardProcess<Result> =
  | { readonly kind: "progress"; readonly progress: JobProgress }
  | { readonly kind: "readSlices"; readonly slices: OpenSlices }
  | { readonly kind: "done"; readonly result: Result }
  | { readonly kind: "failed"; readonly error: ToldError };

const stopped = new AbortController();
const tell = (message: FromShardProcess<unknown>): void => void process.send?.(message);
const onProgress = (progress: JobProgress): void => tell({ kind: "progress", progress });

/** The request to the parent for readers that is under way; one at a time. */
let reading: { onProgress(progress: Progress): void; end(error: Error | undefined): void } | undefined;

/**
 * Makes this process do one task. Input: a `task`, then `ToShardProcess` messages. Output: `FromShardProcess` messages,
 * the last one `done` or `failed`.
 */
export function serveShardTask(openStores: OpenStores): void {
  startChild();
  yieldToService();
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

/** Each kind of task loads only what it needs: loading everything takes as long as a small task. */
async function run(task: ShardTask, openStores: OpenStores): Promise<unknown> {
  const { signal } = stopped;
  if (task.kind === "build") {
    const { spec, dryRun } = task;
    const { runBuild } = await import("./commands.ts");
    const readers = task.readers && sharingReaders(task.readers, askParent);
    const { report } = await runBuild(spec, { openStores, dryRun, signal, onProgress, readers });
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
