import { finished } from "node:stream/promises";
import { FedwayError, toFedwayError } from "../../errors/fedway-error.ts";
import type { FederatedPlan } from "../../plan/query-plan.ts";
import { type ResultFormat, resultFormats } from "../../results/formats.ts";
import { bytesOf } from "../../results/gathered-body.ts";
import type { QueryResult } from "../../results/model.ts";
import { parseAnswer } from "../../results/parse.ts";
import type { AnswerBytes, Executor } from "../executor.ts";
import type { ExecutionBounds } from "../execution-bounds.ts";
import { EvaluatorEnded, type RunReply, type EvaluatorEnd, EvaluatorProcess } from "./evaluator-process.ts";
import { CoolingDown } from "./cooling-down.ts";
import type { OutsideWorld } from "./outside-world.ts";
import type { EvaluatorLimits } from "./protocol.ts";
import { createSharingClient } from "./sharing-client.ts";
import { FairQueue } from "../../workers/fair-queue.ts";

/** How many evaluators there are, and what each may use. */
interface EvaluatorPoolOptions {
  readonly world: OutsideWorld;
  readonly processes: number;
  /** Of each process. */
  readonly memoryMb: number;
  /** Of each evaluation. */
  readonly limits: EvaluatorLimits;
  /** Evaluations under way at once, in all processes together; others wait in turn by client. */
  readonly maxRunning: number;
  /** How long endpoints' answers are kept for other evaluations where the endpoint does not say; default 0: not at all. */
  readonly keepAnswersMs?: number | undefined;
  /** Processes without a run for so long end, and the next plan starts others; default: they stay. */
  readonly idleMs?: number | undefined;
  /** Default 10,000 (`EvaluatorProcessOptions`). */
  readonly stallMs?: number;
  /** Called for each process that ended without a request to end. */
  readonly onEnd?: (end: EvaluatorEnd) => void;
}

/** A place in a process. */
interface Admission {
  readonly process: EvaluatorProcess;
  readonly leave: () => void;
}

/** A request for a place. */
interface AdmissionRequest {
  /** Nothing else may run in the process meanwhile. */
  readonly alone: boolean;
  readonly bounds: ExecutionBounds;
}

interface Slot {
  readonly process: EvaluatorProcess;
  running: number;
  /** Held by a run that is alone. */
  reserved: boolean;
}

interface Waiting extends AdmissionRequest {
  readonly take: (place: Admission) => void;
  readonly refuse: (error: unknown) => void;
}

const DEFAULT_STALL_MS = 10_000;
const RESTART_MS = 200;
const LONGEST_RESTART_MS = 30_000;
/** After this many failed starts in a row, waiting runs fail. */
const MAX_FAILED_STARTS = 3;
const MOST_WAITING = 10_000;

/**
 * Evaluates federated plans in a small pool of child processes, so that a query that fills its heap or never yields ends
 * its own process and not the service. Nothing is forked before `start` or the first plan.
 *
 * When a process dies, the runs in it that have sent nothing yet are evaluated again once, each alone in a process, so
 * that the guilty one ends alone; those that have sent bytes are cut off with `EVALUATION_LOST`.
 */
export class Evaluators implements Executor<FederatedPlan> {
  readonly #options: EvaluatorPoolOptions;
  /** With answers that evaluations share. */
  readonly #world: OutsideWorld;
  readonly #coolingDown: CoolingDown;
  readonly #slots = new Set<Slot>();
  readonly #waiting = new FairQueue<Waiting>({ maxWaiting: MOST_WAITING, maxPerClient: MOST_WAITING });
  readonly #waitingAlone: Waiting[] = [];
  readonly #perProcess: number;
  readonly #restarts = new Set<NodeJS.Timeout>();
  #idling: NodeJS.Timeout | undefined;
  #started = false;
  #closed = false;
  #failedStarts = 0;

  constructor(options: EvaluatorPoolOptions) {
    const { world, keepAnswersMs: keepMs } = options;
    this.#options = options;
    this.#world = { ...world, client: createSharingClient({ client: world.client, now: world.now, keepMs }) };
    this.#coolingDown = new CoolingDown(world.now);
    this.#perProcess = Math.ceil(options.maxRunning / options.processes);
  }

  /** Numbers of running and waiting evaluations. */
  get usage(): { readonly running: number; readonly waiting: number } {
    const all = [...this.#slots];
    return {
      running: all.reduce((sum, { running }) => sum + running, 0),
      waiting: this.#waiting.size + this.#waitingAlone.length,
    };
  }

  /** Forks the processes before they are needed; without it the first plan does. */
  start(): void {
    if (this.#started || this.#closed) return;
    this.#started = true;
    for (let index = 0; index < this.#options.processes; index++) this.#fork();
  }

  async fetch(
    plan: FederatedPlan,
    { format }: { readonly format: ResultFormat },
    bounds: ExecutionBounds,
  ): Promise<AnswerBytes> {
    const { body, end } = await this.#run(plan, format, bounds);
    const rows = finished(body).then(async () => (await end).rows);
    // The reader of the body gets its failure there.
    rows.catch(() => {});
    return { contentEncoding: "identity", body, end: rows };
  }

  async evaluate(plan: FederatedPlan, bounds: ExecutionBounds): Promise<QueryResult> {
    const format = exactFormat(plan);
    const { body } = await this.fetch(plan, { format }, bounds);
    return parseAnswer(bytesOf(body), { mediaType: format.mediaType, kind: plan.answer });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#restarts) clearTimeout(timer);
    clearTimeout(this.#idling);
    this.#refuseAll(closing());
    await Promise.all([...this.#slots].map(({ process }) => process.close()));
  }

  async #run(plan: FederatedPlan, format: ResultFormat, bounds: ExecutionBounds): Promise<RunReply> {
    const attempt = async (alone: boolean): Promise<RunReply> => {
      const place = await this.#enter({ alone, bounds });
      return place.process.run({ plan, format, bounds, onSettled: place.leave });
    };
    try {
      return await attempt(false);
    } catch (error) {
      if (!isLost(error)) throw error;
      bounds.sources.clear();
      bounds.steps?.clear();
      return await attempt(true).catch((second: unknown) => {
        throw isLost(second) ? lostAlone(second) : second;
      });
    }
  }

  /** Waits for a place until the bounds' signal. @throws FedwayError its reason; `SERVICE_BUSY`, also when no process starts */
  async #enter(request: AdmissionRequest): Promise<Admission> {
    const { signal, client = "" } = request.bounds;
    if (this.#closed) throw closing();
    signal.throwIfAborted();
    this.start();
    if (this.#cannotStart) throw cannotStart();
    const { promise, resolve, reject } = Promise.withResolvers<Admission>();
    const item: Waiting = { ...request, take: resolve, refuse: reject };
    const leave = (): void => this.#giveUp(item);
    signal.addEventListener("abort", leave, { once: true });
    if (request.alone) this.#waitingAlone.push(item);
    else if (this.#waiting.push(client, item) !== "waiting") reject(tooManyWaiting());
    this.#dispatch();
    return promise.finally(() => signal.removeEventListener("abort", leave));
  }

  get #cannotStart(): boolean {
    return this.#failedStarts >= MAX_FAILED_STARTS && ![...this.#slots].some(({ process }) => process.alive);
  }

  #fork(): void {
    const { memoryMb, limits, stallMs = DEFAULT_STALL_MS } = this.#options;
    const [world, coolingDown] = [this.#world, this.#coolingDown];
    const process = new EvaluatorProcess({ memoryMb, stallMs, limits, world, coolingDown });
    const slot: Slot = { process, running: 0, reserved: false };
    this.#slots.add(slot);
    void this.#follow(slot);
  }

  async #follow(slot: Slot): Promise<void> {
    this.#failedStarts = (await slot.process.started) ? 0 : this.#failedStarts + 1;
    this.#dispatch();
    const end = await slot.process.ended;
    const isIdle = !this.#slots.delete(slot);
    if (isIdle || this.#closed) return;
    this.#options.onEnd?.(end);
    if (this.#cannotStart) this.#refuseAll(cannotStart(end));
    this.#forkLater(this.#failedStarts === 0 ? 0 : Math.min(LONGEST_RESTART_MS, RESTART_MS * 2 ** this.#failedStarts));
  }

  #forkLater(delayMs: number): void {
    const timer = setTimeout(() => {
      this.#restarts.delete(timer);
      this.#fork();
    }, delayMs);
    this.#restarts.add(timer);
  }

  /** Runs that must be alone come first: each time a process has nothing else to do. */
  #dispatch(): void {
    for (const slot of this.#slots) {
      if (slot.process.alive && slot.running === 0) this.#give(slot, this.#waitingAlone.shift());
    }
    for (;;) {
      const free = [...this.#slots].filter(
        ({ process, reserved, running }) => process.alive && !reserved && running < this.#perProcess,
      );
      const least = free.toSorted((one, other) => one.running - other.running)[0];
      if (!least || this.#waiting.size === 0) return;
      const turn = this.#waiting.take();
      this.#give(least, turn?.item, turn?.done);
    }
  }

  #give(slot: Slot, request: Waiting | undefined, done?: () => void): void {
    if (!request) return;
    slot.running++;
    slot.reserved = request.alone;
    let left = false;
    const leave = (): void => {
      if (left) return;
      left = true;
      slot.running--;
      slot.reserved = false;
      done?.();
      this.#dispatch();
      this.#idle();
    };
    request.take({ process: slot.process, leave });
  }

  /** A process keeps the memory of its largest runs: it is given back by its end. */
  #idle(): void {
    clearTimeout(this.#idling);
    const { idleMs } = this.#options;
    if (idleMs === undefined || !this.#isIdle) return;
    this.#idling = setTimeout(() => {
      if (!this.#isIdle || this.#restarts.size > 0) return;
      this.#started = false;
      for (const slot of this.#slots) {
        this.#slots.delete(slot);
        void slot.process.close();
      }
    }, idleMs);
    this.#idling.unref();
  }

  get #isIdle(): boolean {
    const { running, waiting } = this.usage;
    return running + waiting === 0;
  }

  #giveUp(item: Waiting): void {
    const index = this.#waitingAlone.indexOf(item);
    if (index !== -1) this.#waitingAlone.splice(index, 1);
    this.#waiting.remove(item);
    const { reason } = item.bounds.signal;
    item.refuse(toFedwayError(reason).code === "DEADLINE_EXCEEDED" ? waitedInVain() : reason);
  }

  #refuseAll(error: FedwayError): void {
    for (const request of this.#waitingAlone.splice(0)) request.refuse(error);
    for (let turn = this.#waiting.take(); turn; turn = this.#waiting.take()) {
      turn.done();
      turn.item.refuse(error);
    }
  }
}

const isLost = (error: unknown): error is FedwayError => toFedwayError(error).code === "EVALUATION_LOST";

/** The process that had this run alone is gone. A kill from outside is no fault of the query; its own exit is a defect. */
function lostAlone(error: FedwayError): FedwayError {
  const { cause } = error.details;
  if (!(cause instanceof EvaluatorEnded) || cause.end.reason === "exit") return toFedwayError(cause);
  if (cause.end.reason === "killed") return error;
  return new FedwayError(
    "EVALUATION_TOO_LARGE",
    "The evaluation of this query alone ended its process: it needs more memory or time than one evaluation may have.",
    { next: "Ask for less: a LIMIT, fewer columns, smaller values, no sorting or grouping of everything." },
  );
}

/** A format in which every term comes back as it was. */
function exactFormat({ answer }: FederatedPlan): ResultFormat {
  const name = answer === "quads" ? "ntriples" : "json";
  const format = resultFormats.find((candidate) => candidate.name === name);
  if (!format) throw new Error(`There is no format ${name}`);
  return format;
}

const closing = (): FedwayError => new FedwayError("CANCELLED", "The service is shutting down.");

const busy = (message: string, retryAfterMs: number, cause?: Error): FedwayError =>
  new FedwayError("SERVICE_BUSY", message, { retryAfterMs, next: "Try again in a moment.", cause });

const tooManyWaiting = (): FedwayError => busy("Too many queries wait for their evaluation.", 1_000);

const waitedInVain = (): FedwayError => busy("No evaluator was free within the time of the query.", 5_000);

const cannotStart = (end?: EvaluatorEnd): FedwayError =>
  busy(
    "No evaluator process can be started; the log of the service has the details.",
    LONGEST_RESTART_MS,
    end && new EvaluatorEnded(end),
  );
