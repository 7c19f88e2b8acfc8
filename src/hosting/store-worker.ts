import { Worker } from "node:worker_threads";

/** The worker is gone and did not answer. `cause` says why as far as anybody knows. */
export class WorkerLost extends Error {
  override readonly name = "WorkerLost";
  readonly reason: "memory" | "trap" | "exit" | "start-timeout" | "abandoned";

  constructor(reason: WorkerLost["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** One live worker thread with its data loaded. */
export interface StoreWorker {
  /** What its store holds, as of the latest message. */
  readonly memoryBytes: number;
  /** False once the thread has ended or crashed, also when it was idle. */
  readonly alive: boolean;
  /** Sends one query; the caller sends the next one only after the reply. @throws WorkerLost */
  ask(query: WorkerQuery): Promise<StoreReply>;
  terminate(): Promise<void>;
}

/** What one worker is started with. */
export interface StoreWorkerOptions {
  readonly script: URL;
  readonly boot: WorkerBoot;
  /** Time for starting and loading the data. */
  readonly startTimeoutMs: number;
  /** Gives up the start. */
  readonly signal?: AbortSignal;
}

/** JavaScript heap of a worker beside its data: protocol messages, the generator's strings. */
const heapMb = 96;
const bytesPerMb = 1_048_576;

/**
 * Starts a worker and waits until its data is loaded.
 * @throws WorkerLost
 */
export async function startStoreWorker(options: StoreWorkerOptions): Promise<StoreWorker> {
  const worker = new Worker(options.script, {
    workerData: options.boot,
    // Flags of the main thread (loaders, inspectors) and its environment are none of the worker's business.
    execArgv: [],
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: heapMb + heapForText(options.boot) },
  });
  // Both are read and dropped; unread output would pile up in memory.
  worker.stdout.resume();
  worker.stderr.resume();
  const inbox = openInbox(worker);
  const timer = setTimeout(
    () => inbox.lose(new WorkerLost("start-timeout", `not loaded after ${options.startTimeoutMs} ms`)),
    options.startTimeoutMs,
  );
  const abandon = (): void => inbox.lose(new WorkerLost("abandoned", "the start was given up"));
  options.signal?.addEventListener("abort", abandon, { once: true });
  try {
    const first = await inbox.next();
    if (first.kind !== "ready") throw new WorkerLost("trap", "the worker spoke before it was ready");
    let { memoryBytes } = first;
    return {
      get memoryBytes() {
        return memoryBytes;
      },
      get alive() {
        return inbox.open;
      },
      async ask(query) {
        const reply = await ask(worker, inbox, query);
        ({ memoryBytes } = reply);
        return reply;
      },
      terminate: () => terminate(worker),
    };
  } catch (lost) {
    await terminate(worker);
    throw lost;
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener("abort", abandon);
  }
}

/** N-Quads text passes through the heap once as a string of one or two bytes a character. */
function heapForText({ source }: WorkerBoot): number {
  const length = source.kind === "text" ? source.text.length : (source.bytes ?? 0);
  return Math.ceil((length * 4) / bytesPerMb);
}

async function ask(worker: Worker, inbox: Inbox, query: WorkerQuery): Promise<StoreReply> {
  const reply = inbox.next();
  worker.postMessage(query, []);
  const message = await reply;
  if (message.kind === "ready" || message.kind === "crashed" || message.id !== query.id) {
    throw new WorkerLost("trap", "the worker answered another query");
  }
  return message;
}

async function terminate(worker: Worker): Promise<void> {
  await worker.terminate();
}

/** Turns a worker's messages and its end into one promise at a time. */
interface Inbox {
  readonly open: boolean;
  next(): Promise<WorkerMessage>;
  lose(reason: WorkerLost): void;
}

function openInbox(worker: Worker): Inbox {
  let waiting: { resolve(message: WorkerMessage): void; reject(reason: WorkerLost): void } | undefined;
  let lost: WorkerLost | undefined;
  const lose = (reason: WorkerLost): void => {
    lost ??= reason;
    waiting?.reject(lost);
    waiting = undefined;
  };
  worker.on("message", (message: WorkerMessage) => {
    if (message.kind === "crashed") return lose(new WorkerLost(message.cause, message.message));
    waiting?.resolve(message);
    waiting = undefined;
  });
  worker.on("messageerror", (error) => lose(new WorkerLost("trap", error.message)));
  worker.on("error", (error) => {
    const outOfMemory = "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
    lose(new WorkerLost(outOfMemory ? "memory" : "trap", error.message));
  });
  worker.on("exit", (code) => lose(new WorkerLost("exit", `the worker ended with code ${code}`)));
  return {
    lose,
    get open() {
      return lost === undefined;
    },
    next: () =>
      new Promise((resolve, reject) => {
        if (lost !== undefined) reject(lost);
        else waiting = { resolve, reject };
      }),
  };
}

/** The worker script beside this module, in TypeScript or compiled, as this module is. */
export function workerScript(): URL {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return new URL(`./worker.${extension}`, import.meta.url);
}

/** Where a hosted endpoint's data comes from; the worker can build it again by itself after every restart. */
export type HostedSource =
  | {
      readonly kind: "text";
      /** N-Triples or N-Quads. */
      readonly text: string;
    }
  | {
      readonly kind: "module";
      /** `file:` URL of a module; its default type of code (TypeScript or JavaScript) is that of the worker script. */
      readonly url: string;
      /** Exported function `(argument: string) => string` that gives N-Triples or N-Quads, always the same. */
      readonly name: string;
      readonly argument: string;
      /** About as many bytes of text come out; absent: few. */
      readonly bytes?: number;
    };

/** What a worker is started with. */
export interface WorkerBoot {
  readonly source: HostedSource;
  /** Cap of the store's memory, answers under construction included. */
  readonly memoryBytes: number;
  readonly maxAnswerBytes: number;
}

/** One query for the worker; it works on one at a time. */
export interface WorkerQuery {
  readonly id: number;
  readonly query: string;
  /** Media type to serialise the answer in. */
  readonly mediaType: string;
  /** The protocol's dataset; both empty means the stored one. */
  readonly defaultGraphs: readonly string[];
  readonly namedGraphs: readonly string[];
}

/** What the worker says: `memoryBytes` is what its store holds. After `crashed` it is of no further use and ends itself. */
export type WorkerMessage =
  | { readonly kind: "ready"; readonly memoryBytes: number }
  | StoreReply
  | { readonly kind: "crashed"; readonly cause: "memory" | "trap"; readonly message: string };

/** A reply to a query that leaves the worker usable. */
export type StoreReply = { readonly id: number; readonly memoryBytes: number } & (
  | { readonly kind: "answer"; readonly body: Uint8Array<ArrayBuffer> }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "too-large"; readonly bytes: number }
);
