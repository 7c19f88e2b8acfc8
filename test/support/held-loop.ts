import { setImmediate as turn } from "node:timers/promises";

/** How a piece of work treated the event loop. */
export interface Held<T> {
  /** The most processor time that the thread spent between two turns of the loop, milliseconds. */
  readonly longestMs: number;
  /** Processor time of the thread in all, milliseconds. */
  readonly totalMs: number;
  /** What came of the work: its value, or what it threw. */
  readonly outcome: { readonly value: T } | { readonly thrown: unknown };
}

/** Processor time of this thread: that of other processes, and of waiting for a processor, does not count. */
const spentMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** Runs `work` and watches how long it holds the event loop at a time. */
export async function holding<T>(work: () => Promise<T> | T): Promise<Held<T>> {
  let longestMs = 0;
  let lastMs = 0;
  let over = false;
  const look = (): void => {
    const nowMs = spentMs();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  };
  const watch = (): void => {
    look();
    if (!over) setImmediate(watch);
  };
  await turn();
  const startedMs = spentMs();
  lastMs = startedMs;
  setImmediate(watch);
  const outcome = await settled(work);
  look();
  over = true;
  return { longestMs, totalMs: spentMs() - startedMs, outcome };
}

/** Runs `work`, and `look` in every turn of the event loop that it leaves to others. @throws what the work throws */
export async function lookBetweenTurns<T>(work: () => Promise<T>, look: () => void): Promise<T> {
  let isOver = false;
  const watch = (): void => {
    look();
    if (!isOver) setImmediate(watch);
  };
  setImmediate(watch);
  try {
    return await work();
  } finally {
    isOver = true;
  }
}

/** The processor time of this thread that some work took, milliseconds. @throws what the work throws */
export async function processorMsOf(work: () => unknown): Promise<number> {
  const startedMs = spentMs();
  await work();
  return spentMs() - startedMs;
}

async function settled<T>(work: () => Promise<T> | T): Promise<Held<T>["outcome"]> {
  try {
    return { value: await work() };
  } catch (thrown) {
    return { thrown };
  }
}
