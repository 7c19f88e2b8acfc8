/** A probe that is to be made. */
export interface QueuedProbe {
  readonly endpoint: string;
  /** A probe that waits already is not added again. */
  readonly key: string;
  /** Probes of one host are made one after the other. */
  readonly host: string;
  /** Not to be begun later than this, milliseconds since the epoch. */
  readonly beforeMs: number;
  /** Must not reject. */
  readonly run: () => Promise<void>;
}

/** Probes that wait and probes under way. */
export interface ProbeQueue {
  /** False when a probe of this key waits already, or too many wait. */
  add(probe: QueuedProbe): boolean;
  /** Waiting and under way. */
  readonly size: number;
  /** Forgets those that wait; resolves when those under way have ended. */
  close(): Promise<void>;
}

/** Bounds of a queue. */
export interface ProbeQueueOptions {
  readonly now: () => number;
  /** Probes under way at once; default 32. */
  readonly atOnce?: number;
  /** Probes that may wait; default 20,000. */
  readonly mostWaiting?: number;
  /** Hears of each probe that was not begun in time or found no room. */
  readonly onDropped?: (endpoint: string) => void;
}

/** First come, first served, but for hosts that are busy. */
export function createProbeQueue(options: ProbeQueueOptions): ProbeQueue {
  const { now, atOnce = 32, mostWaiting = 20_000, onDropped } = options;
  /** Probes by host; a host stays here while it has any, waiting or under way. */
  const hosts = new Map<string, QueuedProbe[]>();
  /** Hosts with waiting probes and none under way. */
  const ready = new Set<string>();
  const waiting = new Set<string>();
  const running = new Set<Promise<void>>();

  const next = (): QueuedProbe | undefined => {
    for (const host of ready) {
      const probes = hosts.get(host) ?? [];
      ready.delete(host);
      for (let probe = probes.shift(); probe !== undefined; probe = probes.shift()) {
        waiting.delete(probe.key);
        if (probe.beforeMs >= now()) return probe;
        onDropped?.(probe.endpoint);
      }
      hosts.delete(host);
    }
    return undefined;
  };
  const pump = (): void => {
    while (running.size < atOnce) {
      const probe = next();
      if (probe === undefined) return;
      const run = probe.run().finally(() => {
        running.delete(run);
        if ((hosts.get(probe.host)?.length ?? 0) > 0) ready.add(probe.host);
        else hosts.delete(probe.host);
        pump();
      });
      running.add(run);
    }
  };

  return {
    get size() {
      return waiting.size + running.size;
    },
    add(probe) {
      if (waiting.has(probe.key)) return false;
      if (waiting.size >= mostWaiting) {
        onDropped?.(probe.endpoint);
        return false;
      }
      waiting.add(probe.key);
      const probes = hosts.get(probe.host);
      if (probes === undefined) {
        hosts.set(probe.host, [probe]);
        ready.add(probe.host);
      } else probes.push(probe);
      pump();
      return true;
    },
    async close() {
      ready.clear();
      hosts.clear();
      waiting.clear();
      await Promise.all(running);
    },
  };
}
