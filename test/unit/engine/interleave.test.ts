import { describe, expect, it } from "vitest";
import { interleave } from "../../../src/engine/interleave.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function* lane(items: readonly (string | Error)[]): AsyncIterable<string> {
  for (const item of items) {
    await turn();
    if (item instanceof Error) throw item;
    yield item;
  }
}

async function* lanes(...all: readonly (readonly (string | Error)[] | Error)[]): AsyncIterable<AsyncIterable<string>> {
  for (const each of all) {
    if (each instanceof Error) throw each;
    yield lane(each);
  }
}

/** Reads all with a pause at each item, in which what is under way may fail. */
async function readSlowly(items: AsyncIterable<string>): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const item of items) {
    found.push(item);
    for (let pause = 0; pause < 5; pause += 1) await turn();
  }
  return found;
}

/** A rejection that nobody sees ends a process; the test runner reports it as an error of the file. */
const seen = async (work: () => Promise<unknown>): Promise<readonly unknown[]> => {
  const unseen: unknown[] = [];
  const listener = (reason: unknown): void => void unseen.push(reason);
  process.on("unhandledRejection", listener);
  try {
    await work().catch(() => {});
    for (let pause = 0; pause < 5; pause += 1) await turn();
    return unseen;
  } finally {
    process.off("unhandledRejection", listener);
  }
};

describe("interleave", () => {
  it("gives the items of all lanes, and those of each in order", async () => {
    const found = await readSlowly(interleave(lanes(["a1", "a2", "a3"], ["b1"], [], ["c1", "c2"]), 2));
    expect(found.toSorted()).toEqual(["a1", "a2", "a3", "b1", "c1", "c2"]);
    expect(found.filter((item) => item.startsWith("a"))).toEqual(["a1", "a2", "a3"]);
  });

  it("has no more lanes open than it may", async () => {
    let open = 0;
    let most = 0;
    async function* counted(): AsyncIterable<string> {
      open += 1;
      most = Math.max(most, open);
      await turn();
      yield "x";
      open -= 1;
    }
    async function* many(): AsyncIterable<AsyncIterable<string>> {
      for (let count = 0; count < 10; count += 1) yield counted();
    }
    expect(await readSlowly(interleave(many(), 3))).toHaveLength(10);
    expect(most).toBe(3);
  });

  it.each([
    ["a lane", () => lanes(["a1", new Error("out of luck")], ["b1", "b2", "b3"])],
    ["the last lane", () => lanes(["a1", "a2"], ["b1", new Error("out of luck")])],
    ["the source of lanes", () => lanes(["a1", "a2", "a3"], new Error("out of luck"))],
  ])("fails with %s, also when that fails while an item is being worked on", async (_, source) => {
    await expect(readSlowly(interleave(source(), 3))).rejects.toThrow("out of luck");
    expect(await seen(() => readSlowly(interleave(source(), 3)))).toEqual([]);
  });

  it("leaves nothing behind that fails unseen when it is left early", async () => {
    const leave = async (): Promise<void> => {
      for await (const item of interleave(lanes(["a1", new Error("late")], ["b1", new Error("late")]), 2)) {
        expect(item).toMatch(/1$/);
        break;
      }
    };
    expect(await seen(leave)).toEqual([]);
  });
});
