import { describe, expect, it } from "vitest";
import { firstRows } from "../../../src/engine/evaluator/first-rows.ts";
import { createHeldBytes } from "../../../src/engine/held-bytes.ts";
import type { Bindings } from "../../../src/results/model.ts";
import { termFromText } from "../../../src/results/terms.ts";

const row = (x: string): Bindings => new Map([["x", termFromText(x)]]);
const texts = (rows: readonly Bindings[]): string[] => rows.map((one) => one.get("x")?.value ?? "");
const numbered = (count: number): string[] => Array.from({ length: count }, (_, n) => `"${n}"`);

/** What is asked of an endpoint with these terms, in another order each time, and the rows that come of it. */
async function read(terms: readonly string[], { wanted, size }: { wanted: number; size?: number }) {
  const asked: (number | undefined)[] = [];
  async function* ask(most?: number): AsyncIterable<readonly Bindings[]> {
    asked.push(most);
    yield (asked.length % 2 === 0 ? terms.toReversed() : terms).slice(0, most).map(row);
  }
  const rows: Bindings[] = [];
  for await (const batch of firstRows(ask, { wanted, size, held: createHeldBytes(1_000_000) })) rows.push(...batch);
  return { asked, values: texts(rows).toSorted() };
}

describe("the first rows are asked for before all, and no row comes more or less often", () => {
  it.each<[string, readonly string[], { wanted: number; size?: number }, (number | undefined)[]]>([
    ["few are wanted of few", numbered(63), { wanted: 1 }, [64]],
    ["as many as are asked for", numbered(64), { wanted: 1 }, [64, undefined]],
    ["more", numbered(500), { wanted: 10 }, [160, undefined]],
    [
      "some of them several times",
      [...numbered(100), ...numbered(50), ...numbered(90)],
      { wanted: 10 },
      [160, undefined],
    ],
    ["blank nodes, which have no name", [...numbered(100), "_:a", ...numbered(90)], { wanted: 10 }, [160, undefined]],
    ["it is known to have few", numbered(40), { wanted: 1, size: 40 }, [undefined]],
  ])("%s", async (_, terms, options, asked) => {
    expect(await read(terms, options)).toEqual({ asked, values: texts(terms.map(row)).toSorted() });
  });

  it("nothing more is asked for a reader who leaves", async () => {
    const asked: (number | undefined)[] = [];
    async function* ask(most?: number): AsyncIterable<readonly Bindings[]> {
      asked.push(most);
      yield numbered(most ?? 500).map(row);
    }
    for await (const _ of firstRows(ask, { wanted: 1, size: undefined, held: createHeldBytes(1_000_000) })) break;
    expect(asked).toEqual([64]);
  });
});
