import { createHash } from "node:crypto";
import { appendFile, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EndpointPool } from "../../src/hosting/endpoint-pool.ts";
import type { HostedEndpoint } from "../../src/hosting/hosted-endpoint.ts";
import { fromTurtle, selectFrom } from "../support/rdf-text.ts";
import type { ShardReport } from "../../shards/src/report/shard-report.ts";
import { createClingoSolver } from "../../shards/src/solver/clingo-solver.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import {
  type ExampleQuery,
  exampleQueries,
  openBuiltWorkspace,
  openWorkspace,
  type ShardWorkspace,
} from "../support/shard-workspace.ts";

let workspace: ShardWorkspace;
let folder: string;
let queries: readonly ExampleQuery[];
let whole: HostedEndpoint;
let service: RunningService;
const stages = new Set<string>();

beforeAll(async () => {
  workspace = await openWorkspace();
  // Few shards, so that all of them are loaded at once.
  await workspace.describe({ source: "https://harbour.example/", mode: "guaranteed" });
  queries = await exampleQueries();
  const built = await workspace.build({ onProgress: ({ stage }) => stages.add(stage) });
  folder = built.folder ?? "";
  const limits = { timeoutMs: 600_000, totalMb: 512, maxAnswerBytes: 10_000_000, maxWaiting: 10, maxPerClient: 10 };
  whole = new EndpointPool(limits).endpoint({
    id: "whole",
    source: { kind: "text", text: await readFile(join(workspace.input, "harbour.nt"), "utf8") },
    memoryMb: 256,
  });
  service = await startService({}, { FEDWAY_DATA_DIR: workspace.dataDir });
});
afterAll(async () => {
  await service.close();
  await whole.close();
});

/** Rows as texts in any order. */
function rowsOf(body: string): readonly string[] {
  const { results } = JSON.parse(body) as { results: { bindings: Record<string, { type: string; value: string }>[] } };
  return results.bindings
    .map((row) => JSON.stringify(Object.entries(row).toSorted(([left], [right]) => (left < right ? -1 : 1))))
    .toSorted();
}

const json = "application/sparql-results+json";

async function wholeRows(query: string): Promise<readonly string[]> {
  const signal = new AbortController().signal;
  const { body } = await whole.query({ query, kind: "bindings", accept: json, signal, timeoutMs: 600_000 });
  return rowsOf(body.toString());
}

const get = async (path: string): Promise<unknown> => (await fetch(`${service.url}${path}`)).json();

describe("the example, built", () => {
  it("lies in the data folder, without anything left of the building", async () => {
    expect(folder).toBe(join(workspace.dataDir, "shards", "harbour"));
    expect((await readdir(join(workspace.dataDir, "shards"))).toSorted()).toEqual(["harbour"]);
    expect((await readdir(folder)).toSorted()).toEqual([
      "manifest.json",
      "origins.json",
      "report.html",
      "report.json",
      "rules.lp",
      "shards",
    ]);
    expect([...stages]).toEqual(
      expect.arrayContaining(["reading the queries", "learning the classes", "choosing the rules", "sorting"]),
    );
  });

  it("makes every query federated that can be, and names the one that has no answer", async () => {
    const report: ShardReport = JSON.parse(await readFile(join(folder, "report.json"), "utf8"));
    const { queries: reported, optimum, statistics } = report;
    expect(reported.filter(({ federated }) => !federated)).toMatchObject([
      { id: "submarines", reason: expect.stringMatching(/\S/) },
    ]);
    expect(optimum).toMatchObject({ proven: true });
    expect(statistics).toMatchObject({ triples: 416, questions: 14 });
  });

  it("is balanced by default: no shard answers a query alone, and shards and kinds of rules are as the targets say", async () => {
    const { report } = await workspace.build({ fields: { mode: "balanced" }, dryRun: true });
    expect(report).toMatchObject({ mode: "balanced", precedence: ["vertical", "horizontal", "class"] });
    const { answers, shards, largestShare = 1 } = report.statistics;
    expect(answers).toEqual({ none: 1, "one-shard": 0, "several-shards": 13, unknown: 0 });
    expect(shards).toBe(8);
    expect(report.optimum.criteria?.filter(({ proven }) => !proven)).toEqual([]);
    expect(report.optimum.criteria?.slice(0, 4).map(({ name, cost }) => [name, cost])).toEqual([
      ["fewest_unfederated", 0],
      ["fewest_answered_alone", 0],
      ["fewest_surplus_shards", 0],
      ["nearest_shares", 0],
    ]);
    expect(new Set(report.rules.map(({ kind }) => kind)).size).toBe(3);
    expect(report.rules.flatMap(({ iris }) => iris).filter((iri) => iri.endsWith("#type"))).toEqual([]);
    expect(largestShare).toBeLessThan(0.3);
  });

  it("holds: nothing twice, nothing missing, the same answers", async () => {
    const { outcome, checks } = await workspace.verify(folder);
    expect(checks.map(({ name, outcome: each }) => `${name} ${each}`)).toEqual([
      "files held",
      "disjoint held",
      "complete held",
      "placement held",
      "federated held",
      "hosted held",
      "answers held",
    ]);
    expect(outcome).toBe("held");
    expect(checks.find(({ name }) => name === "answers")?.checked).toBe(queries.length);
  });

  it("has a rule file that holds, and does not without one of its rules", async () => {
    const solver = createClingoSolver();
    try {
      const file = await readFile(join(folder, "rules.lp"), "utf8");
      const { optimum } = JSON.parse(await readFile(join(folder, "report.json"), "utf8"));
      const { models } = await solver.solve(file, { options: ["--opt-mode=ignore"], keepModels: 2 });
      expect(models).toHaveLength(1);
      expect(models[0]?.atoms.filter((atom) => atom.startsWith("choose("))).toHaveLength(optimum.cost);
      const [answer = ""] = /^answer\(.*\n/mu.exec(file) ?? [];
      expect(answer).toMatch(/^answer\(\d+\)\. % "/);
      expect(await solver.solve(file.replace(answer, ""))).toMatchObject({ unsatisfiable: true });
    } finally {
      await solver.close();
    }
  });

  it("gives the same bytes when it is built again", async () => {
    const digest = async (): Promise<string> => {
      const hash = createHash("sha256");
      for (const name of ["manifest.json", "report.json", "report.html", "rules.lp"])
        hash.update(await readFile(join(folder, name)));
      return hash.digest("hex");
    };
    const before = await digest();
    await workspace.build();
    expect(await digest()).toBe(before);
  });
});

describe("the service over it", () => {
  it("hosts every shard, with an entry in the catalogue and a federation", async () => {
    const { shards: hosted } = (await get("/api/shards")) as { shards: object[] };
    expect(hosted).toMatchObject([{ dataset: "harbour", title: "Ferries of an invented coast", triples: 416 }]);
    const { shards } = (await get("/api/shards/harbour")) as { shards: { id: string; triples: number }[] };
    expect(shards.length).toBeGreaterThan(1);
    expect(shards.reduce((sum, { triples }) => sum + triples, 0)).toBe(416);
    const federation = await get("/api/federations/harbour");
    expect(JSON.stringify(federation)).toContain(`harbour-${shards[0]?.id}`);
    const entry = (await get(`/api/endpoints/harbour-${shards[0]?.id}`)) as Record<string, unknown>;
    expect(entry).toMatchObject({
      description: expect.stringMatching(/^[\d,]+ triples? of Ferries of an invented coast: .+\.$/),
      license: "https://creativecommons.org/publicdomain/zero/1.0/",
    });
    for (const { id, triples } of shards) {
      const query = "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }";
      const answer = await service.query(query, { path: `/shards/harbour/${id}/sparql` });
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ results: { bindings: [{ n: { value: String(triples) } }] } });
    }
  });

  it("gives over the federation the answers of the whole", async () => {
    let withRows = 0;
    for (const { id, sparql } of queries) {
      const answer = await service.query(sparql, { path: "/federations/harbour/sparql" });
      const rows = rowsOf(await answer.text());
      expect({ id, rows }).toEqual({ id, rows: await wholeRows(sparql) });
      if (rows.length > 0) withRows += 1;
    }
    expect(withRows).toBe(13);
  });

  it("describes the shards (VoID) by itself, with licence, citation and source", async () => {
    const { shards } = (await get("/api/shards/harbour")) as { shards: { id: string; triples: number }[] };
    const path = `/api/endpoints/harbour-${shards[0]?.id}/void`;
    const described = await found(async () => {
      const response = await fetch(`${service.url}${path}`, { headers: { accept: "text/turtle" } });
      const text = response.ok ? await response.text() : "";
      // Described by queries first, completed at once.
      return text.includes("publicdomain/zero/1.0") ? text : undefined;
    });
    const [row, ...more] = selectFrom(
      fromTurtle(described),
      `SELECT ?licence ?citation ?source ?triples WHERE {
        ?dataset <http://rdfs.org/ns/void#sparqlEndpoint> ?endpoint ; <http://rdfs.org/ns/void#triples> ?triples ;
          <http://purl.org/dc/terms/license> ?licence ; <http://purl.org/dc/terms/source> ?source ;
          <http://purl.org/dc/terms/bibliographicCitation> ?citation }`,
      ["licence", "citation", "source", "triples"],
    );
    expect(more).toEqual([]);
    expect(row).toEqual([
      "https://creativecommons.org/publicdomain/zero/1.0/",
      "Invented for Fedway; no such ferries sail.",
      "https://harbour.example/",
      String(shards[0]?.triples),
    ]);
    expect(described).not.toContain("Cite as");
  });

  it("gives the report and the data", async () => {
    const page = await fetch(`${service.url}/api/shards/harbour/report`);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(await page.text()).toMatch(/^<!doctype html>/);
    const { shards } = (await get("/api/shards/harbour")) as {
      shards: { id: string; sha256: string; bytes: number }[];
    };
    for (const { id, sha256, bytes } of shards) {
      const file = await fetch(`${service.url}/api/shards/harbour/${id}`);
      const body = Buffer.from(await file.arrayBuffer());
      expect({ length: body.length, sum: createHash("sha256").update(body).digest("hex") }).toEqual({
        length: bytes,
        sum: sha256,
      });
      expect(file.headers.get("content-type")).toBe("application/n-triples");
    }
  });

  it.each([
    ["/shards/harbour/none/sparql?query=ASK%7B%7D"],
    ["/shards/none/base/sparql?query=ASK%7B%7D"],
    ["/api/shards/none"],
    ["/api/shards/none/report"],
    ["/api/shards/harbour/none"],
    ["/api/shards/..%2F..%2Fetc/passwd"],
  ])("knows nothing at %s", async (path) => {
    const response = await fetch(`${service.url}${path}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "SHARDS_UNKNOWN" });
  });
});

describe("shards that were damaged", () => {
  it("are never served, and verification says what is wrong", async () => {
    const { folder: target, ...damaged } = await openBuiltWorkspace();
    const [file = ""] = await readdir(join(target, "shards"));
    await appendFile(join(target, "shards", file), "<urn:x:1> <urn:x:p> <urn:x:2> .\n");
    const running = await startService({}, { FEDWAY_DATA_DIR: damaged.dataDir });
    const { shards } = (await (await fetch(`${running.url}/api/shards`)).json()) as { shards: object[] };
    await running.close();
    expect(shards).toEqual([]);
    const { outcome, checks } = await damaged.verify(target);
    expect(outcome).toBe("broken");
    expect(checks.find(({ name }) => name === "files")).toMatchObject({ outcome: "broken" });
    expect(checks.find(({ name }) => name === "complete")).toMatchObject({ outcome: "broken", wrong: 1 });
  });
});

async function found<Value>(look: () => Promise<Value | undefined>): Promise<Value> {
  for (;;) {
    const value = await look();
    if (value !== undefined) return value;
    await new Promise((done) => setTimeout(done, 50));
  }
}
