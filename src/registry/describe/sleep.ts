import type { Clock } from "../../outbound/clock.ts";
import { StopRun } from "./stop-run.ts";

/** Waits. @throws StopRun "cancelled" when the signal aborts meanwhile */
export async function sleep(
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  ms: number,
): Promise<void> {
  if (signal.aborted) throw new StopRun("cancelled");
  await new Promise<void>((resolve, reject) => {
    const timer = clock.setTimeout(() => {
      signal.removeEventListener("abort", cancel);
      resolve();
    }, ms);
    function cancel(): void {
      clock.clearTimeout(timer);
      reject(new StopRun("cancelled"));
    }
    signal.addEventListener("abort", cancel, { once: true });
  });
}
