import { request as send, type IncomingMessage } from "node:http";
import { text as readText } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { App } from "../../../src/app.ts";
import type { RunRecord } from "../../../src/query/records.ts";
import { federationTurtle } from "../../support/catalog-folder.ts";
import { until } from "../../support/eventually.ts";
import { type Lie, startLyingEndpoints } from "../../support/lying-endpoint.ts";
import { openService } from "../../support/running-service.ts";

// Endpoints that try to make `ok`, `empty`, `partial` and `failed` lie, on every route and in every format: each row says
// what its reader must see.

const ask = "ASK { ?s <x:p> ?n }";
const select = "SELECT ?s ?n { ?s <x:p> ?n }";
const construct = "CONSTRUCT { ?s <x:p> ?n } { ?s <x:p> ?n }";
const wrapped = "SELECT ?s ?n { SERVICE <bad> { ?s <x:p> ?n } }";
const silent = "SELECT ?s ?n { SERVICE SILENT <bad> { ?s <x:p> ?n } }";
const join = "SELECT ?s ?n ?m { SERVICE <good> { ?s <x:q> ?m } SERVICE <bad> { ?s <x:p> ?n } }";
const exists = "SELECT ?s { SERVICE <good> { ?s <x:q> ?m } FILTER EXISTS { SERVICE <bad> { ?s <x:p> ?n } } }";
const silentJoin = "SELECT ?s ?n ?m { SERVICE <good> { ?s <x:q> ?m } SERVICE SILENT <bad> { ?s <x:p> ?n } }";
const union = "SELECT ?s ?n { { SERVICE <good> { ?s <x:q> ?n } } UNION { SERVICE <bad> { ?s <x:p> ?n } } }";
const graphs =
  "CONSTRUCT { ?s <x:p> ?n } { { SERVICE <good> { ?s <x:q> ?n } } UNION { SERVICE <bad> { ?s <x:p> ?n } } }";

const mediaTypes = {
  json: "application/sparql-results+json",
  xml: "application/sparql-results+xml",
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  turtle: "text/turtle",
  ntriples: "application/n-triples",
  jsonld: "application/ld+json",
  rdfxml: "application/rdf+xml",
} as const;
type Format = keyof typeof mediaTypes;

/** An error before the first byte: its code, and the endpoint's own words in it. */
const error = (code: string, words = "") => ({ code, words }) as const;
/** 200, and the document says that it is partial; the head too where it is known in time. */
const marked = (head: "running" | "partial") => ({ head, marked: true }) as const;
/** 200, and only the head says it: the endpoint's own bytes. */
const told = { head: "partial", marked: false } as const;
/** The connection is cut, and the record says why. */
const cut = (code: string) => ({ cut: code }) as const;
/** 200, complete, with the note. */
const noted = { note: "SILENCED" } as const;

type Truth = ReturnType<typeof error> | ReturnType<typeof marked> | typeof told | ReturnType<typeof cut> | typeof noted;

interface Attempt {
  readonly lie: Lie;
  /** `/sparql` where it names its endpoints, "federation" for that of `good` and `bad`, else the endpoint's own route. */
  readonly query: string;
  readonly at?: "federation" | "table";
  readonly format: Format;
  readonly partial?: true;
  readonly truth: Truth;
}

const malformed = "ENDPOINT_MALFORMED";
const brokeOff = "ENDPOINT_BROKE_OFF";
const noSparql = "ENDPOINT_NOT_SPARQL";
const rejected = "ENDPOINT_REJECTED_QUERY";
const inPart = "ENDPOINT_PARTIAL";
const trace = "ExecutionException: Query on <http://ex.org/g> was cut at com.bigdata";

type Line = readonly [lie: Lie, query: string, format: Format, truth: Truth, more?: Pick<Attempt, "at" | "partial">];
const partial = { partial: true } as const;
const federation = { at: "federation" } as const;

const lines: readonly Line[] = [
  // Form, columns and encoding, on the endpoint's own route and through one SERVICE.
  ["a table", ask, "json", error(malformed, "rows where a boolean")],
  ["a boolean", select, "json", error(malformed, "a boolean where rows")],
  ["a boolean", wrapped, "xml", error(malformed, "a boolean where rows")],
  ["a column less", select, "json", error(malformed, "lacks ?s")],
  ["no columns", select, "json", error(malformed, "lacks ?s, ?n")],
  ["other columns", wrapped, "csv", error(malformed, "has ?p, ?o")],
  ["other columns in XML", select, "xml", error(malformed, "lacks ?n")],
  ["other columns in TSV", select, "tsv", error(malformed, "lacks ?n")],
  ["an error as CSV", select, "csv", error(malformed, "Timeout: try again")],
  ["Latin-1", select, "json", error(malformed, "not UTF-8")],
  ["Latin-1 in CSV", wrapped, "csv", error(malformed, "not UTF-8")],
  ["no bindings", select, "json", error(brokeOff)],
  ["a table in plain JSON", construct, "jsonld", error(malformed, "rows where triples")],

  // Errors with status 200.
  ["an error in JSON", select, "json", error(brokeOff, "no index of <x:p>")],
  ["an error in JSON", wrapped, "csv", error(brokeOff, "no index of <x:p>")],
  ["an error labelled JSON", select, "json", error(brokeOff, "Error at <x:p>")],
  ["an error as text", wrapped, "json", error(noSparql, "Error at <x:p>.")],
  ["an error as text", construct, "ntriples", error(brokeOff, "Error at <x:p>.")],
  ["an error as Turtle", construct, "turtle", error(brokeOff, "Error at <x:p>.")],
  ["an error in plain JSON", construct, "jsonld", error(brokeOff, "no index of <x:p>")],
  ["a page", select, "json", error(noSparql, "Closed <x:p>")],
  ["a page as XML", construct, "rdfxml", error(brokeOff, "Closed")],
  ["a trace behind rows", select, "json", error(brokeOff, trace)],
  ["a trace behind the end", wrapped, "xml", error(brokeOff, trace)],
  ["a trace behind XML", select, "xml", error(brokeOff, trace)],
  ["a trace behind many rows", select, "json", cut(brokeOff)],
  ["cut short", select, "json", error(brokeOff)],
  ["empty", wrapped, "tsv", error(brokeOff)],

  // Errors with a status of their own.
  ["400 as text", select, "json", error(rejected, "SP031: no <http://ex.org/p> here")],
  ["400 as JSON", wrapped, "json", error(rejected, '"Not declared: <http://ex.org/p>"')],
  ["hostile words", select, "json", error("ENDPOINT_FAILED", '"gnorw [31m long')],

  // Partial answers of one endpoint.
  ["206", select, "json", error(inPart)],
  ["206", select, "json", told, partial],
  ["cut at a cap", select, "json", cut(inPart)],
  ["cut at a cap", select, "json", marked("running"), partial],
  ["cut at a cap", wrapped, "xml", marked("running"), partial],
  ["cut at a cap", wrapped, "csv", cut(inPart), partial],

  // Members of a federated query, from the start.
  ["a boolean", join, "json", error(malformed, "a boolean where rows")],
  ["other columns", join, "json", error(malformed, "other columns")],
  ["a row without ?n", join, "json", error(malformed, "leaves ?n unbound")],
  ["a row without ?s", join, "xml", error(malformed, "leaves ?s unbound")],
  ["a row without ?s", exists, "json", error(malformed, "other columns")],
  ["a row without ?n", select, "json", error(malformed, "leaves ?n unbound"), federation],
  ["a row without ?n", union, "xml", marked("partial"), partial],
  ["Latin-1", union, "json", error(malformed, "not UTF-8")],
  ["an error as CSV", union, "json", error(malformed, "Timeout: try again")],
  ["an error in JSON", join, "xml", error(brokeOff, "no index of <x:p>")],
  ["cut without a sign", union, "json", error(inPart, "exactly 1000 rows")],
  ["cut without a sign", select, "json", error(inPart, "exactly 1000 rows")],
  ["other columns", select, "json", error(malformed, "other columns"), federation],
  ["no columns", select, "json", marked("partial"), { ...federation, ...partial }],
  ["400 as text", union, "json", marked("partial"), partial],
  ["400 as text", union, "tsv", told, partial],
  ["an error in JSON", union, "xml", marked("partial"), partial],

  // Members that fail before and behind the first byte.
  ["a late 500", union, "json", error("ENDPOINT_FAILED", "Out of <x:order>")],
  ["a late 500", union, "csv", error("ENDPOINT_FAILED", "Out of <x:order>")],
  ["a late 500", select, "json", error("ENDPOINT_FAILED", "Out of <x:order>"), federation],
  ["a late reset", union, "tsv", error("ENDPOINT_UNREACHABLE")],
  ["a late 500", union, "tsv", told, partial],
  ["cut behind many rows", union, "json", cut(brokeOff)],
  ["cut behind many rows", union, "json", marked("running"), partial],
  ["a trace behind many rows", union, "xml", marked("running"), partial],
  ["cut behind many rows", union, "csv", cut(inPart), partial],
  ["cut behind many rows", union, "tsv", cut(inPart), partial],
  ["cut behind many rows", graphs, "turtle", marked("running"), partial],
  ["cut behind many rows", graphs, "ntriples", marked("running"), partial],
  ["cut behind many rows", graphs, "jsonld", marked("running"), partial],
  ["cut behind many rows", graphs, "rdfxml", marked("running"), partial],
  ["cut behind many rows", select, "json", marked("running"), { ...federation, ...partial }],
  ["cut behind many rows", union, "json", marked("partial"), { at: "table", ...partial }],

  // SILENT.
  ["400 as text", silent, "json", noted],
  ["a boolean", silent, "csv", noted],
  ["an error in JSON", silentJoin, "json", noted],
  ["other columns", silentJoin, "xml", noted],
  ["a row without ?n", silentJoin, "json", noted],
  ["Latin-1", silentJoin, "tsv", noted],
];

const attempts = lines.map(
  ([lie, query, format, truth, more]): Attempt => Object.assign({ lie, query, format, truth }, more),
);
const idOf = (attempt: Attempt): string => `bad${attempts.indexOf(attempt)}`;

let endpoints: Awaited<ReturnType<typeof startLyingEndpoints>>;
let app: App;
let base: string;
beforeAll(async () => {
  endpoints = await startLyingEndpoints();
  const urls = Object.fromEntries(
    attempts.map((attempt) => [idOf(attempt), endpoints.url(attempt.lie, idOf(attempt))]),
  );
  const files = Object.fromEntries(
    attempts
      .filter(({ at }) => at === "federation")
      .map((attempt) => {
        const id = `all-${idOf(attempt)}`;
        return [`${id}.ttl`, federationTurtle(id, `fedway:member "good", "${idOf(attempt)}"`)];
      }),
  );
  const good = { good: endpoints.url("none", "good"), other: endpoints.url("none", "other") };
  app = await openService({ ...good, ...urls }, { FEDWAY_HOST_RATE: "0" }, files);
  base = await app.listen();
}, 60_000);
afterAll(async () => {
  await app?.close();
  await endpoints?.close();
});

interface Seen {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  /** Undefined where it broke off. */
  readonly body: string | undefined;
  readonly record: RunRecord;
}

async function run(attempt: Attempt): Promise<Seen> {
  const { query, at, format } = attempt;
  const id = idOf(attempt);
  const named = query
    .replace("<good>", `<${endpoints.url("none", "good")}>`)
    .replace("<bad>", `<${endpoints.url(attempt.lie, id)}>`);
  const own = at === "federation" ? `/federations/all-${id}/sparql` : `/endpoints/${id}/sparql`;
  const path = named === query ? own : "/sparql";
  endpoints.holdTails();
  // A table has its head when all of it is there.
  if (at === "table") endpoints.goOn();
  const response = await post(
    at === "table" ? "/api/query" : path,
    at === "table" ? JSON.stringify({ query: named, partial: true }) : form(named, attempt),
    { accept: at === "table" ? "application/json" : mediaTypes[format] },
  );
  endpoints.goOn();
  const body = await readText(response).catch(() => undefined);
  const runId = String(response.headers["fedway-run"] ?? (JSON.parse(body ?? "{}") as { run?: string }).run);
  const record = await until(async () => {
    const found = await app.queries.runRecord(runId);
    return found !== undefined && found.status !== "running" ? found : undefined;
  });
  return { status: response.statusCode ?? 0, headers: response.headers, body, record };
}

const form = (query: string, { partial: inPartToo }: Pick<Attempt, "partial">): string =>
  new URLSearchParams({ query, ...(inPartToo && { partial: "true" }) }).toString();

/** Without `fetch`: a body that breaks off still has a head. */
const post = (path: string, body: string, headers: Record<string, string>): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const type = body.startsWith("{") ? "application/json" : "application/x-www-form-urlencoded";
    const options = { method: "POST", headers: { ...headers, "content-type": type, connection: "close" } };
    send(`${base}${path}`, options, resolve).once("error", reject).end(body);
  });

/** What a reader of the document alone sees of it. */
function saysPartial(body: string, format: Format, at: Attempt["at"]): boolean {
  if (at === "table") return (JSON.parse(body) as { status: string }).status === "partial";
  if (format === "json") return (JSON.parse(body) as { fedway?: { status: string } }).fedway?.status === "partial";
  if (format === "jsonld") return JSON.stringify(JSON.parse(body)).includes('{"fedway":{"status":"partial"');
  const isXml = format === "xml" || format === "rdfxml";
  return (isXml ? /<!-- Fedway: [^>]*partial[^>]* -->\s*<\/[\w:]+>\s*$/u : /\n# Fedway: .*partial.*\n$/u).test(body);
}

const check: Readonly<Record<string, (seen: Seen, truth: never, attempt: Attempt) => void>> = {
  code: ({ status, body, record }, { code, words }: ReturnType<typeof error>, attempt) => {
    expect(status).toBeGreaterThanOrEqual(400);
    const problem = JSON.parse(body ?? "") as { code: string; detail: string; where?: unknown };
    expect(problem).toMatchObject({ code, where: { endpoint: idOf(attempt) } });
    expect(problem.detail).toContain(words);
    expect(problem.detail).not.toMatch(/\p{C}/u);
    expect(problem.detail.length).toBeLessThan(600);
    expect(record).toMatchObject({ status: "failed", code, detail: problem.detail });
    expect(record.sources).toContainEqual(expect.objectContaining({ endpoint: idOf(attempt), reason: code }));
  },
  marked: ({ status, headers, body, record }, truth: ReturnType<typeof marked>, { format, at }) => {
    expect({ status, complete: body !== undefined }).toEqual({ status: 200, complete: true });
    if (at !== "table") expect(headers["fedway-status"]).toBe(truth.head);
    if (truth.marked) expect(saysPartial(body ?? "", format, at)).toBe(true);
    expect(record).toMatchObject({ status: "partial", partial: "subset" });
  },
  cut: ({ status, headers, body, record }, truth: ReturnType<typeof cut>) => {
    expect({ status, said: headers["fedway-status"], body }).toEqual({ status: 200, said: "running", body: undefined });
    expect(record).toMatchObject({ status: "failed", code: truth.cut });
  },
  note: ({ status, headers, record }, _truth, attempt) => {
    expect({ status, notes: headers["fedway-notes"] }).toEqual({ status: 200, notes: "SILENCED" });
    expect(record.status).toBe("ok");
    expect(record.sources).toContainEqual(expect.objectContaining({ endpoint: idOf(attempt), status: "silenced" }));
    expect(record.notes).toContainEqual(expect.objectContaining({ code: "SILENCED" }));
  },
};

it("nothing is said of answers that are whole", async () => {
  for (const [query, format] of [
    [wrapped, "json"],
    [join, "json"],
    [join, "xml"],
    [graphs, "turtle"],
    [graphs, "jsonld"],
  ] as const) {
    const named = query.replaceAll(/<(good|bad)>/gu, (_, name: string) => {
      return `<${endpoints.url("none", name === "good" ? "good" : "other")}>`;
    });
    const response = await post("/sparql", form(named, { partial: true }), { accept: mediaTypes[format] });
    const body = await readText(response);
    expect({ status: response.statusCode, said: /fedway/iu.test(body) }).toEqual({ status: 200, said: false });
    expect(body).toContain("x:s2");
  }
});

it.each(attempts.map((attempt) => [attempt.lie, attempt.query, attempt.format, attempt] as const))(
  "%s: %s in %s",
  async (_lie, _query, _format, attempt) => {
    const { truth } = attempt;
    const kind = ["code", "marked", "cut", "note"].find((name) => name in truth) ?? "";
    check[kind]?.(await run(attempt), truth as never, attempt);
    expect.hasAssertions();
  },
);
