import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createTestedEngine } from "../../support/tested-engine.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { termToText } from "../../../src/results/terms.ts";
import { toFederatedPlan, toBounds } from "../../support/engine-answer.ts";
import { createStoreClient, type StoreClient } from "../../support/store-client.ts";
import { processorMsOf } from "../../support/held-loop.ts";

const a = "http://a.example/sparql";
const b = "http://b.example/sparql";
const c = "http://c.example/sparql";
const prologue = `PREFIX : <http://ex.org/>\n`;

const triples = (lines: string) =>
  lines
    .trim()
    .split("\n")
    .map((line) => line.trim().replaceAll(/(^|\s):(\w+)/g, "$1<http://ex.org/$2>"))
    .join("\n");

const data = {
  [a]: triples(`
    :s1 :p "1" .
    :s2 :p "2" .
    :s3 :p "3" .
    :s1 :knows :s2 .
    _:x :p "4" .`),
  [b]: triples(`
    :s1 :q "one" .
    :s1 :q "uno" .
    :s2 :q "two" .
    :s9 :q "nine" .
    _:x :q "blank" .`),
  [c]: triples(`
    :s1 :r :s2 .
    :s2 :r :s3 .`),
};

function setUp(maxSolutions = 10_000) {
  const client = createStoreClient(data);
  const engine = createTestedEngine({ client, maxSolutions, now: () => performance.now() });
  return { client, engine };
}

const shared = setUp();

async function run(query: string, { client, engine } = shared, limits = toBounds()): Promise<string[]> {
  client.requests.length = 0;
  const result = await engine.execute(toFederatedPlan(prologue + query), limits);
  if (result.kind === "boolean") return [String(result.value)];
  const lines: string[] = [];
  if (result.kind === "quads") {
    for await (const quad of result.quads) {
      lines.push([quad.subject, quad.predicate, quad.object].map(termToText).join(" "));
    }
    return lines.toSorted();
  }
  for await (const row of result.rows) {
    lines.push(result.variables.map((name) => shorten(row.get(name))).join(" "));
  }
  return lines.toSorted();
}

function shorten(term: Parameters<typeof termToText>[0] | undefined): string {
  if (!term) return "-";
  if (term.termType === "BlankNode") return "_";
  return termToText(term)
    .replace(/<http:\/\/ex.org\/(\w+)>/, "$1")
    .replaceAll('"', "");
}

const shouldAnswer = (name: string, query: string, expected: readonly string[], requests?: number) =>
  it(name, async () => {
    expect(await run(query)).toEqual(expected.toSorted());
    if (requests !== undefined) expect(shared.client.requests).toHaveLength(requests);
  });

const A = `SERVICE <${a}>`;
const B = `SERVICE <${b}>`;
const C = `SERVICE <${c}>`;

describe("joins", () => {
  shouldAnswer(
    "two clauses",
    `SELECT ?s ?q { ${A} { ?s :p ?o } ${B} { ?s :q ?q } }`,
    ["s1 one", "s1 uno", "s2 two"],
    2,
  );
  shouldAnswer("three clauses", `SELECT ?t ?q { ${A} {?s :p "1"} ${C} {?s :r ?t} ${B} {?t :q ?q} }`, ["s2 two"], 3);
  shouldAnswer("SELECT *", `SELECT * { ${A} { ?s :p "2" } ${B} { ?s :q ?q } }`, ["two s2"]);
  shouldAnswer("no shared variable", `SELECT ?s ?t { ${A} {?s :p "1"} ${C} {?t :r :s3} }`, ["s1 s2"], 2);
  shouldAnswer("VALUES first", `SELECT ?q { ${B} {?s :q ?q} VALUES ?s {:s2 :s9} }`, ["two", "nine"], 1);
  shouldAnswer(
    "UNDEF keys",
    `SELECT ?s ?q { VALUES (?s ?q) {(:s1 UNDEF) (UNDEF "two") (:s1 "one")} ${B} {?s :q ?q} }`,
    ["s1 one", "s1 one", "s1 uno", "s2 two"],
  );
  shouldAnswer("duplicates stay", `SELECT ?q { VALUES ?s {:s2 :s2} ${B} {?s :q ?q} }`, ["two", "two"], 1);
  shouldAnswer(
    "subquery with DISTINCT over one clause",
    `SELECT ?s { {SELECT DISTINCT ?s {${B} {?s :q ?q}}} ${A} {?s :p ?o} }`,
    ["s1", "s2"],
  );
  shouldAnswer("filter keeps its scope", `SELECT ?s { ${A} {?s :p ?o FILTER(!BOUND(?q))} ${A} {?s :p ?q} }`, [
    "s1",
    "s2",
    "s3",
  ]);
});

describe("OPTIONAL, MINUS, UNION, EXISTS", () => {
  shouldAnswer(
    "OPTIONAL",
    `SELECT ?s ?q { ${A} {?s :p ?o} OPTIONAL { ${B} {?s :q ?q} } }`,
    ["_ -", "s1 one", "s1 uno", "s2 two", "s3 -"],
    2,
  );
  shouldAnswer(
    "OPTIONAL with a condition over both sides",
    `SELECT ?s ?q { ${A} {?s :p ?o} OPTIONAL { ${B} {?s :q ?q} FILTER(?o = "2") } }`,
    ["_ -", "s1 -", "s2 two", "s3 -"],
    2,
  );
  shouldAnswer("MINUS", `SELECT ?s { ${A} {?s :p ?o} MINUS { ${B} {?s :q ?q} } }`, ["_", "s3"], 2);
  shouldAnswer("UNION", `SELECT ?s { { ${A} {?s :p "1"} } UNION { ${B} {?s :q "nine"} } }`, ["s1", "s9"], 2);
  shouldAnswer("FILTER EXISTS", `SELECT ?s { ${A} {?s :p ?o} FILTER EXISTS { ${B} {?s :q ?q} } }`, ["s1", "s2"], 2);
  shouldAnswer(
    "FILTER NOT EXISTS",
    `SELECT ?s { ${A} {?s :p ?o} FILTER NOT EXISTS { ${B} {?s :q ?q} } }`,
    ["_", "s3"],
    2,
  );
});

describe("EXISTS in a larger expression", () => {
  const both = ["s1", "s2"];
  const exists = `EXISTS { ${B} {?s :q ?q} }`;
  shouldAnswer("&&", `SELECT ?s { ${A} {?s :p ?o} FILTER(${exists} && ?o != "3") }`, both, 2);
  shouldAnswer("!", `SELECT ?s { ${A} {?s :p ?o} FILTER(!${exists}) }`, ["_", "s3"], 2);
  shouldAnswer("||", `SELECT ?s { ${A} {?s :p ?o} FILTER(${exists} || ?o = "3") }`, [...both, "s3"]);
});

describe("query forms and modifiers", () => {
  shouldAnswer("MIN and MAX of IRIs", `SELECT (MIN(?s) AS ?a) (MAX(?t) AS ?b) { ${A} {?s :p ?o} ${C} {?s :r ?t} }`, [
    "s1 s3",
  ]);
  shouldAnswer(
    "REGEX and REPLACE",
    `SELECT (REPLACE(?o, "(.)", "<$1>") AS ?x) { VALUES ?o { "12" "b" } FILTER(REGEX(?o, "^[0-9]+$")) }`,
    ["<1><2>"],
    0,
  );
  shouldAnswer("ASK", `ASK { ${A} {?s :p ?o} ${B} {?s :q "nine"} }`, ["false"]);
  shouldAnswer("CONSTRUCT", `CONSTRUCT { ?s :both ?q } { ${A} {?s :p ?o} ${B} {?s :q ?q} FILTER(?o = "2") }`, [
    '<http://ex.org/s2> <http://ex.org/both> "two"',
  ]);
  shouldAnswer("aggregate", `SELECT ?s (COUNT(*) AS ?n) { ${A} {?s :p ?o} ${B} {?s :q ?q} } GROUP BY ?s`, [
    "s1 2^^<http://www.w3.org/2001/XMLSchema#integer>",
    "s2 1^^<http://www.w3.org/2001/XMLSchema#integer>",
  ]);
  shouldAnswer("ORDER and LIMIT", `SELECT ?q { ${A} {?s :p ?o} ${B} {?s :q ?q} } ORDER BY ?q LIMIT 1`, ["one"]);
  shouldAnswer("no clause at all", `SELECT ?x { VALUES ?x { :s1 } }`, ["s1"], 0);
  shouldAnswer("patterns without a clause have no data", `SELECT ?x { ?x ?y ?z }`, [], 0);
});

describe("failures", () => {
  const down = new FedwayError("ENDPOINT_UNREACHABLE", "down", { fault: "connect" });
  const failing = (after = 0): { client: StoreClient; engine: typeof shared.engine } => {
    const setup = setUp();
    setup.client.fail(b, down, after);
    return setup;
  };
  const join = (silent = "") => `SELECT ?s ?q { ${A} {?s :p ?o} SERVICE ${silent} <${b}> {?s :q ?q} }`;

  it("fails the query with the endpoint's error", async () => {
    await expect(run(join(), failing())).rejects.toMatchObject({ code: "ENDPOINT_UNREACHABLE" });
  });
  it("fails aggregates, negation and ASK too", async () => {
    for (const query of [
      `SELECT (COUNT(*) AS ?n) { ${B} {?s :q ?q} }`,
      `SELECT ?s { ${A} {?s :p ?o} MINUS { ${B} {?s :q ?q} } }`,
      `SELECT ?s { ${A} {?s :p ?o} FILTER NOT EXISTS { ${B} {?s :q ?q} } }`,
      `ASK { { ${B} {?s :q ?q} } UNION { ${A} {?s :none ?o} } }`,
    ]) {
      await expect(run(query, failing())).rejects.toMatchObject({ code: "ENDPOINT_UNREACHABLE" });
    }
  });
  it("SILENT gives one empty solution", async () => {
    const limits = toBounds();
    expect(await run(join("SILENT"), failing(), limits)).toEqual(["_ -", "s1 -", "s2 -", "s3 -"]);
    expect(limits.sources.get(b)).toMatchObject({ status: "silenced", reason: "ENDPOINT_UNREACHABLE" });
  });
  it("partial leaves the member out and says so", async () => {
    const limits = toBounds(true);
    const union = `SELECT ?s { { ${A} {?s :p "1"} } UNION { ${B} {?s :q ?q} } }`;
    expect(await run(union, failing(), limits)).toEqual(["s1"]);
    expect(limits.sources.get(b)).toMatchObject({ status: "failed", reason: "ENDPOINT_UNREACHABLE" });
    expect(limits.sources.get(a)).toMatchObject({ status: "ok", rows: 1 });
  });
  it("stops at the bound on intermediate solutions", async () => {
    await expect(run(join(), setUp(3))).rejects.toMatchObject({ code: "ANSWER_TOO_LARGE" });
  });
  it("a pattern that backtracking engines choke on takes no time", async () => {
    const query = `SELECT * { FILTER(REGEX("${"a".repeat(50)}!", "^(a+)+$", "i")) }`;
    const ms = await processorMsOf(async () => expect(await run(query)).toEqual([]));
    expect(ms).toBeLessThan(4_000);
  });
  it("a product of unrelated solutions is bounded, and others have their turn meanwhile", async () => {
    const values = (name: string) => `VALUES ?${name} { ${Array.from({ length: 300 }, (_, i) => i).join(" ")} }`;
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const product = run(`SELECT (COUNT(*) AS ?n) { ${values("x")} ${values("y")} ${values("z")} }`, setUp(50_000));
    await expect(product).rejects.toMatchObject({ code: "ANSWER_TOO_LARGE" });
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
  });
  it("stops making solutions when the client has left", async () => {
    const values = (name: string) => `VALUES ?${name} { ${Array.from({ length: 1_000 }, (_, i) => i).join(" ")} }`;
    const controller = new AbortController();
    const limits = { ...toBounds(), signal: controller.signal };
    const setup = setUp(100_000_000);
    const product = run(`SELECT (COUNT(*) AS ?n) { ${values("x")} ${values("y")} ${values("z")} }`, setup, limits);
    void sleep(100).then(() => controller.abort(new FedwayError("CANCELLED", "gone")));
    await expect(product).rejects.toMatchObject({ code: "CANCELLED" });
    // What is under way ends with its turn of the loop; then the loop has nothing to do.
    await setImmediate();
    // Work of the runtime may fall into one of the two.
    const ms = [await processorMsOf(() => sleep(300)), await processorMsOf(() => sleep(300))];
    expect(Math.min(...ms)).toBeLessThan(150);
  });
  it("ends with the client's signal", async () => {
    const controller = new AbortController();
    controller.abort(new FedwayError("CANCELLED", "gone"));
    const limits = { ...toBounds(), signal: controller.signal };
    await expect(run(join(), shared, limits)).rejects.toMatchObject({ code: "CANCELLED" });
  });
});
