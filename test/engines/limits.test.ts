import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../support/engines/engine.ts";
import { startFuseki } from "../support/engines/fuseki.ts";
import { startVirtuoso } from "../support/engines/virtuoso.ts";
import { numbers, prefixes, virtuosoGraph } from "./data.ts";
import { type Fedway, startFedway } from "../support/fedway.ts";
import { readAnswer } from "../support/read-answer.ts";

const json = "application/sparql-results+json";

/*
 * What the engines answer, as seen from Virtuoso 7.2.5 (Debian) and Fuseki 5.6:
 * - more rows than ResultSetMaxRows: 200, `X-SPARQL-MaxRows: 1000`, exactly 1000 rows. CONSTRUCT: 200 and 1001
 *   triples without any sign;
 * - `timeout=1000` and no rows yet: 200, `X-SQL-State: S1TAT`, `X-SQL-Message: ... Returning incomplete results ...`,
 *   zero rows; an aggregate may also come with a wrong number;
 * - MaxQueryExecutionTime without a `timeout` parameter: 500, text/plain, `Virtuoso S1T00 Error SR171: Transaction timed out`;
 * - Fuseki's --timeout before the first row: 503, text/plain, `Query timed out`.
 */
const maxRows = 1_000;
const allNumbers = `${prefixes}SELECT ?x ?n WHERE { ?x ex:n ?n }`;
/** 4,000 to the third power combinations: no engine finishes in the seconds that it is given. */
const endless = `${prefixes}SELECT (COUNT(*) AS ?count) WHERE {
  ?a ex:n ?x . ?b ex:n ?y . ?c ex:n ?z FILTER(?x + ?y < ?z) }`;

let virtuoso: Engine;
let fuseki: Engine;
let fedway: Fedway;

beforeAll(async () => {
  const data = numbers(4_000);
  [virtuoso, fuseki] = await Promise.all([
    startVirtuoso({ graphs: { [virtuosoGraph]: data }, maxRows, maxExecutionSeconds: 2 }),
    startFuseki({ data, timeoutMs: 1_500 }),
  ]);
  fedway = await startFedway({
    virtuoso: virtuoso.url,
    anytime: `${virtuoso.url}?timeout=1000`,
    fuseki: fuseki.url,
  });
});

afterAll(async () => {
  await fedway?.close();
  await Promise.all([virtuoso?.stop(), fuseki?.stop()]);
});

/** Reads an answer to its end. @returns undefined when it was visibly cut off */
async function wholeBody(response: Response): Promise<string | undefined> {
  try {
    return await response.text();
  } catch {
    return undefined;
  }
}

const everyFormat = [json, "application/sparql-results+xml", "text/csv", "text/tab-separated-values"];

const inPart = (accept: string) => ({ query: allNumbers, accept, parameters: { partial: "true" } });

describe("Virtuoso's row limit", () => {
  it.each(everyFormat)("breaks an answer off visibly, as %s", async (accept) => {
    const response = await fedway.sparql("/endpoints/virtuoso/sparql", { query: allNumbers, accept });
    const run = response.headers.get("fedway-run");
    const body = await wholeBody(response);
    if (response.status === 200) expect(body, "the response ended as if it were complete").toBeUndefined();
    else expect(JSON.parse(body ?? "")).toMatchObject({ code: "ENDPOINT_PARTIAL", where: { endpoint: "virtuoso" } });
    expect(await fedway.endedRun(run)).toMatchObject({ status: "failed", code: "ENDPOINT_PARTIAL" });
  });

  // Of many rows the head has left when the limit shows: the document says at its end that rows are missing.
  it.each([
    [json, /"fedway":\{"status":"partial"/u],
    [
      "application/sparql-results+xml",
      /<!-- Fedway: this answer is partial \(subset\): virtuoso [^>]*-->\s*<\/sparql>\s*$/u,
    ],
  ])("makes an answer partial where that is wanted, as %s", async (accept, remark) => {
    const response = await fedway.sparql("/endpoints/virtuoso/sparql", inPart(accept));
    const run = response.headers.get("fedway-run");
    expect(["running", "partial"]).toContain(response.headers.get("fedway-status"));
    const body = await response.clone().text();
    expect(body).toMatch(remark);
    const answer = await readAnswer(response);
    expect(answer.kind === "bindings" && answer.rows.length).toBe(maxRows);
    expect(await fedway.endedRun(run)).toMatchObject({
      status: "partial",
      rows: maxRows,
      sources: [{ endpoint: "virtuoso", status: "partial" }],
    });
  });

  it.each(["text/csv", "text/tab-separated-values"])(
    "breaks an answer off that may be partial but cannot say so, as %s",
    async (accept) => {
      const response = await fedway.sparql("/endpoints/virtuoso/sparql", inPart(accept));
      const run = response.headers.get("fedway-run");
      expect([response.status, response.headers.get("fedway-status")]).toEqual([200, "running"]);
      expect(await wholeBody(response), "the response ended as if it were complete").toBeUndefined();
      expect(await fedway.endedRun(run)).toMatchObject({
        status: "failed",
        code: "ENDPOINT_PARTIAL",
        detail: expect.stringContaining(`${accept} cannot say it`),
      });
    },
  );

  it("fails a table that may not be partial", async () => {
    const { answer, httpStatus } = await fedway.table({ query: allNumbers, endpoint: "virtuoso" });
    expect({ httpStatus, status: answer.status, rows: answer.rows }).toEqual({
      httpStatus: 502,
      status: "failed",
      rows: [],
    });
    expect(answer.diagnosis).toMatchObject({ code: "ENDPOINT_PARTIAL", where: { endpoint: "virtuoso" } });
  });

  it("makes a table partial and says why", async () => {
    const { answer, httpStatus } = await fedway.table({ query: allNumbers, endpoint: "virtuoso", partial: true });
    expect({ httpStatus, status: answer.status, rows: answer.rows.length }).toEqual({
      httpStatus: 200,
      status: "partial",
      rows: maxRows,
    });
    expect(answer.diagnosis).toMatchObject({ code: "ENDPOINT_PARTIAL" });
  });

  it.each([maxRows - 1, maxRows])("does not make a query partial that asks for %i rows", async (limit) => {
    const { answer } = await fedway.table({ query: `${allNumbers} LIMIT ${limit}`, endpoint: "virtuoso" });
    expect(answer).toMatchObject({ status: "ok", diagnosis: null });
    expect(answer.rows.length).toBe(limit);
  });

  it("makes a graph partial that may have been cut without a sign", async () => {
    const query = `${prefixes}CONSTRUCT WHERE { ?x ex:n ?n }`;
    const small = `${prefixes}CONSTRUCT { ?x ex:n ?n } WHERE { ?x ex:n ?n } LIMIT ${maxRows - 1}`;
    // From here on the cap is known.
    await fedway.table({ query: allNumbers, endpoint: "virtuoso", partial: true });
    const refused = await fedway.sparql("/endpoints/virtuoso/sparql", { query, accept: "text/turtle" });
    const refusedRun = refused.headers.get("fedway-run");
    await wholeBody(refused);
    expect(await fedway.endedRun(refusedRun)).toMatchObject({ status: "failed", code: "ENDPOINT_PARTIAL" });
    const call = { query, accept: "text/turtle", parameters: { partial: "true" } };
    const response = await fedway.sparql("/endpoints/virtuoso/sparql", call);
    const run = response.headers.get("fedway-run");
    const answer = await readAnswer(response);
    expect(answer.kind === "quads" && answer.triples.length).toBe(maxRows + 1);
    expect(await fedway.endedRun(run)).toMatchObject({ status: "partial", sources: [{ status: "partial" }] });
    const whole = await fedway.sparql("/endpoints/virtuoso/sparql", { query: small, accept: "text/turtle" });
    const wholeRun = whole.headers.get("fedway-run");
    expect((await readAnswer(whole)).kind).toBe("quads");
    expect(await fedway.endedRun(wholeRun)).toMatchObject({ status: "ok", sources: [{ status: "ok" }] });
  });

  const join = (): string => `${prefixes}SELECT ?x ?n WHERE {
    SERVICE <${virtuoso.url}> { ?x ex:n ?n } SERVICE <${fuseki.url}> { ?x ex:n ?n } }`;

  it("fails a federated query", async () => {
    const { answer, httpStatus } = await fedway.table({ query: join() });
    expect({ httpStatus, status: answer.status, rows: answer.rows }).toEqual({
      httpStatus: 502,
      status: "failed",
      rows: [],
    });
    expect(answer.diagnosis).toMatchObject({ code: "ENDPOINT_PARTIAL", where: { endpoint: "virtuoso" } });
  });

  it("makes a federated answer partial where that is wanted", async () => {
    const { answer, httpStatus } = await fedway.table({ query: join(), partial: true });
    expect({ httpStatus, status: answer.status }).toEqual({ httpStatus: 200, status: "partial" });
    expect(answer.diagnosis).toMatchObject({ code: "ENDPOINT_PARTIAL" });
    expect(answer.rows.length).toBeGreaterThan(0);
  });
});

/** A time-out that the engine reports as an error is one here too, with the engine's status. */
const shouldTimeOut = (name: string, upstreamStatus: number): void => {
  it(`${name}'s own time-out is ENDPOINT_TIMEOUT`, async () => {
    const response = await fedway.sparql(`/endpoints/${name}/sparql`, { query: endless, accept: json });
    expect(response.status).toBe(504);
    expect(response.headers.get("content-type")).toMatch(/^application\/problem\+json/u);
    expect(await response.json()).toMatchObject({
      code: "ENDPOINT_TIMEOUT",
      fault: "timeout",
      upstreamStatus,
      where: { endpoint: name },
    });
    expect(await fedway.endedRun(response.headers.get("fedway-run"))).toMatchObject({
      status: "failed",
      code: "ENDPOINT_TIMEOUT",
      // A query that was too heavy is not sent a second time.
      sources: [{ requests: 1 }],
    });
  });
};

/**
 * What Fedway makes of an anytime query. On a busy machine Virtuoso has been seen to fail it with a 5xx of its own, which is
 * another case than the one that is tested: then it is asked again, twice at most.
 */
async function anytime<Answer>(ask: () => Promise<Answer>, codeOf: (answer: Answer) => Promise<string | undefined>) {
  for (let left = 2; ; left--) {
    const answer = await ask();
    if (left === 0 || (await codeOf(answer)) !== "ENDPOINT_FAILED") return answer;
  }
}

const codeOfResponse = async (response: Response): Promise<string | undefined> => {
  if (response.ok) return undefined;
  const problem = (await response.clone().json()) as { readonly code?: string };
  return problem.code;
};

describe("time-outs of the engines", () => {
  it("S1TAT with status 200 and no rows is an error, not empty", async () => {
    const call = { query: endless, accept: json };
    const response = await anytime(() => fedway.sparql("/endpoints/anytime/sparql", call), codeOfResponse);
    const problem = await response.json();
    expect(problem, JSON.stringify(problem)).toMatchObject({
      code: "ENDPOINT_PARTIAL",
      where: { endpoint: "anytime" },
    });
    expect(response.status).toBe(502);
    expect(await fedway.endedRun(response.headers.get("fedway-run"))).toMatchObject({
      status: "failed",
      code: "ENDPOINT_PARTIAL",
    });
  });

  it("S1TAT is partial where that is wanted", async () => {
    const call = { query: endless, accept: json, parameters: { partial: "true" } };
    const response = await anytime(() => fedway.sparql("/endpoints/anytime/sparql", call), codeOfResponse);
    const atFirstByte = response.headers.get("fedway-status");
    const run = response.headers.get("fedway-run");
    await readAnswer(response);
    expect(atFirstByte).toBe("partial");
    expect(await fedway.endedRun(run)).toMatchObject({ status: "partial", sources: [{ status: "partial" }] });
  });

  it("S1TAT makes a table partial and says why", async () => {
    const { answer } = await anytime(
      () => fedway.table({ query: endless, endpoint: "anytime", partial: true }),
      async (table) => table.answer.diagnosis?.code,
    );
    expect(answer.status).toBe("partial");
    expect(answer.diagnosis).toMatchObject({ code: "ENDPOINT_PARTIAL" });
  });

  shouldTimeOut("virtuoso", 500);
  shouldTimeOut("fuseki", 503);

  it.each(["virtuoso", "fuseki"])("the caller's time limit ends a query at %s before the engine does", async (name) => {
    const { httpStatus, answer } = await fedway.table({ query: endless, endpoint: name, timeoutMs: 300 });
    // The engine's own time-out has another code.
    expect(answer.diagnosis).toMatchObject({ code: "DEADLINE_EXCEEDED" });
    expect(httpStatus).toBe(504);
    expect(answer.status).toBe("failed");
    expect(["DEADLINE_EXCEEDED", "ENDPOINT_TIMEOUT"]).toContain(answer.diagnosis?.code);
  });

  it("one engine's time-out does not take the other's rows when partial answers are wanted", async () => {
    const heavy = endless.replace(prefixes, "");
    const query = `${prefixes}SELECT ?count ?n WHERE {
      { SERVICE <${fuseki.url}> { ${heavy} } } UNION
      { SERVICE <${virtuoso.url}> { <http://example.org/number/7> ex:n ?n } } }`;
    const { answer } = await fedway.table({ query, partial: true });
    expect(answer.status).toBe("partial");
    expect(answer.rows).toEqual([[null, expect.stringMatching(/^"?7\b/u)]]);
    expect(answer.sources.map(({ endpoint, status }) => `${endpoint} ${status}`).toSorted()).toEqual([
      "fuseki timeout",
      "virtuoso ok",
    ]);
  });
});
