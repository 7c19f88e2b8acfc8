import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually, until } from "../../support/eventually.ts";
import { startService } from "../../support/running-service.ts";

// The tools of agents over HTTP, at a whole service with the example federation.

let service: Awaited<ReturnType<typeof startService>>;
beforeAll(async () => {
  service = await startService({}, { FEDWAY_EXAMPLES: "on", FEDWAY_TOOLS_OFF: "search_terms" });
});
afterAll(() => service?.close());

interface Answered {
  readonly status: number;
  readonly body: {
    readonly text: string;
    readonly data: Record<string, unknown>;
    readonly code?: string;
    readonly next?: string;
  };
}

async function call(name: string, body: unknown): Promise<Answered> {
  const response = await fetch(`${service.url}/api/tools/${name}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

describe("the tools of agents over HTTP", () => {
  it("are listed without those that are switched off, in texts too", async () => {
    const listed = await (await fetch(`${service.url}/api/tools`)).text();
    expect(listed).toContain('"run_query"');
    expect(listed).not.toContain("search_terms");
    expect((await call("search_terms", { query: "x" })).status).toBe(404);
  });

  it("find, describe and ask an endpoint", async () => {
    const found = await call("find_endpoints", { question: "weather", limit: "3" });
    expect(found.body.text).toContain("weather");
    const rows = await call("run_query", {
      query: "SELECT ?name WHERE { SERVICE <people> { ?p <http://xmlns.com/foaf/0.1/name> ?name } } LIMIT 2",
    });
    expect(rows.body.data).toMatchObject({ status: "ok" });
  });

  it("say that a match is weak, and then advise to look, not to run", async () => {
    const { body } = await call("find_endpoints", { question: "Which vocalist earned most?" });
    expect(body.text).toContain(", weak match)");
    expect(body.text).toMatch(/\nnext: (?:Look before you run|Ask again with other words)/);
    expect(body.text).not.toContain("next: run_query");
  });

  it("write terms with prefixes that are declared once, and hold in a query", async () => {
    await fetch(`${service.url}/api/endpoints/people/describe`, { method: "POST" });
    await until(async () => (await fetch(`${service.url}/api/endpoints/people/schema`)).status === 200);
    const { text, data } = await eventually(async () => {
      const { body } = await call("find_endpoints", { question: "names of persons" });
      expect(body.text).toContain("foaf:Person (");
      return body;
    });
    expect(text.match(/^PREFIX foaf: <http:\/\/xmlns\.com\/foaf\/0\.1\/>$/gm)).toHaveLength(1);
    expect(JSON.stringify(data)).toContain('"http://xmlns.com/foaf/0.1/Person"');
    const declared = text.split("\n").filter((line) => line.startsWith("PREFIX "));
    const query = `${declared.join("\n")} SELECT ?n { ?p a foaf:Person ; foaf:name ?n } LIMIT 2`;
    const rows = await call("run_query", { query, endpoint: "people" });
    expect(rows.body.data).toMatchObject({ status: "ok", rows_total: 2 });
  });

  it("show one endpoint in full, the others on a line each", async () => {
    const { body } = await call("find_endpoints", { question: "Where is the water of the sea warm?" });
    const found = body.text.split("\n").filter((line) => /^\S+ \((?:endpoint|federation)/.test(line));
    expect(found.length).toBeGreaterThan(1);
    expect(found.slice(1).every((line) => line.includes("; matches "))).toBe(true);
  });

  it("say that a question seems not to be in English, instead of what to run", async () => {
    const { body } = await call("find_endpoints", { question: "Welche Sängerinnen wohnen in Zürich?" });
    expect(body.text).toContain("perhaps not English");
    expect(body.text).toContain("Ask again in English, with names as they are written.");
  });

  it("never answer one client from what another of the same address has run", async () => {
    const query = "SELECT ?n WHERE { SERVICE <people> { ?p <http://xmlns.com/foaf/0.1/name> ?n } } LIMIT 3";
    const caller = { signal: new AbortController().signal, owner: "192.0.2.1" };
    const cached: unknown[] = [];
    for (const session of ["one", "one", "two", undefined, undefined]) {
      const { data } = await service.app.toolbox().call("run_query", { query }, { ...caller, session });
      cached.push(data["cached"]);
    }
    expect(cached).toEqual([false, true, false, false, false]);
  });

  it("mend a query before it is run, and say what may have been meant", async () => {
    const query = "```sparql\nSELECT ?name WHERE { SERVICE people { ?p foaf:name ?name }\n```";
    const rows = await call("run_query", { query, max_rows: 2 });
    expect(rows.body.data).toMatchObject({ status: "ok" });
    expect(rows.body.data["repairs"]).toHaveLength(5);
    expect(rows.body.text).toContain("repaired: added PREFIX foaf: <http://xmlns.com/foaf/0.1/>");
    const checked = await call("check_query", { query: "SELECT * { SERVICE <peple> { ?s ?p ?o } }" });
    expect(checked.body.data).toMatchObject({
      valid: false,
      suggested: "SELECT * { SERVICE <people> { ?s ?p ?o } }",
      diagnosis: { code: "SERVICE_TARGET_REFUSED" },
    });
    const update = await call("run_query", { query: "DELETE WHERE { SERVICE <people> { ?s ?p ?o } }" });
    const select = "SELECT * WHERE { SERVICE <people> { ?s ?p ?o } }";
    expect(update.body).toMatchObject({ code: "UPDATE_REFUSED", repairs: [{ after: select, applied: false }] });
    const misnamed = await call("run_query", { query: "ASK { SERVICE <http://localhost/people> { ?s ?p ?o } }" });
    expect(misnamed.body).toMatchObject({ code: "SERVICE_TARGET_REFUSED", repairs: [{ after: "<people>" }] });
    const strict = await service.query("```\nSELECT * { SERVICE <people> { ?s ?p ?o } }\n```");
    expect(strict.status).toBe(400);
  });

  it("say of rows that a part of the query matches nothing, and what was probably meant", async () => {
    await fetch(`${service.url}/api/endpoints/people/describe`, { method: "POST" });
    await until(async () => (await fetch(`${service.url}/api/endpoints/people/schema`)).status === 200);
    const prefixes = "PREFIX schema: <https://schema.org/> PREFIX foaf: <http://xmlns.com/foaf/0.1/>";
    const asking = (pattern: string): string => `${prefixes} SELECT ?p { ?p a foaf:Person ${pattern} }`;
    const run = async (pattern: string) =>
      (await call("run_query", { query: asking(pattern), endpoint: "people" })).body;
    for (const part of ["MINUS { ?p schema:hasOccupation", "FILTER NOT EXISTS { ?p schema:hasOccupation"]) {
      const wrong = await eventually(async () => {
        const { text, data } = await run(`${part} "painter" }`);
        expect(data).toMatchObject({ status: "ok", suggested: asking(`${part} "painter"@en }`) });
        return text;
      });
      expect(wrong).toContain("note: doubtful: ");
      const right = await run(`${part} "painter"@en }`);
      expect(right.text).not.toContain("doubtful");
      expect(right.data["suggested"]).toBeNull();
    }
    const checked = await call("check_query", {
      query: asking('; schema:hasOccupation "painter"'),
      endpoint: "people",
    });
    expect(checked.body.text).toMatch(/^no row matches; direct/);
  });

  it("find the keys that two endpoints write in different ways, whichever side is to blame", async () => {
    const prefixes = "PREFIX schema: <https://schema.org/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>";
    const query = `${prefixes} SELECT ?land { SERVICE <people> { ?person schema:hasOccupation "writer"@en ; schema:nationality ?country } SERVICE <places> { ?country a schema:Country ; rdfs:label ?land } }`;
    const empty = await call("run_query", { query });
    expect(empty.body.data).toMatchObject({ status: "empty" });
    const explained = await call("explain_result", { run_id: empty.body.data["run"] });
    expect(explained.body.data["diagnosis"]).toMatchObject({ code: "EMPTY_KEYS" });
    const [repair] = (explained.body.data["diagnosis"] as { repairs: { before: string; after: string }[] }).repairs;
    const mended = await call("run_query", { query: query.replace(repair?.before ?? "", repair?.after ?? "") });
    expect(mended.body.data).toMatchObject({ status: "ok" });
  });

  it("say what is wrong and what to do next", async () => {
    const unknown = await call("describe_endpoint", { endpoint: "peple" });
    expect(unknown).toMatchObject({
      status: 404,
      body: { code: "ENDPOINT_UNKNOWN", next: expect.stringContaining("people") },
    });
    const wrong = await call("find_endpoints", { questions: "x", limit: [] });
    expect(wrong.status).toBe(400);
    expect(wrong.body.next).toBe("Call find_endpoints(question, limit?).");
    expect((await call("find_endpoints", "[1]")).status).toBe(400);
    expect((await call("find_endpoints", { question: "x".repeat(1 << 20) })).status).toBe(400);
  });
});

describe("explain_result", () => {
  const lonely = 'SELECT * { SERVICE <people> { ?p foaf:nam ?name ; foaf:name "Nobody at all" } }';

  it("names the pattern that made a run empty, and knows no run that there was not", async () => {
    const ran = await call("run_query", { query: lonely });
    expect(ran.body.data).toMatchObject({ status: "empty" });
    const runId = ran.body.data["run"];
    const told = await call("explain_result", { run_id: runId });
    expect(told.status).toBe(200);
    expect(told.body.data).toMatchObject({
      status: "empty",
      diagnosis: { code: "EMPTY_TERM", where: { endpoint: "people", pattern: "?p foaf:nam ?name" } },
      sources: [{ endpoint: "people", status: "ok" }],
    });
    expect(told.body.text).toContain("?p foaf:nam ?name");
    const unknown = await call("explain_result", { run_id: `${String(runId)}0` });
    expect(unknown).toMatchObject({ status: 404, body: { code: "RUN_UNKNOWN" } });
  });

  it("explains a count of nothing", async () => {
    const query = 'SELECT (COUNT(?p) AS ?n) { SERVICE <people> { ?p schema:hasOccupation "painter" } }';
    const ran = await call("run_query", { query: `PREFIX schema: <https://schema.org/> ${query}` });
    const diagnosis = { code: "EMPTY_VALUE", repairs: [{ after: '"painter"@en' }] };
    expect(ran.body.data).toMatchObject({ status: "ok", rows_total: 1, diagnosis });
    expect(ran.body.text).toContain(`run: ${String(ran.body.data["run"])}`);
    const told = await call("explain_result", { run_id: ran.body.data["run"] });
    expect(told.body.data).toMatchObject({ status: "ok", diagnosis });
  });

  it("says of a whole answer that nothing is missing", async () => {
    const ran = await call("run_query", { query: "SELECT * { SERVICE <people> { ?s ?p ?o } } LIMIT 3" });
    const told = await call("explain_result", { run_id: ran.body.data["run"] });
    expect(told.body.data).toMatchObject({ status: "ok", diagnosis: null });
    expect(told.body.text).toContain("people ok");
  });

  it("build a query from numbered choices, and refuse a step after which it finds nothing", async () => {
    await fetch(`${service.url}/api/endpoints/people/describe`, { method: "POST" });
    await until(async () => (await fetch(`${service.url}/api/endpoints/people/schema`)).status === 200);
    const opened = await call("build_query", { step: "open", value: "people" });
    const handle = opened.body.data["handle"];
    expect(opened.body.text).toContain("1. ");
    const chosen = await call("build_query", { step: "class", handle, choice: "1" });
    expect(chosen.body.data["rows"]).toBeGreaterThan(0);
    const names = await call("build_query", { step: "property", handle, value: "name" });
    const number = Number.parseInt(/\n(\d+)\. \?/u.exec(names.body.text)?.[1] ?? "", 10);
    await call("build_query", { step: "property", handle, choice: number });
    const refused = await call("build_query", { step: "filter", handle, choice: 2, value: "= nobody at all" });
    expect(refused.body).toMatchObject({ code: "STEP_REFUSED", detail: "With this step the query finds nothing." });
    const { query } = (await call("build_query", { step: "limit", handle, choice: 3 })).body.data;
    const rows = await call("run_query", { query });
    expect(rows.body.data).toMatchObject({ status: "ok" });
    const stranger = await call("build_query", { step: "look", handle: "none" });
    expect(stranger.status).toBe(404);
  });
});
