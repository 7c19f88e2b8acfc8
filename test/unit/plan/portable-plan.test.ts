import { describe, expect, it } from "vitest";
import { portablePlan } from "../../../src/plan/portable-plan.ts";
import { createMergedFederation, mergedAnswer } from "../../support/merged-federation.ts";
import { createOracle } from "../../support/oracle.ts";
import { type CaseOptions, inFull, planFor } from "./plan-cases.ts";

const everywhere = "<http://ex.org/x> <http://ex.org/both> <http://ex.org/y> .\n";
const data = [`${everywhere}<http://ex.org/x> <http://ex.org/name> "Bob" .\n`, everywhere];
const federation = createMergedFederation(data);
const prefix = "PREFIX ex: <http://ex.org/> ";

const portable = (text: string) => portablePlan(federation.plan(prefix + text));

/** What another engine answers. */
function answerElsewhere(text: string) {
  const plan = portable(text);
  if (!("query" in plan)) throw new Error(plan.why);
  const oracle = createOracle(new Map(federation.members.map(({ url }, at) => [url, data[at] ?? ""])));
  return oracle.answer(plan.query.replaceAll(/SERVICE(?= <)/gu, "GRAPH"));
}

describe("a portable plan", () => {
  it.each([
    'SELECT ?fedwayFound0 { ex:x ex:both ex:y . ?fedwayFound0 ex:name "Bob" }',
    'SELECT * { ex:x ex:both ex:y . ?fedwayFound0 ex:name "Bob" }',
    "SELECT * { [] ex:both ex:y . ?_fedwayFound0 ex:name ?fedwayBlank_0 }",
    "SELECT ?n { ex:x ex:both ex:y ; ex:name ?n }",
    "ASK { ex:x ex:both ex:y }",
    "SELECT (COUNT(*) AS ?n) { ex:x ex:both ex:y }",
    "SELECT * { ex:x ex:both ex:y }",
    "SELECT * { ex:x ex:both ex:x }",
    "SELECT ?n { { SELECT * { ex:x ex:both ex:y } } ?s ex:name ?n }",
    "SELECT (COUNT(DISTINCT *) AS ?n) { ex:x ex:both ex:y ; ex:name ?o }",
    "SELECT * { ?s ex:name ?n OPTIONAL { ex:x ex:both ex:y } }",
    "SELECT * { ?s ex:name ?n MINUS { ex:x ex:both ex:y } }",
  ])("keeps its own variables apart: %s", (text) => {
    expect(answerElsewhere(text)).toEqual(mergedAnswer(data, prefix + text));
  });

  it.each([
    ["SELECT * { [] ex:both ex:y }", "SELECT * that has no variable"],
    ["SELECT ?n { { SELECT * { [] ex:both ex:y } } ?s ex:name ?n }", "SELECT * that has no variable"],
    ["SELECT (COUNT(DISTINCT *) AS ?n) { [] ex:name ?o }", "COUNT(DISTINCT *) would count"],
  ])("is none where a variable of its own would show: %s", (text, why) => {
    expect(portable(text)).toMatchObject({ why: expect.stringContaining(why) });
  });

  it.each([
    ["SELECT * { ?a (ex:p|ex:q)+ ?b }", /path \(ex:p\|ex:q\)\+ may use/, /^Paths with/],
    ["DESCRIBE ?s { ?s ex:p ?o }", /^Engines describe/, /^Use CONSTRUCT\.$/],
  ])("says what may be done: %s", (text, why, next) => {
    expect(portable(text)).toEqual({ why: expect.stringMatching(why), next: expect.stringMatching(next) });
  });

  it("counts distinct solutions where it adds no variable", () => {
    const text = "SELECT (COUNT(DISTINCT *) AS ?n) { ?s ex:both ?o }";
    expect(answerElsewhere(text)).toEqual(mergedAnswer(data, prefix + text));
  });

  it.each([
    ["SELECT * { ?s ex:q ?b . ?b ex:r ?r }", true],
    ["SELECT * { ?s ex:q [ ex:r ?r ] }", true],
    ["SELECT * { ?s ex:q/ex:r ?r }", true],
    ["SELECT * { ?s ex:q ?b OPTIONAL { ?b ex:r ?r } }", true],
    ["SELECT * { ?s ex:q ?b FILTER NOT EXISTS { ?b ex:r ?r } }", true],
    ["SELECT * { { ?s ex:q ?b } UNION { ?b ex:r ?r } ?b ex:s ?o }", true],
    ["SELECT ?s { { SELECT ?b { ?s ex:q ?b } } ?b ex:r ?r }", true],
    ["SELECT * { ?s ex:q ?b }", false],
    ["SELECT * { ?s ?p ?b . ?p ex:r ?r }", false],
    ["SELECT * { { ?s ex:q ?b } UNION { ?b ex:r ?r } }", false],
    ["SELECT * { { SELECT ?s { ?s ex:q ?b } } ?b ex:r ?r }", false],
  ])("notes that it loses joins on blank nodes: %s %s", (text, loses) => {
    const plan = portable(text);
    const noted = "query" in plan ? plan.notes?.map(({ code }) => code) : plan.why;
    expect(noted).toEqual(loses ? ["PORTABLE_BLANK_NODES"] : undefined);
  });

  it("of patterns that one member alone has loses none", () => {
    const [only] = federation.members;
    const plan = federation.plan(`${prefix}SELECT * { ?s ex:q ?b . ?b ex:r ?r }`);
    const portablePlanAtOne = portablePlan({ ...plan, over: { members: only ? [only] : [] } });
    expect(portablePlanAtOne).toMatchObject({ notes: undefined });
  });
});

describe("a portable direct plan", () => {
  const direct = (text: string, options?: CaseOptions) => {
    const plan = planFor(text, options);
    if (plan.kind !== "direct") throw new Error(plan.kind);
    return portablePlan(plan);
  };
  const onA = { endpointId: "a" };

  it.each([
    ["SELECT * { SERVICE <a> { ?s ?p ?n } }", {}, "SELECT * { SERVICE <a> { ?s ?p ?n } }"],
    [
      "SELECT (COUNT(*) AS ?n) { ?s ?p ?o OPTIONAL { ?o ?q ?r } } GROUP BY ?s ORDER BY ?n LIMIT 5",
      onA,
      "SELECT (COUNT(*) AS ?n) { SERVICE <a> { ?s ?p ?o OPTIONAL { ?o ?q ?r } } } GROUP BY ?s ORDER BY ?n LIMIT 5",
    ],
    ["ASK { GRAPH ?g { ?s ?p ?o } }", onA, "ASK { SERVICE <a> { GRAPH ?g { ?s ?p ?o } } }"],
    ["CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }", onA, "CONSTRUCT { ?s ?p ?o } WHERE { SERVICE <a> { ?s ?p ?o } }"],
    [
      "SELECT ?s (EXISTS { ?s ?q 1 } AS ?e) { { SELECT ?s { ?s ?p ?o } LIMIT 1 } }",
      onA,
      "SELECT ?s (EXISTS { SERVICE <a> { ?s ?q 1 } } AS ?e) { SERVICE <a> { { SELECT ?s { ?s ?p ?o } LIMIT 1 } } }",
    ],
    ["SELECT ?s { SERVICE SILENT <a> { ?s ?p ?o } }", {}, "SELECT ?s { SERVICE SILENT <a> { ?s ?p ?o } }"],
  ])("gives its patterns to the endpoint: %s", (text, options, expected) => {
    const plan = direct(text, options);
    expect("query" in plan ? plan.query.replaceAll(/\s+/g, " ") : plan.why).toBe(inFull(expected));
  });

  it.each([
    ["DESCRIBE ?s { ?s ?p ?o }", onA, /^Engines describe/],
    ["CONSTRUCT WHERE { ?s ?p ?o }", onA, /CONSTRUCT WHERE/],
    ["SELECT * FROM <urn:g> { ?s ?p ?o }", onA, /FROM/],
    ["SELECT * { ?s ?p ?o }", { ...onA, defaultGraphs: ["urn:g"] }, /dataset/],
    ["SELECT * { ?s ?p ?o ~ ?r }", onA, /not SPARQL 1\.1/],
    ["ASK { VALUES ?x { 1 } SERVICE SILENT <a> { ?s ?p ?x } }", {}, /failure/],
  ])("is none, and says why: %s", (text, options, why) => {
    expect(direct(text, options)).toMatchObject({ why: expect.stringMatching(why) });
  });
});
