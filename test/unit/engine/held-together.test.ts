import { expect, test } from "vitest";
import { createHeldBytes } from "../../../src/engine/held-bytes.ts";

const together = (most: number) => ({ most, bytes: 0, holders: 0 });
const busy = expect.objectContaining({ code: "SERVICE_BUSY" });

test("of evaluations that hold too much together, those fail that hold more than their share", () => {
  const all = together(1_000);
  const [large, small] = [createHeldBytes(10_000, all).open(), createHeldBytes(10_000, all).open()];
  large.add(900);
  small.add(90);
  small.add(90);
  expect(() => large.add(1)).toThrow(busy);
});

test("one alone may hold all that there is, and no more", () => {
  const alone = createHeldBytes(10_000, together(1_000)).open();
  alone.add(1_000);
  expect(() => alone.add(1)).toThrow(busy);
});

test("what is over holds nothing, whatever its operators still say", () => {
  const all = together(1_000);
  const held = createHeldBytes(10_000, all);
  const [one, other] = [held.open(), held.open()];
  one.add(500);
  other.add(300);
  one.release();
  expect(all).toMatchObject({ bytes: 300, holders: 1 });
  held.close();
  other.add(5_000);
  other.release();
  expect(all).toMatchObject({ bytes: 0, holders: 0 });
});
