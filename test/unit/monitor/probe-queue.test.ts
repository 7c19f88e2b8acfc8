import { expect, it } from "vitest";
import { createProbeQueue } from "../../../src/monitor/prober.ts";

/** Probes that end when they are told to. */
function controlled(options: { atOnce?: number; mostWaiting?: number } = {}) {
  const dropped: string[] = [];
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const clock = { nowMs: 0 };
  const queue = createProbeQueue({
    now: () => clock.nowMs,
    onDropped: (endpoint) => dropped.push(endpoint),
    ...options,
  });
  const add = (endpoint: string, host: string, beforeMs = 1_000): boolean =>
    queue.add({
      endpoint,
      key: endpoint,
      host,
      beforeMs,
      run() {
        begun.push(endpoint);
        return new Promise((resolve) => ends.set(endpoint, resolve));
      },
    });
  const end = async (endpoint: string): Promise<void> => {
    ends.get(endpoint)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { queue, add, end, begun, dropped, clock };
}

it("probes of one host come one after the other, in order", async () => {
  const { add, end, begun } = controlled();
  for (const endpoint of ["a1", "a2", "a3"]) add(endpoint, "a");
  add("b1", "b");
  expect(begun).toEqual(["a1", "b1"]);
  await end("a1");
  expect(begun).toEqual(["a1", "b1", "a2"]);
  await end("a2");
  expect(begun).toEqual(["a1", "b1", "a2", "a3"]);
});

it("no more than so many at once, over all hosts", async () => {
  const { add, end, begun, queue } = controlled({ atOnce: 3 });
  for (let n = 0; n < 10; n += 1) add(`e${n}`, `h${n}`);
  expect(begun).toEqual(["e0", "e1", "e2"]);
  await end("e1");
  expect(begun).toEqual(["e0", "e1", "e2", "e3"]);
  expect(queue.size).toBe(9);
});

it("what cannot begin in time is dropped and counted", async () => {
  const { add, end, begun, dropped, clock } = controlled();
  add("a1", "a");
  add("late", "a", 500);
  add("a3", "a", 2_000);
  clock.nowMs = 501;
  await end("a1");
  expect(dropped).toEqual(["late"]);
  expect(begun).toEqual(["a1", "a3"]);
});

it("a probe that waits is not added again; one that runs may be", async () => {
  const { add, begun } = controlled();
  expect([add("a1", "a"), add("a1", "a"), add("a1", "a")]).toEqual([true, true, false]);
  expect(begun).toEqual(["a1"]);
});

it("what finds no room is dropped and counted", () => {
  const { add, dropped } = controlled({ mostWaiting: 2 });
  expect(["a1", "a2", "a3", "a4"].map((endpoint) => add(endpoint, "a"))).toEqual([true, true, true, false]);
  expect(dropped).toEqual(["a4"]);
});

it("closing waits for those under way and forgets the others", async () => {
  const { add, end, begun, queue } = controlled();
  add("a1", "a");
  add("a2", "a");
  const closed = queue.close().then(() => "closed");
  await expect(Promise.race([closed, Promise.resolve("open")])).resolves.toBe("open");
  await end("a1");
  await expect(closed).resolves.toBe("closed");
  expect(begun).toEqual(["a1"]);
});
