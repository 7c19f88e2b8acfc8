import { afterAll, beforeAll, expect, it } from "vitest";
import { federationTurtle } from "../../support/catalog-folder.ts";
import {
  as,
  isGraph,
  type Manner,
  type OddReply,
  plain,
  refuse,
  startOddEndpoints,
} from "../../support/odd-endpoints.ts";
import { cli } from "../../support/run-cli.ts";
import { type RunningService, startService } from "../../support/running-service.ts";

// Endpoints that give a part of their rows and show it somehow, or not at all, and endpoints that give all of them and look
// odd: whichever way a user asks, an answer that is told as whole has all rows, and one that has all rows is told as whole.

const json = "application/sparql-results+json";
const xml = "application/sparql-results+xml";
const few = Array.from({ length: 6 }, (_, n) => `x:s${n}`);
const many = Array.from({ length: 2_100 }, (_, n) => `x:t${n}`);
const whole = Array.from({ length: 1_000 }, (_, n) => `x:w${n}`);
const subjects = { "x:few": few, "x:many": many, "x:whole": whole } as const;
type Property = keyof typeof subjects;

const data = Object.entries(subjects).flatMap(([property, all]) => all.map((s, n) => `<${s}> <${property}> "${n}" .`));
/** The other member knows eight subjects of each, two of which this one does not have. */
const others = Object.values(subjects).flatMap((all) => all.slice(0, 6).concat(`${all[0]}00000`, `${all[0]}00001`));

interface Table {
  readonly head: { readonly vars: readonly string[] };
  readonly results: { readonly bindings: readonly object[] };
}

type Change = (body: string) => Omit<OddReply, "status">;

/** Half of a table's rows, then changed; one row alone is whole. */
const halved = (change: Change): Manner =>
  as("json", (body) => {
    const { head, results } = JSON.parse(body) as Table;
    const { bindings } = results;
    if (bindings.length < 2) return { type: json, body };
    const half = bindings.slice(0, bindings.length / 2);
    return change(JSON.stringify({ head, results: { bindings: half } }));
  });
const typed = (change: (body: string) => string, headers: Record<string, string> = {}): Change => {
  return (body) => ({ type: json, body: change(body), headers });
};
/** A member of the document behind its rows. */
const member = (text: string): Manner => halved(typed((body) => `${body.slice(0, -1)},${text}}`));
const memberBefore = (text: string): Manner => halved(typed((body) => `{${text},${body.slice(1)}`));
const inResults = (text: string): Manner => halved(typed((body) => body.replace('"results":{', `"results":{${text},`)));
const headed = (headers: Record<string, string>, status = 200): Manner => {
  const manner = halved(typed((body) => body, headers));
  return (request, fromData) => {
    const reply = manner(request, fromData);
    return reply.headers ? { ...reply, status } : reply;
  };
};
const trailed = (trailers: Record<string, string>): Manner =>
  halved((body) => ({ type: json, body: [body], trailers }));

const row = /<result>.*?<\/result>/gsu;
/** Half of the rows in XML, then changed. */
const halvedXml = (change: (xml: string) => string): Manner =>
  as("xml", (body) => {
    const rows = body.match(row) ?? [];
    if (rows.length < 2) return { type: xml, body };
    const kept = new Set(rows.slice(0, rows.length / 2));
    return { type: xml, body: change(body.replaceAll(row, (one) => (kept.has(one) ? one : ""))) };
  });
const between = (text: string): Manner => halvedXml((body) => body.replace("</result>", `</result>${text}`));

/** All rows of a table but no more than a number, without a sign. */
const capped = (cap: number, more: Partial<OddReply> = {}): Manner =>
  as("json", (body) => {
    const { head, results } = JSON.parse(body) as Table;
    const bindings = results.bindings.slice(0, cap);
    return { type: json, body: JSON.stringify({ head, results: { bindings } }), ...more };
  });
const unless =
  (pattern: RegExp, then: Manner): Manner =>
  (request, fromData) =>
    pattern.test(request.query) ? refuse("Syntax error") : then(request, fromData);
const misread =
  (change: (query: string) => string, then: Manner): Manner =>
  (request, fromData) =>
    then({ ...request, query: change(request.query) }, fromData);
const inPieces: Manner = (request, fromData) => {
  const { body, ...reply } = capped(1_000)(request, fromData);
  const text = String(body);
  return { ...reply, body: [text.slice(0, 500), text.slice(500)] };
};
const java = "\njava.util.concurrent.TimeoutException\n\tat java.base/java.util.Task.get(Task.java:204)\n";
const isCount = /COUNT/u;
const withoutOffset = (query: string): string => query.replaceAll(/OFFSET \d+/gu, "");

/** Endpoints that give a part of their rows. */
const cut: Readonly<Record<string, Manner>> = {
  error: member('"error":"Query timed out"'),
  "error as an object": member('"error":{"code":500,"message":"out of memory"}'),
  errors: member('"errors":[{"message":"shard 3 failed"}]'),
  exception: member('"exception":"java.lang.OutOfMemoryError"'),
  message: member('"message":"Time limit exceeded"'),
  "message in the results": inResults('"message":"Time limit exceeded"'),
  "status ERROR": member('"status":"ERROR"'),
  "status 500": member('"status_code":500'),
  "error before the rows": memberBefore('"error":"Query timed out"'),
  "error in the results": inResults('"error":"Query timed out"'),
  "success: false": member('"success":false'),
  "truncated: true": member('"truncated":true'),
  "partial in the results": inResults('"partial":true'),
  hasMore: member('"hasMore":true'),
  next: member('"next":"https://x.example/sparql?page=2"'),
  next_page_token: memberBefore('"next_page_token":"abc"'),
  "links with a next page": member('"links":{"self":"a","next":"b"}'),
  "meta that has more": member('"meta":{"took":3,"has_more":true}'),
  "a larger total": member('"total":6000'),
  "complete: false": member('"complete":false'),
  "another Fedway": member('"fedway":{"status":"partial","partial":"subset"}'),
  "rows and a boolean": member('"boolean":true'),
  "rows twice": member('"results":{"bindings":[]}'),
  "text behind the end": halved(typed((body) => body + java)),
  "a trace as the end": halved(typed((body) => body.slice(0, -3) + java)),
  "cut off": halved(typed((body) => body.slice(0, -3))),
  "text between rows of XML": between("Error: timed out"),
  "text before rows of XML": halvedXml((body) => body.replace("<result>", "Warning: not all rows <result>")),
  "text in a row of XML": halvedXml((body) => body.replace("<binding", "Error<binding")),
  "CDATA between rows": between("<![CDATA[Error: timed out]]>"),
  "an element between rows": between("<error>timed out</error>"),
  "an element behind the rows": halvedXml((body) => body.replace("</results>", "</results><exception>X</exception>")),
  "a comment about an error": between("<!-- Error: query timed out -->"),
  "another Fedway in XML": halvedXml((body) =>
    body.replace("</sparql>", "<!-- Fedway: this answer is partial (subset): a partial --></sparql>"),
  ),
  "rows and a boolean in XML": halvedXml((body) => body.replace("</results>", "</results><boolean>true</boolean>")),
  "text behind XML": halvedXml((body) => body + java),
  "XML cut off": halvedXml((body) => body.slice(0, -12)),
  "status 206": headed({ "x-none": "" }, 206),
  "an anytime answer": headed({ "x-sql-state": "S1TAT" }),
  "a failed anytime answer": headed({ "x-sql-state": "S1T00", "x-sql-message": "time out" }),
  "Link to a next page": headed({ link: '<https://x.example/sparql?page=2>; rel="next"' }),
  "Link to two pages": headed({ link: '</sparql?page=1>; rel="first", </sparql?page=2>; rel=next; title="b"' }),
  "Content-Range": headed({ "content-range": "items 0-2/6" }),
  "X-Total-Count": headed({ "x-total-count": "6000" }),
  "X-Has-More": headed({ "x-has-more": "true" }),
  "X-Next-Page": headed({ "x-next-page": "2" }),
  "X-Error": headed({ "x-error": "time limit" }),
  "SD-Error-Code": headed({ "sd-error-code": "QE0PE2" }),
  "X-Truncated": headed({ "x-truncated": "1" }),
  "another Fedway's head": headed({ "fedway-status": "partial", "fedway-partial": "subset" }),
  Warning: headed({ warning: '199 - "Result truncated"' }),
  "X-SPARQL-MaxRows": (request, fromData) => capped(3, { headers: { "x-sparql-maxrows": "3" } })(request, fromData),
  "a trailer of Neptune": trailed({ "X-Neptune-Status": "500 TimeLimitExceededException" }),
  "a trailer of another Fedway": trailed({ "Fedway-Status": "partial" }),
  "a trailer about an error": trailed({ "X-Error": "time limit" }),
  "a trailer of gRPC": trailed({ "Grpc-Status": "4" }),
  "a trailer to a next page": trailed({ Link: '</2>; rel="next"' }),
  "an error as a record of TSV": as("tsv", (body) => {
    const lines = body.split("\n");
    return {
      type: "text/tab-separated-values",
      body: lines.length < 4 ? body : `${lines.slice(0, 3).join("\n")}\nError: timed out\n`,
    };
  }),
};

/** Endpoints that cut at a round number of rows without a word. */
const silent: Readonly<Record<string, Manner>> = {
  "1,000 rows": capped(1_000),
  "1,024 rows": capped(1_024),
  "2,000 rows": capped(2_000),
  "1,000 rows in pieces": inPieces,
  "1,000 rows, and no subqueries": unless(isCount, capped(1_000)),
  "1,000 rows, counted too": (request, fromData) => {
    const isCut = isCount.test(request.query);
    return isCut
      ? as("json", (body) => ({ type: json, body: body.replace('"2100"', '"1000"') }))(request, fromData)
      : capped(1_000)(request, fromData);
  },
  "1,000 rows, and nothing is said": unless(/COUNT|OFFSET/u, capped(1_000)),
};

const unchanged = (headers: Record<string, string>): Manner => as("json", (body) => ({ type: json, body, headers }));
const withMember = (text: string): Manner =>
  as("json", (body) => ({ type: json, body: `${body.slice(0, -1)},${text}}` }));

/** Endpoints that give all rows. */
const complete: Readonly<Record<string, Manner>> = {
  plain,
  "good news": withMember(
    '"status":"OK","message":"Query executed","error":null,"errors":[],"exception":"","success":true',
  ),
  "no further page": withMember(
    '"next":null,"hasMore":false,"links":{"self":"a","next":null},"meta":{"took":3},"total":0',
  ),
  "a line end and an element of XML": as("xml", (body) => ({
    type: xml,
    body: body.replaceAll("<result>", "\n  <!-- row -->\n <result>\n"),
  })),
  "good headers": unchanged({
    "x-sql-state": "00000",
    "x-error": "none",
    link: '<a>; rel="self"',
    "x-has-more": "false",
    "cf-cache-status": "EXPIRED",
  }),
  "a good trailer": as("json", (body) => ({
    type: json,
    body: [body],
    trailers: { "X-Neptune-Status": "200 OK", "X-Neptune-Detail": "", "Grpc-Status": "0" },
  })),
};
/** Those with a round number of rows. */
const round: Readonly<Record<string, Manner>> = {
  "a round number of rows": plain,
  "a round number of rows, and no subqueries": unless(isCount, plain),
  "a round number of rows, and OFFSET does nothing": misread(withoutOffset, plain),
  "a round number of rows in pieces": inPieces,
};

/** Graphs of ten solutions at most, without a sign, as Virtuoso gives them. */
const cutGraph =
  (format: "nt" | "ttl" | "rdf"): Manner =>
  ({ query }, fromData) =>
    isGraph(query) ? fromData(`${query} LIMIT 10`, format) : fromData(query, "json");
const graphsOf =
  (format: "nt" | "ttl" | "rdf"): Manner =>
  ({ query }, fromData) =>
    fromData(query, isGraph(query) ? format : "json");
const graphs = (["nt", "ttl", "rdf"] as const).flatMap((format) => [
  { id: `cut-${format}`, manner: cutGraph(format), isCut: true },
  { id: `whole-${format}`, manner: graphsOf(format), isCut: false },
]);

const behaviours = [
  ...Object.entries(cut).map(([name, manner]) => ({ name, manner, property: "x:few", isCut: true }) as const),
  ...Object.entries(silent).map(([name, manner]) => ({ name, manner, property: "x:many", isCut: true }) as const),
  ...Object.entries(complete).map(([name, manner]) => ({ name, manner, property: "x:few", isCut: false }) as const),
  ...Object.entries(round).map(([name, manner]) => ({ name, manner, property: "x:whole", isCut: false }) as const),
].map((one, at) => Object.assign(one, { id: `e${at}` }));

let endpoints: Awaited<ReturnType<typeof startOddEndpoints>>;
let other: Awaited<ReturnType<typeof startOddEndpoints>>;
let service: RunningService;
beforeAll(async () => {
  const manners = Object.fromEntries([...behaviours, ...graphs].map(({ id, manner }) => [id, manner]));
  endpoints = await startOddEndpoints(manners, data.join("\n"));
  other = await startOddEndpoints({ other: plain }, others.map((s) => `<${s}> <x:q> "m" .`).join("\n"));
  const ids = Object.keys(manners);
  service = await startService(
    { ...Object.fromEntries(ids.map((id) => [id, endpoints.urlOf(id)])), other: other.urlOf("other") },
    { FEDWAY_HOST_RATE: "0", FEDWAY_RATE_LIMIT: "0" },
    Object.fromEntries(
      ids.map((id) => [`all-${id}.ttl`, federationTurtle(`all-${id}`, `fedway:member "other", "${id}"`)]),
    ),
  );
}, 60_000);
afterAll(async () => {
  await service?.close();
  await Promise.all([endpoints?.close(), other?.close()]);
});

/** What the user sees: an answer that is told as whole, one that is told as a part, or none. */
interface Seen {
  readonly told: "whole" | "part" | "failure";
  readonly subjects: readonly string[];
}
type Way = (id: string, property: Property) => Promise<Seen>;
const failure: Seen = { told: "failure", subjects: [] };

const subjectsIn = (text: string): readonly string[] => text.match(/x:[stw]\d+/gu)?.toSorted() ?? [];
const saysPart = /"fedway":\{"status":"partial"|<!-- Fedway: [^>]*partial/u;

async function seen(asked: Promise<Response>): Promise<Seen> {
  const response = await asked;
  const body = await response.text().catch(() => undefined);
  if (response.status !== 200 || body === undefined) return failure;
  const isPart = response.headers.get("fedway-status") === "partial" || saysPart.test(body);
  return { told: isPart ? "part" : "whole", subjects: subjectsIn(body) };
}

const alone = (property: Property): string => `SELECT ?s ?n { ?s <${property}> ?n }`;
const direct =
  (accept: string, parameters: Record<string, string> = {}): Way =>
  (id, property) =>
    seen(service.query(alone(property), { path: `/endpoints/${id}/sparql`, accept, parameters }));
const joined =
  (parameters: Record<string, string>): Way =>
  (id, property) =>
    seen(
      service.query(`SELECT ?s ?n ?m { SERVICE <other> { ?s <x:q> ?m } SERVICE <${id}> { ?s <${property}> ?n } }`, {
        accept: json,
        parameters,
      }),
    );
const lacking: Way = (id, property) =>
  seen(
    service.query(
      `SELECT ?s { SERVICE <other> { ?s <x:q> ?m } FILTER NOT EXISTS { SERVICE <${id}> { ?s <${property}> ?n } } FILTER(STRSTARTS(STR(?s), "${subjects[property][0]?.slice(0, 3)}")) }`,
      { accept: xml },
    ),
  );
const federated =
  (parameters: Record<string, string>): Way =>
  (id, property) =>
    seen(
      service.query(`SELECT ?s ?n ?m { ?s <x:q> ?m ; <${property}> ?n }`, {
        path: `/federations/all-${id}/sparql`,
        accept: json,
        parameters,
      }),
    );

const post = (path: string, body: object): Promise<Response> =>
  fetch(`${service.url}${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
    body: JSON.stringify(body),
  });
const toldAs: Readonly<Record<string, Seen["told"]>> = { ok: "whole", empty: "whole", partial: "part" };
const api =
  (partial: boolean): Way =>
  async (id, property) => {
    const query = `SELECT ?s ?n { SERVICE <${id}> { ?s <${property}> ?n } }`;
    const table = (await (await post("/api/query", { query, partial, maxRows: 10_000 })).json()) as { status: string };
    return { told: toldAs[table.status] ?? "failure", subjects: subjectsIn(JSON.stringify(table)) };
  };
const mcp: Way = async (id, property) => {
  const params = { name: "run_query", arguments: { query: alone(property), endpoint: id, max_rows: 500 } };
  const text = await (await post("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params })).text();
  const { result } = JSON.parse(/\{.*\}/su.exec(text)?.[0] ?? "{}") as {
    result: { structuredContent?: { status?: string; rows_total?: number } };
  };
  const { status = "failed", rows_total: total = 0 } = result.structuredContent ?? {};
  return { told: toldAs[status] ?? "failure", subjects: subjects[property].slice(0, total) };
};
const commandLine: Way = async (id, property) => {
  const { code, out } = await cli(["query", "--url", service.url, "--endpoint", id, alone(property)], {
    fetch: (url, init) => fetch(url, init),
  });
  return code === 0 ? { told: "whole", subjects: subjectsIn(out) } : failure;
};

const partial = { partial: "true" };
const all = (property: Property): readonly string[] => subjects[property];
const known = (property: Property): readonly string[] => subjects[property].slice(0, 6);
const unknown = (property: Property): readonly string[] =>
  others.filter((s) => s.startsWith(`${subjects[property][0]}0000`));
type Truth = (property: Property) => readonly string[];

/** Ways to ask, and the subjects in the true answer. */
const ways: readonly (readonly [name: string, way: Way, truth: Truth])[] = [
  ["JSON", direct(json), all],
  ["XML", direct(xml), all],
  ["CSV", direct("text/csv"), all],
  ["partial", direct(json, partial), all],
  ["join", joined({}), known],
  ["join, partial", joined(partial), known],
  ["NOT EXISTS", lacking, unknown],
  ["federation", federated({}), known],
  ["federation, partial", federated(partial), known],
  ["API", api(false), all],
  ["API, partial", api(true), all],
  ["MCP", mcp, all],
  ["command line", commandLine, all],
];

it("has enough of both", () => {
  expect(behaviours.length).toBeGreaterThanOrEqual(60);
  expect(ways).toHaveLength(13);
});

it.each(behaviours)("$name", async ({ id, property, isCut }) => {
  const answers = await Promise.all(
    ways.map(async ([name, way, truth]) => Object.assign({ name, truth }, await way(id, property))),
  );
  const wrong = answers.filter(({ told, truth, subjects: given }) => {
    const isTrue = JSON.stringify(given.toSorted()) === JSON.stringify(truth(property).toSorted());
    return told === "whole" ? !isTrue : !isCut;
  });
  expect(wrong.map(({ name, told, subjects: given }) => `${name}: ${told} with ${given.length} rows`)).toEqual([]);
});

const templates = [
  "{ ?s <x:c> ?n }",
  "{ ?s <x:c> ?n . ?s <x:d> ?s . ?s <x:e> <x:f> }",
  "{ ?n <x:c> ?s . ?s <x:c> ?n }",
];
const constructs = templates.flatMap((template) => [
  `CONSTRUCT ${template} WHERE { ?s <x:many> ?n }`,
  `CONSTRUCT ${template} { SERVICE <?> { ?s <x:many> ?n FILTER(?n != "7") } }`,
]);

it.each(graphs)("a graph: $id", async ({ id, isCut }) => {
  for (const query of constructs) {
    for (const accept of ["text/turtle", "application/n-triples", "application/rdf+xml"]) {
      const path = query.includes("<?>") ? "/sparql" : `/endpoints/${id}/sparql`;
      const { told } = await seen(service.query(query.replace("<?>", `<${id}>`), { path, accept }));
      expect.soft(told, `${query} as ${accept}`).toBe(isCut ? "failure" : "whole");
      const inPart = await seen(service.query(query.replace("<?>", `<${id}>`), { path, accept, parameters: partial }));
      expect.soft(inPart.told, `${query} as ${accept}, partial`).not.toBe(isCut ? "whole" : "part");
    }
  }
});
