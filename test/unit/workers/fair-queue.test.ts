import { expect, it } from "vitest";
import { createFairQueue, type FairQueue } from "../../../src/workers/fair-queue.ts";

const queueOf = (waiting: readonly string[], limits = { maxWaiting: 100, maxPerClient: 100 }): FairQueue<string> => {
  const queue = createFairQueue<string>(limits);
  for (const item of waiting) queue.push(item.slice(0, 1), item);
  return queue;
};

function rest(queue: FairQueue<string>): string {
  const items: string[] = [];
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) items.push(item);
  return items.join(" ");
}

it("keeps the order of one client", () => {
  expect(rest(queueOf(["a1", "a2", "a3"]))).toBe("a1 a2 a3");
});

it("lets clients take turns however much one of them asks", () => {
  expect(rest(queueOf(["a1", "a2", "a3", "a4", "b1", "c1", "b2"]))).toBe("a1 b1 c1 a2 b2 a3 a4");
});

it("puts a client that was just served behind the others, also when it comes back", () => {
  const queue = queueOf(["a1", "b1", "c1"]);
  expect(queue.shift()).toBe("a1");
  queue.push("a", "a2");
  expect(rest(queue)).toBe("b1 c1 a2");
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
  expect(queue.shift()).toBeUndefined();
  expect(queue.remove("a1")).toBe(false);
  expect(queue.size).toBe(0);
});
