import { describe, expect, it } from "vitest";
import { createPlanner, type PlanRequest } from "../../../src/plan/create-planner.ts";
import { toPlanDescription } from "../../../src/query/explain.ts";
import { planText } from "../../../src/views/plan-view.ts";
import type { QueryPlan } from "../../../src/plan/query-plan.ts";
import { summary, toCatalog, toEntry } from "./plan-cases.ts";
import type { Catalog, Federation } from "../../../src/registry/catalog.ts";

const federation = (id: string, members: readonly string[]): Federation => ({
  id,
  title: id,
  members,
  memberKeywords: [],
});
const catalog = toCatalog(
  [
    toEntry("a"),
    toEntry("b"),
    toEntry("frag", { interface: "tpf", url: "http://frag.example/data" }),
    toEntry("doc", { interface: "file", url: "http://doc.example/data.ttl" }),
  ],
  [federation("both", ["a", "b"]), federation("mixed", ["a", "frag", "doc"]), federation("one", ["a"])].concat(
    federation("none", []),
    federation("documents", ["frag", "doc"]),
    federation("gone", ["a", "b", "c", "d"]),
  ),
);

type Options = Partial<Omit<PlanRequest, "text">>;

function planFor(text: string, options: Options = {}, over: Catalog = catalog): QueryPlan {
  const planner = createPlanner({ catalog: over, egress: "catalog", publicUrl: "http://fedway.example" });
  const full = text
    .replaceAll(/<(a|b)>/g, "<http://$1.example/sparql>")
    .replaceAll("<frag>", "<http://frag.example/data>")
    .replaceAll("<doc>", "<http://doc.example/data.ttl>");
  return planner.plan({ text: full, strict: false, defaultGraphs: [], namedGraphs: [], ...options }).plan;
}

/** `over IDS | ` in front of the summary tells where patterns outside of every SERVICE are asked. */
function told(plan: QueryPlan): string {
  const over = plan.kind === "federated" ? plan.over : undefined;
  const ids = over?.members.map(({ id, interface: kind = "sparql" }) => `${id}:${kind}`).join(" ");
  const text = summary(plan)
    .replaceAll(/<http:\/\/(a|b|frag|doc)\.example\/[^>]*>/g, "<$1>")
    .replace(/^fed /, "");
  return over ? `${over.federation ?? "-"} over ${ids} | ${text}` : text;
}

const shouldPlan = (text: string, expected: string, options: Options = {}): void => {
  it(`${options.federationId ?? options.endpointId ?? ""} ${text}`, () => {
    expect(told(planFor(text, options))).toBe(expected);
  });
};

it("members that are not in the catalogue are named", () => {
  const plan = planFor("SELECT * { ?s ?p ?o }", { federationId: "gone" });
  const notes = plan.kind === "rejected" ? [] : plan.notes;
  expect(notes).toEqual([
    {
      code: "MEMBERS_UNKNOWN",
      message: "The federation has members missing from the catalogue; they are skipped: c, d.",
    },
  ]);
});

describe("federations", () => {
  const both = { federationId: "both" };
  const head = "both over a:sparql b:sparql |";
  shouldPlan("SELECT * { ?s ?p ?o }", `${head} a+b: SELECT * { ?s ?p ?o }`, both);
  shouldPlan("DESCRIBE <x:a>", `${head} a+b: DESCRIBE <x:a>`, both);
  shouldPlan("SELECT (1 AS ?x) {}", "here: SELECT (1 AS ?x) {} [EVALUATED_HERE]", both);
  shouldPlan(
    "SELECT * { ?s ?p ?o SERVICE <a> { ?s ?q ?r } }",
    `${head} a+b: SELECT * { ?s ?p ?o SERVICE <a> { ?s ?q ?r } }`,
    both,
  );
  shouldPlan(
    "SELECT * { ?s ?p ?o SERVICE SILENT <doc> { ?s ?q ?r } }",
    `${head} a+b+doc~: SELECT * { ?s ?p ?o SERVICE SILENT <doc> { ?s ?q ?r } }`,
    both,
  );
  shouldPlan(
    "SELECT * { GRAPH ?g { SERVICE <a> { ?s ?p ?o } } ?s ?q ?r }",
    `${head} a+b: SELECT * { GRAPH ?g { SERVICE <a> { ?s ?p ?o } } ?s ?q ?r }`,
    both,
  );
  shouldPlan("SELECT * { SERVICE <a> { ?s ?p ?o } }", "a: SELECT * { ?s ?p ?o } [FEDERATION_UNUSED]", {
    federationId: "mixed",
  });
  shouldPlan("SELECT * { ?s ?p ?o }", "mixed over a:sparql doc:file frag:tpf | a+doc+frag: SELECT * { ?s ?p ?o }", {
    federationId: "mixed",
  });
  shouldPlan("SELECT * { ?s ?p ?o }", "a: SELECT * { ?s ?p ?o }", { federationId: "one" });
  shouldPlan("SELECT * FROM <x:g> { ?s ?p ?o }", `${head} a+b: SELECT * FROM <x:g> { ?s ?p ?o }`, both);
  shouldPlan(
    "SELECT * FROM <x:g> { ?s ?p ?o SERVICE <a> { ?s ?q ?r } }",
    `${head} a+b: SELECT * FROM <x:g> { ?s ?p ?o SERVICE <a> { ?s ?q ?r } }`,
    both,
  );
  // The protocol's dataset goes before that of the query.
  shouldPlan("SELECT * FROM <x:f> { ?s ?p ?o }", `${head} a+b: SELECT * FROM NAMED <x:g> { ?s ?p ?o }`, {
    ...both,
    namedGraphs: ["x:g"],
  });
  shouldPlan("SELECT * FROM <a> { ?s ?p ?o }", "REQUEST_INVALID", both);
  shouldPlan("SELECT * FROM <http://b.example/sparql> { ?s ?p ?o }", "REQUEST_INVALID", both);
  shouldPlan("SELECT * { ?s ?p ?o }", "REQUEST_INVALID", { ...both, defaultGraphs: ["http://b.example/sparql"] });
  shouldPlan(
    "SELECT * { GRAPH ?g { ?s ?p ?o } }",
    "mixed over a:sparql doc:file frag:tpf | a+doc+frag: SELECT * { GRAPH ?g { ?s ?p ?o } } [GRAPHS_NOT_ASKED]",
    { federationId: "mixed" },
  );
  shouldPlan("SELECT * { GRAPH ?g { ?s ?p ?o } }", "REQUEST_INVALID", { federationId: "documents" });
  shouldPlan("SELECT * FROM <x:g> { ?s ?p ?o }", "REQUEST_INVALID", { federationId: "documents" });
  shouldPlan("SELECT * { SERVICE <http://else.example/> { ?s ?p ?o } }", "SERVICE_TARGET_REFUSED", both);

  it("unknown ones are refused with those of a similar name", () => {
    expect(() => planFor("ASK {}", { federationId: "bot" })).toThrow(
      expect.objectContaining({ code: "FEDERATION_UNKNOWN", details: { next: 'Did you mean "both"?' } }),
    );
  });

  it("those without members are refused", () => {
    expect(() => planFor("ASK {}", { federationId: "none" })).toThrow(
      expect.objectContaining({ code: "REQUEST_INVALID" }),
    );
  });

  it("are explained", () => {
    expect(planText(toPlanDescription(planFor("SELECT * { ?s ?p ?o }", { federationId: "mixed" })))).toBe(
      [
        "federated (bindings)",
        "  federation mixed: 3 members; each pattern is asked at all of them; their answers are one graph",
        "  member a <http://a.example/sparql>",
        "  member doc <http://doc.example/data.ttl>, interface file",
        "  member frag <http://frag.example/data>, interface tpf",
        "  query",
        "    SELECT * { ?s ?p ?o }",
      ].join("\n"),
    );
  });
});

describe("endpoints that do not speak SPARQL", () => {
  const over = "- over frag:tpf | frag:";
  shouldPlan("SELECT * { ?s ?p ?o }", `${over} SELECT * { ?s ?p ?o }`, { endpointId: "frag" });
  shouldPlan("SELECT * { ?s ?p ?o }", "- over doc:file | doc: SELECT * { ?s ?p ?o }", { endpointId: "doc" });
  shouldPlan("SELECT * FROM <x:g> { ?s ?p ?o }", "REQUEST_INVALID", { endpointId: "doc" });
  shouldPlan("SELECT * { SERVICE <frag> { ?s ?p ?o } }", `${over} SELECT * { ?s ?p ?o }`);
  shouldPlan(
    "SELECT * { SERVICE SILENT <frag> { ?s ?p ?o } }",
    "frag~: SELECT * { SERVICE SILENT <frag> { ?s ?p ?o } }",
  );
  shouldPlan(
    "SELECT * { ?s ?p ?o SERVICE <frag> { ?s ?q ?r } }",
    `${over} SELECT * { ?s ?p ?o { ?s ?q ?r } } [PATTERN_SENT_ON]`,
  );
  shouldPlan(
    "SELECT * { SERVICE <a> { ?s ?p ?o } SERVICE <doc> { ?s ?q ?r } }",
    "a+doc: SELECT * { SERVICE <a> { ?s ?p ?o } SERVICE <doc> { ?s ?q ?r } }",
  );
  shouldPlan(
    "SELECT * { ?s ?p ?o SERVICE <a> { ?s ?q ?r } }",
    "frag+a: SELECT * { SERVICE <frag> { ?s ?p ?o . } SERVICE <a> { ?s ?q ?r } } [PATTERN_WRAPPED]",
    { endpointId: "frag" },
  );
});

describe("the plan cache", () => {
  it("forgets its plans when the catalogue changes", () => {
    let version = 1;
    let members = catalog.entries.slice(0, 2);
    const live: Catalog = {
      ...catalog,
      get version() {
        return version;
      },
      federation: (id) => catalog.federation(id),
      membersOf: () => members,
    };
    const planner = createPlanner({ catalog: live, egress: "catalog", publicUrl: "http://fedway.example" });
    const request = { text: "ASK { ?s ?p ?o }", strict: false, defaultGraphs: [], namedGraphs: [] };
    const plan = () => planner.plan({ ...request, federationId: "both" });
    expect(told(plan().plan)).toBe("both over a:sparql b:sparql | a+b: ASK { ?s ?p ?o }");
    expect(plan().cached).toBe(true);
    members = catalog.entries.slice(1, 3);
    expect(plan().cached).toBe(true);
    version++;
    expect(plan().cached).toBe(false);
    expect(told(plan().plan)).toBe("both over b:sparql doc:file | b+doc: ASK { ?s ?p ?o }");
  });

  it("tells federations, endpoints and neither apart", () => {
    const planner = createPlanner({ catalog, egress: "catalog", publicUrl: "http://fedway.example" });
    const request = { text: "ASK { ?s ?p ?o }", strict: false, defaultGraphs: [], namedGraphs: [] };
    const kinds = [{ federationId: "both" }, { endpointId: "a" }, {}].map(
      (place) => planner.plan({ ...request, ...place }).plan.kind,
    );
    expect(kinds).toEqual(["federated", "direct", "rejected"]);
  });
});
