import { describe, expect, it } from "vitest";
import type { FedwayError } from "../../../src/errors/fedway-error.ts";
import { createPlanner } from "../../../src/plan/create-planner.ts";
import { catalog, inFull, summary } from "./plan-cases.ts";

const planner = createPlanner({ catalog, egress: "catalog", publicUrl: "http://fedway.example" });
const request = { strict: false, defaultGraphs: [], namedGraphs: [] };
const planOf = (text: string) => planner.plan({ ...request, text }).plan;

describe("a catalogue id as the target of SERVICE plans as the URL does:", () => {
  it.each([
    "SELECT * { SERVICE <a> { ?s ?p ?o } }",
    "SELECT * { service silent <a> { ?s ?p '<a>' } } # <a>",
    "SELECT * { SERVICE <a> { ?s ?p ?o } SERVICE <b> { ?o ?q ?r } }",
    "SELECT * { SERVICE <wiki> { ?s ?p ?o SERVICE <label> { ?o ?q ?r } } }",
    "SELECT * { VALUES ?e { <a> <b> } SERVICE ?e { ?s ?p ?o } }",
    "SELECT * { VALUES (?x ?e) { (1 <a>) (2 <b>) } SERVICE ?e { ?s ?p ?o } }",
    "SELECT * { SERVICE ?e { ?s ?p ?o } } VALUES ?e { <b> }",
    "PREFIX s: <http://a.example/> SELECT * { SERVICE <a> { ?s ?p ?o } SERVICE s:sparql { ?o ?q ?r } }",
  ])("%s", (text) => {
    const found = summary(planOf(text.replaceAll("<label>", "<http://wikiba.se/ontology#label>")));
    expect(found).toBe(summary(planOf(inFull(text))));
    expect(found).not.toMatch(/^[A-Z_]+$/u);
  });
});

describe("a relative IRI stays one", () => {
  const refused = (text: string): unknown => {
    try {
      return planOf(text);
    } catch (thrown) {
      return thrown;
    }
  };
  it.each([
    ["in a pattern", "SELECT * { SERVICE <a> { <a> ?p ?o } }"],
    ["in data that no SERVICE reads", "SELECT * { VALUES ?x { <a> } SERVICE <b> { ?s ?p ?x } }"],
  ])("%s", (_, text) => {
    expect(refused(text)).toMatchObject({ code: "QUERY_SYNTAX", message: expect.stringMatching("relative IRI") });
  });
  it("and errors behind ids are told at their place in the text as it was written", () => {
    const at = (text: string): unknown => {
      const error = refused(text);
      const { reason = error } = error as { reason?: unknown };
      return (reason as FedwayError).details.where;
    };
    expect(at("SELECT * { SERVICE <a> { ?s zzz:name ?n } }")).toMatchObject({ line: 1, column: 29 });
    expect(at("SELECT * {\n SERVICE <a> { ?s ?p ?o } SERVICE <b> { ?s zzz:name ?n } }")).toMatchObject({
      line: 2,
      column: 44,
    });
    expect(at("SELECT * { SERVICE <a> { ?s ?p ?o }")).toMatchObject({ line: 1, column: 36 });
    expect(at("SELECT * { SERVICE <a> { ?s ?p ?o } SERVICE <b> { ?s ?p ?o } ?x ?y ?z }")).toMatchObject({
      line: 1,
      column: 62,
    });
    expect(at("SELECT * { SERVICE <a> { ?s ?p ?o } SERVICE <http://nowhere.example/> { ?s ?p ?o } }")).toMatchObject({
      line: 1,
      column: 37,
      endpoint: "http://nowhere.example/",
    });
  });
  it("with BASE, where it is part of a URL", () => {
    const text = "BASE <http://b.example/> SELECT * { SERVICE <sparql> { ?s ?p ?o } }";
    expect(summary(planOf(text))).toMatch(/^b: /u);
    expect(planOf(text.replace("<sparql>", "<a>"))).toMatchObject({ reason: { code: "SERVICE_TARGET_REFUSED" } });
  });
  it("and is told the id that is like it", () => {
    const like = { next: expect.stringMatching("^Did you mean <wiki>"), endpoints: ["wiki"] };
    const values = "SELECT * { SERVICE ?e { ?s ?p ?o } VALUES ?e { <wikii> } }";
    expect(refused(values)).toMatchObject({ code: "QUERY_SYNTAX", details: like });
    expect(refused("SELECT * { SERVICE <wikii> { ?s ?p ?o } }")).toMatchObject({
      code: "SERVICE_TARGET_REFUSED",
      message: 'The catalogue has no endpoint "wikii".',
      details: { ...like, where: { line: 1, column: 20 } },
    });
    expect(refused("SELECT * { SERVICE SILENT <nobody-knows-this> { ?s ?p ?o } }")).toMatchObject({
      code: "SERVICE_TARGET_REFUSED",
      details: { next: expect.stringContaining("/api/endpoints") },
    });
  });
});
