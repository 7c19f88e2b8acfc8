import { type Static, Type } from "typebox";
import { FedwayError } from "../errors/fedway-error.ts";
import type { Store } from "../store/store.ts";
import { type Given, integer, number } from "../shapes.ts";
import type { Client } from "./client-keys.ts";
import { keyNameOf } from "./client-name.ts";

/** Cost of a client's calls. */
const Cost = Type.Object({
  requests: integer("Requests sent to endpoints."),
  rows: integer("Rows or triples of answers, where their number is known."),
  seconds: number("Seconds that calls were under way."),
});
export type Cost = Given<Static<typeof Cost>>;

const windows = { hour: 3_600_000, day: 86_400_000 } as const;
type Window = keyof typeof windows;
const kinds = ["requests", "rows", "seconds"] as const;

/** Cost so far of a client's calls, by window. */
export const Use = Type.Object(
  { hour: Cost, day: Cost },
  { description: "Cost of its calls in the present hour and day (UTC)." },
);
type Use = Given<Static<typeof Use>>;

interface QuotaOptions {
  readonly store: Pick<Store, "increment">;
  readonly clients: { get(name: string): Client | undefined };
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly onFault: (error: unknown) => void;
}

/** Refuses calls of clients that have spent their quota, and counts what calls cost. */
export type Quotas = ReturnType<typeof createQuotas>;

/**
 * Counts the cost of each client's calls in windows of the calendar, with counters that all processes share. A call is
 * counted when it ends, so those under way together can exceed a limit; the next one is refused.
 */
export function createQuotas({ store, clients, now, onFault }: QuotaOptions) {
  const settling = new Map<string, Promise<unknown>>();
  const count = async (name: string, { window, kind, by = 0 }: Counted): Promise<number> => {
    const lengthMs = windows[window];
    // Counters are whole numbers.
    const unit = kind === "seconds" ? 1_000 : 1;
    const counter = `client-use/${name}/${window}/${Math.floor(now() / lengthMs)}/${kind}`;
    return (await store.increment(counter, Math.round(by * unit), { ttlMs: lengthMs })) / unit;
  };
  const check = async (name: string, quota: NonNullable<Client["quota"]>): Promise<void> => {
    await settling.get(name);
    for (const window of ["hour", "day"] as const) {
      for (const kind of kinds) {
        const most = quota[window]?.[kind];
        if (most === undefined) continue;
        const spent = await count(name, { window, kind });
        if (spent >= most) throw quotaSpent(name, { window, kind, most, spent, nowMs: now() });
      }
    }
  };
  const add = async (name: string, cost: Cost): Promise<void> => {
    const counts = (["hour", "day"] as const).flatMap((window) =>
      kinds.filter((kind) => cost[kind] > 0).map((kind) => count(name, { window, kind, by: cost[kind] })),
    );
    await Promise.all(counts).catch(onFault);
  };
  return {
    /** Lets a call of an owner begin; at once where it has no quota. @throws FedwayError `QUOTA_SPENT`, `STORE_FAILED` */
    admit(owner: string): Promise<void> | undefined {
      const name = keyNameOf(owner);
      const quota = name === undefined ? undefined : clients.get(name)?.quota;
      return name === undefined || quota === undefined ? undefined : check(name, quota);
    },
    /** Counts what a call has cost. */
    settle(owner: string, cost: Cost): void {
      const name = keyNameOf(owner);
      if (name === undefined) return;
      const turn = Promise.all([settling.get(name), add(name, cost)]).finally(() => {
        if (settling.get(name) === turn) settling.delete(name);
      });
      settling.set(name, turn);
    },
    /** @throws FedwayError `STORE_FAILED` */
    async use(name: string): Promise<Use> {
      await settling.get(name);
      const of = async (window: Window): Promise<Cost> => {
        const [requests = 0, rows = 0, seconds = 0] = await Promise.all(
          kinds.map((kind) => count(name, { window, kind })),
        );
        return { requests, rows, seconds };
      };
      return { hour: await of("hour"), day: await of("day") };
    },
    /** Waits until what has ended is counted. */
    close: async (): Promise<void> => void (await Promise.all(settling.values())),
  };
}

interface Counted {
  readonly window: Window;
  readonly kind: keyof Cost;
  readonly by?: number;
}

interface Spent extends Omit<Counted, "by"> {
  readonly most: number;
  readonly spent: number;
  readonly nowMs: number;
}

const words = { requests: "requests to endpoints", rows: "rows", seconds: "seconds" };

function quotaSpent(name: string, { window, kind, most, spent, nowMs }: Spent): FedwayError {
  const detail = `The client ${name} has used ${spent} of its ${most} ${words[kind]} of this ${window}.`;
  return new FedwayError("QUOTA_SPENT", detail, {
    retryAfterMs: windows[window] - (nowMs % windows[window]),
    next: "Wait for the next window (Retry-After), or ask the operator for a larger quota. GET /api/keys/self shows your use.",
  });
}
