import { sleep, steadyClock } from "../clock.ts";
import { FedwayError, toFedwayError } from "../errors/fedway-error.ts";
import { Threads } from "../workers/threads.ts";
import type { HostedJob } from "./hosted-endpoint.ts";
import { lostStore, refusedQuery, StoreLost, tooLarge, unfitData } from "./store-errors.ts";
import type { HostedSource, LiveSource, StoreBoot, StoreReply, StoreTask } from "./store-thread.ts";

/** Options of `StoreRunner`. */
export interface StoreRunnerOptions {
  readonly id: string;
  readonly source: HostedSource | LiveSource;
  /** Memory of the store: data, intermediate results and the answer under construction. */
  readonly memoryMb: number;
  readonly maxAnswerBytes: number;
  /** Memory for queries that the store takes at once; it counts as memory of its data. */
  readonly roomMb?: number;
  /** How its thread is run; the defaults suit everything but tests. */
  readonly thread?: Partial<ThreadSettings> | undefined;
}

/** How the thread of a store is run. */
export interface ThreadSettings {
  readonly script: URL;
  /** A query that was given up may run on for this long before its thread is ended. */
  readonly graceMs: number;
  /** Time for starting and loading the data. */
  readonly startTimeoutMs: number;
  readonly restart: {
    /** Attempts before the endpoint counts as down. */
    readonly attempts: number;
    /** Pause before the second attempt; it doubles with every further one. */
    readonly delayMs: number;
    /** How long the endpoint stays down before the next query may cause new attempts. */
    readonly cooldownMs: number;
  };
}

const defaults: ThreadSettings = {
  script: new URL("./store-thread.ts", import.meta.url),
  graceMs: 100,
  startTimeoutMs: 60_000,
  restart: { attempts: 5, delayMs: 100, cooldownMs: 30_000 },
};

const mib = 1_048_576;
/** JavaScript heap of a thread beside its data: messages and the like. */
const heapMb = 96;
/** Memory that a thread may keep of what its queries needed, beside as much again as its data. */
const keptBytes = 64 * mib;

type StoreThread = Threads<StoreTask, StoreReply>;

/**
 * Runs the jobs of one endpoint, one at a time, on an Oxigraph store in a thread. A query that is over its time or its
 * memory, is cancelled or crashes the store costs that thread; so does one that leaves it much larger, since the memory of
 * WebAssembly never shrinks. The next job starts another one.
 */
export class StoreRunner {
  readonly #options: StoreRunnerOptions;
  readonly #settings: ThreadSettings;
  readonly #closing = new AbortController();
  #thread: StoreThread | undefined;
  /** The thread that has all graphs of a live source. */
  #filled: StoreThread | undefined;
  #memoryBytes = 0;
  /** Memory of the store when it had its data. */
  #loadedBytes = 0;
  #down: { readonly untilMs: number; readonly unfit?: FedwayError | undefined } = { untilMs: 0 };

  constructor(options: StoreRunnerOptions) {
    this.#options = options;
    this.#settings = { ...defaults, ...options.thread };
  }

  /** Memory of the idle store; 0 when there is none. */
  get memoryBytes(): number {
    return this.#thread === undefined ? 0 : this.#memoryBytes;
  }

  /** Loads the data where that is not done, then runs a job. Never fails: every outcome is the job's. */
  async run(job: HostedJob): Promise<void> {
    try {
      const thread = await this.#loaded();
      await this.#update(thread);
      if (job.settled) return;
      const canGoOn = await this.#ask(thread, job);
      if (!canGoOn || this.#memoryBytes > this.#mostBytes()) await this.release();
    } catch (failure) {
      job.fail(toFedwayError(failure));
    }
  }

  /** Graphs that were replaced leave some of their memory behind. */
  #mostBytes(): number {
    return this.#options.source.kind === "live" ? this.#loadedBytes + keptBytes : this.#loadedBytes * 2 + keptBytes;
  }

  /** Takes in what has changed in a live source. A store that got a part of it is of no use. */
  async #update(thread: StoreThread): Promise<void> {
    const { source, id, memoryMb } = this.#options;
    if (source.kind !== "live") return;
    const isEmpty = this.#filled !== thread;
    try {
      for await (const update of source.updates(isEmpty)) {
        this.#memoryBytes = this.#memoryAfter(await thread.run(update));
      }
      if (isEmpty) this.#loadedBytes = this.#memoryBytes;
      this.#filled = thread;
    } catch (error) {
      await this.release();
      throw error instanceof StoreLost ? lostStore(error, id, memoryMb) : error;
    }
  }

  /** Ends the thread; the next job starts another one. */
  async release(): Promise<void> {
    const last = this.#thread;
    await last?.close();
    // Only now: until then its memory is there.
    if (this.#thread === last) this.#thread = undefined;
  }

  /** Ends the thread for good. */
  close(): Promise<void> {
    this.#closing.abort(closedError(this.#options.id));
    return this.release();
  }

  /** @throws FedwayError `ENDPOINT_FAILED` while the endpoint is down; `ENDPOINT_DATA_INVALID` */
  async #loaded(): Promise<StoreThread> {
    this.#closing.signal.throwIfAborted();
    if (this.#thread?.isOver === false) return this.#thread;
    const restMs = this.#down.untilMs - steadyClock.now();
    if (restMs > 0) throw this.#down.unfit ?? this.#downError(restMs);
    const { attempts, delayMs, cooldownMs } = this.#settings.restart;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#start();
      } catch (cause) {
        this.#closing.signal.throwIfAborted();
        const unfit = cause instanceof FedwayError && cause.code === "ENDPOINT_DATA_INVALID" ? cause : undefined;
        if (attempt < attempts && unfit === undefined) await this.#pause(delayMs * 2 ** (attempt - 1));
        else {
          this.#down = { untilMs: steadyClock.now() + cooldownMs, unfit };
          throw unfit ?? this.#downError(cooldownMs, cause);
        }
      }
    }
  }

  async #start(): Promise<StoreThread> {
    const { source, memoryMb, maxAnswerBytes, roomMb = 0 } = this.#options;
    const data: StoreBoot = {
      source: source.kind === "live" ? undefined : source,
      memoryBytes: memoryMb * mib,
      maxAnswerBytes,
      roomBytes: roomMb * mib,
    };
    const thread: StoreThread = new Threads({
      script: this.#settings.script,
      data,
      count: 1,
      heapMb: heapMb + heapForText(source),
      signal: this.#closing.signal,
    });
    this.#thread = thread;
    this.#memoryBytes = 0;
    const timer = setTimeout(() => void thread.close(), this.#settings.startTimeoutMs);
    try {
      this.#memoryBytes = this.#memoryAfter(await thread.run("load"));
      this.#loadedBytes = this.#memoryBytes;
      return thread;
    } catch (error) {
      await this.release();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** @throws FedwayError for data that no attempt can load; StoreLost */
  #memoryAfter(reply: StoreReply): number {
    if (reply.kind === "crashed") throw new StoreLost(reply.cause, reply.message);
    if (reply.kind === "unfit") throw unfitData(reply.message, this.#options.id);
    return reply.memoryBytes;
  }

  #pause(ms: number): Promise<void> {
    return sleep(ms, { clock: steadyClock, signal: this.#closing.signal });
  }

  /** False when the thread cannot take another query: it has crashed, or has not replied within the grace. */
  async #ask(thread: StoreThread, job: HostedJob): Promise<boolean> {
    const { query, defaultGraphs = [], namedGraphs = [], composed } = job.request;
    job.begin();
    const delivered = thread
      .run({
        query,
        mediaType: job.mediaType,
        defaultGraphs,
        namedGraphs,
        composed,
      })
      .then(
        (reply) => this.#deliver(reply, job),
        (lost: unknown) => this.#lose(lost, job),
      );
    await Promise.race([delivered, job.done]);
    const waiting = new AbortController();
    const grace = sleep(this.#settings.graceMs, { clock: steadyClock, signal: waiting.signal });
    try {
      return await Promise.race([delivered, grace.then(() => false)]);
    } finally {
      waiting.abort();
    }
  }

  #deliver(reply: StoreReply, job: HostedJob): boolean {
    const { id, maxAnswerBytes } = this.#options;
    if (reply.kind === "crashed") return this.#lose(new StoreLost(reply.cause, reply.message), job);
    this.#memoryBytes = this.#memoryAfter(reply);
    if (reply.kind === "answer") {
      const { buffer, byteOffset, byteLength } = reply.body;
      job.succeed({ mediaType: job.mediaType, body: Buffer.from(buffer, byteOffset, byteLength) });
    } else if (reply.kind === "too-large") {
      job.fail(tooLarge(reply.bytes, maxAnswerBytes, id));
    } else if (reply.kind === "refused") {
      job.fail(refusedQuery(reply.message, { endpoint: id, query: job.request.query }));
    }
    return true;
  }

  #lose(lost: unknown, job: HostedJob): boolean {
    job.fail(lostStore(lost, this.#options.id, this.#options.memoryMb));
    return false;
  }

  #downError(retryAfterMs: number, cause?: unknown): FedwayError {
    const { id } = this.#options;
    const message = `The hosted endpoint ${id} could not be started in ${this.#settings.restart.attempts} attempts.`;
    return new FedwayError("ENDPOINT_FAILED", message, {
      where: { endpoint: id },
      retryAfterMs: Math.ceil(retryAfterMs),
      cause,
    });
  }
}

/** Text comes through the heap as a string of one or two bytes a character; files are read in slices. */
const heapForText = (source: HostedSource | LiveSource): number =>
  source.kind === "text" ? Math.ceil((source.text.length * 2) / mib) : 0;

/** The error of every query at an endpoint that is closed. */
export function closedError(id: string): FedwayError {
  return new FedwayError("ENDPOINT_FAILED", `The hosted endpoint ${id} is shutting down.`, { where: { endpoint: id } });
}
