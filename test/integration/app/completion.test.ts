import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { problemOf, type RunningService, startService } from "../../support/running-service.ts";

interface Completion {
  readonly from: number;
  readonly to: number;
  readonly kind: string;
  readonly options: readonly {
    readonly kind: string;
    readonly label: string;
    readonly insert: string;
    readonly detail?: string;
    readonly declare?: string;
  }[];
  readonly isIncomplete: boolean;
  readonly why?: string;
}

type Target = { readonly endpoint?: string; readonly federation?: string };

const members = ["people", "places", "museums", "library", "weather"];
let service: RunningService;

async function jobs(): Promise<readonly { readonly state: string; readonly kind: string }[]> {
  return ((await (await fetch(`${service.url}/api/jobs`)).json()) as { jobs: { state: string; kind: string }[] }).jobs;
}

beforeAll(async () => {
  service = await startService({ bare: "http://127.0.0.1:9/sparql" }, { FEDWAY_EXAMPLES: "on" });
  for (const id of members) await fetch(`${service.url}/api/endpoints/${id}/describe`, { method: "POST" });
  const done = async (): Promise<number> => (await jobs()).filter(({ state }) => state === "done").length;
  // A description, and then the names and values.
  await vi.waitFor(async () => expect(await done()).toBe(2 * members.length), { timeout: 120_000, interval: 200 });
});
afterAll(() => service?.close());

const ask = (body: unknown): Promise<Response> =>
  fetch(`${service.url}/api/complete`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: "https://yasgui.example" },
    body: JSON.stringify(body),
  });

/** What is offered where `|` stands. */
async function completed(text: string, target: Target = {}): Promise<Completion> {
  const position = text.indexOf("|");
  const response = await ask({ query: text.replace("|", ""), position, ...target });
  expect(response.status).toBe(200);
  return (await response.json()) as Completion;
}

/** The text with the first option in its place. */
async function accepted(text: string, target?: Target): Promise<string> {
  const { from, to, options } = await completed(text, target);
  const query = text.replace("|", "");
  const [first] = options;
  return (
    (first?.declare === undefined ? "" : `${first.declare}\n`) + query.slice(0, from) + first?.insert + query.slice(to)
  );
}

const prefixes = "PREFIX foaf: <http://xmlns.com/foaf/0.1/> PREFIX schema: <https://schema.org/> ";
const people = { endpoint: "people" };
const examples = { federation: "examples" };

/** Text, its target, the kind, what comes first, and what is not offered. */
const table: readonly (readonly [
  text: string,
  target: Target,
  kind: string,
  first: readonly string[],
  never?: string,
])[] = [
  ["|", {}, "keyword", ["SELECT", "ASK"]],
  ["sel|", {}, "keyword", ["SELECT"], "ASK"],
  ["PREFIX | SELECT * { ?x schema:birthPlace ?y }", {}, "prefix", ["schema: <https://schema.org/>"]],
  ["PREFIX fo| SELECT * {}", {}, "prefix", ["foaf: <http://xmlns.com/foaf/0.1/>"]],
  ["PREFIX foaf: <h|", {}, "prefix", ["<http://xmlns.com/foaf/0.1/>"]],
  ["SELECT | { ?person ?has ?value }", people, "variable", ["?person", "?has", "?value", "DISTINCT"]],
  ["SELECT * { SERVICE | }", {}, "service", ["<catalog>", "<examples>", "<bare>"]],
  ["SELECT * { SERVICE <peo|> { ?s ?p ?o } }", {}, "service", ["<people>", "<fedway:keyword/people>"]],
  ["SELECT * { SERVICE SILENT mus|", {}, "service", ["<museums>"]],
  ["SELECT * { SERVICE fedway:key|", {}, "service", ["<fedway:keyword/art>", "<fedway:keyword/authority%20data>"]],
  [`${prefixes} SELECT * { SERVICE <people> { ?p a | } }`, {}, "class", ["foaf:Person"], "schema:Museum"],
  [`${prefixes} SELECT * { SERVICE <museums> { ?p a schema:M| } }`, {}, "class", ["schema:Museum"], "schema:Person"],
  [
    `SELECT * { ?p <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://xm|> }`,
    people,
    "class",
    ["<http://xmlns.com/foaf/0.1/Person>"],
  ],
  [
    `${prefixes} SELECT * { SERVICE <people> { ?p a foaf:Person ; foaf:na| ?n } }`,
    {},
    "property",
    ["foaf:name", "foaf:familyName"],
  ],
  [`${prefixes} SELECT * { SERVICE <museums> { | ?p a schema:Museum ; | } }`, {}, "variable", ["?p"]],
  [
    `${prefixes} SELECT * { SERVICE <museums> { ?p a schema:Museum . ?p | } }`,
    {},
    "property",
    ["schema:address", "schema:identifier"],
    "schema:artMedium",
  ],
  [
    `${prefixes} SELECT * { ?p | . ?x ?y ?z . ?p a schema:Museum }`,
    { endpoint: "museums" },
    "property",
    ["schema:address"],
    "schema:artMedium",
  ],
  [
    `${prefixes} SELECT * { ?p schema:artMedium ?m ; | }`,
    { endpoint: "museums" },
    "property",
    ["dcterms:title"],
    "schema:address",
  ],
  [
    "SELECT * { ?w <http://purl.org/dc/terms/creator> ?artist . ?artist | }",
    { endpoint: "museums" },
    "property",
    ["schema:identifier"],
    "schema:artMedium",
  ],
  [`${prefixes} SELECT * { ?w a | }`, examples, "class", ["schema:VisualArtwork", "foaf:Person"]],
  [`${prefixes} SELECT * { ?p (foaf:knows/foaf:na|) ?n }`, people, "property", ["foaf:name"]],
  [`${prefixes} SELECT * { ?p foaf:name "Gon| }`, people, "value", ['"Gonçalo Conceição"'], '"Raúl Échave"'],
  [`${prefixes} SELECT * { ?p foaf:name ?n FILTER(?n = "Raúl|") }`, people, "value", ['"Raúl Échave"']],
  [`${prefixes} SELECT * { ?p foaf:name ?n VALUES ?n { "Raúl|`, people, "value", ['"Raúl Échave"']],
  [`${prefixes} SELECT * { ?p foaf:name ?n FILTER(STRS|) }`, people, "keyword", ["STRSTARTS"]],
  [`${prefixes} SELECT * { ?person foaf:name ?n . ?pe| }`, people, "variable", ["?person"]],
  [`${prefixes} SELECT * { ?p foaf:name ?n . opt| }`, people, "keyword", ["OPTIONAL"]],
  [`${prefixes} SELECT * { ?p foaf:name ?n } ord|`, people, "keyword", ["ORDER BY"]],
  ["SELECT * { sosa:| }", {}, "none", []],
  ["SELECT * { ?o sos| }", {}, "property", ["sosa:hasSimpleResult"]],
  ["SELECT * { ?o sko| }", {}, "prefix", ["skos:"]],
  ["SELECT * { # a com|", people, "none", []],
  ["SELECT * {} LIMIT 1|", people, "none", []],
];

describe("completion at a cursor", () => {
  it.for(table)("%s %o", async ([text, target, kind, first, never = "nothing"]) => {
    const { options, ...found } = await completed(text, target);
    const inserts = options.map(({ insert }) => insert);
    expect({ kind: found.kind, first: inserts.slice(0, first.length) }).toEqual({ kind, first });
    expect(inserts).not.toContain(never);
    if (kind === "none") expect(found.why).toMatch(/\.$/);
  });

  it("says which members have a term, and how often", async () => {
    const { options } = await completed("SELECT * { ?w a | }", examples);
    expect(options[0]).toMatchObject({ detail: "750 instances · library, museums" });
  });

  it("declares a prefix with the option that needs it, and writes queries that run", async () => {
    const text = "SELECT ?n { SERVICE <people> { ?p a foaf:Person ; foaf:na| ?n } } LIMIT 3";
    const query = await accepted(text);
    expect(query).toBe(`PREFIX foaf: <http://xmlns.com/foaf/0.1/>\n${text.replace("foaf:na|", "foaf:name")}`);
    const answer = (await (await service.query(query)).json()) as { results: { bindings: unknown[] } };
    expect(answer.results.bindings).toHaveLength(3);
    const named = await accepted('SELECT ?p { ?p <http://xmlns.com/foaf/0.1/name> "Gonçalo C| } LIMIT 3', people);
    const found = await service.query(named, { path: "/endpoints/people/sparql" });
    expect(((await found.json()) as typeof answer).results.bindings).toHaveLength(2);
  });

  it("says why nothing is known", async () => {
    expect((await completed("SELECT * { ?x a | }", { endpoint: "bare" })).why).toContain(
      "/api/endpoints/bare/describe",
    );
    expect((await completed("SELECT * { SERVICE <nobody> { [] a | } }")).why).toContain("<nobody>");
    expect((await completed("SELECT * { SERVICE ?e { [] a | } }")).why).toContain("when the query runs");
    const unknown = await problemOf(await ask({ query: "", position: 0, endpoint: "poeple" }));
    expect(unknown).toMatchObject({ code: "ENDPOINT_UNKNOWN", endpoints: ["people"] });
  });

  it("may be asked from pages of other origins", async () => {
    const response = await ask({ query: "SEL", position: 3 });
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
  });

  it("takes whatever text there is", async () => {
    const texts = [
      "{".repeat(90_000),
      '"'.repeat(90_000),
      "<".repeat(90_000),
      "#".repeat(90_000),
      "?a ".repeat(30_000),
    ];
    const odd = [
      "\ud800|",
      "PREFIX a:",
      "BASE <",
      "} ) ] |",
      "[[[((({{{",
      "SERVICE SERVICE <x",
      '"""a\n|',
      "^^^^ | /",
      "\u202e?x a",
    ];
    const cut = Array.from({ length: 120 }, (_, at) =>
      `${prefixes}SELECT * { SERVICE <people> { ?p a foaf:Person`.slice(0, at),
    );
    for (const query of [...texts, ...odd, ...cut]) {
      for (const position of [0, Math.floor(query.length / 2), query.length, query.length + 9]) {
        const response = await ask({ query, position, ...people });
        const { from, to, options } = (await response.json()) as Completion;
        expect({ status: response.status, options: options.length <= 50 }).toEqual({ status: 200, options: true });
        expect(from <= to && to <= query.length).toBe(true);
      }
    }
  });
});
