/**
 * A worker that does what its source text says, one step a start: `{ log, steps }`, where `log` is a file that gets
 * one byte a start. Steps: "crash" (throws), "hang", "ready" (answers "pong"), "fragile" (ends itself when idle).
 */
import { appendFileSync, readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import type { WorkerBoot, WorkerQuery } from "../../../src/hosting/store-worker.ts";

const boot: WorkerBoot = workerData;
const { source } = boot;
const script: { log: string; steps: string[] } = JSON.parse(source.kind === "text" ? source.text : "{}");
const { log, steps } = script;
appendFileSync(log, "x");
const start = readFileSync(log).length;
const step = steps[start - 1] ?? steps.at(-1);

if (step === "crash") throw new Error("crash on purpose");
parentPort?.on("message", ({ id }: WorkerQuery) => {
  parentPort?.postMessage({ kind: "answer", id, memoryBytes: 1, body: new TextEncoder().encode(`pong ${start}`) }, []);
});
if (step !== "hang") parentPort?.postMessage({ kind: "ready", memoryBytes: 1 }, []);
if (step === "fragile") setTimeout(() => parentPort?.close(), 20);
