import { describe, expect, it } from "vitest";
import { compareWithKnown } from "../../../../../src/registry/descriptions/compute/verdicts.ts";
import {
  compare,
  isCut,
  type Group,
  type Groups,
  type Observation,
} from "../../../../../src/registry/descriptions/compute/observation.ts";
import type { Counts } from "../../../../../src/registry/descriptions/facts.ts";
import { emptyFacts, type FactBase, mergedCount } from "../../../../../src/registry/descriptions/compute/fact-base.ts";
import { factKinds, objectKinds } from "../../../../../src/registry/descriptions/compute/fact-kinds.ts";
import { Todo } from "../../../../../src/registry/descriptions/compute/todo.ts";
import { reconcile } from "../../../../../src/registry/descriptions/compute/reconcile.ts";
import type { Count, FactStatus } from "../../../../../src/registry/descriptions/void-description.ts";

const rdfType = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const count = (value: number, status: FactStatus = "exact"): Count => ({ value, status, record: 0 });
const known = { status: "exact", record: 0 } as const;
const groups = (...all: Group[]): Groups => new Map(all.map((group) => [group.detail.join(" "), group]));
const observation = (of: Record<string, Groups>): Observation => ({
  groups: new Map(Object.entries(of)),
  record: 0,
  whole: true,
  cut: false,
  flawed: new Set(),
  skipped: 0,
  rows: 0,
  durationMs: 0,
});

describe("isCut", () => {
  it.each([
    [999, 1000, false],
    [1000, 1000, true],
    [1001, 1000, true],
    [0, undefined, false],
    [40, undefined, false],
    [64, undefined, false],
    [100, undefined, true],
    [128, undefined, true],
    [500, undefined, true],
    [501, undefined, false],
    [10_000, undefined, true],
    [1_048_576, undefined, true],
    [12_345, undefined, false],
  ])("of %i rows under the cap %s is %s", (rows, cap, expected) => expect(isCut(rows, cap)).toBe(expected));
});

describe("compare", () => {
  const one = { detail: ["p"], n: 5, ds: 3 };
  it.each<[string, Groups, Groups, boolean]>([
    ["equal counts", groups(one), groups(one), true],
    ["no groups on either side", groups(), groups(), true],
    ["another count", groups(one), groups({ ...one, n: 4 }), false],
    ["other distinct subjects", groups(one), groups({ ...one, ds: 2 }), false],
    ["a missing group", groups(one), groups(), false],
    ["another group", groups(one), groups({ ...one, detail: ["q"] }), false],
    ["counts on one side only", groups(one), groups({ detail: ["p"] }), true],
  ])("with %s", (_name, left, right, same) => {
    const { agreed, differing } = compare(["k"], observation({ k: left }), observation({ k: right }));
    expect({ agreed, differing }).toEqual(same ? { agreed: ["k"], differing: [] } : { agreed: [], differing: ["k"] });
  });
});

describe("mergedCount", () => {
  it.each([
    [undefined, count(5), count(5)],
    [count(5), count(5), count(5)],
    [count(5), count(7), count(5, "lowerBound")],
    [count(7), count(5), count(5, "lowerBound")],
    [count(5, "lowerBound"), count(4), count(4)],
    [count(5, "lowerBound"), count(9, "lowerBound"), count(9, "lowerBound")],
    [count(5), count(4, "lowerBound"), count(5)],
    [count(5), count(6, "lowerBound"), count(6, "lowerBound")],
    [count(5, "claimed"), count(4, "lowerBound"), count(5, "claimed")],
    [count(5, "claimed"), count(6, "lowerBound"), count(6, "lowerBound")],
    [count(5, "claimed"), count(3), count(3)],
  ])("of %j and %j is %j", (one, other, expected) => expect(mergedCount(one, other)).toEqual(expected));
});

describe("compareWithKnown", () => {
  const base = () => {
    const facts = emptyFacts();
    const property = facts.properties.known("p", known);
    property.triples = count(10);
    const one = facts.classes.known("C", known);
    one.entities = count(4);
    one.properties.set("p", property).complete = true;
    return facts;
  };
  const kinds = (...numbers: number[]) =>
    groups(...numbers.map((n, at) => ({ detail: ["p", at === 0 ? objectKinds.iri : `d${at}`], n })));

  it.each([
    ["kinds that add up", "classDatatypes", kinds(4, 6), "agrees"],
    ["kinds that are too few", "classDatatypes", kinds(4, 5), "contradicts"],
    ["no kinds at all", "classDatatypes", groups(), "contradicts"],
    ["a property that nobody knew", "classDatatypes", groups({ detail: ["q", "d"], n: 1 }), "contradicts"],
    ["instances that fit", "classProperties", groups({ detail: [rdfType], n: 6, ds: 4 }), "unknown"],
    ["instances that lack one", "classProperties", groups({ detail: [rdfType], n: 5, ds: 3 }), "contradicts"],
    ["no rdf:type", "classProperties", groups({ detail: ["p"], n: 5, ds: 4 }), "contradicts"],
    ["object classes", "classObjectClasses", groups({ detail: ["p", "D"], n: 5 }), "unknown"],
  ] as const)("by %s", (_name, kind, found, verdict) => {
    expect(compareWithKnown(base(), factKinds[kind], { key: "C", groups: found })).toBe(verdict);
  });

  it.each([
    [10, "agrees"],
    [9, "contradicts"],
  ])("of a property by %i triples", (n, verdict) => {
    const found = groups({ detail: ["d"], n });
    expect(compareWithKnown(base(), factKinds.propertyDatatypes, { key: "p", groups: found })).toBe(verdict);
  });

  it("says nothing about what is only a bound", () => {
    const facts = base();
    const property = facts.classes.get("C")?.properties.get("p");
    if (property) property.triples = count(9, "lowerBound");
    expect(compareWithKnown(facts, factKinds.classDatatypes, { key: "C", groups: kinds(4, 6) })).toBe("unknown");
  });
});

describe("reconcile", () => {
  it("puts what was seen anywhere into the lists, which then were not complete", () => {
    const facts = emptyFacts();
    facts.classes.complete = facts.properties.complete = true;
    facts.totals.classes = count(1);
    const { properties } = facts.classes.known("C", known);
    properties.known("p", known).objectClasses.known("D", { status: "exact", record: 3 });
    properties.complete = true;
    reconcile(facts, new Todo());
    expect([facts.classes.complete, facts.properties.complete]).toEqual([false, false]);
    expect(facts.classes.get("D")).toMatchObject({ status: "exists", record: 3 });
    expect(facts.properties.has("p")).toBe(true);
    expect(facts.totals.classes).toEqual(count(2, "lowerBound"));
  });

  it("takes back what exceeds its whole, on both sides, and names it", () => {
    const { facts, class: one, within, dataset } = consistent();
    const state = () =>
      [one, within, facts.properties.known("p", known), dataset()].map((counts) =>
        Object.assign({}, counts, { parts: {} }),
      );
    const before = state();
    expect(contradictionsIn(facts)).toEqual([]);
    expect([state(), facts.properties.complete]).toEqual([before, true]);
    one.entities = count(7);
    within.triples = count(10);
    expect(contradictionsIn(facts)).toEqual([
      "entities of <C>, more than distinctSubjects of the dataset",
      "triples of property <p> of <C>, more than triples of the property",
    ]);
    expect(dataset()).toEqual({ triples: count(10), distinctObjects: count(5) });
    expect([one.entities, one.triples, within.triples]).toEqual([undefined, undefined, undefined]);
  });

  it("takes back all that a class's triples were added from", () => {
    const { facts, within, dataset } = consistent();
    facts.totals.triples = count(6);
    facts.properties.known("p", known).triples = undefined;
    expect(contradictionsIn(facts)).toEqual(["triples of <C>, more than triples of the dataset"]);
    expect(within.triples).toBeUndefined();
    expect(dataset()).toEqual({ distinctSubjects: count(5), distinctObjects: count(5) });
    expect(contradictionsIn(facts)).toEqual([]);
  });

  it.each([
    [
      "triples than pairs of its subjects and objects",
      { triples: count(10), distinctSubjects: count(3), distinctObjects: count(3) },
    ],
    ["subjects than triples", { triples: count(2), distinctSubjects: count(3) }],
    ["objects than the dataset", { distinctObjects: count(6) }],
  ])("knows that a property has no more %s", (_name, counts) => {
    const { facts } = consistent();
    facts.properties.complete = false;
    Object.assign(facts.properties.known("q", known), counts);
    expect(contradictionsIn(facts)).toHaveLength(1);
  });

  it("knows that the triples of all properties are those of the dataset", () => {
    const { facts, dataset } = consistent();
    facts.properties.known("q", known).triples = count(2);
    expect(contradictionsIn(facts)).toEqual(["triples of all properties, more than triples of the dataset"]);
    facts.totals.triples = count(13);
    expect(contradictionsIn(facts)).toEqual(["triples, more than triples of the properties"]);
    expect(dataset().triples).toBeUndefined();
    expect(contradictionsIn(facts)).toEqual([]);
  });

  it("knows that object types have no more triples than their property", () => {
    const { facts, within } = consistent();
    within.datatypes.known("d", known).triples = count(10);
    expect(contradictionsIn(facts)).toEqual([
      "triples of object type <d> of property <p> of <C>, more than triples of the holder",
    ]);
  });

  it("does not believe a whole that is less than what was seen", () => {
    const { facts, within } = consistent();
    within.triples = count(12, "lowerBound");
    expect(contradictionsIn(facts)).toEqual([]);
    expect(facts.properties.get("p")?.triples).toEqual(count(9, "lowerBound"));
    expect(within.triples).toEqual(count(12, "lowerBound"));
  });
});

/** Facts that agree: one class with one of two properties. */
function consistent() {
  const facts = emptyFacts();
  facts.properties.complete = true;
  const counts: Counts = { triples: count(9), distinctSubjects: count(4), distinctObjects: count(4) };
  Object.assign(facts.properties.known("p", known), counts);
  facts.properties.known("r", known).triples = count(1);
  const one = Object.assign(facts.classes.known("C", known), { entities: count(4), triples: count(9) });
  const within = Object.assign(one.properties.known("p", known), counts);
  one.properties.complete = true;
  facts.totals = { triples: count(10), distinctSubjects: count(5), distinctObjects: count(5) };
  return { facts, class: one, within, dataset: () => facts.totals };
}

function contradictionsIn(facts: FactBase): readonly string[] {
  const todo = new Todo();
  reconcile(facts, todo);
  const found = todo.unknown().filter(({ why }) => why !== "budget");
  return found.map(({ what, why }) => (why === "contradicted" ? what : why));
}
