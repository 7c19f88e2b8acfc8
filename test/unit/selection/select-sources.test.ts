import { describe, expect, it } from "vitest";
import { toPlanDescription } from "../../../src/query/explain.ts";
import { planText } from "../../../src/views/plan-view.ts";
import type { QueryPlan } from "../../../src/plan/query-plan.ts";
import type { FactStatus } from "../../../src/registry/descriptions/void-description.ts";
import { described, type KnownMembers as Known, planWithFacts } from "../../support/described-members.ts";
import type { VoidDescription } from "../../../src/registry/descriptions.ts";

/** `direct ID`, or the members and `key: members -certificate*count` of each pattern. */
function told(plan: QueryPlan): string {
  if (plan.kind !== "federated") return plan.kind === "direct" ? `direct ${plan.endpoint.id}` : plan.reason.code;
  const { members = [], selection } = plan.over ?? {};
  const ids = members.map(({ id }) => id);
  const patterns = Object.entries(selection?.patterns ?? {}).map(([key, { sources, excluded }]) => {
    const asked = sources.map(({ member, triples }) => `${ids[member]}${triples === undefined ? "" : `=${triples}`}`);
    const out = excluded.map(({ certificate, members: count }) => ` -${certificate.kind}*${count}`);
    return `${key.replaceAll(/<[^>]*[/#]([^>]*)>/g, ":$1")} at ${asked.join("+") || "nobody"}${out.join("")}`;
  });
  return [ids.join("+") || "nobody", ...patterns].join(" | ");
}

const shouldSelect = (text: string, expected: string, known: Known = {}): void => {
  it(`${text}${Object.keys(known).length > 0 ? ` (${Object.keys(known).join(", ")})` : ""}`, () => {
    expect(told(planWithFacts(text, { federationId: "all", ...known }))).toBe(expected);
  });
};

const everybody = "books+other+people";
const two: Known = { members: ["people", "books"] };

describe("members that may match", () => {
  shouldSelect("SELECT * { ?s :name ?n }", "other+people | ? :name ? at other+people=2 -properties*1");
  shouldSelect(
    "SELECT * { ?b :author ?a . ?a :name ?n }",
    `${everybody} | ? :author ? at books=2+other -properties*1 | ? :name ? at other+people=2 -properties*1`,
  );
  shouldSelect("SELECT * { ?s a :Person }", "other+people | ? :type :Person at other+people=1 -classes*1");
  shouldSelect("SELECT * { ?s ?p ?o }", everybody);
  shouldSelect("SELECT * { ?s ?p ?o . ?s :name ?n }", `${everybody} | ? :name ? at other+people=2 -properties*1`);
  shouldSelect("SELECT * { ?s !(:name) ?o }", everybody);
  shouldSelect("SELECT * { ?s :name* ?o }", `${everybody} | ? :name ? at other+people=2 -properties*1`);
  shouldSelect("SELECT * { :ann :name* ?o }", "other+people | ? :name ? at other+people=2 -properties*1");
  // Facts are those of default graphs.
  shouldSelect("SELECT * { GRAPH ?g { ?s :name ?n } }", everybody);
  shouldSelect("SELECT * FROM :g { ?s :name ?n }", everybody);
  shouldSelect(
    "SELECT * { ?s :name ?n . ?n <bif:contains> 1 }",
    `${everybody} | ? :name ? at other+people=2 -properties*1`,
  );
  shouldSelect("DESCRIBE ?s { ?s :name ?n }", everybody);
});

describe("a query that one member alone answers", () => {
  shouldSelect("SELECT * { ?s :name ?n }", "direct people", two);
  shouldSelect("ASK { ?s :name ?n FILTER NOT EXISTS { ?s :name 1 } }", "direct people", two);
  shouldSelect("SELECT (COUNT(*) AS ?c) { ?s :name ?n OPTIONAL { ?s :nobodyHas ?o } }", "direct people", two);
  shouldSelect(
    "SELECT * { ?s :name ?n MINUS { ?b :author ?s } }",
    `books+people | ? :name ? at people=2 -properties*1 | ? :author ? at books=2 -properties*1`,
    two,
  );
  shouldSelect(
    "SELECT * { ?s :name|:author ?n }",
    `books+people | ? :name ? at people=2 -properties*1 | ? :author ? at books=2 -properties*1`,
    two,
  );
  shouldSelect(
    "SELECT * { ?s :name ?n GRAPH ?g { ?s ?p ?o } }",
    "books+people | ? :name ? at people=2 -properties*1",
    two,
  );
  shouldSelect("SELECT * { ?s :nobodyHas ?o }", "nobody | ? :nobodyHas ? at nobody -properties*2", two);
});

describe("an answer of one member that it could cut unnoticed", () => {
  const shouldBe = (text: string, expected: RegExp): void => {
    it(text, () =>
      expect(told(planWithFacts(text, { federationId: "all", ...two, cutsKnown: false }))).toMatch(expected),
    );
  };
  const direct = (text: string): void => shouldBe(text, /^direct people$/);
  const federated = (text: string): void =>
    it(`${text}: one clause`, () => {
      const plan = planWithFacts(text, { federationId: "all", ...two, cutsKnown: false });
      const clauses = plan.kind === "federated" ? plan.clauses : [];
      expect(clauses.map(({ endpoint, pattern }) => `${endpoint.id} ${pattern.replaceAll(/\s+/gu, " ")}`)).toEqual([
        `people { ${text} }`,
      ]);
    });
  direct("ASK { ?s :name ?n }");
  direct("SELECT * { ?s :name ?n } LIMIT 999");
  direct("SELECT (COUNT(*) + 1 AS ?c) { ?s :name ?n }");
  direct("SELECT (1 AS ?c) { ?s :name ?n } HAVING (COUNT(*) > 1)");
  federated("SELECT * { ?s :name ?n }");
  federated("SELECT * { ?s :name ?n } LIMIT 1000");
  federated("SELECT ?s (COUNT(*) AS ?c) { ?s :name ?n } GROUP BY ?s");
  federated("SELECT * { ?s :name ?n { SELECT (COUNT(*) AS ?c) { ?x :name ?y } } }");
  federated("SELECT * { ?s :name ?n FILTER EXISTS { SELECT (COUNT(*) AS ?c) { ?x :name ?y } } }");
  federated("SELECT (EXISTS { SELECT (COUNT(*) AS ?c) { ?x :name ?y } } AS ?e) { ?s :name ?n }");
});

describe("what proves nothing", () => {
  const open = (change: Partial<VoidDescription>): Known => ({
    descriptions: { people: described("people", change), books: described("books", change) },
  });
  const count = (value: number, status: FactStatus) => ({ value, status, record: 0 });
  shouldSelect("SELECT * { ?s :name ?n }", everybody, { prune: false });
  shouldSelect("SELECT * { ?s :name ?n }", everybody, { hours: 24 });
  shouldSelect("SELECT * { ?s :name ?n }", everybody, open({ propertiesComplete: false }));
  shouldSelect("SELECT * { ?s :name ?n }", everybody, open({ propertiesComplete: false, unfinished: true }));
  shouldSelect("SELECT * { ?s a :Person }", everybody, open({ propertiesComplete: false, classesComplete: false }));
  shouldSelect("SELECT * { ?s :name ?n }", everybody, open({ endpoint: "http://moved.example/sparql" }));
  shouldSelect("SELECT * { ?s :name ?n }", everybody, open({ graphs: ["http://x.example/g"] }));
  shouldSelect("SELECT * { ?s :name ?n }", everybody, open({ namedGraphs: { list: [], complete: true } }));
  shouldSelect("SELECT * { ?s :name ?n }", everybody, open({ triples: count(4, "exact") }));
  shouldSelect("SELECT * { ?s :name ?n }", everybody, open({ unknown: [{ what: "properties", why: "contradicted" }] }));
  const known = (status: FactStatus) => ({
    propertyPartitions: described("books").propertyPartitions.map((one) =>
      Object.assign({}, one, { triples: count(1, status) }),
    ),
  });
  shouldSelect("SELECT * { ?s :name ?n }", everybody, open(known("lowerBound")));
  shouldSelect("SELECT * { ?s :name ?n }", everybody, open({ ...known("claimed"), unfinished: true }));
  // The lists are complete before their counts are verified.
  const people = "other+people | ? :name ? at other+people -properties*1";
  shouldSelect("SELECT * { ?s :name ?n }", people, open({ ...known("lowerBound"), unfinished: true }));
});

it("the plan says who is asked, and what proves that others need not be", () => {
  const plan = planWithFacts("SELECT * { ?b :author ?a . ?a a :Person }", { federationId: "all" });
  expect(planText(toPlanDescription(plan)).split("\n").slice(1, 8)).toEqual([
    "  federation all: 3 members; facts of 2 of 3 members; the patterns below name those asked; their answers are one graph",
    "  member books <http://books.example/sparql>",
    "  member other <http://other.example/sparql>",
    "  member people <http://people.example/sparql>",
    "  pattern ? <http://x.example/author> ? at books, other; 1 left out: lacks the property (described 1 Jan 2026 00:00 UTC)",
    "  pattern ? <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://x.example/Person> at other, people; 1 left out: lacks the class (described 1 Jan 2026 00:00 UTC)",
    "  query",
  ]);
  expect(toPlanDescription(plan).sources?.[0]).toEqual({
    pattern: "? <http://x.example/author> ?",
    members: ["books", "other"],
    excluded: [
      {
        kind: "properties",
        because: "Their complete lists of properties lack <http://x.example/author>.",
        seenAt: "2026-01-01T00:00:00.000Z",
        until: "2026-01-02T00:00:00.000Z",
        members: 1,
      },
    ],
  });
});

it("a note says how many members are not asked", () => {
  const notes = (text: string, known: Known = {}): readonly string[] => {
    const plan = planWithFacts(text, { federationId: "all", ...known });
    return plan.kind === "rejected" ? [plan.reason.code] : plan.notes.map(({ message }) => message);
  };
  const since = "(of 2026-01-01T00:00:00.000Z or later)";
  expect(notes("SELECT * { ?s :name ?n }")).toEqual([
    `1 of 3 members is not asked: its description ${since} proves that it has no match. prune=false asks it too.`,
  ]);
  expect(notes("SELECT * { ?s :nobodyHas ?n }")).toEqual([
    `2 of 3 members are not asked: their descriptions ${since} prove that they have no match. prune=false asks them too.`,
  ]);
  expect(notes("SELECT * { ?s :nobodyHas ?n }", two)).toEqual([
    `No member has a match for any pattern, by their descriptions ${since}; prune=false asks all of them.`,
  ]);
  expect(notes("SELECT * { GRAPH ?g { ?s :name ?n } }", two)).toEqual([]);
});

it("shards of one partition have no subject in common", () => {
  const plan = planWithFacts("SELECT * { ?s :name ?n ; :author ?a }", {
    federationId: "all",
    partition: "http://p.example/",
  });
  const { members, selection } = (plan.kind === "federated" && plan.over) || {};
  const sets = selection?.disjointSubjects.map((set) => set.members.map((member) => members?.[member]?.id));
  expect(sets).toEqual([["books", "people"]]);
  expect(selection?.disjointSubjects[0]?.certificate).toMatchObject({ kind: "partition" });
});
