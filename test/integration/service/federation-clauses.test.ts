import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tableOf } from "../../support/table-rows.ts";
import { openService } from "../../support/running-service.ts";
import type { App } from "../../../src/app.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";

const x = (name: string): string => `<http://x.example/${name}>`;

/** Two shards of people, two of books, and one endpoint of prices. */
const data: Readonly<Record<string, string>> = {
  people1: `${x("ann")} ${x("name")} "Ann" .`,
  people2: `${x("bob")} ${x("name")} "Bob" .\n${x("ann")} ${x("age")} "40" .`,
  books1: `${x("b1")} ${x("author")} ${x("ann")} .\n${x("b2")} ${x("author")} ${x("bob")} .`,
  books2: `${x("b1")} ${x("title")} "Nets" .\n${x("b2")} ${x("title")} "Sets" .`,
  prices: `${x("b1")} ${x("price")} "7" .\n${x("b3")} ${x("price")} "9" .`,
};
const publicUrl = "http://fedway.example";
const servers = new Map<string, SparqlTestServer>();
let app: App;
let url: string;

const federation = (id: string, ...members: readonly string[]): string =>
  `@prefix fedway: <https://w3id.org/fedway/ns#> . @prefix dcterms: <http://purl.org/dc/terms/> .
  [] a fedway:Federation ; dcterms:identifier "${id}" ; dcterms:title "${id}" ;
    fedway:member ${members.map((member) => `"${member}"`).join(", ")} .`;

beforeAll(async () => {
  for (const [id, triples] of Object.entries(data)) servers.set(id, await startSparqlTestServer(triples));
  const urls = Object.fromEntries([...servers].map(([id, server]) => [id, server.url]));
  app = await openService(
    { ...urls, gone: "http://127.0.0.1:1/sparql" },
    { FEDWAY_PUBLIC_URL: publicUrl },
    {
      "people.ttl": federation("people", "people1", "people2"),
      "books.ttl": federation("books", "books1", "books2"),
      "single.ttl": federation("single", "prices"),
      "empty.ttl": federation("empty", "nobody"),
      "broken.ttl": federation("broken", "people1", "gone"),
      // An endpoint and a federation of one name.
      "prices-federation.ttl": federation("prices", "people1", "people2"),
    },
  );
  url = await app.listen();
});
afterAll(async () => {
  await app.close();
  await Promise.all([...servers.values()].map((server) => server.close()));
});

interface Table {
  readonly status: string;
  readonly rows: readonly (readonly (string | null)[])[];
  readonly sources: readonly { readonly endpoint: string; readonly status: string }[];
  readonly diagnosis: { readonly code: string; readonly detail: string; readonly next?: string } | null;
}

const noTable: Table = { status: "refused", rows: [], sources: [], diagnosis: null };

async function ask(query: string, options: object = {}) {
  const response = await fetch(`${url}/api/query`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query: `PREFIX : <http://x.example/> ${query}`, terms: "ntriples", ...options }),
  });
  const table = { ...noTable, ...(tableOf(await response.text()) as object as Partial<Table> & Table["diagnosis"]) };
  const { status, rows, sources, diagnosis } = table;
  return {
    status,
    rows: rows.map((row) => row.join(" ")).toSorted(),
    sources: sources.map((each) => `${each.endpoint} ${each.status}`).toSorted(),
    problem: diagnosis ?? table,
  };
}

const both = ["people1 ok", "people2 ok"];
const people = "{ ?p :name ?n }";
const books = "{ ?b :author ?p ; :title ?t }";

describe("SERVICE with the name of a federation", () => {
  it.each([
    ["alone", `SELECT ?n { SERVICE <people> ${people} }`, {}],
    ["in capitals", `SELECT ?n { SERVICE <PEOPLE> ${people} }`, {}],
    ["by the URL of its route", "SELECT ?n { SERVICE <URL/federations/people/sparql> { ?p :name ?n } }", {}],
    ["at its own route", `SELECT ?n { SERVICE <people> ${people} }`, { federation: "people" }],
    ["at another federation's route", `SELECT ?n { SERVICE <people> ${people} }`, { federation: "books" }],
    ["at an endpoint's route", `SELECT ?n { SERVICE <people> ${people} }`, { endpoint: "books1" }],
    ["within itself", `SELECT ?n { SERVICE <people> { SERVICE <people> ${people} } }`, {}],
    ["as one of the values of a variable", `SELECT ?n { VALUES ?e { <people> } SERVICE ?e ${people} }`, {}],
    ["silently", `SELECT ?n { SERVICE SILENT <people> ${people} }`, {}],
  ])("asks all of its members, %s", async (_name, query, place) => {
    const { status, rows } = await ask(query.replace("URL", publicUrl), place);
    expect([status, rows]).toEqual(["ok", ['"Ann"', '"Bob"']]);
  });

  it.each([
    [
      "beside an endpoint",
      `SERVICE <prices> { ?b :price ?c } SERVICE <books> ${books}`,
      ['"Nets"'],
      ["books1", "books2", "prices"],
    ],
    [
      "beside another federation",
      `SERVICE <people> ${people} SERVICE <books> ${books}`,
      ['"Nets"', '"Sets"'],
      ["books1", "books2", "people1", "people2"],
    ],
    [
      "in OPTIONAL",
      `SERVICE <prices> { ?b :price ?c } OPTIONAL { SERVICE <books> ${books} }`,
      ["", '"Nets"'],
      ["books1", "books2", "prices"],
    ],
    [
      "in MINUS",
      `SERVICE <books> ${books} MINUS { SERVICE <people> { ?p :age ?a } }`,
      ['"Sets"'],
      ["books1", "books2", "people1", "people2"],
    ],
    [
      "in EXISTS",
      `SERVICE <books> ${books} FILTER EXISTS { SERVICE <people> { ?p :age ?a } }`,
      ['"Nets"'],
      ["books1", "books2", "people1", "people2"],
    ],
    [
      "in UNION",
      `{ SERVICE <people> { ?p :name ?t } } UNION { SERVICE <books> ${books} }`,
      ['"Ann"', '"Bob"', '"Nets"', '"Sets"'],
      ["books1", "books2", "people1", "people2"],
    ],
    [
      "with another inside",
      `SERVICE <books> { ?b :author ?p ; :title ?t SERVICE <people> ${people} }`,
      ['"Nets"', '"Sets"'],
      ["books1", "books2", "people1", "people2"],
    ],
    [
      "with an aggregate",
      `{ SELECT ?p (COUNT(*) AS ?k) { SERVICE <books> ${books} } GROUP BY ?p } SERVICE <people> { ?p :name ?t }`,
      ['"Ann"', '"Bob"'],
      ["books1", "books2", "people1", "people2"],
    ],
  ])("joins them %s, and names who was asked", async (_name, group, rows, sources) => {
    const found = await ask(`SELECT ?t { ${group} }`);
    expect([found.status, found.rows, found.problem.code]).toEqual(["ok", rows, undefined]);
    expect(found.sources).toEqual(sources.map((id) => `${id} ok`));
  });

  it("joins the patterns of a federation's route with those of another federation", async () => {
    const { rows, sources } = await ask(`SELECT ?t ?n { ?b :author ?p ; :title ?t SERVICE <people> ${people} }`, {
      federation: "books",
    });
    expect(rows).toEqual(['"Nets" "Ann"', '"Sets" "Bob"']);
    expect(sources).toEqual(["books1 ok", "books2 ok", ...both]);
  });

  it("says of each row from which members it came", async () => {
    const { rows } = await ask(`SELECT ?t { SERVICE <prices> { ?b :price ?c } SERVICE <books> ${books} }`, {
      provenance: true,
    });
    expect(rows).toEqual(['"Nets" "books1 books2 prices"']);
  });

  it("means the endpoint where one has the name, and the federation by its URL", async () => {
    expect((await ask("SELECT ?c { SERVICE <prices> { ?b :price ?c } }")).rows).toEqual(['"7"', '"9"']);
    expect((await ask(`SELECT ?n { SERVICE <${publicUrl}/federations/prices/sparql> ${people} }`)).rows).toHaveLength(
      2,
    );
  });

  it("means the member of a federation of one", async () => {
    expect((await ask("SELECT ?c { SERVICE <single> { ?b :price ?c } }")).rows).toEqual(['"7"', '"9"']);
  });

  it("is refused for a federation without members, and for an unknown name", async () => {
    const { problem } = await ask(`SELECT * { SERVICE <empty> ${people} }`);
    expect([problem.code, problem.detail]).toEqual([
      "SERVICE_TARGET_REFUSED",
      expect.stringContaining("without a member"),
    ]);
    const { code, next } = (await ask(`SELECT * { SERVICE <peopel> ${people} }`)).problem;
    expect([code, next]).toEqual(["SERVICE_TARGET_REFUSED", expect.stringContaining("Did you mean <people")]);
    const unknown = await ask(`SELECT * { SERVICE <${publicUrl}/federations/nobody/sparql> ${people} }`);
    expect(unknown.problem.code).toBe("SERVICE_TARGET_REFUSED");
  });
});

describe("an entry whose URL is a federating route of this service", () => {
  it.each(["sparql", "federations/people/sparql", "endpoints/loop/sparql"])("is refused: /%s", async (path) => {
    const response = await fetch(`${url}/api/endpoints/loop`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ title: "Loop", url: `${publicUrl}/${path}` }),
    });
    const { code, detail } = (await response.json()) as { code: string; detail: string };
    expect([code, detail]).toEqual(["ENTRY_INVALID", expect.stringContaining("would call itself")]);
  });
});

describe("when a member of a federation fails", () => {
  const query = (silent: string) => `SELECT ?n ?t { SERVICE <books> ${books} SERVICE ${silent} <broken> ${people} }`;

  it("the query fails and names the member", async () => {
    const { status, problem } = await ask(query(""));
    expect([status, problem]).toMatchObject(["failed", { where: { endpoint: "gone" } }]);
  });

  it("partial answers have what the other members gave", async () => {
    const { status, rows, sources } = await ask(query(""), { partial: true });
    expect([status, rows]).toEqual(["partial", ['"Ann" "Nets"']]);
    expect(sources).toEqual(["books1 ok", "books2 ok", "gone failed", "people1 ok"]);
  });

  it("SILENT makes one empty solution of the whole clause", async () => {
    const { status, rows, sources } = await ask(query("SILENT"));
    expect([status, rows]).toEqual(["ok", [' "Nets"', ' "Sets"']]);
    expect(sources).toContain(`${publicUrl}/federations/broken/sparql silenced`);
  });
});
