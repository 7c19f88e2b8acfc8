import { every, systemClock } from "../clock.ts";
import { randomUUID } from "node:crypto";
import { FedwayError } from "../errors/fedway-error.ts";
import type { Store } from "./store.ts";

/** How the state is watched. */
interface StateWatchOptions {
  readonly store: Store;
  readonly now: () => number;
  /** Default 5,000. */
  readonly everyMs?: number;
  /** Asked with each look; resolves to undefined where the server forbids it. Absent: nothing is ever evicted. */
  readonly evictionPolicy?: (() => Promise<string | undefined>) | undefined;
  /** Called when the server begins to evict. */
  readonly onEvicting?: ((policy: string) => void) | undefined;
  /** Called once when the server does not say whether it evicts. */
  readonly onUnknownPolicy?: (() => void) | undefined;
  /** Called when another, empty or restored, state stands where this process' state was. */
  readonly onLost: () => Promise<void>;
  readonly onFault: (error: unknown) => void;
}

/** Changes of the shared state while this process ran. */
export type StateWatch = Awaited<ReturnType<typeof watchState>>;

/** True for a policy by which Redis drops what it has acknowledged. */
export const mayEvict = (policy: string | undefined): policy is string =>
  policy !== undefined && policy !== "noeviction";

export const lossByEviction = (policy: string): string =>
  `Redis drops acknowledged changes when its memory is full: its maxmemory-policy is ${policy}.`;
/** The command that mends it. */
export const keepAll = "Run redis-cli config set maxmemory-policy noeviction";

/** The id of the state: written where none is found, and gone when the state is. */
const key = "state/life";

async function stateIdOf(store: Store): Promise<string> {
  const known = await store.get(key);
  if (known !== undefined) return known.value;
  const id = randomUUID();
  if ((await store.put(key, id, { ifVersion: 0 })) !== undefined) return id;
  const other = await store.get(key);
  if (other === undefined) throw new FedwayError("STORE_FAILED", "The store forgets recent writes.");
  return other.value;
}

/**
 * Looks now and then whether the state is still the one that this process began with. A store that is emptied under a
 * running service loses what it held, and that must be reported. @throws FedwayError `STORE_FAILED`
 */
export async function watchState(options: StateWatchOptions) {
  const { store, now, everyMs = 5_000, onLost, onFault } = options;
  let stateId = await stateIdOf(store);
  const seen: { lostAtMs?: number; failingSinceMs?: number; policy?: string | undefined } = {};
  /** The state that was found instead and is not taken up yet. */
  let found = stateId;
  let closed = false;

  const lookAtPolicy = async (): Promise<void> => {
    const policy = await options.evictionPolicy?.();
    if (mayEvict(policy) && seen.policy !== policy) options.onEvicting?.(policy);
    seen.policy = policy;
  };
  await lookAtPolicy();
  if (options.evictionPolicy && seen.policy === undefined) options.onUnknownPolicy?.();

  const look = async (): Promise<void> => {
    await lookAtPolicy();
    const current = await stateIdOf(store);
    if (closed) return;
    if (current !== found) seen.lostAtMs = Math.round(now());
    found = current;
    if (current !== stateId) await onLost();
    // Only now: when taking up the new state fails, the next look tries again.
    stateId = current;
    delete seen.failingSinceMs;
  };
  const looking = every(everyMs, look, {
    clock: systemClock,
    firstAfterMs: everyMs,
    onFault(error) {
      seen.failingSinceMs ??= Math.round(now());
      onFault(error);
    },
  });
  return {
    /** When the state was found to be gone; undefined while it never was. */
    get lostAtMs(): number | undefined {
      return seen.lostAtMs;
    },
    /** Since when the store cannot be reached; undefined while it can. */
    get failingSinceMs(): number | undefined {
      return seen.failingSinceMs;
    },
    /** `unknown`: the server does not say; undefined: it keeps all. */
    get eviction(): "unknown" | { readonly detail: string } | undefined {
      if (options.evictionPolicy === undefined) return undefined;
      if (seen.policy === undefined) return "unknown";
      return mayEvict(seen.policy) ? { detail: `${lossByEviction(seen.policy)} ${keepAll}` } : undefined;
    },
    close(): void {
      closed = true;
      void looking.stop();
    },
  };
}
