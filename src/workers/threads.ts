import { Worker, parentPort } from "node:worker_threads";
import { FedwayError } from "../errors/fedway-error.ts";
import { compileCacheEnv } from "./child-process.ts";
import { errorOf, tellError, type ToldError } from "./told-error.ts";

interface RunOptions<Progress> {
  readonly onProgress?: (progress: Progress) => void;
  /** Buffers of the task that move to the thread instead of being copied. */
  readonly transfer?: readonly ArrayBuffer[];
}

interface ThreadOptions {
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

/** JavaScript heap of a thread. */
const defaultHeapMb = 512;

interface Order<Task, Result, Progress> extends RunOptions<Progress> {
  readonly task: Task;
  resolve(result: Result): void;
  reject(reason: unknown): void;
}

/**
 * Threads of one script that do tasks side by side; each is started when there is a task for it.
 * Idle ones do not keep the process alive.
 */
export class Threads<Task, Result, Progress = never> {
  readonly count: number;
  readonly #options: ThreadOptions;
  readonly #all = new Set<Worker>();
  readonly #free: Worker[] = [];
  readonly #busy = new Map<Worker, Order<Task, Result, Progress>>();
  readonly #waiting: Order<Task, Result, Progress>[] = [];
  /** Why there are no threads any more. */
  #end: { readonly reason: unknown } | undefined;
  readonly #abort = (): void => this.#lose(this.#options.signal?.reason);

  constructor(options: ThreadOptions) {
    this.#options = options;
    this.count = options.count;
    if (options.signal?.aborted === true) this.#abort();
    else options.signal?.addEventListener("abort", this.#abort, { once: true });
  }

  /**
   * Has a task done by the first thread that is free; they are begun in the order of the calls.
   * @throws what the task throws; for all that are open, the signal's reason when that is aborted and FedwayError
   *   `INTERNAL` when a thread is lost
   */
  run(task: Task, options: RunOptions<Progress> = {}): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#end !== undefined) return reject(this.#end.reason);
      this.#waiting.push({ ...options, task, resolve, reject });
      if (this.#free.length === 0 && this.#all.size < this.count) this.#start();
      this.#next();
    });
  }

  /** There are no threads any more: one was lost, or all were ended. */
  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** Ends the threads, whatever they do; resolves when none is left. */
  async close(): Promise<void> {
    this.#lose(new FedwayError("CANCELLED", "The threads were ended."));
    await Promise.all(Array.from(this.#all, (worker) => worker.terminate()));
  }

  #start(): void {
    const worker = new Worker(scriptOf(this.#options.script), {
      workerData: this.#options.data,
      // Flags of the main thread (loaders, inspectors) and its environment are none of a thread's business.
      execArgv: [],
      env: compileCacheEnv(),
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: this.#options.heapMb ?? defaultHeapMb },
    });
    // Read and dropped: a thread has nothing to say there, and unread output would pile up.
    worker.stdout.resume();
    worker.stderr.resume();
    worker.unref();
    this.#all.add(worker);
    this.#free.push(worker);
    worker.on("message", (reply: ThreadReply<Result, Progress>) => this.#hear(worker, reply));
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
      worker.ref();
      worker.postMessage(order.task, order.transfer ?? []);
    }
  }

  #hear(worker: Worker, reply: ThreadReply<Result, Progress>): void {
    const order = this.#busy.get(worker);
    // Sent before it was ended.
    if (order === undefined) return;
    if (reply.kind === "progress") return this.#tell(order, reply.progress);
    this.#busy.delete(worker);
    worker.unref();
    this.#free.push(worker);
    this.#next();
    if (reply.kind === "done") order.resolve(reply.result);
    else order.reject(errorOf(reply.error));
  }

  /** An error of who listens ends the work, as it would without threads. */
  #tell({ onProgress }: Order<Task, Result, Progress>, progress: Progress): void {
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
  return new FedwayError("INTERNAL", `A thread ${what}.`, { cause });
}

/** Does one task; may tell how far it is. */
type DoTask<Task, Result, Progress> = (task: Task, onProgress: (progress: Progress) => void) => Promise<Result>;

/**
 * Makes this thread do what `Threads` sends it, one task at a time.
 * @param transferOf what of a result the other thread takes over, so that it is not copied
 */
export function serveTasks<Task, Result, Progress = never>(
  doTask: DoTask<Task, Result, Progress>,
  transferOf: (result: Result) => readonly ArrayBuffer[] = () => [],
): void {
  const reply = (message: ThreadReply<Result, Progress>, transfer: readonly ArrayBuffer[] = []): void =>
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

/** A thread's message about its task. */
type ThreadReply<Result, Progress> =
  | { readonly kind: "progress"; readonly progress: Progress }
  | { readonly kind: "done"; readonly result: Result }
  | { readonly kind: "failed"; readonly error: ToldError };
