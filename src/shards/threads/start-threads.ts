import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { FedwayError } from "../../errors/fedway-error.ts";
import type { Progress } from "../load/read-statements.ts";
import { errorOf, type ThreadReply } from "./thread-protocol.ts";

/** Threads that do tasks side by side. */
export interface Threads<Task, Result> {
  readonly count: number;
  /**
   * Has a task done by the first thread that is free; they are begun in the order of the calls.
   * @throws what the task throws; for all that are open, the signal's reason when that is aborted and FedwayError
   *   `INTERNAL` when a thread is lost
   */
  run(task: Task, options?: RunOptions): Promise<Result>;
  /** Ends the threads, whatever they do; resolves when none is left. */
  close(): Promise<void>;
}

export interface RunOptions {
  readonly onProgress?: (progress: Progress) => void;
  /** What of the task the thread takes over, so that it is not copied. */
  readonly transfer?: readonly ArrayBuffer[];
}

export interface ThreadOptions {
  /** Module that calls `serveTasks`, by the name of its source. */
  readonly script: URL;
  /** Its `workerData`. */
  readonly data: unknown;
  readonly count: number;
  /** JavaScript heap of each. */
  readonly heapMb?: number;
  /** Ends all threads at once. */
  readonly signal?: AbortSignal | undefined;
}

/** Each takes 40 to 60 MB; what is read and written in sequence does not get quicker with more. */
const mostThreads = 4;
/** JavaScript heap of a thread: the table of cells. */
const defaultHeapMb = 512;

/**
 * How many threads are worth their start for so many bytes; 1: that of the caller. A thread costs a third of a second of a
 * processor until it has started and compiled its code, much of it at the same time as the others.
 * @param leastBytes what one thread alone goes through in a second or two
 */
export const threadsFor = (bytes: number, leastBytes: number): number =>
  bytes < leastBytes ? 1 : Math.min(mostThreads, availableParallelism());

/** Gets threads ready; each is started when there is a task for it. */
export const startThreads = <Task, Result>(options: ThreadOptions): Threads<Task, Result> =>
  new ThreadCrew<Task, Result>(options);

interface Order<Task, Result> extends RunOptions {
  readonly task: Task;
  resolve(result: Result): void;
  reject(reason: unknown): void;
}

class ThreadCrew<Task, Result> implements Threads<Task, Result> {
  readonly count: number;
  readonly #options: ThreadOptions;
  readonly #all = new Set<Worker>();
  readonly #free: Worker[] = [];
  readonly #busy = new Map<Worker, Order<Task, Result>>();
  readonly #waiting: Order<Task, Result>[] = [];
  /** Why there are no threads any more. */
  #end: { readonly reason: unknown } | undefined;
  readonly #abort = (): void => this.#lose(this.#options.signal?.reason);

  constructor(options: ThreadOptions) {
    this.#options = options;
    this.count = options.count;
    if (options.signal?.aborted === true) this.#abort();
    else options.signal?.addEventListener("abort", this.#abort, { once: true });
  }

  run(task: Task, options: RunOptions = {}): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#end !== undefined) return reject(this.#end.reason);
      this.#waiting.push({ ...options, task, resolve, reject });
      if (this.#free.length === 0 && this.#all.size < this.count) this.#start();
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#lose(new FedwayError("CANCELLED", "The threads of the build were ended."));
    await Promise.all(Array.from(this.#all, (worker) => worker.terminate()));
  }

  #start(): void {
    const worker = new Worker(scriptOf(this.#options.script), {
      workerData: this.#options.data,
      // Flags of the main thread (loaders, inspectors) and its environment are none of a thread's business.
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: this.#options.heapMb ?? defaultHeapMb },
    });
    this.#all.add(worker);
    this.#free.push(worker);
    worker.on("message", (reply: ThreadReply<Result>) => this.#hear(worker, reply));
    worker.on("error", (error) => this.#lose(lostThread(error)));
    worker.on("messageerror", (error) => this.#lose(lostThread(error)));
    worker.on("exit", (code) => {
      this.#all.delete(worker);
      this.#lose(lostThread(new Error(`the thread ended with code ${code}`)));
    });
  }

  #next(): void {
    while (this.#free.length > 0 && this.#waiting.length > 0) {
      const worker = this.#free.shift()!;
      const order = this.#waiting.shift()!;
      this.#busy.set(worker, order);
      worker.postMessage(order.task, order.transfer ?? []);
    }
  }

  #hear(worker: Worker, reply: ThreadReply<Result>): void {
    const order = this.#busy.get(worker);
    // Sent before it was ended.
    if (order === undefined) return;
    if (reply.kind === "progress") return this.#tell(order, reply.progress);
    this.#busy.delete(worker);
    this.#free.push(worker);
    this.#next();
    if (reply.kind === "done") order.resolve(reply.result);
    else order.reject(errorOf(reply.error));
  }

  /** An error of who listens ends the work, as it would without threads. */
  #tell({ onProgress }: Order<Task, Result>, progress: Progress): void {
    try {
      onProgress?.(progress);
    } catch (error) {
      this.#lose(error);
    }
  }

  /** Ends all threads, for the first reason that there is. */
  #lose(reason: unknown): void {
    if (this.#end !== undefined) return;
    this.#end = { reason };
    this.#options.signal?.removeEventListener("abort", this.#abort);
    for (const order of [...this.#busy.values(), ...this.#waiting.splice(0)]) order.reject(reason);
    this.#busy.clear();
    for (const worker of this.#all) void worker.terminate();
  }
}

/** From source Node runs the TypeScript file itself; compiled it is JavaScript. */
const scriptOf = (script: URL): URL =>
  import.meta.url.endsWith(".ts") ? script : new URL(script.href.replace(/\.ts$/u, ".js"));

function lostThread(cause: Error): FedwayError {
  const isMemory = "code" in cause && cause.code === "ERR_WORKER_OUT_OF_MEMORY";
  const what = isMemory ? "ran out of memory" : "ended before its work was done";
  return new FedwayError("INTERNAL", `A thread that builds the shards ${what}.`, { cause });
}
