import { expect, it } from "vitest";
import { createQueryCheck } from "../../../../src/diagnosis/check/query-check.ts";
import { createPlanner } from "../../../../src/plan/create-planner.ts";
import { describedModels } from "../../../support/described-models.ts";
import { toCatalog, toEntry } from "../../plan/plan-cases.ts";

const catalog = toCatalog([toEntry("a"), toEntry("b")]);
const { models, finder } = describedModels({ entries: catalog.entries, descriptions: new Map() });
const planner = createPlanner({ catalog, egress: "catalog", publicUrl: "http://fedway.example" });
const check = createQueryCheck({ catalog, planner, finder, models, now: () => 0 });
const checked = (where: string) =>
  check.check(
    { query: `SELECT * { ${where} }`.replaceAll(/@(\w)/g, "SERVICE <http://$1.example/sparql>"), owner: "tests" },
    { signal: new AbortController().signal },
  );

it("a wrong pattern is a fault of what is evaluated here, and a doubt of what an endpoint evaluates", async () => {
  const here = await checked('@a { ?s ?p ?o } @b { ?o ?q ?r } FILTER(REGEX(?r, "(a"))');
  expect(here).toMatchObject({ valid: false, problem: { code: "PATTERN_INVALID" } });
  expect(here.problem?.detail).toContain('"(a"');
  const there = await checked('@a { ?s ?p ?o FILTER(REGEX(?o, "(a")) }');
  expect(there).toMatchObject({ valid: true, plan: { kind: "direct", notes: [{ code: "PATTERN_DOUBTFUL" }] } });
});
