import { describe, expect, it } from "vitest";
import { toFedwayError } from "../../../src/errors/fedway-error.ts";
import { createPlanner, type PlanRequest } from "../../../src/plan/create-planner.ts";
import { toEntry } from "./plan-cases.ts";
import { createCatalog, publishedFacts } from "../../support/catalog-entry.ts";

const label = "http://wikiba.se/ontology#label";
const source = { repo: "owner/queries", commit: "abc", path: "x", date: "2026-01-01", licence: "MIT" };
const facts = (id: string, more: object) =>
  publishedFacts({ format: 1, url: `http://${id}.example/sparql`, asOf: "2026-02-03", sources: [source], ...more });
const predefined = (map: Readonly<Record<string, string>>) => ({ predefined: { basis: "engine-config", map } });

const published = [
  facts("wiki", {
    prefixes: {
      ...predefined({ wd: "http://wiki/entity/", wdt: "http://wiki/direct/" }),
      examples: { ex: "http://ex/" },
    },
    properties: { "http://wiki/direct/": { born: 40, place: 3 } },
  }),
  facts("base", {
    prefixes: { usedUndeclared: { wdt: "http://base/direct/", own: "http://base/own/" } },
    properties: { "http://base/direct/": { born: 1, coin: 2 } },
  }),
  facts("copy", {
    prefixes: predefined({ wdt: "http://wiki/direct/" }),
    properties: { "http://wiki/direct/": { born: 9 } },
  }),
];
const entries = [
  toEntry("wiki", { pseudoServices: [label] }),
  toEntry("base"),
  toEntry("copy", { mirrorOf: "wiki" }),
  toEntry("plain"),
  toEntry("probed"),
  toEntry("other", { engine: "virtuoso" }),
];
const federation = (id: string, members: readonly string[]) => ({ id, title: id, members, memberKeywords: [] });
const federations = [federation("agreeing", ["wiki", "copy", "plain"]), federation("not", ["wiki", "base"])];
const catalog = createCatalog(entries, [], { publicUrl: "http://fedway.example", published, federations });
const predefinedPrefixes = { bif: "bif:", dbpedia: "http://dbpedia.org/resource/" };
const capabilities = {
  version: 1,
  view: (id: string) => (id === "probed" ? { lacks: new Set<string>(), predefinedPrefixes } : undefined),
};
const planner = createPlanner({ catalog, capabilities, egress: "catalog", publicUrl: "http://fedway.example" });

const planOf = (text: string, place: Partial<PlanRequest> = {}) =>
  planner.plan({ strict: false, defaultGraphs: [], namedGraphs: [], text, ...place }).plan;
const errorOf = (text: string, place: Partial<PlanRequest> = {}) => {
  try {
    const plan = planOf(text, place);
    return plan.kind === "rejected" ? plan.reason : undefined;
  } catch (error) {
    return toFedwayError(error);
  }
};
const filledIn = (said: string) => [{ code: "PREFIXES_FILLED_IN", message: expect.stringContaining(said) }];
const born = "PREFIX wdt: <http://wiki/direct/> ";

describe("prefixes that the endpoint knows are declared for it", () => {
  const text = "SELECT * { ?who wdt:born ?when }";
  it.each([
    ["of the route", text, { endpointId: "wiki" }],
    ["of the only SERVICE", `SELECT * { SERVICE <wiki> { ?who wdt:born ?when } }`, {}],
  ])("%s", (_, query, place) => {
    const plan = planOf(query, place);
    const notes = filledIn("wdt: <http://wiki/direct/> as at wiki (published, as of 2026-02-03, from owner/queries)");
    expect(plan).toMatchObject({ kind: "direct", endpoint: { id: "wiki" }, notes });
    expect(plan.kind === "direct" && plan.query.replaceAll(/\s+/g, " ")).toContain(
      `${born}SELECT * { ?who wdt:born ?when }`,
    );
  });
  it("as a probe has shown, whatever its engine's name", () => {
    const query = 'ASK { ?x dbpedia:y ?label . ?label bif:contains "a" }';
    expect(planOf(query, { endpointId: "probed" })).toMatchObject({
      query: expect.stringContaining("PREFIX dbpedia: <http://dbpedia.org/resource/> PREFIX bif: <bif:> "),
      notes: filledIn("as at probed (probed)"),
    });
    expect(errorOf(query, { endpointId: "other" })).toMatchObject({ code: expect.any(String) });
  });
  it("as published queries use them too", () => {
    expect(planOf("ASK { ?x own:p wdt:y }", { endpointId: "base" })).toMatchObject({
      query: expect.stringContaining("PREFIX own: <http://base/own/> PREFIX wdt: <http://base/direct/> "),
    });
  });
  it("of a federation whose members agree", () => {
    expect(planOf(text, { federationId: "agreeing" })).toMatchObject({ notes: filledIn("as at copy") });
  });
  it.each([
    ["members do not agree", text, { federationId: "not" }],
    [
      "two SERVICEs do not agree",
      "SELECT * { SERVICE <wiki> { ?a wdt:born ?b } SERVICE <base> { ?a wdt:born ?c } }",
      {},
    ],
    ["one prefix is unknown", "SELECT * { ?who wdt:born ?when ; zzz:p ?o }", { endpointId: "wiki" }],
    ["examples alone declare it", "SELECT * { ?who ex:p ?when }", { endpointId: "wiki" }],
    ["one prefix has no meaning", "SELECT * { ?who zzz:born ?when }", { endpointId: "plain" }],
  ])("not where %s", (_, query, place) => {
    expect(errorOf(query, place)).toMatchObject({ code: "QUERY_SYNTAX" });
  });
  it("and errors keep their place in the text as it was sent", () => {
    const error = errorOf("SELECT * { ?who wdt:born ?when .\n SERVICE <http://no.example/> { ?a ?b ?c } }", {
      endpointId: "wiki",
    });
    expect(error).toMatchObject({ code: "SERVICE_TARGET_REFUSED", details: { where: { line: 2, column: 2 } } });
  });
});

describe("where the endpoint knows no prefix, it means", () => {
  it.each([
    [
      "the published one that has most of the text's names",
      "wdt:born ?x ; wdt:place",
      "wdt: <http://wiki/direct/> as at",
    ],
    ["another one by other names", "wdt:coin", "wdt: <http://base/direct/> as at base"],
    ["else the usual one", "foaf:name", "foaf: <http://xmlns.com/foaf/0.1/> as usual"],
  ])("%s", (_, names, said) => {
    const plan = planOf(`SELECT * { ?who ${names} ?o }`, { endpointId: "plain" });
    expect(plan).toMatchObject({ kind: "direct", notes: filledIn(said) });
  });
});

describe("while nothing is described, a query that names no endpoint and declares no prefix", () => {
  it("is offered the endpoints that it is a query of", () => {
    const error = errorOf("SELECT * { ?who wdt:born ?when ; wdt:place ?where }");
    expect(error).toMatchObject({ code: "SERVICE_REQUIRED", details: { endpoints: ["wiki"] } });
    expect(error?.details.next).toMatch(
      /SERVICE <wiki> .*wiki \(or a copy: copy\) has wdt:born, wdt:place \(published, as of/,
    );
    expect(errorOf("SELECT * { ?what wdt:coin ?coin }")?.details.endpoints).toEqual(["base"]);
  });
  it("stays wrong where nobody knows a prefix", () => {
    expect(errorOf("SELECT * { ?who zzz:born ?when }")?.code).toBe("QUERY_SYNTAX");
    const half = errorOf("SELECT * { ?who zzz:born ?when ; foaf:name ?name }");
    expect(half).toMatchObject({ code: "QUERY_SYNTAX", message: expect.stringContaining("nothing is known of zzz:.") });
    expect(half?.details.next).toBe("Put PREFIX foaf: <http://xmlns.com/foaf/0.1/> before it, and declare zzz: too.");
  });
});

describe("an extension of an engine outside of its endpoint", () => {
  const inside = `SERVICE <${label}> { ?a ?b "en" }`;
  it.each([
    ["alone", `SELECT * { ?who <http://wiki/direct/born> ?when . ${inside} }`, "SERVICE_REQUIRED"],
    ["beside its endpoint", `SELECT * { SERVICE <wiki> { ?a ?b ?c } ${inside} }`, "SERVICE_TARGET_REFUSED"],
    ["in another one", `SELECT * { SERVICE <base> { ?a ?b ?c ${inside} } }`, "SERVICE_TARGET_REFUSED"],
  ])("%s says where to put it", (_, text, code) => {
    const next = expect.stringContaining("Put it into SERVICE <wiki> { ... }");
    expect(errorOf(text)).toMatchObject({ code, details: { next, endpoints: ["wiki"] } });
  });
  it("inside is left alone", () => {
    expect(planOf(`SELECT * { SERVICE <wiki> { ?a ?b ?c ${inside} } }`)).toMatchObject({ kind: "direct" });
  });
});
