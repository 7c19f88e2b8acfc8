import { describe, expect, it } from "vitest";
import { RowCaps, type SuspectAnswer } from "../../../src/engine/row-caps.ts";
import type { Bindings } from "../../../src/results/model.ts";
import { literal } from "../../support/result-terms.ts";

const prologue = "PREFIX ex: <http://ex.org/> ";
const answer = (rows: number, changes: Partial<SuspectAnswer> = {}): SuspectAnswer => ({
  endpoint: { id: "a", url: "http://a.example/sparql" },
  prologue,
  query: `${prologue}SELECT ?s WHERE { ?s ex:p ?o }`,
  rows,
  ...changes,
});

/** An endpoint with so many rows; it can count them, and give those behind an offset. */
function endpointWith(total: number, can: readonly ("count" | "offset")[] = ["count", "offset"]) {
  const asked: string[] = [];
  const ask = async (query: string): Promise<readonly Bindings[] | undefined> => {
    asked.push(query);
    if (query.includes("COUNT"))
      return can.includes("count") ? [new Map([["fedway_rows", literal(String(total))]])] : undefined;
    const from = Number(/OFFSET (\d+)/.exec(query)?.[1]);
    if (!can.includes("offset")) return undefined;
    return total > from ? [new Map([["s", literal("x")]])] : [];
  };
  return { ask, asked };
}

describe("an answer of a suspiciously round number of rows", () => {
  const cases: readonly (readonly [name: string, rows: number, total: number, cut: boolean, requests: number])[] = [
    ["is cut when there are more", 1_000, 5_500, true, 1],
    ["is whole when there are no more", 1_000, 1_000, false, 1],
    ["may be a power of two", 4_096, 5_000, true, 1],
    ["may be many thousands", 64_000, 64_001, true, 1],
    ["is not looked into when it is not round", 1_001, 5_500, false, 0],
    ["is not looked into when it is small", 500, 5_500, false, 0],
  ];
  for (const [name, rows, total, cut, requests] of cases) {
    it(name, async () => {
      const { ask, asked } = endpointWith(total);
      expect(await new RowCaps().isCut(answer(rows), ask)).toBe(cut);
      expect(asked).toHaveLength(requests);
    });
  }
  it("is asked about with the declarations in front", async () => {
    const { ask, asked } = endpointWith(1_000);
    await new RowCaps().isCut(answer(1_000), ask);
    expect(asked).toEqual([`${prologue}SELECT (COUNT(*) AS ?fedway_rows) WHERE { SELECT ?s WHERE { ?s ex:p ?o } }`]);
  });
  it("is looked into by a row behind it where nothing is counted", async () => {
    const { ask, asked } = endpointWith(1_001, ["offset"]);
    expect(await new RowCaps().isCut(answer(1_000), ask)).toBe(true);
    expect(asked[1]).toMatch(/OFFSET 1000 LIMIT 1$/);
    expect(await new RowCaps().isCut(answer(1_000), endpointWith(1_000, ["offset"]).ask)).toBe(false);
  });
  it("is not taken for whole when nobody can tell", async () => {
    expect(await new RowCaps().isCut(answer(1_000), endpointWith(1_000, []).ask)).toBe(true);
  });
  it("is what was asked for", async () => {
    const { ask, asked } = endpointWith(5_500);
    expect(await new RowCaps().isCut(answer(1_000, { limit: 1_000 }), ask)).toBe(false);
    expect(asked).toEqual([]);
  });
  it("is looked into also after a larger answer: the cap may be new", async () => {
    const { ask } = endpointWith(5_500);
    const caps = new RowCaps();
    await caps.isCut(answer(2_345), ask);
    expect(await caps.isCut(answer(2_000), ask)).toBe(true);
  });
});

describe("a row cap", () => {
  it("is told once, and known from then on", async () => {
    const told: unknown[] = [];
    const caps = new RowCaps(({ id }, rows) => told.push([id, rows]));
    const { ask, asked } = endpointWith(5_500);
    expect([await caps.isCut(answer(1_000), ask), await caps.isCut(answer(1_000), ask)]).toEqual([true, true]);
    expect([asked.length, told]).toEqual([1, [["a", 1_000]]]);
  });
  it("is forgotten when more rows come", async () => {
    const caps = new RowCaps();
    const { ask } = endpointWith(5_500);
    await caps.isCut(answer(1_000), ask);
    expect(await caps.isCut(answer(1_234), ask)).toBe(false);
    expect(await caps.isCut(answer(1_000), endpointWith(1_000).ask)).toBe(false);
  });
});
