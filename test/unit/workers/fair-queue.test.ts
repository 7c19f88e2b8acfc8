import { expect, it } from "vitest";
import { FairQueue } from "../../../src/workers/fair-queue.ts";

const queueOf = (waiting: readonly string[], limits = { maxWaiting: 100, maxPerClient: 100 }): FairQueue<string> => {
  const queue = new FairQueue<string>(limits);
  for (const item of waiting) queue.push(item.slice(0, 1), item);
  return queue;
};

/** What is served, one after the other. */
function rest(queue: FairQueue<string>): string {
  const items: string[] = [];
  for (let turn = queue.take(); turn !== undefined; turn = queue.take()) {
    items.push(turn.item);
    turn.done();
  }
  return items.join(" ");
}

it("keeps the order of one client", () => {
  expect(rest(queueOf(["a1", "a2", "a3"]))).toBe("a1 a2 a3");
});

it("lets clients take turns however much one of them asks", () => {
  expect(rest(queueOf(["a1", "a2", "a3", "a4", "b1", "c1", "b2"]))).toBe("a1 b1 c1 a2 b2 a3 a4");
});

it("puts who is served behind all that come meanwhile", () => {
  const queue = queueOf(["a1"]);
  const turn = queue.take();
  for (const item of ["a2", "a3", "b1", "c1"]) queue.push(item.slice(0, 1), item);
  turn?.done();
  expect(rest(queue)).toBe("b1 c1 a2 a3");
});

it("gives each place that gets free to who has the fewest", () => {
  const queue = queueOf(["a1", "a2", "a3", "a4"]);
  const turns = [queue.take(), queue.take(), queue.take()];
  queue.push("b", "b1");
  queue.push("b", "b2");
  turns[0]?.done();
  expect(queue.take()?.item).toBe("b1");
  turns[1]?.done();
  expect(queue.take()?.item).toBe("b2");
  turns[2]?.done();
  expect(queue.take()?.item).toBe("a4");
});

it("passes over what is not ready, and asks in the order of turns", () => {
  const queue = queueOf(["a1", "a2"]);
  queue.take();
  queue.push("b", "b1");
  const asked: string[] = [];
  const none = (item: string): boolean => asked.push(item) === 0;
  expect(queue.take(none)).toBeUndefined();
  expect(asked).toEqual(["b1", "a2"]);
  expect(queue.take((item) => item.startsWith("a"))?.item).toBe("a2");
  expect(queue.size).toBe(1);
});

it("says which bound refuses an item, and refuses no other client by the bound of one", () => {
  const queue = queueOf([], { maxWaiting: 3, maxPerClient: 2 });
  expect(["a1", "a2", "a3"].map((item) => queue.push("a", item))).toEqual(["waiting", "waiting", "client-full"]);
  expect(queue.push("b", "b1")).toBe("waiting");
  expect(queue.push("c", "c1")).toBe("full");
  expect(queue.size).toBe(3);
  expect(rest(queue)).toBe("a1 b1 a2");
});

it("forgets what is removed, also the last item of a client", () => {
  const queue = queueOf(["a1", "a2", "b1", "c1"]);
  expect([queue.remove("a1"), queue.remove("b1"), queue.remove("b1")]).toEqual([true, true, false]);
  expect(queue.size).toBe(2);
  expect(rest(queue)).toBe("a2 c1");
  expect(queue.size).toBe(0);
});

it("has nothing when it is empty", () => {
  const queue = queueOf([]);
  expect(queue.take()).toBeUndefined();
  expect(queue.remove("a1")).toBe(false);
  expect(queue.size).toBe(0);
});
