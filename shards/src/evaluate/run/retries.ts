import { sleep, steadyClock } from "../../../../src/clock.ts";

/** Waits before another try. */
const retryMs = [1_000, 5_000] as const;

/** Does work again, at most twice, while what it finds is temporary. @throws the signal's reason, and what the work throws */
export async function withRetries<Found>(
  work: () => Promise<Found>,
  isTemporary: (found: Found) => boolean,
  signal: AbortSignal,
): Promise<Found> {
  for (const waitMs of retryMs) {
    const found = await work();
    if (!isTemporary(found)) return found;
    await sleep(waitMs, { clock: steadyClock, signal });
    signal.throwIfAborted();
  }
  return work();
}
