import type { ChildProcess } from "node:child_process";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import type { JobProgress } from "../../../src/jobs/job-queue.ts";
import { errorOf, tellError, type ToldError } from "../../../src/workers/told-error.ts";
import { type ChildEnd, childEnd, forkScript, startChild, yieldToService } from "../../../src/workers/child-process.ts";
import type { LocatedSpec } from "../spec-paths.ts";
import type { Verification } from "../verify/verification.ts";
import type { PackageManifest, PackagePlan } from "../package/package-shards.ts";
import type { BuildJobResult } from "./build-jobs.ts";
import type { FinishedPlan } from "./commands.ts";
import type { ShardReport } from "../report/shard-report.ts";
import type { OpenStores } from "../verify/answer-store.ts";
import { systemClock } from "../../../src/clock.ts";
import { packageVersion } from "../../../src/package-file.ts";

interface RunOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: JobProgress) => void;
}

/** How long a task may take to stop before it is killed; written files stay either way. */
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
    return runIn(forkScript(script, { memoryMb, newSpaceMb: 4 }), { task, memoryMb, ...options });
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
      else if (said.kind === "done") resolve(said.result);
      else reject(errorOf(said.error));
    });
  });
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
  | { readonly kind: "build"; readonly spec: LocatedSpec; readonly dryRun: boolean }
  | {
      readonly kind: "verify";
      readonly options: FinishedPlan;
      /** For the answers of all queries together. */
      readonly answersMs: number;
    }
  | {
      readonly kind: "package";
      readonly folder: string;
      readonly options: PackagePlan;
    };

/** Result of a package job: numbers of items, and of questions left out; the manifest has all. */
interface PackageJobResult {
  readonly questions: number;
  readonly queries: number;
  readonly outcomes: PackageManifest["outcomes"];
  readonly leftOut: number;
}

/** The results of tasks. */
interface ShardResults {
  readonly build: BuildJobResult;
  readonly verify: Verification;
  readonly package: PackageJobResult;
}

/** Messages to the process. */
type ToShardProcess =
  | { readonly kind: "task"; readonly task: ShardTask }
  /** The task is to end soon, for this reason. */
  | { readonly kind: "stop"; readonly reason: ToldError };

/** Messages of the process; `done` or `failed` is its last one. */
type FromShardProcess<Result> =
  | { readonly kind: "progress"; readonly progress: JobProgress }
  | { readonly kind: "done"; readonly result: Result }
  | { readonly kind: "failed"; readonly error: ToldError };

const stopped = new AbortController();
const tell = (message: FromShardProcess<unknown>): void => void process.send?.(message);
const onProgress = (progress: JobProgress): void => tell({ kind: "progress", progress });

/**
 * Makes this process do one task. Input: a `task`, then `ToShardProcess` messages. Output: `FromShardProcess` messages,
 * the last one `done` or `failed`.
 */
export function serveShardTask(openStores: OpenStores): void {
  startChild();
  yieldToService();
  process.on("message", (told: ToShardProcess) => {
    if (told.kind === "task") void serve(told.task, openStores);
    else stopped.abort(errorOf(told.reason));
  });
}

async function serve(task: ShardTask, openStores: OpenStores): Promise<void> {
  try {
    tell({ kind: "done", result: await run(task, openStores) });
  } catch (error) {
    tell({ kind: "failed", error: tellError(error) });
  }
}

/** Each loads what it needs when it begins: the parent imports this file too. */
async function run(task: ShardTask, openStores: OpenStores): Promise<unknown> {
  const { signal } = stopped;
  if (task.kind === "package") {
    const { packageShards } = await import("../package/package-shards.ts");
    const request = { ...task.options, version: packageVersion(), signal, onProgress };
    const { manifest } = await packageShards(task.folder, request, openStores);
    const { questions, queries, outcomes, leftOut } = manifest;
    return { questions, queries, outcomes, leftOut: leftOut.length } satisfies PackageJobResult;
  }
  const { runBuild, verifyFinished } = await import("./commands.ts");
  if (task.kind === "verify") {
    const answersTime = { totalMs: task.answersMs, now: systemClock.now };
    return verifyFinished({ ...task.options, openStores, answersTime, signal, onProgress });
  }
  const { spec, dryRun } = task;
  const { report } = await runBuild(spec, { openStores, dryRun, signal, onProgress });
  return resultOf(report, dryRun);
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
