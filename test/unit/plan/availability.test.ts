import { describe, expect, it } from "vitest";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { createPlanner, type PlanRequest } from "../../../src/plan/create-planner.ts";
import { toPlanDescription } from "../../../src/query/explain.ts";
import { planText } from "../../../src/views/plan-view.ts";
import type { QueryPlan } from "../../../src/plan/query-plan.ts";
import { inFull, toCatalog, toEntry } from "./plan-cases.ts";
import type { CatalogEntry } from "../../../src/registry/catalog.ts";

const noon = Date.UTC(2026, 0, 1, 12);
const catalog = toCatalog(
  [toEntry("a"), toEntry("b"), toEntry("c"), ...[1, 2, 3, 4, 5, 6, 7, 8].map((n) => toEntry(`node${n}`))],
  [{ id: "nodes", title: "nodes", members: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `node${n}`), memberKeywords: [] }],
);

/** A planner to which some endpoints are known to be down, since noon; `undefined`: since when is not known. */
function plannerWith(down: Record<string, number | undefined>, entries?: readonly CatalogEntry[]) {
  const known = { version: 1, down };
  const planner = createPlanner({
    catalog: entries ? toCatalog(entries) : catalog,
    egress: "catalog",
    publicUrl: "http://fedway.example",
    availability: {
      get version() {
        return known.version;
      },
      state: (id) => (id in known.down ? "down" : id === "c" ? "unknown" : "up"),
      sinceMs: (id) => known.down[id],
    },
    terms: {
      version: 1,
      hasTerm: () => "unknown",
      endpointsWith: () => [],
      nearest: () => [],
      descriptionVersion: () => undefined,
      namespacesWith: () => [],
      namespaceAt: () => undefined,
    },
  });
  const ask = (text: string, more: Partial<PlanRequest> = {}) =>
    planner.plan({ text: inFull(text), strict: false, defaultGraphs: [], namedGraphs: [], ...more });
  return { known, ask, plan: (text: string, more?: Partial<PlanRequest>): QueryPlan => ask(text, more).plan };
}

const notesOf = (plan: QueryPlan): readonly string[] =>
  plan.kind === "rejected" ? [plan.reason.code] : plan.notes.map(({ code, message }) => `${code} ${message}`);

const aIsDown = "ENDPOINT_DOWN a has been down since 2026-01-01T12:00:00.000Z; the plan uses it all the same.";
const direct = "SELECT * { SERVICE <a> { ?s ?p ?o } }";
const federated = "SELECT * { SERVICE <a> { ?s ?p ?o } SERVICE <b> { ?o ?q ?r } }";
const triples = "SELECT * { ?s ?p ?o }";

describe("a plan that uses an endpoint that is down", () => {
  const { plan } = plannerWith({ a: noon });
  it.each<[string, string, Partial<PlanRequest>]>([
    ["by SERVICE", direct, {}],
    ["by the route", triples, { endpointId: "a" }],
    ["beside another", federated, {}],
    ["in two clauses", "SELECT * { SERVICE <a> { ?s ?p ?o } SERVICE <b> { ?o ?q ?r } SERVICE <a> { ?r ?u ?v } }", {}],
  ])("says so once: %s", (_how, text, more) => {
    expect(notesOf(plan(text, more))).toEqual([aIsDown]);
  });
  it("is the same plan otherwise", () => {
    const other = plannerWith({}).plan(federated);
    expect(notesOf(other)).toEqual([]);
    expect({ ...plan(federated), notes: [] }).toEqual(other);
  });
  it("says it after what it says of the query", () => {
    const notes = notesOf(plan("SELECT * { ?s a ?c SERVICE <a> { ?s ?p ?o } }"));
    expect(notes.map((note) => note.split(" ")[0])).toEqual(["PATTERN_SENT_ON", "ENDPOINT_DOWN"]);
  });
  it("shows it to people", () => {
    expect(planText(toPlanDescription(plan(direct)))).toContain(
      `  note ENDPOINT_DOWN: a has been down since 2026-01-01T12:00:00.000Z`,
    );
  });
  it("says nothing of a time that is not known", () => {
    expect(notesOf(plannerWith({ a: undefined }).plan(direct))).toEqual([
      "ENDPOINT_DOWN a is down; the plan uses it all the same.",
    ]);
  });
  it("names five of a federation, and counts the rest", () => {
    const down = Object.fromEntries([1, 2, 3, 4, 5, 6, 7].map((n) => [`node${n}`, noon]));
    const notes = notesOf(plannerWith(down).plan(triples, { federationId: "nodes" }));
    expect(notes.map((note) => note.split(" ")[1])).toEqual(["node1", "node2", "node3", "node4", "node5", "2"]);
    expect(notes.at(-1)).toBe("ENDPOINT_DOWN 2 more of the endpoints that the plan uses are down.");
  });
});

describe("a plan says nothing of availability", () => {
  it.each([
    ["when its endpoints are up", "SELECT * { SERVICE <b> { ?s ?p ?o } }"],
    ["when nobody knows", "SELECT * { SERVICE <http://c.example/sparql> { ?s ?p ?o } }"],
  ])("%s", (_when, text) => {
    expect(notesOf(plannerWith({ a: noon }).plan(text))).toEqual([]);
  });
});

describe("the plan cache", () => {
  it("keeps plans while no endpoint changes its state, and says what is true after one has", () => {
    const { known, ask } = plannerWith({});
    expect(notesOf(ask(direct).plan)).toEqual([]);
    expect(ask(direct).cached).toBe(true);
    Object.assign(known, { version: 2, down: { a: noon } });
    expect([ask(direct).cached, notesOf(ask(direct).plan)]).toEqual([false, [aIsDown]]);
    expect(ask(direct).cached).toBe(true);
    Object.assign(known, { version: 3, down: {} });
    expect(notesOf(ask(direct).plan)).toEqual([]);
  });
});

describe("suggestions put endpoints that are down last", () => {
  const few = ["a", "b", "c", "node1", "node2"].map((id) => toEntry(id));
  const offered = (down: Record<string, number>): readonly string[] => {
    const plan = plannerWith(down, few).plan(triples);
    return plan.kind === "rejected" ? (plan.reason.details.endpoints ?? []) : [];
  };
  it("for a query that names none", () => {
    expect(offered({})).toEqual(["a", "b", "c", "node1", "node2"]);
    expect(offered({ a: noon, node1: noon })).toEqual(["b", "c", "node2", "a", "node1"]);
  });
  it("and the example is one that is up", () => {
    const plan = plannerWith({ a: noon }, few).plan(triples);
    const next = plan.kind === "rejected" ? plan.reason.details.next : "";
    expect(next).toContain("SERVICE <b>");
  });
  it("for an unknown id, among those that are equally near", () => {
    const near = (down: Record<string, number>): unknown => {
      try {
        return plannerWith(down).ask(triples, { endpointId: "node1x" });
      } catch (error) {
        return error instanceof FedwayError ? error.details.endpoints : error;
      }
    };
    expect(near({})).toEqual(["node1", "node2", "node3", "node4", "node5"]);
    expect(near({ node1: noon, node3: noon })).toEqual(["node1", "node2", "node4", "node5", "node6"]);
  });
  it("for a refused target, among those on its host; the one that was meant stays first", () => {
    const onHost = (id: string) => toEntry(id, { url: `http://host.example/${id}` });
    const { plan } = plannerWith({ one: noon, meant: noon }, [onHost("one"), onHost("two"), onHost("meant")]);
    const refused = plan("SELECT * { SERVICE <http://host.example/MEANT> { ?s ?p ?o } }");
    const endpoints = refused.kind === "rejected" ? refused.reason.details.endpoints : [];
    expect(endpoints).toEqual(["meant", "two", "one"]);
  });
});
