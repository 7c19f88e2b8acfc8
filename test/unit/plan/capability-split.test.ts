import { describe, expect, it } from "vitest";
import { createPlanner, type PlanRequest } from "../../../src/plan/create-planner.ts";
import type { KnownCapabilities } from "../../../src/plan/plan-request.ts";
import type { QueryPlan } from "../../../src/plan/query-plan.ts";
import type { QueryConstruct } from "../../../src/sparql/patterns.ts";
import { toCatalog, toEntry } from "./plan-cases.ts";

type View = NonNullable<ReturnType<KnownCapabilities["view"]>>;

const catalog = toCatalog([
  toEntry("a", { rawQueries: true, pseudoServices: ["http://ext.example/label"] }),
  toEntry("b"),
]);

function plannerWith(views: Readonly<Record<string, Partial<View>>>) {
  const known = {
    version: 1,
    view: (id: string): View | undefined => {
      const view = views[id];
      return view && { lacks: new Set(), ...view };
    },
  };
  const planner = createPlanner({
    catalog,
    egress: "catalog",
    publicUrl: "http://fedway.example",
    capabilities: known,
  });
  const plan = (text: string, options: Partial<PlanRequest> = {}): QueryPlan => {
    const full = text.replaceAll(/<(a|b)>/g, "<http://$1.example/sparql>");
    return planner.plan({ text: full, strict: false, defaultGraphs: [], namedGraphs: [], ...options }).plan;
  };
  return { plan, known };
}

const lacking = (...lacks: readonly QueryConstruct[]) => plannerWith({ a: { lacks: new Set(lacks) } });

/** Kind, members of the merged graph, and notes. */
function told(plan: QueryPlan): string {
  if (plan.kind === "rejected") return plan.reason.code;
  const over = plan.kind === "federated" ? ` over ${plan.over?.members.map(({ id }) => id).join(" ")}` : "";
  return `${plan.kind}${over} ${plan.notes.map(({ code }) => code).join(" ")}`.trim();
}

const toA = { endpointId: "a" };
const minus = "SELECT * { ?s ?p ?o MINUS { ?s <urn:q> ?o } }";

describe("a query with a construct that its endpoint lacks", () => {
  it("is evaluated here over the endpoint's triples", () => {
    const plan = lacking("minus").plan(minus, toA);
    expect(told(plan)).toBe("federated over a EVALUATED_HERE");
    expect(plan).toMatchObject({ query: minus, answer: "bindings" });
    expect(plan.kind === "federated" && plan.notes[0]?.message).toBe(
      "a refuses or gets wrong: MINUS. The query was evaluated here over its triples.",
    );
  });
  it("is counted here where the endpoint counts wrongly", () => {
    const plan = lacking("aggregateTruth").plan("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", toA);
    expect(plan.kind === "federated" && plan.over?.members).toMatchObject([{ id: "a", counting: "here" }]);
  });
  it("also when a SERVICE names the endpoint", () => {
    const plan = lacking("minus").plan("SELECT * { SERVICE <a> { ?s ?p ?o MINUS { ?s <urn:q> ?o } } }");
    expect(told(plan)).toBe("federated over a EVALUATED_HERE");
  });
  it.each([
    ["another construct", "SELECT * { ?s ?p ?o OPTIONAL { ?s <urn:q> ?o } }", toA],
    ["another endpoint", minus, { endpointId: "b" }],
    ["a text that only the endpoint understands", "SELECT * { ?s zzz:P31 ?o MINUS { ?s zzz:P9 ?o } }", toA],
  ])("%s goes there whole", (_, query, options) => {
    const plan = lacking("minus").plan(query, options);
    expect(told(plan)).toMatch(/^direct(?: RAW_QUERY)?$/u);
    expect(plan).toMatchObject({ query });
  });
  it.each([
    ["named graphs", "SELECT * { GRAPH ?g { ?s ?p ?o } MINUS { ?s ?p ?o } }", toA],
    ["a protocol dataset", minus, { ...toA, defaultGraphs: ["urn:g"] }],
    ["FROM", minus.replace("{", "FROM <urn:g> {"), toA],
    [
      "an extension of its engine",
      minus.replace("MINUS", "SERVICE <http://ext.example/label> { ?s ?p ?o } MINUS"),
      toA,
    ],
    ["SILENT", "SELECT * { SERVICE SILENT <a> { ?s ?p ?o MINUS { ?s <urn:q> ?o } } }", {}],
  ])("with %s it is sent all the same, and the plan says so", (_, query, options) => {
    const plan = lacking("minus").plan(query, options);
    expect(told(plan)).toBe("direct CONSTRUCT_DOUBTFUL");
  });
  it("an endpoint that cuts answers without a word gives no triples to count here", () => {
    const { plan } = plannerWith({ a: { lacks: new Set(["aggregates"]), silentRowCap: 10_000 } });
    expect(told(plan("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", toA))).toBe("direct CONSTRUCT_DOUBTFUL");
    expect(told(plan("SELECT * { ?s ?p ?o }", toA))).toBe("direct");
  });
  it("nothing known: everything is sent as it is", () => {
    expect(told(plannerWith({}).plan(minus, toA))).toBe("direct");
    expect(told(plannerWith({ a: {} }).plan(minus, toA))).toBe("direct");
  });
  it("a new finding makes new plans", () => {
    const views: Record<string, Partial<View>> = {};
    const { plan, known } = plannerWith(views);
    expect(told(plan(minus, toA))).toBe("direct");
    views["a"] = { lacks: new Set(["minus"]) };
    expect(told(plan(minus, toA))).toBe("direct");
    known.version = 2;
    expect(told(plan(minus, toA))).toBe("federated over a EVALUATED_HERE");
  });
});

/** Which of the clauses are evaluated here, in order, and the notes. */
function clausesTold(plan: QueryPlan): string {
  if (plan.kind !== "federated") return plan.kind;
  const clauses = plan.clauses.map(({ endpoint, evaluatedHere }) => `${endpoint.id}${evaluatedHere ? " here" : ""}`);
  return [clauses.join(", "), ...plan.notes.map(({ code }) => code)].join(" ");
}

const bodies: readonly [construct: QueryConstruct, body: string][] = [
  ["values", "VALUES ?s { <urn:1> } ?s ?p ?o"],
  ["valuesUndef", "?s ?p ?o VALUES (?s ?o) { (<urn:1> UNDEF) }"],
  ["aggregates", "{ SELECT (COUNT(?s) AS ?n) { ?s ?p ?o } }"],
  ["aggregateTruth", "{ SELECT (SUM(?o) AS ?n) { ?s ?p ?o } }"],
  ["groupHaving", "{ SELECT ?s { ?s ?p ?o } GROUP BY ?s HAVING(COUNT(?o) > 1) }"],
  ["minus", "?s ?p ?o MINUS { ?s <urn:q> ?o }"],
  ["subquery", "SELECT DISTINCT ?s { ?s ?p ?o }"],
  ["optional", "{ ?s ?p ?o } UNION { ?s <urn:q> ?o OPTIONAL { ?o <urn:q> ?x } }"],
  ["notExists", "?s ?p ?o FILTER(?o > 1 || EXISTS { ?o ?q ?s })"],
  ["zeroLengthPath", "?s ?p ?o . <urn:1> <urn:q>* ?s"],
  ["blankNodes", "?s ?p ?o BIND(BNODE() AS ?b)"],
];

describe("a clause of a federated query with a construct that its endpoint lacks", () => {
  const both = (atA: string, atB = "?s <urn:r> ?t") => `SELECT * { SERVICE <a> { ${atA} } SERVICE <b> { ${atB} } }`;
  it.each(bodies)("%s: is evaluated here", (construct, body) => {
    const plan = lacking(construct).plan(both(body));
    expect(clausesTold(plan)).toBe("a here, b EVALUATED_HERE");
  });
  it.each(bodies)("%s: is sent to an endpoint that lacks nothing", (construct, body) => {
    expect(clausesTold(lacking(construct).plan(both("?s ?p ?o", body)))).toBe("a, b");
  });
  it.each([
    ["OPTIONAL", "SELECT * { SERVICE <b> { ?s ?p ?o } OPTIONAL { SERVICE <a> { ?s ?q ?r MINUS { ?s <urn:q> ?r } } } }"],
    ["MINUS", "SELECT * { SERVICE <b> { ?s ?p ?o } MINUS { SERVICE <a> { ?s ?q ?r MINUS { ?s <urn:q> ?r } } } }"],
    [
      "EXISTS",
      "SELECT * { SERVICE <b> { ?s ?p ?o } FILTER EXISTS { SERVICE <a> { ?s ?q ?r MINUS { ?s <urn:q> ?r } } } }",
    ],
    [
      "a subquery",
      "SELECT * { SERVICE <b> { ?s ?p ?o } { SELECT ?s { SERVICE <a> { ?s ?q ?r MINUS { ?s <urn:q> ?r } } } } }",
    ],
    ["SILENT", "SELECT * { SERVICE <b> { ?s ?p ?o } SERVICE SILENT <a> { ?s ?q ?r MINUS { ?s <urn:q> ?r } } }"],
  ])("also in %s", (_, query) => {
    expect(clausesTold(lacking("minus").plan(query))).toBe("b, a here EVALUATED_HERE");
  });
  it("also where a variable names it: only there", () => {
    const query = "SELECT * { VALUES ?e { <a> <b> } SERVICE ?e { ?s ?q ?r MINUS { ?s <urn:q> ?r } } }";
    expect(clausesTold(lacking("minus").plan(query))).toBe("a here, b EVALUATED_HERE");
  });
  it("the note names the endpoint and the constructs, once", () => {
    const query = `SELECT * { SERVICE <a> { ?s ?p ?o MINUS { ?s <urn:q> ?o } } SERVICE <b> { ?s ?p ?x }
      OPTIONAL { SERVICE <a> { ?s ?r ?y MINUS { ?s <urn:q> ?y } FILTER NOT EXISTS { ?y ?q ?z } } } }`;
    const plan = lacking("minus", "notExists").plan(query);
    expect(plan.kind === "federated" && plan.notes.map(({ message }) => message)).toEqual([
      "a refuses or gets wrong: MINUS, EXISTS. The SERVICE clause was evaluated here over its triples.",
    ]);
  });
  it.each([
    ["named graphs", "GRAPH ?g { ?s ?p ?o } MINUS { ?s ?p ?o }"],
    ["an extension of its engine", "?s ?p ?o MINUS { ?s ?q ?o } SERVICE <http://ext.example/label> { ?s ?x ?y }"],
    ["a function of its own", "?s ?p ?o MINUS { ?s ?q ?o } FILTER(<http://ext.example/near>(?o))"],
  ])("with %s it is sent all the same, and the plan says so", (_, body) => {
    expect(clausesTold(lacking("minus").plan(both(body)))).toBe("a, b CONSTRUCT_DOUBTFUL");
  });
  it("so it is to an endpoint that cuts answers without a word", () => {
    const { plan } = plannerWith({ a: { lacks: new Set(["minus"]), silentRowCap: 10_000 } });
    const made = plan(both("?s ?p ?o MINUS { ?s <urn:q> ?o }"));
    expect(clausesTold(made)).toBe("a, b CONSTRUCT_DOUBTFUL");
    expect(made.kind === "federated" && made.notes[0]?.message).toBe(
      "a is known to refuse or get wrong: MINUS. The SERVICE clause cannot be evaluated here instead.",
    );
  });
  it("join keys alone do not count: they can be written with BIND", () => {
    expect(clausesTold(lacking("values").plan(both("?s ?p ?o")))).toBe("a, b");
  });
});

describe("how an endpoint wants to be asked", () => {
  const select = "SELECT * { ?s ?p ?o }";
  it.each([
    ["get", "get"],
    ["post-direct", "post-direct"],
    ["post-form", "post-form"],
  ] as const)("%s first", (method, expected) => {
    const plan = plannerWith({ a: { method } }).plan(select, toA);
    expect(plan.kind === "direct" && plan.endpoint.learned?.method).toBe(expected);
  });
  it("by members of a federated plan, too", () => {
    const plan = plannerWith({ b: { method: "get" } }).plan(
      "SELECT * { SERVICE <a> { ?s ?p ?o } SERVICE <b> { ?s ?q ?r } }",
    );
    if (plan.kind !== "federated") throw new Error("no federated plan");
    expect(plan.clauses.map(({ endpoint }) => endpoint.learned?.method)).toEqual([undefined, "get"]);
    expect(plan.members.map(({ endpoint }) => endpoint.learned?.method)).toEqual([undefined, "get"]);
  });
  it("with its mirror, which wants to be asked in its own way", () => {
    const views = { copy: { lacks: new Set<QueryConstruct>(), method: "get" } } as const;
    const planner = createPlanner({
      catalog: toCatalog([toEntry("a"), toEntry("b"), toEntry("copy", { mirrorOf: "b" })]),
      egress: "catalog",
      publicUrl: "http://fedway.example",
      capabilities: { version: 1, view: (id) => (id === "copy" ? views.copy : undefined) },
    });
    const text =
      "SELECT * { SERVICE <http://a.example/sparql> { ?s ?p ?o } SERVICE <http://b.example/sparql> { ?s ?q ?r } }";
    const { plan } = planner.plan({ text, strict: false, defaultGraphs: [], namedGraphs: [] });
    if (plan.kind !== "federated") throw new Error("no federated plan");
    expect(plan.clauses.map(({ endpoint }) => endpoint.mirror)).toMatchObject([
      undefined,
      { id: "copy", url: "http://copy.example/sparql", learned: { method: "get" } },
    ]);
  });
  it("without VALUES: join keys are written as a FILTER", () => {
    const { plan } = plannerWith({ b: { lacks: new Set(["values"]) } });
    const made = plan("SELECT * { SERVICE <a> { ?s ?p ?o } SERVICE <b> { ?s ?q ?r } }");
    if (made.kind !== "federated") throw new Error("no federated plan");
    expect(made.clauses.map(({ endpoint }) => endpoint.keys)).toEqual([undefined, "filter"]);
  });
});
