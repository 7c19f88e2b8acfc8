import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tableOf } from "../../support/table-rows.ts";
import { eventually } from "../../support/eventually.ts";
import { problemOf, type RunningService, startService } from "../../support/running-service.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";

const x = (name: string): string => `<http://x.example/${name}>`;
const type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";

/** People and books are described, `other` never is, though it has names and a property of its own. */
const data: Readonly<Record<string, string>> = {
  people: `${x("ann")} ${type} ${x("Person")} .\n${x("ann")} ${x("name")} "Ann" .\n${x("bob")} ${x("name")} "Bob" .`,
  books: `${x("b1")} ${x("author")} ${x("ann")} .\n${x("b1")} ${x("title")} "Nets" .`,
  other: `${x("cat")} ${x("name")} "Cat" .\n${x("cat")} ${x("secret")} "yes" .`,
};
const publicUrl = "http://fedway.example";
const servers = new Map<string, SparqlTestServer>();
let service: RunningService;

beforeAll(async () => {
  for (const [id, triples] of Object.entries(data)) servers.set(id, await startSparqlTestServer(triples));
  const urls = Object.fromEntries([...servers].map(([id, { url }]) => [id, url]));
  service = await startService(urls, { FEDWAY_PUBLIC_URL: publicUrl });
});
afterAll(async () => {
  await service.close();
  await Promise.all([...servers.values()].map((server) => server.close()));
});

const prefix = "PREFIX : <http://x.example/> ";
const json = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(`${service.url}${path}`, init);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const send = (method: string, path: string, fields: object) =>
  json(path, { method, headers: { "content-type": "application/json" }, body: JSON.stringify(fields) });

/** Rows of a query, who was asked for them, and what the notes say. */
async function asked(query: string, place: object = {}, prologue = prefix) {
  for (const server of servers.values()) server.clearRequests();
  const { body } = await send("POST", "/api/query", { query: prologue + query, terms: "ntriples", ...place });
  const { status, rows, notes, diagnosis } = tableOf(JSON.stringify(body));
  const requests = [...servers].flatMap(([id, server]) => (server.requests.length > 0 ? [id] : []));
  const said = Object.fromEntries((notes ?? []).map(({ code, message }) => [code, message]));
  return { status, rows: (rows ?? []).map((row) => row.join(" ")).toSorted(), requests, said, diagnosis };
}

async function describeEndpoints(...ids: readonly string[]): Promise<void> {
  for (const id of ids) await fetch(`${service.url}/api/endpoints/${id}/describe`, { method: "POST" });
  await eventually(async () => {
    const { endpoints } = (await json("/api/federations/catalog")).body as { endpoints: { id: string }[] };
    expect(endpoints.map(({ id }) => id)).toEqual(expect.arrayContaining([...ids]));
  });
}

describe("while no endpoint is described, the federation catalog", () => {
  it("has no member and says how it gets some", async () => {
    expect((await json("/api/federations/catalog")).body).toMatchObject({ builtIn: true, endpointsTotal: 0 });
    const problem = await problemOf(
      await service.query(`${prefix}SELECT * { ?s :name ?n }`, { path: "/federations/catalog/sparql" }),
    );
    expect([problem.code, problem.next]).toEqual(["REQUEST_INVALID", expect.stringContaining("/describe")]);
  });

  it("does not take queries that name no endpoint", async () => {
    expect((await asked("SELECT * { ?s :name ?n }")).diagnosis).toMatchObject({ code: "SERVICE_REQUIRED" });
  });
});

describe("with people and books described", () => {
  beforeAll(() => describeEndpoints("people", "books"));

  const joined = "SELECT ?t ?n { ?b :author ?a ; :title ?t . ?a :name ?n }";
  it.each([
    ["the route of the federation", { federation: "catalog" }],
    ["a query without endpoint", {}],
  ])("%s joins them and says who was not asked", async (_name, place) => {
    const { rows, requests, said } = await asked(joined, place);
    expect(rows).toEqual(['"Nets" "Ann"']);
    expect(requests).toEqual(["people", "books"]);
    expect(said["CATALOG_ASKED"]).toContain("1 of the 3 endpoints of the catalogue are not described");
    expect(said["CATALOG_ASKED"]?.includes("names no endpoint")).toBe(!("federation" in place));
  });

  it("names the members that are asked", async () => {
    const { rows, requests, said } = await asked("SELECT ?n { ?p :name ?n }");
    expect([rows, requests]).toEqual([['"Ann"', '"Bob"'], ["people"]]);
    expect(said["MEMBERS_LEFT_OUT"]).toBe(
      "Asked: people. 1 other described endpoint is not: its description names no match.",
    );
  });

  it.each<[string, string, readonly string[]]>([
    ["no described endpoint has the terms", "SELECT * { ?s :secret ?o }", []],
    ["it names no term", "SELECT DISTINCT ?p { ?s ?p ?o }", [type, x("author"), x("name"), x("title")]],
    ["it names no term but a value", 'SELECT ?s { ?s ?p "Nets" }', [x("b1")]],
    ["it names graphs", "SELECT * { GRAPH ?g { ?s :name ?n } }", []],
    ["it has a dataset", "SELECT * FROM <http://x.example/g> { ?s :name ?n }", []],
    ["it constructs", `CONSTRUCT WHERE { ${x("b1")} :title ?t }`, [`${x("b1")} ${x("title")} "Nets"`]],
  ])("a query runs over them where %s, as at the federation", async (_name, query, rows) => {
    const found = await asked(query);
    expect([found.rows, found.diagnosis?.code]).not.toContain("SERVICE_REQUIRED");
    expect(found.rows).toEqual(rows);
    expect((await asked(query, { federation: "catalog" })).rows).toEqual(rows);
  });

  it("ASK and DESCRIBE too", async () => {
    expect(await (await service.query('ASK { ?s ?p "Nets" }')).json()).toMatchObject({ boolean: true });
    const turtle = await (await service.query(`DESCRIBE ${x("b1")}`, { accept: "application/n-triples" })).text();
    expect(turtle.trim().split("\n")).toHaveLength(2);
  });

  it("a strict query has to name an endpoint", async () => {
    const { diagnosis, requests } = await asked("SELECT * { ?s :name ?n }", { strict: true });
    expect([diagnosis?.code, requests]).toEqual(["SERVICE_REQUIRED", []]);
  });

  it("FROM names the endpoint or the federation, by id, URL or route", async () => {
    const fromOf = (iri: string) => asked(`SELECT ?n FROM <${iri}> { ?p :name ?n }`);
    const { url = "" } = servers.get("other") ?? {};
    for (const iri of ["other", url, `${publicUrl}/endpoints/other/sparql`]) {
      const { rows, requests } = await fromOf(iri);
      expect([iri, rows, requests]).toEqual([iri, ['"Cat"'], ["other"]]);
    }
    for (const iri of ["catalog", `${publicUrl}/federations/catalog/sparql`]) {
      expect((await fromOf(iri)).rows).toEqual(['"Ann"', '"Bob"']);
    }
    expect((await asked("SELECT * FROM <people> FROM <other> { ?p :name ?n }")).diagnosis?.code).toBe(
      "REQUEST_INVALID",
    );
    expect((await asked(`SELECT ?n FROM <other> FROM <${url}> { ?p :name ?n }`)).rows).toEqual(['"Cat"']);
  });

  it("FROM with an endpoint beside FROM NAMED is refused where its default graph is read", async () => {
    const dataset = `FROM <people> FROM NAMED ${x("g")}`;
    const { diagnosis, requests } = await asked(`SELECT ?n ${dataset} { ?p :name ?n }`);
    expect([diagnosis?.code, diagnosis?.next, requests]).toEqual([
      "REQUEST_INVALID",
      expect.stringContaining("Leave out FROM NAMED"),
      [],
    ]);
    const inGraphs = await asked(`SELECT ?n ${dataset} { GRAPH ?g { ?p :name ?n } }`);
    expect([inGraphs.status, inGraphs.requests]).toEqual(["empty", ["people"]]);
  });

  it("tells the truth of an empty answer from the place that FROM names", async () => {
    const { diagnosis } = await asked("SELECT ?n FROM <people> { ?p :name ?n ; :nothing ?o }");
    expect([diagnosis?.code, diagnosis?.detail]).toEqual([
      "EMPTY_TERM",
      expect.stringMatching(/^\?p :nothing \?o has no solutions/),
    ]);
  });

  it("explains an empty answer alike whether or not the query declares its prefixes", async () => {
    const query = "SELECT ?n { SERVICE <people> { ?p x:name ?n ; x:nothing ?o } }";
    const found = await Promise.all(
      ["", "PREFIX x: <http://x.example/> "].map((prologue) => asked(query, {}, prologue)),
    );
    expect(found.map(({ diagnosis }) => [diagnosis?.code, diagnosis?.where?.line])).toEqual([
      ["EMPTY_TERM", 1],
      ["EMPTY_TERM", 1],
    ]);
  });
});

describe("a query that names no endpoint and misspells a term", () => {
  it.each([
    ["beside one that is known", "SELECT * { ?p a :Person ; :nmae ?n }", ":nmae", ":name"],
    ["beside a known class, in another case", "SELECT * { ?b :Author ?a ; :title ?t }", ":Author", ":author"],
  ])("runs where it stands %s, and says what was meant", async (_name, query, typo, meant) => {
    const { status, said } = await asked(query);
    expect([status, said["TERM_UNKNOWN"]]).toEqual(["empty", expect.stringContaining(`has ${typo}, `)]);
    expect(said["TERM_UNKNOWN"]).toContain(`Did you mean ${meant}?`);
  });

  it.each([
    ["alone", "SELECT * { ?p :nmae ?n }", ":nmae", ":name"],
    ["twice", "SELECT * { ?b :titel ?t ; :autor ?a }", ":autor", ":author"],
    ["in another namespace", "SELECT * { ?s a <http://y.example/Person> }", "<http://y.example/Person>", ":Person"],
  ])("says so where it stands %s", async (_name, query, typo, meant) => {
    const { status, said } = await asked(query);
    expect([status, said["TERM_UNKNOWN"]]).toEqual(["empty", expect.stringContaining(`has ${typo}, `)]);
    expect(said["TERM_UNKNOWN"]).toContain(`Did you mean ${meant}?`);
  });

  it("is checked with the terms of all that is described", async () => {
    const { body } = await send("POST", "/api/tools/check_query", { query: `${prefix}SELECT * { ?p :nmae ?n }` });
    const { text } = body as { readonly text: string };
    expect(text).toContain("repair: :nmae -> :name");
    expect(text).not.toContain("SERVICE <");
  });
});

describe("a query that names no endpoint and does not declare its prefixes", () => {
  it.each([
    ["all of its names", "SELECT ?n { ?p a x:Person ; x:name ?n }"],
    ["some of them", "SELECT ?n { ?p x:name ?n . OPTIONAL { ?p x:nothing ?o } }"],
    ["the empty prefix", "SELECT ?n { ?p :name ?n }"],
    ["another prefix that is well known", "SELECT ?n { ?p x:name ?n OPTIONAL { ?p foaf:knows ?o } }"],
  ])("has them from described endpoints that have %s", async (_name, query) => {
    const { status, said } = await asked(query, {}, "");
    expect([status, said["PREFIXES_FILLED_IN"]]).toEqual(["ok", expect.stringContaining(": <http://x.example/>")]);
  });
});

describe("the federation catalog is part of the registry", () => {
  it("is listed, shown, and published as RDF, but not exported", async () => {
    const { federations } = (await json("/api/federations")).body as { federations: object[] };
    expect(federations).toMatchObject([{ id: "catalog", builtIn: true, origin: "service", endpointsTotal: 2 }]);
    const turtle = await (await fetch(`${service.url}/api/federations/catalog?format=turtle`)).text();
    expect(turtle).toContain("fedway:Federation");
    expect(await (await fetch(`${service.url}/api/catalog?format=turtle`)).text()).not.toContain("Federation");
  });

  const own = { title: "Mine", members: ["people"] };
  it.each([
    ["POST", "/api/federations", { id: "catalog", ...own }, "ENTRY_INVALID"],
    ["PUT", "/api/federations/catalog", own, "ENTRY_INVALID"],
    ["PATCH", "/api/federations/catalog", { title: "Mine" }, "ENTRY_INVALID"],
    ["DELETE", "/api/federations/catalog", {}, "ENTRY_CONFLICT"],
  ])("cannot be changed by %s", async (method, path, fields, code) => {
    const { body } = await send(method, path, fields);
    expect(body["code"]).toBe(code);
  });
});
