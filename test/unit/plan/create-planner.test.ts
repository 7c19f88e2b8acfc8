import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { createPlanner, type PlanRequest } from "../../../src/plan/create-planner.ts";
import { catalog, inFull, planFor, shouldPlan } from "./plan-cases.ts";

const request = (text: string, more: Partial<PlanRequest> = {}): PlanRequest => ({
  text: inFull(text),
  strict: false,
  defaultGraphs: [],
  namedGraphs: [],
  ...more,
});
const options = { catalog, egress: "catalog", publicUrl: "http://fedway.example" } as const;

function thrownBy(work: () => unknown): FedwayError {
  try {
    work();
  } catch (thrown) {
    if (thrown instanceof FedwayError) return thrown;
    throw thrown;
  }
  throw new Error("nothing was thrown");
}

it("below a path, other paths of the host are other services", () => {
  const planner = createPlanner({ ...options, egress: "public", publicUrl: "https://example.org/fedway" });
  const kindOf = (url: string): unknown => {
    const { plan } = planner.plan(request(`ASK { SERVICE <${url}> { ?s ?p ?o } }`));
    return plan.kind === "rejected" ? plan.reason.code : plan.kind;
  };
  for (const own of ["", "/", "/sparql", "/sparql?query=x", "/x/../sparql"])
    expect([own, kindOf(`https://example.org/fedway${own}`)]).toEqual([own, "SERVICE_SELF"]);
  for (const other of ["/sparql", "/fedwayx/sparql", "/fedway/../sparql"])
    expect([other, kindOf(`https://example.org${other}`)]).toEqual([other, "direct"]);
});

describe("the plan cache", () => {
  const text = "SELECT * { SERVICE <a> { ?s ?p ?o } }";

  it("gives the same plan again", () => {
    const planner = createPlanner(options);
    const first = planner.plan(request(text));
    const second = planner.plan(request(text));
    expect([first.cached, second.cached]).toEqual([false, true]);
    expect(second.plan).toBe(first.plan);
  });

  it.each([
    ["text", request(`${text} `)],
    ["endpoint", request(text, { endpointId: "b" })],
    ["strict", request(text, { strict: true })],
    ["default graphs", request(text, { defaultGraphs: ["urn:g"] })],
    ["named graphs", request(text, { namedGraphs: ["urn:g"] })],
    ["two graphs instead of one", request(text, { namedGraphs: ["urn:g", "urn:h"] })],
  ])("tells requests apart by %s", (_, other) => {
    const planner = createPlanner(options);
    planner.plan(request(text));
    planner.plan(request(text, { namedGraphs: ["urn:g,urn:h"] }));
    expect(planner.plan(other).cached).toBe(false);
    expect(planner.plan(other).cached).toBe(true);
  });

  it("keeps rejections, too", () => {
    const planner = createPlanner(options);
    planner.plan(request("ASK { ?s ?p ?o }"));
    expect(planner.plan(request("ASK { ?s ?p ?o }"))).toMatchObject({ cached: true, plan: { kind: "rejected" } });
  });

  it("is bounded in entries", () => {
    const planner = createPlanner({ ...options, cacheEntries: 2 });
    for (const value of [1, 2, 3]) planner.plan(request(`ASK { VALUES ?x { ${value} } }`));
    expect(planner.plan(request("ASK { VALUES ?x { 3 } }")).cached).toBe(true);
    expect(planner.plan(request("ASK { VALUES ?x { 1 } }")).cached).toBe(false);
  });

  it("keeps a bounded number of plans for one text, the latest among them", () => {
    const planner = createPlanner(options);
    const variants = Array.from({ length: 100 }, (_unused, index) => request(text, { namedGraphs: [`urn:g${index}`] }));
    for (const variant of variants) planner.plan(variant);
    expect(planner.plan(variants[99]!).cached).toBe(true);
    expect(planner.plan(variants[98]!).cached).toBe(true);
    expect(planner.plan(variants[0]!).cached).toBe(false);
  });

  it("is bounded in bytes and in the size of one entry", () => {
    const planner = createPlanner({ ...options, cacheBytes: 64_000 });
    const large = `ASK { VALUES ?x { ${"1 ".repeat(2_000)} } }`;
    planner.plan(request(large));
    expect(planner.plan(request(large)).cached).toBe(false);
    for (let value = 0; value < 100; value++) planner.plan(request(`ASK { VALUES ?x { ${value} } }`));
    expect(planner.plan(request("ASK { VALUES ?x { 99 } }")).cached).toBe(true);
    expect(planner.plan(request("ASK { VALUES ?x { 0 } }")).cached).toBe(false);
  });
});

describe("what is thrown instead of planned", () => {
  it("an unknown endpoint, with the ids that are near", () => {
    const error = thrownBy(() => planFor("ASK {}", { endpointId: "wikki" }));
    expect(error.code).toBe("ENDPOINT_UNKNOWN");
    expect(error.details.endpoints).toEqual(["wiki"]);
    expect(error.details.next).toContain("wiki");
  });

  it("an unknown endpoint that is near to none", () => {
    const error = thrownBy(() => planFor("ASK {}", { endpointId: "entirely-different" }));
    expect(error).toMatchObject({
      code: "ENDPOINT_UNKNOWN",
      details: { next: expect.stringContaining("/api/endpoints") },
    });
    expect(error.details.endpoints).toBeUndefined();
  });

  it.each([
    ["", "QUERY_MISSING"],
    [" # nothing\n", "QUERY_MISSING"],
    ["}", "QUERY_SYNTAX"],
    ["INSERT DATA { <urn:a> <urn:b> 1 }", "UPDATE_REFUSED"],
    ["DROP ALL", "UPDATE_REFUSED"],
  ])("%j: %s", (text, code) => {
    expect(thrownBy(() => planFor(text)).code).toBe(code);
    expect(thrownBy(() => planFor(text, { endpointId: "wiki" })).code).toBe(code);
  });
});

describe("queries in a dialect", () => {
  const onWiki = { endpointId: "wiki" } as const;
  shouldPlan("SELECT * { ?s zzz:P31 ?o }", "wiki: SELECT * { ?s zzz:P31 ?o } [RAW_QUERY]", onWiki);
  shouldPlan(
    "SELECT * { ?s ?p ?o LATERAL { ?s ?q ?r } }",
    "wiki: SELECT * { ?s ?p ?o LATERAL { ?s ?q ?r } } [RAW_QUERY]",
    onWiki,
  );
  it("elsewhere names LATERAL as an extension", () => {
    const plan = (): unknown => planFor("SELECT * { ?s ?p ?o LATERAL { ?s ?q ?r } }", { endpointId: "a" });
    expect(plan).toThrow(
      expect.objectContaining({
        details: { where: { line: 1, column: 21 }, next: expect.stringMatching(/^LATERAL is an extension/) },
      }),
    );
  });
  shouldPlan("define sql:x 'y' ASK { ?s ?p ?o }", "wiki: define sql:x 'y' ASK { ?s ?p ?o } [RAW_QUERY]", {
    ...onWiki,
    defaultGraphs: ["urn:g"],
  });
  shouldPlan(
    "SELECT * { ?s zzz:P31 ?o SERVICE wikibase:label { bd:x wikibase:language 'en' } }",
    "wiki: SELECT * { ?s zzz:P31 ?o SERVICE wikibase:label { bd:x wikibase:language 'en' } } [RAW_QUERY]",
    onWiki,
  );
  it.each(["DESCRIBE zz:Q1", "CONSTRUCT { ?s zzz:P1 ?o } WHERE { ?s zzz:P1 ?o }"])(
    "%s is answered with triples",
    (text) => {
      expect(planFor(text, onWiki)).toMatchObject({ kind: "direct", answer: "quads", silent: undefined });
    },
  );
  it.each([
    ["SELECT * { ?s zzz:P31 ?o }", { endpointId: "a" }, "QUERY_SYNTAX"],
    ["SELECT * { ?s zzz:P31 ?o }", {}, "QUERY_SYNTAX"],
    ["SELECT * { ?s zzz:P31 ?o SERVICE <http://no.example/> { ?s ?p ?o } }", onWiki, "QUERY_SYNTAX"],
    ["SELECT * { ?s zzz:P31 ?o SERVICE ?x { ?s ?p ?o } }", onWiki, "QUERY_SYNTAX"],
    ["PREFIX wikibase: <urn:x:> SELECT * { ?s zzz:P1 ?o SERVICE wikibase:label { } }", onWiki, "QUERY_SYNTAX"],
    ['SELECT * { ?s zzz:P31 "x }', onWiki, "QUERY_SYNTAX"],
    ["SELECT * { ?s zzz:P31 ?o \\u0053ERVICE <http://no.example/> {} }", onWiki, "QUERY_SYNTAX"],
    ["SELECT * { ?s zzz:P31 '\\u0027 SERVICE <http://no.example/> {} }' }", onWiki, "QUERY_SYNTAX"],
    ["define get:soft 'soft' SELECT * { ?s ?p ?o }", onWiki, "UPDATE_REFUSED"],
    ["DEFINE input:grab-all 'yes' SELECT * { ?s ?p ?o }", onWiki, "UPDATE_REFUSED"],
    ["define sql:x 'y' define get:soft 'soft' SELECT * { ?s ?p ?o }", {}, "UPDATE_REFUSED"],
    ["define sql:x 'y' INSERT DATA { <urn:a> <urn:b> 1 }", onWiki, "UPDATE_REFUSED"],
    ["SELECT * { ?s zzz:P31 ?o } ; DROP ALL", onWiki, "UPDATE_REFUSED"],
    ["SELECT * { ?s zzz:P31 ?o } } { DROP ALL", onWiki, "UPDATE_REFUSED"],
  ])("%s %j: %s", (text, where, code) => {
    expect(thrownBy(() => planFor(text, where)).code).toBe(code);
  });
});

describe("what a plan carries", () => {
  it("the protocol's dataset on an endpoint's route", () => {
    const plan = planFor("ASK { ?s ?p ?o }", { endpointId: "a", defaultGraphs: ["urn:g"], namedGraphs: ["urn:h"] });
    expect(plan).toMatchObject({ kind: "direct", defaultGraphs: ["urn:g"], namedGraphs: ["urn:h"], notes: [] });
  });

  it.each([
    ["SELECT * { SERVICE <a> { ?s ?p ?o } } LIMIT 10 OFFSET 3", {}, 10],
    ["SELECT * { ?s ?p ?o } ORDER BY ?s LIMIT 0", { endpointId: "a" }, 0],
    ["SELECT * FROM <urn:g> { SERVICE <a> { ?s ?p ?o } } LIMIT 7 # LIMIT 8", {}, 7],
    ["SELECT * { SERVICE <a> { SELECT ?s { ?s ?p ?o } LIMIT 5 } }", {}, undefined],
    ["SELECT * { SERVICE <a> { ?s ?p ?o } }", {}, undefined],
    ["CONSTRUCT { ?s ?p ?o } WHERE { SERVICE <a> { ?s ?p ?o } } LIMIT 10", {}, undefined],
    ["SELECT * { ?s zzz:P31 ?o } LIMIT 10", { endpointId: "wiki" }, 10],
    ["SELECT * { ?s zzz:P31 ?o } OFFSET 5 LIMIT 10", { endpointId: "wiki" }, 10],
    ["SELECT * { ?s zzz:P31 ?o } limit 10 offset 5 # LIMIT 8", { endpointId: "wiki" }, 10],
    ["SELECT * { { SELECT * { ?s zzz:P31 ?o } LIMIT 5 } }", { endpointId: "wiki" }, undefined],
    ["SELECT * { ?s zzz:P31 ?o } LIMIT 10 VALUES ?s { 1 }", { endpointId: "wiki" }, undefined],
    ["SELECT * { ?s zzz:P31 ?o } # LIMIT 10", { endpointId: "wiki" }, undefined],
    ["SELECT * { ?s zzz:P31 ?o } ORDER BY ?LIMIT", { endpointId: "wiki" }, undefined],
    ["SELECT * { ?s zzz:P31 ?o } LIMIT ten", { endpointId: "wiki" }, undefined],
    ["CONSTRUCT { ?s zzz:P1 ?o } WHERE { ?s zzz:P1 ?o } LIMIT 10", { endpointId: "wiki" }, undefined],
  ])("the LIMIT of a SELECT: %s %j: %s", (text, where, limit) => {
    const plan = planFor(text, where);
    expect(plan.kind === "direct" ? plan.limit : plan.kind).toBe(limit);
  });

  it("the method the catalogue knows to work", () => {
    expect(planFor("ASK { SERVICE <b> { ?s ?p ?o } }")).toMatchObject({
      endpoint: { id: "b", url: "http://b.example/sparql", method: "get" },
    });
  });

  it.each([
    ["SELECT ?s { SERVICE SILENT <a> { ?s ?p ?o } FILTER(1 = 1) }", "SELECT ?s { {} FILTER(1 = 1) }"],
    [
      "SELECT * { SERVICE SILENT <a> { ?s ?p ?o MINUS { ?s ?q ?x } } }",
      "SELECT * { { VALUES (?o ?p ?s) { (UNDEF UNDEF UNDEF) } } }",
    ],
    [
      "ASK FROM <urn:g> { VALUES ?x { 1 } OPTIONAL { SERVICE SILENT <a> { ?x ?p ?o } } }",
      "ASK  { VALUES ?x { 1 } OPTIONAL { {} } }",
    ],
    ["ASK { SERVICE SILENT <a> { ?s ?p ?o SERVICE <a> { ?o ?p ?x } } }", "ASK { {} }"],
  ])("the query that answers a silenced failure: %s", (text, fallback) => {
    const plan = planFor(text);
    expect(plan.kind === "direct" && plan.silent?.query).toBe(fallback);
  });

  it("the clauses of a federated plan, each with its endpoint", () => {
    const plan = planFor("SELECT * { SERVICE <a> { ?s ?p ?o } OPTIONAL { SERVICE SILENT <b> { ?o ?q ?r } } }");
    expect(
      plan.kind === "federated" && plan.clauses.map(({ endpoint, silent, pattern }) => [endpoint.id, silent, pattern]),
    ).toEqual([
      ["a", false, "{ ?s ?p ?o }"],
      ["b", true, "{ ?o ?q ?r }"],
    ]);
  });
});
