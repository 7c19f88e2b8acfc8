import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { LineBatch } from "../../../src/telemetry/log.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function setUp(characters = 10) {
  const seen: string[] = [];
  const sink = {
    write: (text: string) => seen.push(text),
    flush: () => seen.push("begun"),
    flushSync: () => seen.push("written"),
  };
  const mask = (text: string): string => text.replaceAll("secret", "[hidden]");
  return { seen, batch: new LineBatch(sink, { characters, waitMs: 250, mask }) };
}

it("hands lines on together once they are many", () => {
  const { seen, batch } = setUp();
  batch.write("1234\n");
  expect(seen).toEqual([]);
  batch.write("5678\n");
  expect(seen).toEqual(["1234\n5678\n", "begun"]);
  vi.advanceTimersByTime(1_000);
  expect(seen).toHaveLength(2);
});

it("lets no line wait longer than it may", () => {
  const { seen, batch } = setUp();
  batch.write("1\n");
  vi.advanceTimersByTime(200);
  batch.write("2\n");
  vi.advanceTimersByTime(50);
  expect(seen).toEqual(["1\n2\n", "begun"]);
  batch.write("3\n");
  vi.advanceTimersByTime(249);
  expect(seen).toHaveLength(2);
  vi.advanceTimersByTime(1);
  expect(seen).toEqual(["1\n2\n", "begun", "3\n", "begun"]);
});

it("hands everything on when it is flushed", () => {
  const { seen, batch } = setUp();
  batch.write("1\n");
  batch.flush(() => seen.push("done"));
  expect(seen).toEqual(["1\n", "begun", "done"]);
  batch.write("2\n");
  batch.flushSync();
  expect(seen).toEqual(["1\n", "begun", "done", "2\n", "written"]);
  vi.advanceTimersByTime(1_000);
  expect(seen).toHaveLength(5);
});

it("listens for the end of the process only while lines wait", () => {
  const { batch } = setUp();
  const before = process.listenerCount("exit");
  batch.write("1\n");
  batch.write("2\n");
  expect(process.listenerCount("exit")).toBe(before + 1);
  batch.flush();
  expect(process.listenerCount("exit")).toBe(before);
});

it("writes nothing that is masked", () => {
  const { seen, batch } = setUp(700);
  batch.write("a secret\n");
  batch.write("another secret\n");
  batch.flush();
  expect(seen).toEqual(["a [hidden]\nanother [hidden]\n", "begun"]);
});
