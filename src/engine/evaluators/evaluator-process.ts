import type { ChildProcess } from "node:child_process";
import { FedwayError } from "../../errors/fedway-error.ts";
import { channelTo, type ChildEnd, childEnd, forkScript, scriptBeside } from "../../workers/child-process.ts";
import { createPeer, type Peer, type Reply } from "../../workers/peer.ts";
import { StallWatch } from "../../workers/stall-watch.ts";
import type { ExecutionBounds } from "../execution-bounds.ts";
import type { FederatedPlan } from "../../plan/query-plan.ts";
import type { ResultFormat } from "../../results/formats.ts";
import type { CoolingDown } from "./cooling-down.ts";
import { EvaluatorCalls, type OutsideWorld } from "./outside-world.ts";
import type { EvaluatorCall, EvaluatorLimits, RunEnd, RunNote } from "./protocol.ts";

/** How one evaluator process is started. */
interface EvaluatorProcessOptions {
  readonly memoryMb: number;
  /** A process is killed that is silent for this long for reasons of its own (`StallWatch`), not the host's. */
  readonly stallMs: number;
  readonly limits: EvaluatorLimits;
  readonly world: OutsideWorld;
  readonly coolingDown: CoolingDown;
}

/** How the process ended; `stalled`: it was killed because it stood still. */
export interface EvaluatorEnd {
  readonly reason: ChildEnd["reason"] | "stalled";
  readonly detail: string;
}

/** The cause of `EVALUATION_LOST`. */
export class EvaluatorEnded extends Error {
  override readonly name = "EvaluatorEnded";
  readonly end: EvaluatorEnd;

  constructor(end: EvaluatorEnd) {
    super(`${end.reason}: ${end.detail}`);
    this.end = end;
  }
}

/** A run, as its process needs it. */
interface ProcessRun {
  readonly plan: FederatedPlan;
  readonly format: ResultFormat;
  readonly bounds: ExecutionBounds;
  /** The process has done with the run; after a cancellation that is later than the run's end here. */
  readonly onSettled: () => void;
}

/** The answer of a run: its body is in the wanted format. */
export type RunReply = Reply<undefined, RunEnd>;

const PING_EVERY_MS = 1_000;
const CLOSE_MS = 1_000;
// Loading the engine takes half a second of processor time.
const START_MS = 30_000;

/** One evaluator process. */
export class EvaluatorProcess {
  /** Settles when it can take runs (true), or has ended before (false). */
  readonly started: Promise<boolean>;
  readonly ended: Promise<EvaluatorEnd>;
  readonly #child: ChildProcess;
  readonly #peer: Peer<EvaluatorCall>;
  readonly #now: () => number;
  readonly #runs = new Map<number, ExecutionBounds>();
  readonly #stallMs: number;
  readonly #silence: StallWatch;
  readonly #watch: NodeJS.Timeout;
  #alive = false;
  #stalled = false;
  #pinged = false;
  #nextRun = 0;

  /** Forks it. */
  constructor({ memoryMb, stallMs, limits, world, coolingDown }: EvaluatorProcessOptions) {
    this.#stallMs = stallMs;
    this.#now = world.now;
    this.#child = forkScript(scriptBeside(import.meta.url, "evaluator"), { memoryMb, args: [JSON.stringify(limits)] });
    this.#silence = new StallWatch(this.#child.pid ?? 0, { everyMs: PING_EVERY_MS });
    this.#watch = setInterval(() => this.#look(), PING_EVERY_MS);
    this.#peer = createPeer(channelTo(this.#child), new EvaluatorCalls(world, coolingDown, this.#runs));
    this.ended = this.#end();
    this.started = this.#start();
  }

  /** It can take runs. */
  get alive(): boolean {
    return this.#alive;
  }

  /** @throws FedwayError `EVALUATION_LOST` when the process ends */
  run({ plan, format, bounds, onSettled }: ProcessRun): Promise<RunReply> {
    const { partial, provenance = false } = bounds;
    const run = this.#nextRun++;
    this.#runs.set(run, bounds);
    const timeoutMs = Math.max(0, bounds.deadlineMs - this.#now());
    const call: EvaluatorCall = { method: "run", run, plan, format, partial, provenance, timeoutMs };
    return this.#peer.call(call, {
      signal: bounds.signal,
      onNote: (note: RunNote) => takeReports(bounds, note),
      onSettled: () => {
        this.#runs.delete(run);
        onSettled();
      },
    });
  }

  /** Lets it end; it is killed when it does not within a second. */
  async close(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    const killer = setTimeout(() => this.#child.kill("SIGKILL"), CLOSE_MS);
    await this.ended;
    clearTimeout(killer);
  }

  async #end(): Promise<EvaluatorEnd> {
    const end = await childEnd(this.#child);
    const how: EvaluatorEnd = this.#stalled ? { ...end, reason: "stalled" } : end;
    // Before its runs are notified of the end: they look for another place at once.
    this.#alive = false;
    clearInterval(this.#watch);
    this.#peer.close(evaluationLost(new EvaluatorEnded(how)));
    return how;
  }

  async #start(): Promise<boolean> {
    this.#alive = await this.#ping();
    return this.#alive;
  }

  /** Pings a process that has answered; one that has not yet is judged by its activity. */
  #look(): void {
    if (!this.#pinged) void this.#ping();
    else if (this.#silence.observe() >= (this.#alive ? this.#stallMs : START_MS)) this.#kill();
  }

  /** True when it has answered; false when it has ended. */
  async #ping(): Promise<boolean> {
    this.#pinged = true;
    try {
      await this.#peer.call({ method: "ping" }, { signal: new AbortController().signal });
    } catch {
      return false;
    }
    this.#silence.answered();
    this.#pinged = false;
    return true;
  }

  #kill(): void {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#stalled = true;
    this.#child.kill("SIGKILL");
  }
}

function evaluationLost(cause: EvaluatorEnded): FedwayError {
  const why = {
    memory: "its process ran out of memory",
    stalled: "its process stood still",
    killed: "its process was killed",
    exit: "its process ended",
  } as const;
  return new FedwayError("EVALUATION_LOST", `The evaluation was cut off: ${why[cause.end.reason]}.`, {
    next: "Send the query again.",
    retryAfterMs: 1_000,
    cause,
  });
}

/** Reports are what the execution's map holds; entries are replaced by what the process says of them now. */
function takeReports(bounds: ExecutionBounds, { sources, steps }: RunNote): void {
  for (const report of sources) bounds.sources.set(report.endpoint, { ...report });
  for (const [name, step] of steps) bounds.steps?.set(name, step);
}
