import { describe, expect, it } from "vitest";
import { literalInterpretation } from "../../../../shards/src/build-problem.ts";
import { candidatesOf } from "../../../../shards/src/rules/candidates.ts";
import { placementOf } from "../../../../shards/src/rules/placement.ts";
import type { Cell, QueryFeatures } from "../../../../shards/src/rules/problem.ts";
import { claimedGroups, groupedCells, termGroupsOf } from "../../../../shards/src/rules/term-groups.ts";

const type = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const nameOf = (letter: string, number: number): string => `urn:${letter}${String(number).padStart(2, "0")}`;

/** Queries that each name a class of its own with the one after it, and a property of each. */
function questionsOf(classes: number) {
  const queries = Array.from({ length: classes }, (_, at): QueryFeatures => {
    const both = [at, (at + 1) % classes];
    return {
      query: { id: `q${at}`, text: "", same: [`q${at}`] },
      predicates: [type, ...both.map((of) => nameOf("p", of)).toSorted()],
      classes: both.map((of) => nameOf("C", of)).toSorted(),
      subjectVariables: 2,
      patterns: [],
    };
  });
  const cells = Array.from({ length: classes }, (_, of) =>
    [type, nameOf("p", of)].map((predicate): Cell => ({ types: [nameOf("C", of)], predicate, bucket: 0, triples: 10 })),
  ).flat();
  const reading = { ...literalInterpretation, typeIsPredicate: false };
  return { problem: { queries, candidates: candidatesOf(queries, reading) }, cells };
}

describe("groups of terms", () => {
  it("are not made where few rules cover the queries", () => {
    const { problem, cells } = questionsOf(16);
    expect(termGroupsOf(problem, cells, 2)).toBeUndefined();
  });

  it("have about as many triples each, keep apart what a query names together, and leave rdf:type alone", () => {
    const { problem, cells } = questionsOf(60);
    const { classes, predicates } = termGroupsOf(problem, cells, 2)!;
    expect([classes.flat().length, predicates.flat().length]).toEqual([60, 60]);
    expect(Math.max(...classes.map(({ length }) => length))).toBeLessThanOrEqual(Math.ceil((60 / 7) * 1.1));
    const together = problem.queries.filter((query) =>
      classes.some((group) => query.classes.every((iri) => group.includes(iri))),
    );
    expect(together).toEqual([]);
    expect(predicates.flat()).not.toContain(type);
  });

  it("make one cell of those that no rule can tell apart", () => {
    const { problem, cells } = questionsOf(60);
    const groups = termGroupsOf(problem, cells, 2)!;
    const grouped = groupedCells({ cells, touches: [[0, 1], [2]] }, groups);
    expect(grouped.cells.reduce((sum, { triples }) => sum + triples, 0)).toBe(1_200);
    expect(grouped.cells.length).toBeLessThanOrEqual(groups.classes.length * (groups.predicates.length + 1));
    expect(grouped.touches).toEqual([[0, 1], grouped.parts.slice(2, 3)]);
  });

  it("are placed by the rule that names the first of them", () => {
    const groups = { classes: [["urn:A", "urn:B"], ["urn:C"]], predicates: [["urn:p", "urn:q"]], baseBuckets: 2 };
    const rules = [
      { kind: "horizontal", class: "urn:A", buckets: 2 },
      { kind: "vertical", predicates: ["urn:p", "urn:z"] },
    ] as const;
    const place = placementOf(rules, ["vertical", "horizontal", "class"], groups);
    expect(place(["urn:B"], "urn:q", 0)).toBe("v/urn:p");
    expect(place(["urn:B", "urn:C"], "urn:r", 1)).toBe("h/urn:A/1");
    expect(place(["urn:C"], "urn:r", 1)).toBe("base/1");
    expect(claimedGroups(groups, rules)).toEqual({
      classes: [["urn:A", "urn:B"]],
      predicates: [["urn:p", "urn:q"]],
      baseBuckets: 2,
    });
  });
});
