/**
 * The thread of a store that does what its source text says, one step a start: `{ log, steps }`, where `log` is a file that
 * gets one byte a start. Steps: "crash" (throws), "hang", "ready" (answers "pong"), "fragile" (ends itself behind its first
 * answer).
 */
import { appendFileSync, readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import type { StoreBoot, StoreReply, StoreTask } from "../../src/hosting/store-thread.ts";
import { serveTasks } from "../../src/workers/threads.ts";

const { source }: StoreBoot = workerData;
const { log, steps }: { log: string; steps: string[] } = JSON.parse(source?.kind === "text" ? source.text : "{}");
appendFileSync(log, "x");
const start = readFileSync(log).length;
const step = steps[start - 1] ?? steps.at(-1);

if (step === "crash") throw new Error("crash on purpose");
serveTasks<StoreTask, StoreReply>(async (task) => {
  if (step === "hang") await new Promise(() => {});
  if (task === "load") return { kind: "loaded", memoryBytes: 1 };
  if (step === "fragile") setImmediate(() => parentPort?.close());
  return { kind: "answer", memoryBytes: 1, body: new TextEncoder().encode(`pong ${start}`) };
});
