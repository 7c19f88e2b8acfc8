import { describe, expect, it } from "vitest";
import { createQueryCheck } from "../../../../src/diagnosis/check/query-check.ts";
import { createPlanner } from "../../../../src/plan/create-planner.ts";
import { describedModels } from "../../../support/described-models.ts";
import { classPartition, descriptionOf, propertyPartition } from "../../../support/synthetic-catalog.ts";
import { toCatalog, toEntry } from "../../plan/plan-cases.ts";

const v = (name: string): string => `http://v.example/${name}`;
const count = (value: number) => ({ value, status: "exact" as const, record: 0 });
/** Properties of a class that most endpoints have many triples of. */
const endpoint = (name: string, triples: number, { values, range }: { values: number; range?: string }) => {
  const own = [
    {
      ...propertyPartition(v(name), { triples, ...(range && { range }) }),
      distinctSubjects: count(triples),
      distinctObjects: count(values),
    },
  ];
  return descriptionOf({ classPartitions: [classPartition(v(`${name}Class`), triples, own)], propertyPartitions: own });
};
const descriptions = new Map([
  ["a", endpoint("of", 10_000, { values: 10, range: v("inClass") })],
  ["b", endpoint("in", 20_000, { values: 20 })],
  ["c", endpoint("to", 100, { values: 100 })],
]);
const catalog = toCatalog(["a", "b", "c", "unseen"].map((id) => toEntry(id)));
const { models, finder } = describedModels({ entries: catalog.entries, descriptions });
const planner = createPlanner({ catalog, egress: "catalog", publicUrl: "http://fedway.example", terms: finder });
const check = createQueryCheck({ catalog, planner, finder, models, now: () => Date.parse("2026-01-01T12:00:00Z") });
const { signal } = new AbortController();
const costOf = async (where: string, after = ""): Promise<string | undefined> => {
  const query = `PREFIX : <http://v.example/> SELECT * { ${where} } ${after}`.replaceAll(
    /@(\w+) \{/g,
    "SERVICE <http://$1.example/sparql> {",
  );
  return (await check.check({ query, owner: "tests" }, { signal })).cost;
};

describe("what a query may cost is said before it is run", () => {
  it.each([
    [
      "a product of two endpoints, with what joins them",
      "@a { ?x :of ?y } @b { ?p :in ?q }",
      "a Cartesian product: nothing joins ?x (a) and ?p (b), so there are up to 10,000 × 20,000 rows; :of leads from a to b: join them by a variable, or ask for them one by one.",
    ],
    [
      "a product of three",
      "@a { ?x :of ?y } @b { ?p :in ?q } @c { ?s :to ?t }",
      /nothing joins \?x \(a\) and \?p \(b\) and \?s \(c\), so there are up to 10,000 × 20,000 × 100 rows/,
    ],
    ["a product within one endpoint", "@b { ?p :in ?q . ?x a :inClass }", /nothing joins \?p \(b\) and \?x \(b\)/],
    [
      "a product with an endpoint of which nothing is known",
      "@b { ?p :in ?q } @unseen { ?x ?y ?z }",
      /20,000 × \? rows/,
    ],
    [
      "a large join",
      "@a { ?x :of ?y } @b { ?p :in ?y }",
      "the join of a and b may have about 10,000,000 rows; add LIMIT, a constant or an aggregate.",
    ],
  ])("%s", async (_, where, cost) => {
    expect(await costOf(where)).toMatch(cost);
  });

  it.each([
    ["joined by a variable", "@a { ?x :of ?y } @b { ?y :in ?q }", ""],
    ["joined by a path", "@b { ?p :in ?q . ?q :in+ ?r . ?r :in ?s }", "LIMIT 10"],
    ["joined by a FILTER", "@a { ?x :of ?y } @b { ?p :in ?q } FILTER(STR(?y) = STR(?p))", ""],
    ["joined by BIND", "@a { ?x :of ?y } BIND(IRI(STR(?y)) AS ?p) @b { ?p :in ?q }", ""],
    ["narrowed by a constant", "@a { :x :of ?y } @b { ?p :in ?q }", ""],
    ["few rows", "@c { ?s :to ?t . ?x a :toClass }", "LIMIT 5"],
    ["a large join with LIMIT", "@a { ?x :of ?y } @b { ?p :in ?y }", "LIMIT 10"],
  ])("nothing where rows are few: %s", async (_, where, after?: string) => {
    expect(await costOf(where, after)).toBeUndefined();
  });
});
