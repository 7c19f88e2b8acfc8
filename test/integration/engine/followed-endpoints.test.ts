import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { federationTurtle } from "../../support/catalog-folder.ts";
import {
  type Federation,
  startEndpoints,
  startFederation,
  type TestEndpoints,
} from "../../support/federation-harness.ts";

// `SERVICE ?g` whose endpoints are named by data, over real sockets: the service with its evaluator processes.

let endpoints: TestEndpoints;
let federation: Federation;

beforeAll(async () => {
  endpoints = await startEndpoints({ registry: "", a: "", b: "", c: "" });
  const all = federationTurtle("all", 'fedway:member "registry", "c"');
  federation = await startFederation(endpoints.urls, {}, { "all.ttl": all });
});
afterAll(async () => {
  await federation?.close();
  await endpoints?.close();
});

const listed = (...targets: readonly string[]): string =>
  targets.map((target, at) => `<x:d${at}> <x:endpoint> ${target} .\n<x:d${at}> <x:about> <x:s${at}> .`).join("\n");

beforeEach(() => {
  endpoints.setData("registry", listed(...["a", "b"].map((name) => `<${endpoints.url(name)}>`)));
  endpoints.setData("a", '<x:s0> <x:name> "a0" .\n<x:s1> <x:name> "a1" .\n<x:s2> <x:name> "a2" .');
  endpoints.setData("b", '<x:s0> <x:name> "b0" .\n<x:s1> <x:name> "b1" .');
  endpoints.setData("c", '<x:s0> <x:town> "Graz" .\n<x:s1> <x:town> "Linz" .');
  for (const name of ["a", "b"]) endpoints.setFault(name, undefined);
  endpoints.clearRequests();
});

const binder = "SERVICE <registry> { ?d <x:endpoint> ?g }";
const nameOf = (url: string | null | undefined): string =>
  url?.replace(/^<(.*)>$/, (_, iri: string) => ["a", "b"].find((name) => endpoints.url(name) === iri) ?? iri) ?? "";

/** Rows as text, `?g` as the endpoint's name. */
async function rowsOf(query: string, options: Parameters<Federation["table"]>[1] = {}): Promise<readonly string[]> {
  const table = await federation.table(query, options);
  if (table.status !== "ok" && table.status !== "empty") {
    throw new Error(`${table.status} ${table.diagnosis?.code}: ${table.diagnosis?.detail} ${table.diagnosis?.next}`);
  }
  return table.rows.map((row) => row.map(nameOf).join(" ")).toSorted();
}

describe("SERVICE ?g named by data", () => {
  it("asks each endpoint that the other clauses name, and the run lists them", async () => {
    const query = `SELECT ?g ?n { ${binder} SERVICE ?g { ?s <x:name> ?n } }`;
    expect(await rowsOf(query)).toEqual(['a "a0"', 'a "a1"', 'a "a2"', 'b "b0"', 'b "b1"']);
    const { sources, plan } = await federation.table(query);
    expect(sources.map(({ endpoint, status }) => `${endpoint} ${status}`).toSorted()).toEqual([
      "a ok",
      "b ok",
      "registry ok",
    ]);
    expect(plan.endpoints.map(({ endpoint }) => endpoint)).toEqual(["registry", "?g"]);
    expect(endpoints.requests("c")).toHaveLength(0);
  });

  it("sends each endpoint only its own keys", async () => {
    const query =
      "SELECT ?g ?s ?n { SERVICE <registry> { ?d <x:endpoint> ?g ; <x:about> ?s } SERVICE ?g { ?s <x:name> ?n } }";
    expect(await rowsOf(query)).toEqual(['a x:s0 "a0"', 'b x:s1 "b1"']);
    const [asked] = endpoints.requests("a");
    expect(endpoints.requests("a")).toHaveLength(1);
    expect(JSON.stringify(asked)).not.toContain("x:s1");
  });

  it("joins what the pattern itself says of ?g", async () => {
    endpoints.setData("a", `<${endpoints.url("a")}> <x:name> "itself" .\n<${endpoints.url("b")}> <x:name> "other" .`);
    expect(await rowsOf(`SELECT ?g ?n { ${binder} SERVICE ?g { ?g <x:name> ?n } }`)).toEqual(['a "itself"']);
  });

  it("counts repetitions, and is asked once with DISTINCT", async () => {
    endpoints.setData("a", '<x:s0> <x:name> "one" .\n<x:s1> <x:name> "one" .');
    expect(await rowsOf(`SELECT ?n { ${binder} SERVICE ?g { ?s <x:name> ?n } FILTER(?n = "one") }`)).toEqual([
      '"one"',
      '"one"',
    ]);
    expect(await rowsOf(`SELECT DISTINCT ?g { ${binder} SERVICE ?g { ?s <x:name> ?n } }`)).toEqual(["a", "b"]);
    expect(await rowsOf(`SELECT (COUNT(*) AS ?all) { ${binder} SERVICE ?g { ?s <x:name> ?n } }`)).toEqual([
      '"4"^^<http://www.w3.org/2001/XMLSchema#integer>',
    ]);
  });

  it("comes after all clauses that may bind it, whatever else it shares with them", async () => {
    const query =
      "SELECT ?n ?t { SERVICE <c> { ?s <x:town> ?t } SERVICE <registry> { ?d <x:endpoint> ?g } SERVICE ?g { ?s <x:name> ?n } }";
    expect(await rowsOf(query)).toEqual(['"a0" "Graz"', '"a1" "Linz"', '"b0" "Graz"', '"b1" "Linz"']);
  });

  it("in OPTIONAL keeps solutions whose endpoint has nothing", async () => {
    const query =
      'SELECT ?g ?n { SERVICE <registry> { ?d <x:endpoint> ?g } OPTIONAL { SERVICE ?g { ?s <x:name> ?n } FILTER(?n = "b1") } }';
    expect(await rowsOf(query)).toEqual(["a ", 'b "b1"']);
    const two = `SELECT ?g ?n ?t { ${binder} OPTIONAL { SERVICE ?g { ?s <x:name> ?n } SERVICE <c> { ?s <x:town> ?t } } }`;
    expect(await rowsOf(two)).toEqual(['a "a0" "Graz"', 'a "a1" "Linz"', 'b "b0" "Graz"', 'b "b1" "Linz"']);
  });

  it("is bound by patterns over a federation's members, and by those of an endpoint's route", async () => {
    const query = "SELECT ?n { ?d <x:endpoint> ?g ; <x:about> ?s . SERVICE ?g { ?s <x:name> ?n } }";
    expect(await rowsOf(query, { federationId: "all" })).toEqual(['"a0"', '"b1"']);
    expect(await rowsOf(query, { endpointId: "registry" })).toEqual(['"a0"', '"b1"']);
  });

  it("tells blank nodes of one endpoint apart once, however often it is asked", async () => {
    const twice = Array.from({ length: 40 }, (_, at) => `<x:d${at}> <x:endpoint> <${endpoints.url("a")}> .`);
    endpoints.setData("registry", [...twice, `<x:e> <x:endpoint> <${endpoints.url("b")}> .`].join("\n"));
    endpoints.setData("a", '_:one <x:name> "one" .\n_:two <x:name> "two" .');
    const query = `SELECT DISTINCT ?s ?n { ${binder} SERVICE ?g { ?s <x:name> ?n } } LIMIT 30`;
    expect((await federation.table(query)).rows).toHaveLength(4);
    const counted = `SELECT (COUNT(DISTINCT ?s) AS ?all) (COUNT(*) AS ?rows) { ${binder} SERVICE ?g { ?s <x:name> ?n } }`;
    const [row] = (await federation.table(counted)).rows;
    expect(row?.map((cell) => cell?.split('"')[1])).toEqual(["4", "82"]);
  });

  it("has one solution for an endpoint that fails, with SILENT", async () => {
    endpoints.setFault("b", { kind: "status", status: 500 });
    expect(await rowsOf(`SELECT ?g ?n { ${binder} SERVICE SILENT ?g { ?s <x:name> ?n } }`)).toEqual([
      'a "a0"',
      'a "a1"',
      'a "a2"',
      "b ",
    ]);
    const failed = await federation.table(`SELECT ?g ?n { ${binder} SERVICE ?g { ?s <x:name> ?n } }`);
    expect([failed.status, failed.diagnosis?.code]).toEqual(["failed", "ENDPOINT_FAILED"]);
    const partial = await federation.table(`SELECT ?g ?n { ${binder} SERVICE ?g { ?s <x:name> ?n } }`, {
      partial: true,
    });
    expect([partial.status, partial.partial, partial.rows.length]).toEqual(["partial", "subset", 3]);
  });

  it.each([
    ["an endpoint that is not in the catalogue", "<http://no.example/sparql>", "http://no.example/sparql"],
    ["what is no URL", "<urn:x:y>", "urn:x:y"],
  ])("refuses %s by name, and with SILENT goes on", async (_, term, shown) => {
    endpoints.setData("registry", listed(`<${endpoints.url("a")}>`, term));
    const table = await federation.table(`SELECT ?n { ${binder} SERVICE ?g { ?s <x:name> ?n } }`);
    expect([table.status, table.diagnosis?.code]).toEqual(["failed", "SERVICE_TARGET_REFUSED"]);
    expect(table.diagnosis?.detail).toContain(shown);
    expect(table.diagnosis?.next).toContain("SILENT");
    const query = `SELECT ?n { ${binder} SERVICE SILENT ?g { ?s <x:name> ?n } }`;
    expect(await rowsOf(query)).toEqual(["", '"a0"', '"a1"', '"a2"']);
    const silent = await federation.table(query);
    expect(silent.sources.map(({ endpoint, status }) => `${endpoint} ${status}`)).toContain(`${shown} silenced`);
  });

  it.each(["", "SILENT"])("a text names no endpoint: it has no solutions, and no error %s", async (silent) => {
    endpoints.setData("registry", listed(`<${endpoints.url("a")}>`, '"http://no.example/text"'));
    const table = await federation.table(`SELECT ?n { ${binder} SERVICE ${silent} ?g { ?s <x:name> ?n } }`);
    expect([table.status, table.rows.length]).toEqual(["ok", 3]);
  });

  it("refuses more than 64 endpoints, with SILENT too", async () => {
    const many = (count: number): string =>
      listed(...Array.from({ length: count }, (_, at) => `<http://no.example/${at}>`));
    const query = `SELECT ?g { ${binder} SERVICE SILENT ?g { ?s <x:name> ?n } }`;
    endpoints.setData("registry", many(64));
    expect(await rowsOf(query)).toHaveLength(64);
    endpoints.setData("registry", many(65));
    const { status, diagnosis } = await federation.table(query);
    expect([status, diagnosis?.code, diagnosis?.detail]).toEqual([
      "failed",
      "SERVICE_TARGET_REFUSED",
      "The data name more than 64 endpoints for SERVICE ?g.",
    ]);
  });

  it("is no answer where nothing names an endpoint", async () => {
    endpoints.setData("registry", "");
    expect(await rowsOf(`SELECT * { ${binder} SERVICE ?g { ?s <x:name> ?n } }`)).toEqual([]);
    const { signal } = new AbortController();
    const text = `SELECT * { ${binder} SERVICE ?g { ?s <x:name> ?n } }`;
    const request = { text, signal, strict: false, partial: false, defaultGraphs: [], namedGraphs: [], maxRows: 10 };
    const explained = await federation.app.queries.table({ ...request, explainEmpty: true });
    expect([explained.status, explained.diagnosis?.code]).toEqual(["empty", "EMPTY_PATTERN"]);
    const open = await federation.table("SELECT * { SERVICE <a> { ?s ?p ?o } SERVICE ?g { ?s <x:name> ?n } }");
    expect(open.diagnosis?.code).toBe("SERVICE_VARIABLE_UNBOUND");
  });
});
