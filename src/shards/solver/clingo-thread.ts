import { Worker } from "node:worker_threads";
import type { ClingoBoot, ClingoMessage, ClingoRequest } from "./clingo-protocol.ts";

/** Who hears what a program's search says. */
export interface ClingoListener {
  listen(message: ClingoMessage): void;
  /** The thread is gone. */
  lost(why: string): void;
}

/** One worker thread with clingo in it. */
export interface ClingoThread {
  /** Sends a program; the caller sends the next one only after `done` or `failed`. */
  run(request: ClingoRequest, listener: ClingoListener): void;
  terminate(): Promise<void>;
}

/** JavaScript heap of the thread: the models as text until the search ends. */
const heapMb = 256;

/** From source Node runs the TypeScript file itself; compiled it is JavaScript. */
function workerScript(): URL {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return new URL(`./clingo-worker.${extension}`, import.meta.url);
}

/** Starts a thread; it does not keep the process alive while nothing is searched. */
export function startClingoThread(boot: ClingoBoot): ClingoThread {
  let listener: ClingoListener | undefined;
  let gone: string | undefined;
  const worker = new Worker(workerScript(), {
    workerData: boot,
    // Flags of the main thread (loaders, inspectors) and its environment are none of the worker's business.
    execArgv: [],
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  });
  // Both are read and dropped; unread output would pile up in memory.
  worker.stdout.resume();
  worker.stderr.resume();
  worker.unref();
  const lose = (why: string): void => {
    gone ??= why;
    const bereft = listener;
    listener = undefined;
    bereft?.lost(gone);
  };
  worker.on("message", (message: ClingoMessage) => {
    const heard = listener;
    if (message.kind === "done" || message.kind === "failed") {
      listener = undefined;
      worker.unref();
    }
    heard?.listen(message);
  });
  worker.on("error", (error) => lose(error.message));
  worker.on("exit", (code) => lose(`its thread ended with code ${code}`));
  return {
    run(request, next) {
      if (gone !== undefined) return next.lost(gone);
      listener = next;
      worker.ref();
      worker.postMessage(request, [request.program.buffer]);
    },
    async terminate() {
      listener = undefined;
      await worker.terminate();
    },
  };
}
