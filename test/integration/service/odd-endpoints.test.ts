import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  as,
  byDirectPost,
  byGet,
  bytewise,
  description,
  encoded,
  isGraph,
  latin1,
  type Manner,
  named,
  old,
  type OddReply,
  onlyFor,
  page,
  plain,
  refuse,
  startOddEndpoints,
  utf16,
  utf16be,
  zipped,
} from "../../support/odd-endpoints.ts";
import { type RunningService, startService } from "../../support/running-service.ts";

const names = Array.from({ length: 40 }, (_, n) => `<urn:s${n}>`);
const data = [
  ...names.map((name, n) => `${name} <urn:v> "${n % 2 === 0 ? "été" : "neige"} ${n}"@fr .`),
  ...names.slice(0, 3).map((name) => `${name} <urn:v> <urn:o> .`),
  '<urn:s0> <urn:v> "7"^^<http://www.w3.org/2001/XMLSchema#integer> .',
].join("\n");
const marks = names.slice(0, 30).map((name) => `${name} <urn:mark> "m" .`);

const json = "application/sparql-results+json";
const xml = "application/sparql-results+xml";
const isList = (accept: string): boolean => accept.includes(",");
const unacceptable = refuse("Not Acceptable", 406);
const alone = (type: string, then: Manner = plain): Manner =>
  onlyFor(({ accept, query }) => accept === type || (isGraph(query) && !isList(accept)), unacceptable, then);
const html404: OddReply = { status: 404, type: "text/html", body: "<h1>Not found</h1>" };
const changed = (change: (body: string) => string): Manner =>
  as("json", (body) => ({ type: json, body: change(body) }));
const utf16Mark = (text: string): Buffer => utf16(`\uFEFF${text}`);
const fewKeys: Manner = (request, fromData) =>
  (request.query.match(/\?s = /gu)?.length ?? 0) > 20 ? refuse("Query too complex") : old()(request, fromData);
const shortUrls: Manner = (request, fromData) =>
  request.urlBytes > 2_000 ? refuse("URI Too Long", 414) : byGet(refuse("", 405), old())(request, fromData);

/** Each of them is asked right in the end. */
const working: Readonly<Record<string, Manner>> = {
  // Without VALUES
  "sparql-1-0": old(),
  "sparql-1-0 by 500": old(refuse('Parse error: encountered "VALUES"', 500)),
  "virtuoso-6": old({
    ...refuse("Virtuoso 37000 Error SP030: SPARQL compiler, line 1: syntax error at 'VALUES' before '('"),
    headers: { server: "Virtuoso/06.01.3127" },
  }),
  "no VALUES, but BIND": onlyFor(({ query }) => !query.includes("VALUES"), refuse("Unexpected VALUES")),
  "sparql-1-0, GET": byGet(refuse("", 405), old()),
  "sparql-1-0, GET after 404": byGet(html404, old()),
  "sparql-1-0, GET after a page": byGet(page, old()),
  "sparql-1-0, POST of the query": byDirectPost(refuse("Bad Request"), old()),
  "sparql-1-0, one type": alone(json, old()),
  "sparql-1-0, XML alone, GET": byGet(refuse("", 403), alone(xml, old())),
  "sparql-1-0, ISO-8859-1": old(undefined, encoded("ISO-8859-1", latin1)),
  "sparql-1-0, few keys": fewKeys,
  "sparql-1-0, short URLs": shortUrls,
  // Methods
  "404 for POST": byGet(refuse("", 404)),
  "404 and a page for POST": byGet(html404),
  "403 for POST": byGet(refuse("Forbidden", 403)),
  "405 for POST": byGet(refuse("", 405)),
  "501 for POST": byGet(refuse("", 501)),
  "a page for POST": byGet(page),
  "a page in pieces for POST": byGet({ ...page, body: ["<html>", "</html>"] }),
  "nothing for POST": byGet({ status: 204, body: "" }),
  "a description for POST, Turtle": byGet(description("ttl")),
  "a description for POST, RDF/XML": byGet(description("rdf")),
  "a description for POST, N-Triples": byGet(description("nt")),
  "400 for POST: no query parameter": byGet(refuse("Missing query parameter")),
  "400 for a form": byDirectPost(refuse("Bad Request")),
  "415 for a form": byDirectPost(refuse("", 415)),
  "400 for a form, 415 for the query": (request, fromData) =>
    request.method === "post-direct" ? refuse("", 415) : byGet(refuse("Bad Request"))(request, fromData),
  "a page for a form, GET": onlyFor(({ method }) => method !== "post-form", page),
  // Accept
  "one type: JSON": alone(json),
  "one type: XML": alone(xml),
  "any type": alone("*/*"),
  "no list": onlyFor(({ accept }) => !isList(accept), unacceptable),
  "no weights": onlyFor(({ accept }) => !accept.includes("q="), unacceptable),
  "nothing with JSON": onlyFor(({ accept }) => !accept.includes("json"), unacceptable),
  "no list, by GET after 404": byGet(
    html404,
    onlyFor(({ accept }) => !isList(accept), unacceptable),
  ),
  // Encodings
  "ISO-8859-1": encoded("ISO-8859-1", latin1),
  "ISO-8859-1 byte by byte": as("xml", (body) => ({
    type: xml,
    body: bytewise(latin1(body.replace(/^<\?xml[^>]*\?>/u, "<?xml version='1.0' encoding='iso-8859-1'?>"))),
  })),
  "ISO-8859-1, gzip": zipped,
  "windows-1252": encoded("windows-1252", latin1),
  "UTF-16 with a mark": encoded("UTF-16", utf16Mark),
  "UTF-16 without a mark": encoded("UTF-16", utf16),
  "UTF-16BE": encoded("utf-16be", utf16be),
  "UTF-16BE without a declaration": encoded("", utf16be),
  "UTF-8 that calls itself UTF-16": encoded("UTF-16", (text) => Buffer.from(text)),
  "UTF-8 with a mark": encoded("UTF-8", (text) => Buffer.from(`\uFEFF${text}`)),
  "no declaration": encoded("", (text) => Buffer.from(text)),
  // Names of formats
  "XML as text/xml": named("xml", "text/xml"),
  "XML as application/xml": named("xml", "application/xml"),
  "XML as text/plain": named("xml", "text/plain"),
  "XML as octet-stream": named("xml", "application/octet-stream"),
  "JSON as text/plain": named("json", "text/plain; charset=utf-8"),
  "JSON as octet-stream": named("json", "application/octet-stream"),
  "JSON as binary/octet-stream": named("json", "binary/octet-stream"),
  "JSON as application/json": named("json", "application/json"),
  "JSON as text/json": named("json", "text/json"),
  "JSON without a type": named("json", undefined),
  "JSON as text/plain, in pieces": as("json", (body) => ({
    type: "text/plain",
    body: [body.slice(0, 60), body.slice(60)],
  })),
  "JSON as text/plain, behind white space": as("json", (body) => ({ type: "text/plain", body: `\r\n\n  ${body}` })),
  "TSV alone": onlyFor(
    ({ accept, query }) => accept.includes("text/tab") || isGraph(query) || query.startsWith("ASK"),
    unacceptable,
    (request, fromData) =>
      /^(?:ASK|CONSTRUCT)/u.test(request.query) ? plain(request, fromData) : fromData(request.query, "tsv"),
  ),
  // Words in JSON and ASK
  "literal-typed": changed((body) => body.replaceAll('"literal"', '"literal-typed"')),
  "typed-literal": changed((body) => body.replaceAll('"literal"', '"typed-literal"')),
  "lang for xml:lang": changed((body) => body.replaceAll('"xml:lang"', '"lang"')),
  "JSON with a mark": changed((body) => `\uFEFF${body}`),
  "text/boolean": (request, fromData) =>
    request.query.startsWith("ASK") ? { status: 200, type: "text/boolean", body: "true" } : plain(request, fromData),
  "true as text/plain": (request, fromData) =>
    request.query.startsWith("ASK") ? { status: 200, type: "text/plain", body: "true\n" } : plain(request, fromData),
};

/** Each of them cannot be asked, and says so: a code, what to do next, and the most requests that it takes. */
const failing: Readonly<Record<string, readonly [Manner, code: string, next: RegExp, requests: number]>> = {
  "a page": [() => page, "ENDPOINT_NOT_SPARQL", /URL is a SPARQL endpoint/u, 2],
  "a description": [() => description("ttl"), "ENDPOINT_NOT_SPARQL", /URL is a SPARQL endpoint/u, 2],
  "an error as text, 200": [() => refuse("Out of memory", 200), "ENDPOINT_NOT_SPARQL", /SPARQL endpoint/u, 2],
  "404": [() => refuse("", 404), "ENDPOINT_REFUSED", /Check the endpoint's URL/u, 2],
  "403": [() => refuse("", 403), "ENDPOINT_REFUSED", /operator/u, 2],
  "401": [() => refuse("", 401), "ENDPOINT_REFUSED", /credentials/u, 1],
  "400": [() => refuse("line 1: bad property"), "ENDPOINT_REJECTED_QUERY", /message/u, 2],
  "405": [() => refuse("", 405), "ENDPOINT_REFUSED", /Check the endpoint's URL/u, 3],
  "406": [() => unacceptable, "ENDPOINT_REFUSED", /sparql-results\+json/u, 4],
  "500": [() => refuse("Internal error", 500), "ENDPOINT_FAILED", /later/u, 1],
  "503": [() => refuse("", 503), "ENDPOINT_FAILED", /later/u, 3],
  "504": [() => refuse("", 504), "ENDPOINT_TIMEOUT", /LIMIT/u, 1],
  "ISO-8859-1 that says nothing of it": [encoded("UTF-8", latin1), "ENDPOINT_MALFORMED", /operator/u, 1],
  "a script for JSON": [named("json", "text/javascript"), "ENDPOINT_NOT_SPARQL", /SPARQL endpoint/u, 2],
};

const idOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, "-")
    .replaceAll(/^-|-$/gu, "");
const manners: Record<string, Manner> = Object.fromEntries([
  ...Object.entries(working).map(([name, manner]) => [idOf(name), manner] as const),
  ...Object.entries(failing).map(([name, [manner]]) => [`failing-${idOf(name)}`, manner] as const),
]);

let endpoints: Awaited<ReturnType<typeof startOddEndpoints>>;
let marked: Awaited<ReturnType<typeof startOddEndpoints>>;
let service: RunningService;

beforeAll(async () => {
  endpoints = await startOddEndpoints({ ...manners, truth: plain }, data);
  marked = await startOddEndpoints({ marked: plain }, marks.join("\n"));
  const urls = Object.keys({ ...manners, truth: plain }).map((id) => [id, endpoints.urlOf(id)] as const);
  service = await startService({ ...Object.fromEntries(urls), marked: marked.urlOf("marked") });
});
afterAll(async () => {
  await service.close();
  await Promise.all([endpoints.close(), marked.close()]);
});

/** The answer as text that does not depend on the order of rows. */
async function ask(query: string, path: string): Promise<string> {
  const response = await service.query(query, {
    path,
    accept: query.startsWith("CONSTRUCT") ? "application/n-triples" : json,
  });
  const body = await response.text();
  if (response.status !== 200) return `${response.status} ${body}`;
  if (query.startsWith("CONSTRUCT")) return body.split("\n").toSorted().join("\n");
  return body
    .replaceAll("typed-literal", "literal")
    .replaceAll("literal-typed", "literal")
    .replaceAll('"lang"', '"xml:lang"');
}

interface Row {
  readonly [name: string]: Readonly<Record<string, string>>;
}
const rowsOf = (body: string): string[] => {
  const { results } = JSON.parse(body.replace(/^\uFEFF/u, "")) as { results: { bindings: Row[] } };
  return results.bindings
    .map((row) =>
      ["s", "v", "m"]
        .map((name) => JSON.stringify(Object.entries(row[name] ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))))
        .join(" "),
    )
    .toSorted();
};

const select = "SELECT ?s ?v { ?s <urn:v> ?v }";
const construct = "CONSTRUCT { ?s <urn:w> ?v } WHERE { ?s <urn:v> ?v }";
const join = (id: string): string =>
  `SELECT ?s ?m ?v { SERVICE <marked> { ?s <urn:mark> ?m } OPTIONAL { SERVICE <${id}> { ?s <urn:v> ?v } } }`;
const at = (id: string): string => `/endpoints/${id}/sparql`;

it("there are sixty of them at least", () => {
  expect(Object.keys(manners).length).toBeGreaterThanOrEqual(60);
  expect(new Set(Object.keys(manners).map(idOf)).size).toBe(Object.keys(manners).length);
});

describe.each(Object.keys(working).map((name) => [name, idOf(name)]))("an endpoint that works: %s", (_, id) => {
  it("in a join, asked for keys, then directly", async () => {
    const joined = rowsOf(await ask(join(id), "/sparql"));
    expect(joined).toEqual(rowsOf(await ask(join("truth"), "/sparql")));
    expect(joined).toHaveLength(34);
    expect(rowsOf(await ask(select, at(id)))).toEqual(rowsOf(await ask(select, at("truth"))));
    expect(JSON.parse(await ask("ASK { ?s <urn:v> ?v }", at(id)))).toMatchObject({ boolean: true });
    expect(await ask(construct, at(id))).toBe(await ask(construct, at("truth")));
    const own = endpoints.requests.filter(({ name }) => name === id);
    expect(own.some(({ query }) => /VALUES|FILTER/u.test(query))).toBe(true);
    expect(own.length).toBeLessThanOrEqual(20);
  });
});

describe.each(Object.entries(failing))("an endpoint that cannot work: %s", (name, [, code, next, most]) => {
  const id = `failing-${idOf(name)}`;
  it("says why, and is asked no more than it must be", async () => {
    const sent = (): number => endpoints.requests.filter((request) => request.name === id).length;
    const direct = await ask(select, at(id));
    expect(direct).toContain(code);
    expect(JSON.parse(direct.slice(4))).toMatchObject({ next: expect.stringMatching(next) });
    expect(sent()).toBeLessThanOrEqual(most);
    const before = sent();
    expect(await ask(join(id), "/sparql")).toContain(code);
    // Keys in the other form and a few of them are tried, each with what is tried of methods.
    expect(sent() - before).toBeLessThanOrEqual(3 * most + 4);
  });
});

it("what was learned stands in the run, and is used by the next one", async () => {
  const id = idOf("404 for POST");
  const learned = await startService({ fresh: endpoints.urlOf(id) });
  try {
    const run = async (): Promise<unknown> => {
      const response = await learned.query(select, { path: at("fresh") });
      await response.text();
      return (await fetch(`${learned.url}/api/runs/${response.headers.get("fedway-run")}`)).json();
    };
    expect(await run()).toMatchObject({
      sources: [{ requests: 2, learned: ["POST of a form was refused (HTTP status 404), GET works."] }],
    });
    expect(await run()).toMatchObject({ sources: [{ requests: 1 }] });
  } finally {
    await learned.close();
  }
});
