import { readdirSync, readFileSync } from "node:fs";

/** Processor time of a process, and whether it demands more than it has. */
interface Activity {
  /** Processor time of all its threads. */
  readonly processorMs: number;
  /** A thread computes, waits for a processor, or waits for a disk. */
  readonly isRunnable: boolean;
}

/** How a silent process is judged. */
interface StallWatchOptions {
  /** Milliseconds between two observations. */
  readonly everyMs: number;
  /** Default: what Linux says of the process; elsewhere nothing is known. */
  readonly activity?: ((pid: number) => Activity | undefined) | undefined;
}

/**
 * Measures how long a process has been silent for reasons of its own: the processor time that it used meanwhile (it
 * spins), or the time in which it wanted none (it is stopped, or waits for something that never comes). Time in which it
 * waits for a processor is the host's and does not count, nor does time in which we did not run ourselves: each
 * observation adds `everyMs` at most, however late it is.
 */
export class StallWatch {
  readonly #pid: number;
  readonly #everyMs: number;
  readonly #activity: (pid: number) => Activity | undefined;
  #silentMs = 0;
  #lastMs: number | undefined;

  constructor(pid: number, { everyMs, activity = linuxActivity }: StallWatchOptions) {
    this.#pid = pid;
    this.#everyMs = everyMs;
    this.#activity = activity;
  }

  /** The process has given a sign of life. */
  answered(): void {
    this.#silentMs = 0;
    this.#lastMs = undefined;
  }

  /** To be called every `everyMs` while an answer is due. @returns milliseconds of silence that count against the process */
  observe(): number {
    const seen = this.#activity(this.#pid);
    const usedMs = (seen?.processorMs ?? 0) - (this.#lastMs ?? seen?.processorMs ?? 0);
    this.#lastMs = seen?.processorMs;
    this.#silentMs += seen?.isRunnable === true ? Math.min(usedMs, this.#everyMs) : this.#everyMs;
    return this.#silentMs;
  }
}

/** Linux counts processor time in hundredths of a second (USER_HZ). */
const TICK_MS = 10;

/** Undefined for a process that is gone, or a host without /proc (proc(5)). */
function linuxActivity(pid: number): Activity | undefined {
  try {
    const fields = statOf(`/proc/${pid}/stat`);
    const processorMs = (Number(fields[11]) + Number(fields[12])) * TICK_MS;
    const states = readdirSync(`/proc/${pid}/task`).map((thread) => statOf(`/proc/${pid}/task/${thread}/stat`)[0]);
    return { processorMs, isRunnable: states.some((state) => state === "R" || state === "D") };
  } catch {
    return undefined;
  }
}

/** The fields from the third on, the state; the name before it may hold blanks and brackets. */
function statOf(path: string): readonly string[] {
  const text = readFileSync(path, "latin1");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}
