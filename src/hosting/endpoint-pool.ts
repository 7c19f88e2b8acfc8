import { FedwayError } from "../errors/fedway-error.ts";
import { FairQueue, type Pushed, type Turn } from "../workers/fair-queue.ts";
import { HeldAnswers } from "./held-answers.ts";
import { type HostedAnswer, type HostedEndpoint, type HostedQuery, HostedJob } from "./hosted-endpoint.ts";
import { mendedQuery } from "../sparql/query.ts";
import { closedError, StoreRunner, type StoreRunnerOptions, type ThreadSettings } from "./store-runner.ts";
import type { HostedSource, LiveSource } from "./store-thread.ts";
import { resultFormats } from "../results/formats.ts";
import type { AnswerKind } from "../results/model.ts";
import { negotiateFormat } from "../results/negotiation.ts";

/** An endpoint that is loaded when somebody asks it. */
export interface PooledEndpointOptions {
  readonly id: string;
  readonly source: HostedSource | LiveSource;
  /** Memory of its store, data and queries; less where the pool has less. See `storeMemoryMb`. */
  readonly memoryMb: number;
}

/** Bounds of a pool. */
interface EndpointPoolOptions {
  /** Running time of one query; waiting does not count. */
  readonly timeoutMs: number;
  /** Memory of all threads, and of answers that wait to be read. */
  readonly totalMb: number;
  /** Bytes of one answer; less where the pool has less. */
  readonly maxAnswerBytes: number;
  /** Queries of all clients, and of one of them, that may wait. */
  readonly maxWaiting: number;
  readonly maxPerClient: number;
  /** How the stores' threads are run; for tests. */
  readonly thread?: Partial<ThreadSettings> | undefined;
  /** Default: a real one. */
  readonly createRunner?: (options: StoreRunnerOptions) => Runner;
}

type Runner = Pick<StoreRunner, keyof StoreRunner>;

const mib = 1_048_576;
/** Memory of a thread beside its store: its heap, its stack, the compiled code. */
const threadBytes = 24 * mib;
/** Share of the pool's memory for answers that wait to be read; the rest is for the threads. */
const answersShare = 1 / 4;
/** Answers below this are not worth the account. */
const smallAnswerBytes = 131_072;
/** Texts of all queries under way. */
const maxTextLength = 32 * mib;
/** The client of queries that the service asks for itself. */
const ownClient = "fedway";

interface Slot {
  readonly id: string;
  readonly runner: Runner;
  /** Memory of its thread while it runs a query. */
  readonly fullBytes: number;
  state: "idle" | "running" | "ending";
  closed: boolean;
}

interface Waiting {
  readonly slot: Slot;
  readonly job: HostedJob;
}

/**
 * A pool of endpoints, each of which works on one query at a time. Where queries wait, clients take turns. A thread that
 * is idle counts with what it holds, one that runs a query with all that it may take: together they never have more than
 * the pool, and idle threads are ended where that makes the room that a query needs.
 */
export class EndpointPool {
  readonly #options: EndpointPoolOptions;
  readonly #workersBytes: number;
  readonly #maxAnswerBytes: number;
  readonly #answers: HeldAnswers;
  readonly #queue: FairQueue<Waiting>;
  /** In order of use. */
  readonly #slots = new Set<Slot>();
  readonly #jobs = new Set<Waiting>();
  #textLength = 0;

  constructor(options: EndpointPoolOptions) {
    this.#options = options;
    const totalBytes = options.totalMb * mib;
    const answersBytes = Math.floor(totalBytes * answersShare);
    this.#workersBytes = totalBytes - answersBytes;
    this.#maxAnswerBytes = Math.min(options.maxAnswerBytes, answersBytes);
    this.#answers = new HeldAnswers(answersBytes);
    this.#queue = new FairQueue(options);
  }

  endpoint({ id, source, memoryMb }: PooledEndpointOptions): HostedEndpoint {
    const { thread, createRunner = (its) => new StoreRunner(its) } = this.#options;
    const besideBytes = threadBytes + this.#maxAnswerBytes;
    const storeBytes = Math.min(memoryMb * mib, this.#workersBytes - besideBytes);
    const maxAnswerBytes = this.#maxAnswerBytes;
    const runner = createRunner({ id, source, memoryMb: Math.floor(storeBytes / mib), maxAnswerBytes, thread });
    const slot: Slot = { id, runner, fullBytes: storeBytes + besideBytes, state: "idle", closed: false };
    this.#slots.add(slot);
    const build = buildOf(source);
    const asOfMs = source.kind === "live" ? source.asOfMs : undefined;
    return { id, build, asOfMs, query: (request) => this.#query(slot, request), close: () => this.#close(slot) };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#slots].map((slot) => this.#close(slot)));
  }

  async #query(slot: Slot, asked: HostedQuery): Promise<HostedAnswer> {
    if (slot.closed) throw closedError(slot.id);
    const request = { ...asked, query: mendedQuery(asked.query) };
    const mediaType = answerMediaType(request.kind, request.accept);
    const { client = ownClient } = request;
    const job = new HostedJob({ endpointId: slot.id, request, mediaType, runLimitMs: this.#options.timeoutMs });
    if (!job.settled) this.#enqueue(client, { slot, job });
    const answer = await job.answer;
    if (answer.body.length < smallAnswerBytes) return answer;
    return { ...answer, stream: this.#answers.hold(client, answer.body) };
  }

  #enqueue(client: string, waiting: Waiting): void {
    const { slot, job } = waiting;
    const { length } = job.request.query;
    const pushed = this.#textLength + length > maxTextLength ? "full" : this.#queue.push(client, waiting);
    if (pushed !== "waiting") return job.fail(busyError(slot.id, pushed, this.#options));
    this.#jobs.add(waiting);
    this.#textLength += length;
    void job.done.then(() => this.#leave(waiting));
    this.#dispatch();
  }

  /** The query has its answer, or wants none any more. */
  #leave(waiting: Waiting): void {
    this.#jobs.delete(waiting);
    this.#textLength -= waiting.job.request.query.length;
    this.#queue.remove(waiting);
  }

  /** Starts what can be started. A query that does not fit blocks those queued after it. */
  #dispatch(): void {
    let short: Slot | undefined;
    const startable = ({ slot }: Waiting): boolean => {
      if (slot.state !== "idle" || short !== undefined) return false;
      if (this.#missingBytes(slot) <= 0) return true;
      short = slot;
      return false;
    };
    for (let next = this.#queue.take(startable); next !== undefined; next = this.#queue.take(startable)) {
      void this.#run(next);
    }
    if (short !== undefined) this.#makeRoom(short);
  }

  async #run({ item: { slot, job }, done }: Turn<Waiting>): Promise<void> {
    this.#slots.delete(slot);
    this.#slots.add(slot);
    slot.state = "running";
    await slot.runner.run(job);
    slot.state = "idle";
    done();
    this.#dispatch();
  }

  /** Memory lacking for a query at this endpoint. */
  #missingBytes(wanted: Slot): number {
    let bytes = wanted.fullBytes - this.#workersBytes;
    for (const slot of this.#slots) if (slot !== wanted) bytes += bytesOf(slot);
    return bytes;
  }

  /** Ends idle threads, those that were used longest ago first, if that is all that is missing. */
  #makeRoom(wanted: Slot): void {
    let missing = this.#missingBytes(wanted);
    const ending: Slot[] = [];
    for (const slot of this.#slots) {
      if (missing <= 0) break;
      if (slot === wanted || slot.state === "running" || bytesOf(slot) === 0) continue;
      missing -= bytesOf(slot);
      if (slot.state === "idle") ending.push(slot);
    }
    if (missing > 0) return;
    for (const slot of ending) void this.#end(slot);
  }

  async #end(slot: Slot): Promise<void> {
    slot.state = "ending";
    await slot.runner.release();
    slot.state = "idle";
    this.#dispatch();
  }

  async #close(slot: Slot): Promise<void> {
    slot.closed = true;
    for (const { slot: of, job } of this.#jobs) if (of === slot) job.fail(closedError(slot.id));
    await slot.runner.close();
    this.#slots.delete(slot);
    this.#dispatch();
  }
}

function buildOf(source: HostedSource | LiveSource): string | undefined {
  const sums = source.kind === "files" ? source.files.map(({ sha256 }) => sha256) : [undefined];
  return sums.includes(undefined) ? undefined : sums.join(" ");
}

function bytesOf({ state, fullBytes, runner }: Slot): number {
  if (state === "running") return fullBytes;
  return runner.memoryBytes === 0 ? 0 : runner.memoryBytes + threadBytes;
}

function busyError(
  id: string,
  pushed: Pushed,
  { maxWaiting, maxPerClient }: Pick<EndpointPoolOptions, "maxWaiting" | "maxPerClient">,
): FedwayError {
  const message =
    pushed === "client-full"
      ? `${maxPerClient} queries of this client are waiting for hosted endpoints.`
      : `${maxWaiting} queries, or very long ones, are waiting for hosted endpoints.`;
  return new FedwayError("ENDPOINT_BUSY", message, { where: { endpoint: id }, fault: "busy", retryAfterMs: 1_000 });
}

/**
 * Memory for a store of data of this size, measured: its text once more while it is loaded, a dictionary of its terms and
 * the indexes of its triples; and `roomMb` for what queries need.
 */
export function storeMemoryMb(data: { readonly bytes: number; readonly triples: number }, roomMb: number): number {
  return Math.ceil((8 * mib + data.bytes * 2.2 + data.triples * 600) / mib) + roomMb;
}

/**
 * The media type that a hosted endpoint answers with; the store writes every format that Fedway writes.
 * @throws FedwayError `NOT_ACCEPTABLE`
 */
export function answerMediaType(kind: AnswerKind, accept: string): string {
  const format = negotiateFormat(kind, { accept });
  if (format !== undefined) return format.mediaType;
  const offered = resultFormats.filter(({ kinds }) => kinds.includes(kind));
  throw new FedwayError("NOT_ACCEPTABLE", "The hosted endpoint cannot answer in an accepted format.", {
    next: `Accept one of ${offered.map(({ mediaType }) => mediaType).join(", ")}.`,
  });
}
