import { buffer } from "node:stream/consumers";
import { expect, it } from "vitest";
import { HeldAnswers } from "../../../src/hosting/held-answers.ts";

const bytes = (length: number, fill = 7): Buffer => Buffer.alloc(length, fill);

it("gives every byte and forgets the answer then", async () => {
  const held = new HeldAnswers(1_000_000);
  const answer = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251));
  const stream = held.hold("a", answer);
  expect(held.bytes).toBe(200_000);
  expect((await buffer(stream)).equals(answer)).toBe(true);
  expect(held.bytes).toBe(0);
});

it("forgets an answer that nobody wants", async () => {
  const held = new HeldAnswers(1_000);
  held.hold("a", bytes(900)).destroy();
  await new Promise(setImmediate);
  expect(held.bytes).toBe(0);
});

it("cuts off the oldest answer of the client that keeps most", async () => {
  const held = new HeldAnswers(1_000);
  const streams = [held.hold("b", bytes(300)), held.hold("a", bytes(400)), held.hold("a", bytes(200))];
  const latest = held.hold("b", bytes(200));
  expect(streams.map(({ destroyed }) => destroyed)).toEqual([false, true, false]);
  await expect(buffer(streams[1] ?? latest)).rejects.toMatchObject({ code: "SERVICE_BUSY" });
  expect(held.bytes).toBe(700);
  expect((await buffer(latest)).length).toBe(200);
});

it("never keeps more than it may, be it one answer", () => {
  const held = new HeldAnswers(1_000);
  expect(held.hold("a", bytes(1_001)).destroyed).toBe(true);
  for (let n = 0; n < 50; n += 1) held.hold(`client ${n}`, bytes(150));
  expect(held.bytes).toBeLessThanOrEqual(1_000);
});
