import { Writable } from "node:stream";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createProgressDisplay } from "../../../src/cli/progress.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

interface Screen {
  readonly stream: Writable;
  readonly text: () => string;
}

function createScreen(terminal: boolean): Screen {
  let text = "";
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      text += chunk;
      done();
    },
  });
  return { stream: Object.assign(stream, terminal && { isTTY: true, columns: 100 }), text: () => text };
}

const climbing = { stage: "properties of classes", done: 3, total: 12, figures: { requests: 20, classes: 12 } };

it("writes a line every few seconds where there is no terminal", () => {
  const { stream, text } = createScreen(false);
  const display = createProgressDisplay(stream);
  display.show({ stage: "probes", done: 0, total: 1 });
  display.show(climbing);
  expect(text()).toBe("");
  vi.advanceTimersByTime(5_000);
  expect(text()).toBe("properties of classes 3/12 (20 requests, 12 classes)\n");
  vi.advanceTimersByTime(5_000);
  expect(text().match(/\n/g)).toHaveLength(2);
  display.end();
  vi.advanceTimersByTime(60_000);
  expect(text().match(/\n/g)).toHaveLength(2);
});

it("writes nothing before there is something to tell", () => {
  const { stream, text } = createScreen(false);
  const display = createProgressDisplay(stream);
  vi.advanceTimersByTime(20_000);
  display.end();
  expect(text()).toBe("");
});

it("draws a bar on a terminal", () => {
  const { stream, text } = createScreen(true);
  const display = createProgressDisplay(stream);
  display.show({ stage: "looking", done: 0 });
  display.show(climbing);
  vi.advanceTimersByTime(1_000);
  expect(text()).toContain("#####--------------- properties of classes 3/12 (20 requests, 12 classes)");
  display.end();
  const drawn = text();
  vi.advanceTimersByTime(60_000);
  expect(text()).toBe(drawn);
});
