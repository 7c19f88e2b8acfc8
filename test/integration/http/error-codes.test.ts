import { afterAll, beforeAll, describe, it, expect } from "vitest";
import { problemOf, type RunningService, startService } from "../../support/running-service.ts";

// What is wrong with a query is told before what is wrong with the wanted format.

const publicUrl = "http://fedway.example";
let service: RunningService;
beforeAll(async () => {
  service = await startService({}, { FEDWAY_EXAMPLES: "on", FEDWAY_PUBLIC_URL: publicUrl });
});
afterAll(() => service?.close());

const accepted = ["*/*", "text/turtle", "text/csv", "application/sparql-results+json", "image/png", "text/html;q=0"];

async function codesOf(path: string, query: string): Promise<readonly string[]> {
  const codes = await Promise.all(
    accepted.map(async (accept) => (await problemOf(await service.query(query, { path, accept }))).code),
  );
  return [...new Set(codes)];
}

const forms = ["CONSTRUCT { ?s ?p ?o } WHERE", "DESCRIBE ?s WHERE", "SELECT * WHERE", "ASK"];

const shouldSay = (code: string, pattern: string, path = "/sparql"): void =>
  it.each(forms)(`${code} for ${pattern} at ${path} behind %s`, async (form) => {
    expect(await codesOf(path, `${form} ${pattern}`)).toEqual([code]);
  });

describe("an error is the same whatever is accepted:", () => {
  shouldSay("SERVICE_REQUIRED", "{ ?s ?p ?o }");
  shouldSay("SERVICE_TARGET_REFUSED", "{ SERVICE <http://10.0.0.1/sparql> { ?s ?p ?o } }");
  shouldSay(
    "SERVICE_TARGET_REFUSED",
    "{ ?s ?p ?o SERVICE <http://10.0.0.1/> { ?s ?p ?o } }",
    "/endpoints/people/sparql",
  );
  shouldSay("SERVICE_SELF", `{ SERVICE <${publicUrl}/sparql> { ?s ?p ?o } }`);
  shouldSay("SERVICE_VARIABLE_UNBOUND", "{ SERVICE ?where { ?s ?p ?o } }");
  shouldSay("QUERY_SYNTAX", "{ ?s ?p }");
  shouldSay("QUERY_SYNTAX", "{ ?s ?p }", "/hosted/people/sparql");
  shouldSay("ENDPOINT_UNKNOWN", "{ ?s ?p ?o }", "/endpoints/nobody/sparql");
  shouldSay("FEDERATION_UNKNOWN", "{ ?s ?p ?o }", "/federations/nobody/sparql");
});

it("only what nothing else is wrong with is not acceptable", async () => {
  const query = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }";
  for (const path of ["/endpoints/people/sparql", "/hosted/people/sparql"]) {
    const problem = await problemOf(await service.query(query, { path, accept: "image/png" }));
    expect([problem.code, problem.next]).toEqual(["NOT_ACCEPTABLE", expect.stringContaining("text/turtle")]);
  }
});
