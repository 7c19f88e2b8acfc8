import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSearchIndex, type SearchIndex } from "../../../../src/registry/search/search-index.ts";
import { syntheticDescription, syntheticEntries } from "../../../support/synthetic-catalog.ts";

const entries = syntheticEntries(10);
const size = { classes: 5, properties: 8 };
const descriptions = new Map([
  ["dataset-1", "v1"],
  ["dataset-2", "v2"],
]);

function full(): SearchIndex {
  const index = createSearchIndex();
  index.setEndpoints(entries);
  const label = { iri: "http://vocab1.example/core/Protein0", label: "Eiweiß", status: "exists", record: 0 } as const;
  index.setDescription("dataset-1", { ...syntheticDescription(1, size), terms: [label] }, { version: "v1" });
  index.setDescription("dataset-2", syntheticDescription(2, size), { version: "v2" });
  return index;
}

const answers = (index: SearchIndex) =>
  ["protein", "dataset-3", "eiweiss", "museums", "vocab2"].map((q) => index.search({ q, limit: 50, offset: 0 }));

describe("snapshot and restore", () => {
  it("gives the same answers after a restart", () => {
    const before = full();
    const after = createSearchIndex();
    expect(after.restore(before.snapshot() ?? "", { entries, descriptions })).toEqual({ usable: true, missing: [] });
    expect(answers(after)).toEqual(answers(before));
    expect(answers(after).every(({ total }) => total > 0)).toBe(true);
    expect(after.size).toEqual(before.size);
    expect(after.descriptionVersion("dataset-1")).toBe("v1");
    const changed = { class: "Protein0", limit: 9, offset: 0 };
    expect(() => after.filterEntries({ entries }, changed)).toThrow("2 IRIs");
  });

  it("is JSON", () => {
    expect(JSON.parse(full().snapshot() ?? "")).toMatchObject({
      format: 1,
      content: { descriptions: [{ id: "dataset-1" }, {}] },
    });
  });

  it("takes the entries of now, and leaves out descriptions that changed or are gone", () => {
    const after = createSearchIndex();
    const now = [...entries.slice(1, 5), { ...entries[0], id: "new", title: "Zebras" }] as typeof entries;
    const current = {
      entries: now,
      descriptions: new Map([
        ["dataset-1", "v9"],
        ["dataset-3", "v1"],
      ]),
    };
    expect(after.restore(full().snapshot() ?? "", current)).toEqual({
      usable: true,
      missing: ["dataset-1", "dataset-3"],
    });
    expect(after.size).toEqual({ endpoints: 5, terms: 0, uses: 0, leftOut: 0 });
    expect(after.search({ q: "zebras", limit: 9, offset: 0 }).total).toBe(1);
    expect(after.search({ q: "dataset-7", limit: 9, offset: 0, kinds: ["endpoint"] }).hits[0]?.id).not.toBe(
      "dataset-7",
    );
  });

  it("builds anew from the entries when a snapshot is damaged anywhere", () => {
    const text = full().snapshot() ?? "";
    let damaged = 0;
    const run = (at: number, letter: string): void => {
      const place = at % text.length;
      const broken = `${text.slice(0, place)}${letter}${text.slice(place + 1)}`;
      if (broken === text) return;
      damaged++;
      const after = createSearchIndex();
      // The last character is outside the content; changing it damages nothing.
      const usable = place === text.length - 1;
      expect(after.restore(broken, { entries, descriptions }).usable).toBe(usable);
      expect(after.size.endpoints).toBe(10);
    };
    fc.assert(fc.property(fc.nat(), fc.constantFrom('"', "0", "}", "\u0000"), run), { numRuns: 60, seed: 3 });
    expect(damaged).toBeGreaterThan(40);
  });

  const useless = ["", "null", "{}", "[]", "x".repeat(1_000), '{"format":1,"sha256":"","content":{}}'];
  it.each(useless)("builds anew from the entries for %j", (text) => {
    const index = full();
    expect(index.restore(text, { entries, descriptions })).toEqual({
      usable: false,
      missing: ["dataset-1", "dataset-2"],
    });
    expect(index.size).toEqual({ endpoints: 10, terms: 0, uses: 0, leftOut: 0 });
  });

  it("keeps to smaller limits than those it was made under", () => {
    const after = createSearchIndex({ limits: { terms: 4 } });
    after.restore(full().snapshot() ?? "", { entries, descriptions });
    expect(after.size).toMatchObject({ terms: 4, uses: 4, leftOut: 22 });
  });

  it("is not made beyond its limit", () => {
    const index = createSearchIndex({ limits: { snapshotBytes: 100 } });
    index.setDescription("dataset-1", syntheticDescription(1, size));
    expect(index.snapshot()).toBeUndefined();
  });
});
