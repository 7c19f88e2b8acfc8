import { parentPort } from "node:worker_threads";
import type { Progress } from "../load/read-statements.ts";
import { type ThreadReply, tellError } from "./thread-protocol.ts";

/** Does one task; may tell how far it is. */
export type DoTask<Task, Result> = (task: Task, onProgress: (progress: Progress) => void) => Promise<Result>;

/**
 * Makes this thread do what `startThreads` sends it, one task at a time.
 * @param transferOf what of a result the other thread takes over, so that it is not copied
 */
export function serveTasks<Task, Result>(
  doTask: DoTask<Task, Result>,
  transferOf: (result: Result) => readonly ArrayBuffer[] = () => [],
): void {
  const reply = (message: ThreadReply<Result>, transfer: readonly ArrayBuffer[] = []): void =>
    parentPort?.postMessage(message, [...transfer]);
  const serve = async (task: Task): Promise<void> => {
    try {
      const result = await doTask(task, (progress) => reply({ kind: "progress", progress }));
      reply({ kind: "done", result }, transferOf(result));
    } catch (error) {
      reply({ kind: "failed", error: tellError(error) });
    }
  };
  parentPort?.on("message", (task: Task) => void serve(task));
}
