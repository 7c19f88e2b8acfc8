import type { ChildProcess } from "node:child_process";
import { FedwayError } from "../errors/fedway-error.ts";
import type { JobProgress } from "../jobs/job-queue.ts";
import { errorOf, tellError } from "../shards/threads/thread-protocol.ts";
import { type ChildEnd, childEnd, forkScript, scriptBeside } from "../workers/fork-script.ts";
import type { OpenSlices, ReadSlices } from "./shard-readers.ts";
import type { FromShardProcess, ShardResults, ShardTask, ToShardProcess } from "./shard-task.ts";

/** How a task is run. */
export interface ShardTaskOptions {
  /** JavaScript heap of the process. */
  readonly memoryMb: number;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: JobProgress) => void;
  /** Has parts of a build read by others. */
  readonly readSlices?: ReadSlices;
}

/** So long a task may take to end once it is told to; what it has written stays either way. */
const stopMs = 10_000;

/**
 * Runs a task in a process of its own: the caller's event loop stays free, and a heap that overflows ends the task alone.
 * @throws FedwayError what the task throws, `REQUEST_TOO_LARGE` when it runs out of memory, `INTERNAL` when its process
 *   is lost; the signal's reason when that is aborted
 */
export async function runShardTask<Task extends ShardTask>(
  task: Task,
  options: ShardTaskOptions,
): Promise<ShardResults[Task["kind"]]> {
  const { signal, memoryMb } = options;
  signal.throwIfAborted();
  const child = forkScript(scriptBeside(import.meta.url, "shard-process"), { memoryMb });
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

/** A process that is gone already hears nothing; its end is told by `childEnd`. */
function send(child: ChildProcess, message: ToShardProcess): void {
  child.send(message, () => {});
}

function answerOf<Result>(child: ChildProcess, options: ShardTaskOptions): Promise<Result> {
  return new Promise((resolve, reject) => {
    child.on("message", (said: FromShardProcess<Result>) => {
      if (said.kind === "progress") options.onProgress(said.progress);
      else if (said.kind === "readSlices") void readFor(child, said.slices, options);
      else if (said.kind === "done") resolve(said.result);
      else reject(errorOf(said.error));
    });
  });
}

async function readFor(child: ChildProcess, slices: OpenSlices, options: ShardTaskOptions): Promise<void> {
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
