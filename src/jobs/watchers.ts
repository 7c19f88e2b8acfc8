import type { Clock, Timer } from "../clock.ts";
import type { Job } from "./job-queue.ts";

interface WatchersOptions {
  readonly clock: Clock;
  readonly read: (id: string) => Promise<Job | undefined>;
  /** Shortest time between two calls for one job. */
  readonly everyMs: number;
  readonly fault: (error: unknown) => void;
}

interface WatchedJob {
  readonly listeners: Set<(job: Job) => void>;
  timer: Timer | undefined;
  toldAtMs: number;
  told: string;
}

/** Watchers by job. */
export type Watchers = ReturnType<typeof createWatchers>;

/** No watchers yet. */
export function createWatchers({ clock, read, everyMs, fault }: WatchersOptions) {
  const watched = new Map<string, WatchedJob>();

  const tell = async (id: string, entry: WatchedJob): Promise<void> => {
    entry.timer = undefined;
    entry.toldAtMs = clock.now();
    const job = await read(id);
    const text = JSON.stringify(job);
    if (job === undefined || text === entry.told) return;
    entry.told = text;
    for (const listener of entry.listeners) {
      try {
        listener(job);
      } catch (error) {
        fault(error);
      }
    }
  };

  return {
    watch(id: string, listener: (job: Job) => void): () => void {
      const entry = watched.get(id) ?? { listeners: new Set(), timer: undefined, toldAtMs: -everyMs, told: "" };
      watched.set(id, entry);
      // One listener may watch twice; each watch ends for itself.
      const own = (job: Job): void => listener(job);
      entry.listeners.add(own);
      return () => {
        entry.listeners.delete(own);
        if (entry.listeners.size > 0 || watched.get(id) !== entry) return;
        clock.clearTimeout(entry.timer);
        watched.delete(id);
      };
    },
    /** A job has changed; its watchers are notified soon, and always of its last change. */
    notify(id: string): void {
      const entry = watched.get(id);
      if (entry === undefined) return;
      const waitMs = Math.max(0, entry.toldAtMs + everyMs - clock.now());
      entry.timer ??= clock.setTimeout(() => void tell(id, entry).catch(fault), waitMs);
    },
    /** Ids of the jobs that somebody watches. */
    watched: (): readonly string[] => Array.from(watched.keys()),
    close(): void {
      for (const { timer } of watched.values()) clock.clearTimeout(timer);
      watched.clear();
    },
  };
}
