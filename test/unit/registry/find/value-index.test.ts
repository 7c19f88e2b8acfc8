import { describe, expect, it } from "vitest";
import { createValueIndex } from "../../../../src/registry/find/tables/value-index.ts";

const own = (endpoint: string, literals: readonly string[]) => ({
  endpoint: `http://${endpoint}.example/sparql`,
  describedAt: "2026-01-01T00:00:00Z",
  harvestedAt: "2026-01-01T00:00:00Z",
  complete: true,
  classes: [],
  properties: ["http://v/name"],
  rows: literals.map((literal) => ["", literal, -1, 0, 1] as const),
  whole: [],
  cost: { requests: 1, bytes: 1, ms: 1 },
});

async function found(text: string): Promise<readonly string[]> {
  const index = createValueIndex();
  index.set("places", own("places", ['"Poland"@en', '"Holland"@en', '"Is"', '"Port Elgin"']));
  index.set("people", own("people", ['"painter"@en', '"Björn"', '"oil on canvas"@en', '"P-000123"', '"P-000124"']));
  const hits = await index.find({ texts: [text], limit: 10 });
  return hits.map(({ literal }) => literal);
}

describe("values of a text", () => {
  const cases = [
    ["Pollnad", ['"Poland"@en', '"Holland"@en']],
    ["Bjrön", ['"Björn"']],
    ["Poland", ['"Poland"@en']],
    ["born", []],
    ["P-000123", ['"P-000123"']],
    ["P-000129", []],
    ["Swiss painters", ['"painter"@en']],
    ["oil painting", ['"oil on canvas"@en']],
    ["where is a painter", ['"painter"@en']],
  ] as const;
  it.each(cases)("of %s", async (text, literals) => {
    expect(await found(text)).toEqual(literals);
  });
});
