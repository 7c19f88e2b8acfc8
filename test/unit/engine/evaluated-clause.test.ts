import { describe, expect, it } from "vitest";
import type { ExecutionBounds } from "../../../src/engine/execution-bounds.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { type CanonicalAnswer, toAnswer } from "../../support/canonical-answer.ts";
import {
  createLimitedFederation,
  type LimitedFederation,
  type LimitedMember,
} from "../../support/limited-federation.ts";
import { toBounds } from "../../support/engine-answer.ts";

const count = 100;
const numbers = Array.from({ length: count }, (_, number) => number);
/** 100 things with a value at `a`, the odd ones of which are closed; the same things with a mark at `b`. */
const values = numbers.map(
  (n) => `<urn:s${n}> <urn:v> "${n}" .${n % 2 === 1 ? `\n<urn:s${n}> <urn:closed> "yes" .` : ""}`,
);
const marks = numbers.map((n) => `<urn:s${n}> <urn:mark> "m${n}" .`);
const members = (limits: Omit<LimitedMember, "data">): readonly LimitedMember[] => [
  { data: values.join("\n"), ...limits },
  { data: marks.join("\n") },
];

const shared = createLimitedFederation();

const inFull = (query: string): string => query.replaceAll(/<([ab])>/gu, "<http://$1.example/sparql>");

interface Asking {
  readonly limits?: Omit<LimitedMember, "data">;
  readonly federation?: LimitedFederation;
  readonly bounds?: ExecutionBounds;
  /** Of every request to `a`. */
  readonly failure?: FedwayError;
}

/** Answers over an `a` without MINUS, unless limits say otherwise. */
async function ask(query: string, { limits = { lacks: ["minus"] }, federation = shared, ...rest }: Asking = {}) {
  federation.setMembers(members(limits));
  if (rest.failure) federation.client.fail(federation.urls[0] ?? "", rest.failure);
  const plan = federation.plan(inFull(query));
  if (plan.kind !== "federated") throw new Error(`a ${plan.kind} plan`);
  expect(plan.clauses.some(({ evaluatedHere }) => evaluatedHere)).toBe(true);
  return toAnswer(await federation.result(plan, rest.bounds));
}

const rowsOf = (answer: CanonicalAnswer): readonly string[] => (answer.kind === "bindings" ? answer.rows : []);
const even = "?s <urn:v> ?v MINUS { ?s <urn:closed> ?c }";
const atA = (): readonly string[] => shared.received(0);

describe("join keys", () => {
  it("reach the triples that the clause begins with, and what MINUS takes away", async () => {
    const found = await ask(
      `SELECT * { SERVICE <b> { ?s <urn:mark> ?m FILTER(?m IN ("m1", "m2")) } SERVICE <a> { ${even} } }`,
    );
    expect(rowsOf(found)).toEqual(['?m="m2" ?s=<urn:s2> ?v="2"']);
    expect(atA()).toHaveLength(2);
    // The order of keys is that of arrival.
    const keys =
      /^SELECT (?:\?s \?v|DISTINCT \?s \("" AS \?fedway_solution\)) WHERE \{ VALUES \(\?s\) \{ \(<urn:s[12]>\) \(<urn:s[12]>\) \}/u;
    expect(atA().filter((sent) => !keys.test(sent))).toEqual([]);
  });
  it("are a FILTER for an endpoint without VALUES", async () => {
    const limits = { lacks: ["minus", "values"] } as const;
    const found = await ask(`SELECT * { SERVICE <b> { ?s <urn:mark> "m2" } SERVICE <a> { ${even} } }`, { limits });
    expect(rowsOf(found)).toEqual(['?s=<urn:s2> ?v="2"']);
    expect(atA().filter((sent) => sent.includes("FILTER((?s = <urn:s2>))"))).not.toEqual([]);
    expect(atA().filter((sent) => sent.includes("VALUES"))).toEqual([]);
  });
  it.each([
    ["a join", "?s <urn:mark> ?m", (clause: string) => clause, 50],
    ["OPTIONAL", "?s <urn:mark> ?m", (clause: string) => `OPTIONAL { ${clause} }`, 100],
    ["NOT EXISTS", "?s <urn:mark> ?m", (clause: string) => `FILTER NOT EXISTS { ${clause} }`, 50],
  ])("that do not fit into the clause leave it evaluated once: %s", async (_, other, placed, rows) => {
    const clause = `SERVICE <a> { { ?s <urn:v> ?v } UNION { ?s <urn:none> ?v } MINUS { ?s <urn:closed> ?c } }`;
    const found = await ask(`SELECT * { SERVICE <b> { ${other} } ${placed(clause)} }`);
    expect(rowsOf(found)).toHaveLength(rows);
    const whole = atA().filter((sent) => sent.includes("<urn:none>"));
    expect(whole).toHaveLength(1);
  });
  it("without them the clause is evaluated once, too", async () => {
    const found = await ask(
      `SELECT (COUNT(*) AS ?n) { { SERVICE <a> { ${even} } } UNION { SERVICE <b> { ?s <urn:mark> "m1" } } }`,
    );
    expect(rowsOf(found)).toEqual(["?n=51^^integer"]);
  });
});

describe("nodes of an endpoint without EXISTS", () => {
  const path = "?s <urn:none>* ?o FILTER NOT EXISTS { ?s <urn:closed> ?c }";
  it("are found by a join, each once", async () => {
    const query = `SELECT * { VALUES ?s { <urn:s2> <urn:s3> <urn:nowhere> } SERVICE <a> { ${path} } SERVICE <b> { ?s <urn:mark> ?m } }`;
    const limits = { lacks: ["notExists"] } as const;
    expect(rowsOf(await ask(query, { limits }))).toEqual(['?m="m2" ?o=<urn:s2> ?s=<urn:s2>']);
    expect(atA().filter((sent) => sent.startsWith("SELECT DISTINCT ?node"))).not.toEqual([]);
    expect(atA().filter((sent) => sent.includes("EXISTS"))).toEqual([]);
  });
});

describe("what an execution is bound by", () => {
  const query = `SELECT * { SERVICE <b> { ?s <urn:mark> ?m } SERVICE <a> { ${even} } }`;
  const silent = query.replace("SERVICE <a>", "SERVICE SILENT <a>");
  const error = new FedwayError("ENDPOINT_UNREACHABLE", "Nothing listens there.", { fault: "connect" });

  it("the report counts what the endpoint was asked and sent", async () => {
    const bounds = toBounds();
    expect(rowsOf(await ask(query, { bounds }))).toHaveLength(50);
    expect(bounds.sources.get("a")).toMatchObject({ requests: atA().length, rows: 150, status: "ok" });
    expect(atA().length).toBeGreaterThan(0);
  });
  it("a failure fails the query", async () => {
    const bounds = toBounds();
    await expect(ask(query, { bounds, failure: error })).rejects.toMatchObject({ code: "ENDPOINT_UNREACHABLE" });
    expect(bounds.sources.get("a")).toMatchObject({ status: "failed", reason: "ENDPOINT_UNREACHABLE" });
  });
  it("with SILENT it is one empty solution", async () => {
    const bounds = toBounds();
    expect(rowsOf(await ask(silent, { bounds, failure: error }))).toHaveLength(100);
    expect(bounds.sources.get("a")).toMatchObject({ status: "silenced", reason: "ENDPOINT_UNREACHABLE" });
  });
  it("with `partial` it is no solution, and the report says so", async () => {
    const bounds = toBounds(true);
    expect(rowsOf(await ask(query, { bounds, failure: error }))).toEqual([]);
    expect(bounds.sources.get("a")).toMatchObject({ status: "failed", reason: "ENDPOINT_UNREACHABLE" });
  });
  it("solutions taken in for a clause count for the whole execution", async () => {
    const federation = createLimitedFederation([], 240);
    await expect(ask(query, { federation })).rejects.toMatchObject({ code: "ANSWER_TOO_LARGE" });
    const enough = createLimitedFederation([], 250);
    expect(rowsOf(await ask(query, { federation: enough }))).toHaveLength(50);
  });
  it("an execution that is over asks nothing more", async () => {
    const over = new AbortController();
    over.abort(new FedwayError("CANCELLED", "The client has left."));
    await expect(ask(query, { bounds: { ...toBounds(), signal: over.signal } })).rejects.toMatchObject({
      code: "CANCELLED",
    });
    expect(atA()).toEqual([]);
  });
});
