import { sparqlAsker } from "../../../support/sparql-asker.ts";
import { afterEach, describe, expect, it } from "vitest";
import { type ProbedConstruct, endpointView } from "../../../../src/registry/capabilities/capabilities.ts";
import { probeCapabilities } from "../../../../src/registry/capabilities/prober.ts";
import { createSparqlClient } from "../../../../src/outbound/client.ts";
import {
  type LimitedEndpoint,
  type LimitedEndpointOptions,
  type LimitedRequest,
  refuse,
  startLimitedEndpoint,
} from "../../../support/limited-endpoint.ts";

type Setting = Pick<Parameters<typeof probeCapabilities>[1], "requests">;

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

async function probe(limits: LimitedEndpointOptions, setting: Setting = {}) {
  const endpoint: LimitedEndpoint = await startLimitedEndpoint(limits);
  const client = createSparqlClient({
    version: "1",
    allowAddresses: ["127.0.0.0/8"],
    retry: { limit: 0 },
  });
  opened.push(endpoint, client);
  const { signal } = new AbortController();
  const target = { id: "limited", url: endpoint.url };
  const asker = sparqlAsker({ client });
  let answerBytes = 0;
  const capabilities = await probeCapabilities(target, {
    asker: {
      ...asker,
      async ask(request) {
        const answer = await asker.ask(request);
        answerBytes += answer.bytes;
        return answer;
      },
    },
    pauseMs: 0,
    signal,
    ...setting,
  });
  return { capabilities, endpoint, answerBytes };
}

const saying =
  (pattern: RegExp, status = 400) =>
  ({ query }: LimitedRequest) =>
    pattern.test(query) ? refuse("Parse error", status) : undefined;

describe("a whole endpoint", () => {
  it("Oxigraph: everything but the zero-length path from a term that is in no triple", async () => {
    const { capabilities, endpoint } = await probe({});
    const { constructs, ...rest } = capabilities;
    const wrong = Object.entries(constructs).filter(([, { verdict }]) => verdict !== "right");
    expect(wrong.map(([name, { verdict, detail }]) => [name, verdict, detail])).toEqual([
      ["zeroLengthPath", "wrong", "0 rows"],
    ]);
    expect(Object.keys(constructs)).toHaveLength(14);
    expect(rest).toEqual({
      endpoint: endpoint.url,
      probedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/u),
      reachable: true,
      methods: ["post-form", "post-direct", "get"],
      formats: [
        "application/sparql-results+json",
        "application/sparql-results+xml",
        "text/csv",
        "text/tab-separated-values",
        "text/turtle",
        "application/n-triples",
        "application/rdf+xml",
      ],
      wholeRows: 20_000,
      maxValuesRows: 10_000,
      maxUrlBytes: 8_192,
    });
    expect(endpoint.requests.length).toBeLessThan(45);
    expect(endpoint.requests.map(({ urlBytes }) => urlBytes)).toEqual(expect.arrayContaining([2_048, 8_192]));
  });
  it.each([
    ["in all formats", {}],
    [
      "without CSV and TSV",
      { instead: ({ accept }: LimitedRequest) => (/csv|tab-/u.test(accept) ? refuse("no", 406) : undefined) },
    ],
  ])("is probed for at most 100 kB %s", async (_, limits) => {
    const { capabilities, answerBytes } = await probe(limits);
    expect(capabilities.wholeRows).toBe(20_000);
    expect(answerBytes).toBeLessThan(100_000);
  });
  it("what it finds does not depend on the data", async () => {
    const data = Array.from({ length: 200 }, (_, n) => `<urn:x:a> <urn:x:p> "${n}" .\n_:b${n} <urn:q> <urn:x:a> .\n`);
    const shown = ({ capabilities }: Awaited<ReturnType<typeof probe>>) => ({
      ...capabilities,
      endpoint: "",
      probedAt: "",
      constructs: Object.entries(capabilities.constructs)
        .filter(([name]) => name !== "zeroLengthPath")
        .map(([name, { verdict }]) => [name, verdict]),
    });
    const empty = shown(await probe({}));
    expect(shown(await probe({ data: data.join("") }))).toEqual(empty);
    expect(empty.constructs).toHaveLength(13);
  });
});

/** Enough for the canary, the methods and the constructs. */
const constructsOnly = { requests: 22 };

const refusals: readonly [ProbedConstruct, RegExp][] = [
  ["aggregates", /AVG/u],
  ["groupHaving", /HAVING/u],
  ["minus", /MINUS/u],
  ["subquery", /\{ SELECT/u],
  ["optional", /OPTIONAL/u],
  ["valuesUndef", /UNDEF/u],
  ["notExists", /NOT EXISTS/u],
  ["blankNodes", /BNODE/u],
  ["typedLiterals", /@en\b.*\} \}$/u],
  ["aggregateTruth", /COUNT\(\*\)/u],
];

describe("a construct that is refused", () => {
  it.each(refusals)("%s", async (construct, pattern) => {
    const { capabilities } = await probe({ instead: saying(pattern) }, constructsOnly);
    const outcome = capabilities.constructs[construct];
    expect(outcome).toMatchObject({
      verdict: "refused",
      detail: expect.stringMatching(/ENDPOINT_REJECTED_QUERY.*Parse error/u),
    });
    expect(capabilities).toMatchObject({ reachable: true });
    expect([...(endpointView(capabilities)?.lacks ?? [])].toSorted()).toEqual([construct, "zeroLengthPath"].toSorted());
  });
  it("CONSTRUCT, and with it the graph formats", async () => {
    const { capabilities } = await probe({ instead: saying(/^CONSTRUCT/u) });
    expect(capabilities.constructs.construct?.verdict).toBe("refused");
    expect(capabilities.formats).toHaveLength(4);
  });
  it("VALUES: inline data are written with BIND, and everything else is still found", async () => {
    const { capabilities, endpoint } = await probe({ instead: saying(/VALUES/u) });
    expect(capabilities).toMatchObject({ reachable: true, wholeRows: 20_000, maxUrlBytes: 8_192 });
    expect(capabilities.maxValuesRows).toBeUndefined();
    expect([...(endpointView(capabilities)?.lacks ?? [])].toSorted()).toEqual([
      "values",
      "valuesUndef",
      "zeroLengthPath",
    ]);
    // One asks for known terms in Turtle, in which the endpoint answers unasked.
    expect(endpoint.requests.filter(({ query }) => query.includes("VALUES"))).toHaveLength(4);
  });
});

const misreadings: readonly [ProbedConstruct, (query: string) => string, string][] = [
  ["aggregates", (query) => query.replace("AVG(?x)", "MAX(?x)"), "1 row: 3, 6, 3"],
  ["groupHaving", (query) => query.replace(/HAVING.*$/u, ""), "2 rows:"],
  ["minus", (query) => query.replace(/MINUS \{[^}]*\}[^}]*\}/u, ""), "3 rows: 1 | 2 | 3"],
  ["subquery", (query) => query.replace("ORDER BY ?x LIMIT 2", "LIMIT 3"), "3 rows:"],
  ["optional", (query) => query.replace("OPTIONAL", ""), "1 row: 1, 10"],
  ["notExists", (query) => query.replace("NOT EXISTS", "EXISTS"), "0 rows"],
  ["blankNodes", (query) => query.replace("BNODE()", "UUID()"), "1 row: NamedNode urn:uuid:"],
  ["typedLiterals", (query) => query.replace('"x"@en', '"x"@de'), "3 rows:"],
  ["aggregateTruth", (query) => query.replace("COUNT(*)", "(COUNT(*) / 10)"), "1 row: 10000"],
  ["construct", (query) => query.replace(/^CONSTRUCT.*/u, "CONSTRUCT { <urn:x:s> <urn:x:p> 1 } {}"), "1 row:"],
];

describe("a construct that is answered wrongly", () => {
  it.each(misreadings)("%s", async (construct, misread, detail) => {
    const { capabilities } = await probe({ misread }, constructsOnly);
    expect(capabilities.constructs[construct]).toMatchObject({
      verdict: "wrong",
      detail: expect.stringContaining(detail),
    });
    expect(endpointView(capabilities)?.lacks).toContain(construct);
  });
});

it("an endpoint that knows neither VALUES nor BIND is there, and what it refuses is known", async () => {
  const { capabilities } = await probe({ instead: saying(/VALUES|BIND|COUNT|MINUS|EXISTS|\{ SELECT|BNODE\(|:p>\*/u) });
  expect(capabilities).toMatchObject({ reachable: true, formats: [] });
  expect(capabilities.methods).toEqual(["post-form", "post-direct", "get"]);
  expect([...(endpointView(capabilities)?.lacks ?? [])].toSorted()).toEqual([
    "aggregateTruth",
    "aggregates",
    "blankNodes",
    "groupHaving",
    "minus",
    "notExists",
    "subquery",
    "values",
    "valuesUndef",
    "zeroLengthPath",
  ]);
});

describe("an endpoint that fails", () => {
  it("refuses everything: nothing but the canary in its three spellings", async () => {
    const { capabilities, endpoint } = await probe({ instead: () => refuse("no", 403) });
    expect(capabilities).toMatchObject({ reachable: false, methods: [], formats: [] });
    expect(capabilities.constructs).toEqual({ values: expect.objectContaining({ verdict: "failed" }) });
    expect(endpoint.requests.map(({ method }) => method)).toEqual([
      "post-form",
      "get",
      "post-form",
      "get",
      "post-form",
      "post-direct",
      "get",
    ]);
    expect(endpointView(capabilities)).toBeUndefined();
  });
  it("answers with a page", async () => {
    const { capabilities, endpoint } = await probe({
      instead: () => ({ status: 200, mediaType: "text/html", body: "<html></html>" }),
    });
    expect(capabilities).toMatchObject({ reachable: false });
    expect(endpoint.requests.map(({ method }) => method)).toEqual(["post-form", "get"]);
  });
  it("has no row where three were asked for: a wrong canary is no reachable endpoint", async () => {
    const { capabilities } = await probe({ misread: () => "SELECT ?x WHERE { ?x <urn:none> ?y }" });
    expect(capabilities).toMatchObject({ reachable: false, constructs: { values: { verdict: "failed" } } });
  });
  it("goes away in the middle: the doubtful finding is dropped, the earlier ones count", async () => {
    let gone = false;
    const { capabilities } = await probe({
      instead: ({ query }) => {
        gone ||= query.includes("OPTIONAL");
        return gone ? refuse("banned", 403) : undefined;
      },
    });
    expect(capabilities).toMatchObject({ reachable: true, unfinished: true });
    expect(capabilities.constructs.subquery?.verdict).toBe("right");
    expect(Object.keys(capabilities.constructs)).toEqual(["values", "aggregates", "groupHaving", "minus", "subquery"]);
  });
  it("a 500 and a rate limit say nothing about the construct", async () => {
    const { capabilities } = await probe({
      instead: (request) => saying(/MINUS/u, 500)(request) ?? saying(/HAVING/u, 429)(request),
    });
    expect(capabilities.constructs).toMatchObject({ minus: { verdict: "failed" } });
    expect(endpointView(capabilities)?.lacks).not.toContain("minus");
    expect(endpointView(capabilities)?.lacks).not.toContain("groupHaving");
  });
});

describe("limits", () => {
  it.each([
    [10_000, 10_000],
    [1_000, 1_000],
    [20_000, undefined],
  ])("%i rows at most", async (rowCap, expected) => {
    const { capabilities } = await probe({ rowCap });
    expect(capabilities.rowCap).toBe(expected);
    expect(endpointView(capabilities)?.silentRowCap).toBe(expected);
    expect(capabilities.wholeRows).toBe(expected === undefined ? 20_000 : undefined);
  });
  it("a cap that the endpoint tells of is not silent", async () => {
    const row = '{"d4":{"type":"literal","value":"1"}}';
    const body = `{"head":{"vars":["d4"]},"results":{"bindings":[${Array<string>(50).fill(row).join(",")}]}}`;
    const { capabilities } = await probe({
      instead: ({ query }) =>
        query.includes("SELECT ?d4")
          ? { status: 200, mediaType: "application/sparql-results+json", body, headers: { "X-SPARQL-MaxRows": "50" } }
          : undefined,
    });
    expect(capabilities).toMatchObject({ rowCap: 50, rowCapSilent: false });
    expect(endpointView(capabilities)?.silentRowCap).toBeUndefined();
  });
  it("a number of rows that changes is no cap", async () => {
    let rows = 5_000;
    const { capabilities } = await probe({
      misread: (query) => (query.includes("SELECT ?d4") ? `SELECT * { { ${query} } } LIMIT ${rows++}` : query),
    });
    expect([capabilities.rowCap, capabilities.wholeRows]).toEqual([undefined, undefined]);
  });
  it("rows that an anytime query left out are no cap", async () => {
    const body = '{"head":{"vars":["d4"]},"results":{"bindings":[{"d4":{"type":"literal","value":"1"}}]}}';
    const { capabilities } = await probe({
      instead: ({ query }) =>
        query.includes("SELECT ?d4")
          ? { status: 200, mediaType: "application/sparql-results+json", body, headers: { "X-SQL-State": "S1TAT" } }
          : undefined,
    });
    expect([capabilities.rowCap, capabilities.wholeRows]).toEqual([undefined, undefined]);
  });
  it("100 join keys", async () => {
    const { capabilities } = await probe({ instead: saying(/probe\/00100>/u) });
    expect(capabilities.maxValuesRows).toBe(100);
  });
  it("URLs of 4 KiB", async () => {
    const { capabilities } = await probe({
      instead: ({ urlBytes }) => (urlBytes > 4_096 ? refuse("too long", 414) : undefined),
    });
    expect(capabilities.maxUrlBytes).toBe(2_048);
  });
  it("only GET", async () => {
    const { capabilities, endpoint } = await probe({
      instead: ({ method }) => (method === "get" ? undefined : refuse("no POST", 405)),
    });
    expect(capabilities).toMatchObject({
      reachable: true,
      methods: ["get"],
      constructs: { minus: { verdict: "right" } },
    });
    expect(capabilities.maxValuesRows).toBeUndefined();
    expect(endpoint.requests.slice(-5).map(({ method }) => method)).toEqual(Array<string>(5).fill("get"));
  });
  it("one format whatever is asked for", async () => {
    const { capabilities } = await probe({
      instead: ({ query }) =>
        query.startsWith("SELECT") && query.includes("1.5E3")
          ? { status: 200, mediaType: "text/csv", body: knownInCsv(query.includes("BNODE()") ? ",_:b0" : "") }
          : undefined,
    });
    expect(capabilities.formats.filter((type) => !/rdf|triples|turtle/u.test(type))).toEqual(["text/csv"]);
  });
});

describe("bounds", () => {
  it("the budget ends the run; what is missing is absent", async () => {
    const { capabilities, endpoint } = await probe({}, { requests: 7 });
    expect(endpoint.requests).toHaveLength(7);
    expect(Object.keys(capabilities.constructs)).toEqual(["values", "aggregates", "groupHaving", "minus"]);
    expect(capabilities).toMatchObject({ reachable: true, unfinished: true, formats: [] });
  });
  it("an aborted run is cancelled", async () => {
    const endpoint = await startLimitedEndpoint();
    const client = createSparqlClient({ version: "1", allowAddresses: ["127.0.0.0/8"] });
    opened.push(endpoint, client);
    const options = { asker: sparqlAsker({ client }), pauseMs: 5_000, signal: AbortSignal.timeout(50) };
    const run = probeCapabilities({ url: endpoint.url }, options);
    await expect(run).rejects.toMatchObject({ code: "CANCELLED" });
    expect(endpoint.requests.length).toBeLessThan(3);
  });
});

it.each([
  ["text/turtle", "CONSTRUCT", '<urn:x:s> <urn:x:p> 1500.0, "x"@en .', "doubles are decimals, as in Virtuoso's"],
  ["text/turtle", "CONSTRUCT", '<urn:x:s> <urn:x:p> 1.5E3, "x" .', "languages are lost"],
  [
    "application/rdf+xml",
    "CONSTRUCT",
    "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'/>",
    "is empty",
  ],
  ["text/csv", "SELECT ?x", knownInCsv(",b0"), "blank nodes are strings, as in Fuseki's"],
  ["text/csv", "SELECT ?x", knownInCsv(",urn:b:0"), "blank nodes are IRIs"],
  ["text/tab-separated-values", "SELECT ?x", '"x"\nurn:x:i\n"l"\n5\n1500.0\n"a\\tb\\nc\\\\d\\"e"\n', "is Virtuoso's"],
  [
    "text/tab-separated-values",
    "SELECT ?x",
    '?x\n<urn:x:i>\n"l"@en\n5\n1500.0E0\n"a b\\nc\\\\d\\"e"\n',
    "has a space for a tab, as QLever's",
  ],
])("%s is no format of an endpoint where its %s answers %s: %s", async (mediaType, form, body) => {
  const { capabilities } = await probe({
    instead: ({ query, accept }) =>
      accept === mediaType && query.startsWith(form)
        ? { status: 200, mediaType, body, headers: { server: "Homemade/1" } }
        : undefined,
  });
  expect(capabilities.formats).toContain("application/n-triples");
  expect(capabilities.formats).not.toContain(mediaType);
});

it.each([
  ["namespaces", "urn:ns:x", { bif: "urn:ns:", yago: "urn:ns:" }],
  ["something else", "no namespace", undefined],
])("prefixes are known where an endpoint gives %s, whatever it calls itself", async (_, value, expected) => {
  const { capabilities } = await probe({
    instead: ({ query }) => {
      if (!query.includes("bif:x")) return undefined;
      const vars = [...query.matchAll(/AS \?(\w+)/gu)].map(([, name = ""]) => name);
      const cells = vars.map((name) => [name, { type: "literal", value }]);
      const bindings = [Object.fromEntries(cells)];
      const headers = { "content-type": "application/sparql-results+json", server: "Fuseki" };
      return { status: 200, headers, body: JSON.stringify({ head: { vars }, results: { bindings } }) };
    },
  });
  if (expected === undefined) expect(capabilities.predefinedPrefixes).toBeUndefined();
  else expect(capabilities.predefinedPrefixes).toMatchObject(expected);
});

/** The terms that a probe of formats asks for, each with what stands for its blank node. */
function knownInCsv(blankNode: string): string {
  const rows = ["urn:x:i", "l", "5", "1.5E3", '"a\tb\nc\\d""e"'].map((value) => value + blankNode);
  return [blankNode === "" ? "x" : "x,b", ...rows, ""].join("\r\n");
}
