import { expect, test } from "vitest";
import { StallWatch } from "../../../src/workers/stall-watch.ts";

/** What is seen of a process at each look: processor time in all, and whether it is runnable; null: nothing is known of it. */
type Look = readonly [processorMs: number, isRunnable: boolean] | null;

const run = (...more: readonly number[]): readonly Look[] => more.map((ms) => [ms, true]);
const asleep = (ms: number, times: number): readonly Look[] => Array.from({ length: times }, () => [ms, false]);

test.each<[name: string, looks: readonly Look[], silentMs: number]>([
  ["it spins", run(500, 1_500, 2_500, 3_500), 3_000],
  ["it spins on a tenth of a processor", run(500, 600, 700, 800), 300],
  ["it waits for a processor all the time", run(500, 500, 500, 500), 0],
  ["it is stopped", asleep(500, 4), 4_000],
  ["it is stopped after it has waited", [...run(500, 500, 500), ...asleep(500, 2)], 2_000],
  ["we were late ourselves, once", run(500, 31_500), 1_000],
  ["many threads of it run", run(0, 4_000, 8_000), 2_000],
  ["nothing is known of processes here", [null, null, null], 3_000],
])("%s", (_name, looks, silentMs) => {
  const seen = [...looks];
  const activity = () => {
    const look = seen.shift();
    return look ? { processorMs: look[0], isRunnable: look[1] } : undefined;
  };
  const watch = new StallWatch(1, { everyMs: 1_000, activity });
  expect(looks.map(() => watch.observe()).at(-1)).toBe(silentMs);
  watch.answered();
  seen.push([99_000, true]);
  expect(watch.observe()).toBe(0);
});
