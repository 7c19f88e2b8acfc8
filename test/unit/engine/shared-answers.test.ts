import { describe, expect, it } from "vitest";
import { createHeldBytes } from "../../../src/engine/held-bytes.ts";
import { SharedAnswers } from "../../../src/engine/shared-answers.ts";
import { literalFromParts } from "../../../src/results/terms.ts";
import type { Bindings } from "../../../src/results/model.ts";

const row = (text: string): Bindings => new Map([["x", literalFromParts(text)]]);
const textOf = (found: Bindings | undefined): string | undefined => found?.get("x")?.value;

function setUp(count: number, length = 1) {
  let sent = 0;
  let left = 0;
  const answers = new SharedAnswers(createHeldBytes(2 ** 27));
  async function* send(): AsyncIterable<Bindings> {
    sent++;
    try {
      for (let i = 0; i < count; i++) yield row(String(i).padStart(length, "0"));
    } finally {
      left++;
    }
  }
  const open = () => answers.rows("request", send)[Symbol.asyncIterator]();
  const read = async (rows = open()): Promise<number> => {
    let found = 0;
    while (!(await rows.next()).done) found++;
    return found;
  };
  return { answers, open, read, sent: () => sent, left: () => left };
}

describe("equal requests of one execution", () => {
  it("are sent once", async () => {
    const { read, sent } = setUp(10);
    expect([await read(), await read()]).toEqual([10, 10]);
    expect(sent()).toBe(1);
  });
  it("are sent once while the first is under way, and neither reader waits for the other", async () => {
    const { open, read, sent } = setUp(10);
    const first = open();
    expect(textOf((await first.next()).value)).toBe("0");
    expect(await read()).toBe(10);
    expect(await read(first)).toBe(9);
    expect(sent()).toBe(1);
  });
  it("are sent again when the answer is large", async () => {
    const { read, sent } = setUp(100, 10_000);
    expect([await read(), await read()]).toEqual([100, 100]);
    expect(sent()).toBe(2);
  });
  it("share a large answer that two read at once", async () => {
    const { read, sent } = setUp(100, 10_000);
    expect(await Promise.all([read(), read()])).toEqual([100, 100]);
    expect(sent()).toBe(1);
  });
  it("end upstream when the last reader leaves, and are sent again", async () => {
    const { open, read, sent, left } = setUp(10);
    const [first, second] = [open(), open()];
    await first.next();
    await second.next();
    await first.return?.();
    expect(left()).toBe(0);
    await second.return?.();
    expect(left()).toBe(1);
    expect(await read()).toBe(10);
    expect(sent()).toBe(2);
  });
  it("fail together, and are sent again", async () => {
    const { answers } = setUp(0);
    let sent = 0;
    async function* send(): AsyncIterable<Bindings> {
      sent++;
      yield row("1");
      throw new Error("lost");
    }
    const read = async (): Promise<void> => {
      for await (const found of answers.rows("failing", send)) expect(textOf(found)).toBe("1");
    };
    await Promise.all([expect(read()).rejects.toThrow("lost"), expect(read()).rejects.toThrow("lost")]);
    expect(sent).toBe(1);
    await expect(read()).rejects.toThrow("lost");
    expect(sent).toBe(2);
  });
});
