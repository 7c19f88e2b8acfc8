import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { type RunningService, startService } from "../../support/running-service.ts";

// Calls with the mistakes of small models: what is suggested, word for word, and that it has rows.

let service: RunningService;
beforeAll(async () => {
  service = await startService({}, { FEDWAY_EXAMPLES: "on" });
  const ids = ["library", "museums", "people", "places", "weather"];
  for (const id of ids) await fetch(`${service.url}/api/endpoints/${id}/describe`, { method: "POST" });
  await eventually(async () => {
    const { endpoints } = (await (await fetch(`${service.url}/api/federations/catalog`)).json()) as {
      readonly endpoints: readonly unknown[];
    };
    expect(endpoints).toHaveLength(ids.length);
  });
});
afterAll(() => service?.close());

interface Found {
  readonly code?: string;
  readonly detail?: string;
  readonly next?: string;
  readonly suggested?: string;
  readonly endpoints?: readonly string[];
  readonly text?: string;
  readonly data?: { readonly rows_total?: number; readonly status?: string };
}

async function call(given: object, tool = "run_query"): Promise<Found> {
  const response = await fetch(`${service.url}/api/tools/${tool}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(given),
  });
  return (await response.json()) as Found;
}

const icelanders = '?p a foaf:Person ; schema:nationality "IS" ; foaf:name ?name';

describe("calls are read as they are meant", () => {
  it.each([
    { sparql: `SELECT ?name { ${icelanders} }`, dataset: "people" },
    { arguments: { q: `SELECT ?name { ${icelanders} }` } },
    { query: JSON.stringify({ name: "run_query", arguments: { query: `SELECT ?name { ${icelanders} }` } }) },
    { query: `run_query(query="SELECT ?name { ${icelanders} }", endpoint="people")` },
    { query: `SELECT ?name FROM people { ${icelanders} }` },
    { query: `SELECT ?name FROM NAMED <people> { ${icelanders} }` },
    { query: `SELECT ?name FROM <examples> { ${icelanders} }` },
  ])("%j", async (given) => {
    expect((await call(given)).data).toMatchObject({ status: "ok", rows_total: 50 });
  });

  it("and the reply notes another name of an argument", async () => {
    const { text } = await call({ sparql: `SELECT ?name { ${icelanders} }` });
    expect(text).toContain("note: The argument sparql was read as query.");
  });
});

const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";

describe("queries without IRIs are suggested with the terms that are known", () => {
  it.each([
    [
      "SELECT name FROM person WHERE nationality = 'IS'",
      `SELECT ?name WHERE { ?row ${type} <http://xmlns.com/foaf/0.1/Person> ; <http://xmlns.com/foaf/0.1/name> ?name ; <https://schema.org/nationality> ?nationality FILTER(STR(?nationality) = 'IS') }`,
      50,
    ],
    [
      "SELECT DISTINCT p.nationality FROM person p ORDER BY nationality DESC LIMIT 3;",
      `SELECT DISTINCT ?nationality WHERE { ?row ${type} <http://xmlns.com/foaf/0.1/Person> ; <https://schema.org/nationality> ?nationality } ORDER BY DESC(?nationality) LIMIT 3`,
      3,
    ],
    [
      "SELECT name FROM person WHERE nationality LIKE 'I%'",
      `SELECT ?name WHERE { ?row ${type} <http://xmlns.com/foaf/0.1/Person> ; <http://xmlns.com/foaf/0.1/name> ?name ; <https://schema.org/nationality> ?nationality FILTER(STRSTARTS(STR(?nationality), 'I')) }`,
      116,
    ],
    [
      "SELECT COUNT(*) AS number FROM museum",
      `SELECT (COUNT(*) AS ?number) WHERE { ?row ${type} <https://schema.org/Museum> }`,
      1,
    ],
    [
      "SELECT ?code { ?c a Country . ?c identifier ?code }",
      "SELECT ?code { ?c a <https://schema.org/Country> . ?c <http://purl.org/dc/terms/identifier> ?code }",
      10,
    ],
    [
      "SELECT ?name { ?p :hasNationality 'IS' ; :hasName ?name }",
      "SELECT ?name { ?p <https://schema.org/nationality> 'IS' ; <http://xmlns.com/foaf/0.1/name> ?name }",
      50,
    ],
    [
      "SELECT ?title { ?b a <Book> ; <inLanguage> 'is' ; <title> ?title }",
      "SELECT ?title { ?b a <https://schema.org/Book> ; <https://schema.org/inLanguage> 'is' ; <http://purl.org/dc/terms/title> ?title }",
      31,
    ],
  ])("%s", async (query, suggested, rows) => {
    expect((await call({ query })).suggested).toBe(suggested);
    expect((await call({ query: suggested })).data).toMatchObject({ status: "ok", rows_total: rows });
  });
});

describe("texts that lack a sign or have too many", () => {
  const prologue = "PREFIX foaf: <http://xmlns.com/foaf/0.1/>\nPREFIX schema: <https://schema.org/>\n";
  it.each([
    [icelanders.replace('"IS"', '"IS')],
    [icelanders.replace('"IS"', 'IS"')],
    [icelanders.replace('"IS"', "IS")],
    [icelanders.replaceAll('"', "&quot;")],
    [icelanders.replaceAll('"', "&#x22;")],
  ])("%s", async (group) => {
    const { suggested = "" } = await call({ query: `SELECT ?name { ${group} }` });
    expect(suggested).toBe(`${prologue}SELECT ?name { ${icelanders} }`);
  });

  it("entities within IRIs, of a whole text that was escaped", async () => {
    const query = `${prologue}SELECT ?name { ${icelanders} }`;
    const escaped = query.replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    // Its prologue is left out, as its prefixes are known.
    expect((await call({ query: escaped })).data).toMatchObject({ status: "ok", rows_total: 50 });
    const named = "SELECT ?name { ?p <http://xmlns.com/foaf/0.1/familyName> ?name } LIMIT 2";
    expect((await call({ query: named.replace(">", "&gt;") })).suggested).toBe(named);
  });

  it("no entities of strings", async () => {
    const query = 'SELECT * { ?s ?p "a &amp; b"  ';
    const { text } = await call({ query, endpoint: "people" });
    expect(text).not.toContain('"a & b"');
  });
});

describe("advice gives what works", () => {
  it("with BASE the URL of an endpoint, without its id", async () => {
    const clause = "SERVICE <weather> { ?s ?p ?o }";
    const based = await call({ query: `BASE <http://x.example/> SELECT * { ${clause} }` });
    expect(based).toMatchObject({ code: "SERVICE_TARGET_REFUSED" });
    const [, target = ""] = /SERVICE (<[^>]+>)/.exec(based.next ?? "") ?? [];
    expect(target).toMatch(/^<http:.*weather/);
    const query = `BASE <http://x.example/> SELECT * { ${clause.replace("<weather>", target)} } LIMIT 1`;
    expect((await call({ query })).data).toMatchObject({ rows_total: 1 });
  });

  it("FROM names a place of this service, also with a slash behind, or is an error", async () => {
    const group = `{ ${icelanders} }`;
    const { origin } = new URL(service.app.catalog.byId("people")?.url ?? "");
    const from = (path: string): object => ({ query: `SELECT ?name FROM <${origin}${path}> ${group}` });
    expect((await call(from("/federations/examples/sparql/"))).data).toMatchObject({ rows_total: 50 });
    expect((await call(from("/endpoints/people"))).data).toMatchObject({ rows_total: 50 });
    const { code, endpoints } = await call(from("/federations/exampels/sparql"));
    expect([code, endpoints?.[0]]).toEqual(["ENDPOINT_UNKNOWN", "examples"]);
  });

  it.each(["people endpoint", "http://localhost/people"])("an endpoint within another name: %s", async (endpoint) => {
    const { next } = await call({ query: `SELECT ?name { ${icelanders} }`, endpoint });
    expect(next).toMatch(/^Did you mean "people"\?/);
  });

  it("at the SPARQL route FROM NAMED of an endpoint says what to write", async () => {
    const response = await service.query(`SELECT ?name FROM NAMED <people> { ${icelanders} }`);
    expect(await response.json()).toMatchObject({
      code: "QUERY_SYNTAX",
      next: expect.stringContaining("FROM <people>"),
    });
  });
});

describe("the same failing call again", () => {
  it("gets another answer: the suggested query, else another tool", async () => {
    const given = { query: "SELECT name FROM person LIMIT 7" };
    const [first, second] = [await call(given), await call(given)];
    expect(second.next).not.toBe(first.next);
    expect(second).toMatchObject({ next: "Send the suggested query.", suggested: first.suggested });
    const hopeless = { query: "SELECT ( { ?x }" };
    await call(hopeless);
    expect((await call(hopeless)).next).toContain("describe_endpoint");
  });
});
