import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Clock } from "../../../../src/clock.ts";
import { createEmbeddedJobQueue } from "../../../../src/jobs/embedded/embedded-job-queue.ts";
import { createMemoryStore } from "../../../../src/store/memory/memory-store.ts";

/** What needs no time is over before time goes on. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
}

/** A clock on which every reading takes a millisecond, and whose timers are fired one by one. */
function creepingClock() {
  let nowMs = 1_000_000;
  const timers = new Map<NodeJS.Timeout, { readonly atMs: number; readonly run: () => void }>();
  const clock: Clock = {
    now: () => {
      nowMs += 1;
      return nowMs;
    },
    setTimeout(run, ms) {
      // Only its identity is used.
      const timer = setTimeout(() => {}, 0);
      timers.set(timer, { atMs: nowMs + ms, run });
      return timer;
    },
    clearTimeout: (timer) => void (timer && timers.delete(timer)),
  };
  const fireNext = async (): Promise<void> => {
    const [first] = [...timers].toSorted(([, left], [, right]) => left.atMs - right.atMs);
    if (first !== undefined) {
      timers.delete(first[0]);
      nowMs = Math.max(nowMs, first[1].atMs);
      first[1].run();
    }
    await settle();
  };
  return { clock, fireNext, elapsedMs: () => nowMs - 1_000_000 };
}

it.each(Array.from({ length: 40 }, (_, index) => index + 1))(
  "a job that is due after %d ms does not wait for the next survey",
  async (delayMs) => {
    const { clock, elapsedMs, fireNext } = creepingClock();
    const queue = createEmbeddedJobQueue({ store: createMemoryStore(), soleOwner: true, clock });
    await queue.start([{ name: "work", validate: () => {}, run: async () => "done" }]);
    const { id } = await queue.enqueue("work", null, { delayMs });
    await settle();
    while ((await queue.get(id))?.state !== "done" && elapsedMs() < 30_000) await fireNext();
    expect(elapsedMs()).toBeLessThan(5000);
    const closing = queue.close(0);
    await fireNext();
    await closing;
  },
);
