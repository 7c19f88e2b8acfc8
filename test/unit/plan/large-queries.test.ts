import { describe, expect, it } from "vitest";
import { planFor } from "./plan-cases.ts";

const values = (cells: number): string => `VALUES ?x { ${"1 ".repeat(cells)} }`;
const two = "SERVICE <a> { ?s ?p ?x } SERVICE <b> { ?s ?q ?y }";

describe("cells of VALUES", () => {
  it("are sent on to one endpoint as they are", () => {
    const text = `SELECT * { ?s ?p ?x ${values(49_000)} }`;
    expect(planFor(text, { endpointId: "a" })).toMatchObject({ kind: "direct", query: text });
  });

  it("count where the query is evaluated here", () => {
    expect(planFor(`SELECT * { ${two} ${values(9_000)} }`)).toMatchObject({ kind: "federated" });
    const plan = planFor(`SELECT * { ${two} ${values(10_001)} }`);
    expect(plan).toMatchObject({ kind: "rejected", reason: { code: "QUERY_TOO_LARGE" } });
    expect(plan.kind === "rejected" && plan.reason.message).toContain("10000 tokens of VALUES data");
  });

  it("count in queries without an endpoint, too", () => {
    expect(planFor(`SELECT * { ${values(20_000)} }`)).toMatchObject({ reason: { code: "QUERY_TOO_LARGE" } });
  });
});

it("a SERVICE target is an endpoint's URL and no longer than that", () => {
  const url = `http://x.example/${"y".repeat(1_000_000)}`;
  const plan = planFor(`SELECT * { SERVICE <${url}> { ?s ?p ?o } }`, { egress: "public" });
  expect(plan).toMatchObject({ kind: "rejected", reason: { code: "SERVICE_TARGET_REFUSED" } });
  expect(plan.kind === "rejected" && plan.reason.message).toContain("more than 2048 characters");
});

describe("tokens outside of VALUES", () => {
  const filters = (count: number): string => "FILTER(1)".repeat(count);

  it("are fewer where the query is evaluated here", () => {
    expect(planFor(`SELECT * { ?s ?p ?x ${filters(1_400)} }`, { endpointId: "a" })).toMatchObject({ kind: "direct" });
    expect(planFor(`SELECT * { ${two} ${filters(700)} }`)).toMatchObject({ kind: "federated" });
    expect(planFor(`SELECT * { ${two} ${filters(1_400)} }`)).toMatchObject({ reason: { code: "QUERY_TOO_LARGE" } });
  });
});

describe("a UNION of one pattern at several endpoints", () => {
  const everywhere = (pattern: string, other = pattern): string =>
    Array.from(
      { length: 24 },
      (_, at) => `{ SERVICE <${at % 2 === 0 ? "a" : "b"}> ${at === 0 ? other : pattern} }`,
    ).join(" UNION ");
  const query = (patterns: readonly string[]): string => `SELECT * { ${patterns.join(" . ")} }`;
  const names = Array.from({ length: 22 }, (_, at) => `{ ?s <urn:p${at}> ?o${at} }`);

  it("counts once, and is one place of the skeleton", () => {
    const plan = planFor(query(names.map((pattern) => everywhere(pattern))));
    if (plan.kind !== "federated") throw new Error(plan.kind);
    expect(plan.clauses).toHaveLength(24 * 22);
    expect(plan.skeleton.match(/SERVICE/gu)).toHaveLength(22);
    expect(new Set(plan.clauses.map(({ place }) => place)).size).toBe(22);
  });

  it("counts in full where the patterns differ", () => {
    const plan = planFor(query(names.map((pattern) => everywhere(pattern, "{ ?s ?p ?o }"))));
    expect(plan).toMatchObject({ kind: "rejected", reason: { code: "QUERY_TOO_LARGE" } });
  });
});
