import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { isDeepStrictEqual, promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { federationTurtle } from "../support/catalog-folder.ts";
import { listening } from "../support/listening.ts";
import { newFolder } from "../support/scratch-folder.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { askJavaScript, type Met, type Situation } from "./clients/situations.ts";

// Client libraries with their defaults, in the situations that their users meet: an answer is right, or an error that nobody
// overlooks. README.md has the table.

const run = promisify(execFile);
const here = (path: string): string => new URL(path, import.meta.url).pathname;

let service: RunningService;
let broken: Awaited<ReturnType<typeof brokenEndpoint>>;
let met: readonly Met[];

/** Ends every answer in the middle of a row, without the chunk that says that it has ended. */
async function brokenEndpoint() {
  const row = '{"s":{"type":"uri","value":"urn:s"}}';
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "Content-Type": "application/sparql-results+json" });
    response.write(`{"head":{"vars":["s"]},"results":{"bindings":[${`${row},`.repeat(30_001)}`, () =>
      setImmediate(() => response.destroy()),
    );
  });
  return listening(server);
}

const foaf = "http://xmlns.com/foaf/0.1/";
const named = `?s <${foaf}name> ?name`;
const names = `SELECT ?s ?name WHERE { ${named} } ORDER BY ?name LIMIT 3`;
const constructed = `CONSTRUCT { ${named} } WHERE { { SELECT * WHERE { ${named} } ORDER BY ?name LIMIT 3 } }`;
const column = `SELECT ?x WHERE { VALUES ?x { UNDEF "a" UNDEF "b" UNDEF UNDEF } }`;
/** Twenty kilobytes of query. */
const long = `SELECT ?s WHERE { ?s <${foaf}name> ?name FILTER(?name IN (${Array.from({ length: 700 }, (_, n) => `"name number ${n + 10_000}"`).join(", ")}, "Gonçalo Conceição")) }`;

const [people, both] = ["/endpoints/people/sparql", "/federations/both/sparql"];
/** Endpoints for each client: one that has failed often is left alone. */
const dead = "/endpoints/dead-CLIENT/sparql";
const threeRows: Met["outcome"] = [
  ["https://people.example/id/P-000106", "Andrés Bermúdez"],
  ["https://people.example/id/P-000532", "Andrés Tlatoa"],
  ["https://people.example/id/P-000464", "Andrés Tlatoa"],
];
const sixRows: Met["outcome"] = [[null], ["a"], [null], ["b"], [null], [null]];
const twoRows: Met["outcome"] = [["https://people.example/id/P-000551"], ["https://people.example/id/P-000371"]];
const directed = `SELECT ?x WHERE { BIND(STRLANGDIR("d", "ar", "rtl") AS ?x) }`;

/** What is right; undefined: an error. */
type Right = Met["outcome"] | undefined;
type Asked = readonly [situation: string, path: string, form: Situation["form"], query: string, right: Right];
const asked: readonly Asked[] = [
  ["complete", people, "SELECT", names, threeRows],
  ["complete, federated", both, "SELECT", names, threeRows],
  ["CONSTRUCT", people, "CONSTRUCT", constructed, 3],
  ["CONSTRUCT, federated", both, "CONSTRUCT", constructed, 3],
  ["ASK, true", people, "ASK", `ASK WHERE { ${named} }`, true],
  ["ASK, false", people, "ASK", `ASK WHERE { ?s <${foaf}nothing> ?o }`, false],
  ["empty", people, "SELECT", `SELECT ?s WHERE { ?s <${foaf}nothing> ?o }`, []],
  ["unbound column", people, "SELECT", column, sixRows],
  ["unbound column, federated", both, "SELECT", column, sixRows],
  ["base direction", people, "SELECT", directed, [["d@ar--rtl"]]],
  ["base direction, federated", both, "SELECT", directed, [["d@ar--rtl"]]],
  ["20 kB of query", people, "SELECT", long, twoRows],
  ["broken off", "/endpoints/broken-CLIENT/sparql", "SELECT", "SELECT ?s WHERE { ?s ?p ?o }", undefined],
  ["400", people, "SELECT", "SELECT ?s WHERE { ?s ?p ", undefined],
  ["502", dead, "SELECT", "SELECT ?s WHERE { ?s ?p ?o }", undefined],
  ["502, ASK", dead, "ASK", "ASK WHERE { ?s ?p ?o }", undefined],
  ["502, CONSTRUCT", dead, "CONSTRUCT", "CONSTRUCT WHERE { ?s ?p ?o }", undefined],
  ["partial", "/federations/half/sparql?partial=true", "SELECT", names, threeRows],
];

const python = ["SPARQLWrapper", "rdflib", "pandas", "pyoxigraph", "sparqlite", "sparql_dataframe", "sparqldataframe"];
const others = ["Jena", "RDF4J", "fetch-sparql-endpoint", "sparql-http-client", "sparql-client-2", "LDkit"];
const clients = [...python, ...others];

/** As a part of a catalogue id; clients put it in where CLIENT stands. */
const idOf = (client: string): string => client.toLowerCase().replaceAll("_", "-");

const isLoud = (outcome: Met["outcome"]): outcome is { readonly error: string } =>
  typeof outcome === "object" && "error" in outcome;

beforeAll(async () => {
  const folder = (await run(here("../support/engines/fetch-clients.sh"))).stdout.trim();
  broken = await brokenEndpoint();
  const each = (id: string, origin: string) =>
    clients.map((client) => [`${id}-${idOf(client)}`, `${origin}/${idOf(client)}`]);
  service = await startService(
    Object.fromEntries([...each("broken", broken.origin), ...each("dead", "http://127.0.0.1:9")]),
    { FEDWAY_EXAMPLES: "on" },
    {
      "both.ttl": federationTurtle("both", `fedway:member "people", "places"`),
      "half.ttl": federationTurtle("half", `fedway:member "people", "dead-pandas"`),
    },
  );
  const situations = asked.map(([situation, path, form, query]) => ({
    situation,
    url: service.url + path,
    form,
    query,
  }));
  const file = join(newFolder(), "situations.json");
  await writeFile(file, JSON.stringify(situations));
  const lines = async (program: string, ...words: readonly string[]): Promise<readonly Met[]> => {
    const { stdout } = await run(program, words, { timeout: 300_000, maxBuffer: 1e8 });
    const printed = stdout.trim().split("\n");
    return printed.map((line): Met => JSON.parse(line));
  };
  met = [
    ...(await lines(`${folder}/python/bin/python`, here("clients/situations.py"), file)),
    ...(await lines("java", "-cp", `${folder}/jars/*`, here("clients/Situations.java"), file)),
    ...(await askJavaScript(situations, `${folder}/npm/node_modules`)),
  ];
}, 600_000);
afterAll(async () => {
  await service?.close();
  await broken?.close();
});

/** Where a client does not give what is right, and the reason is its own. */
const [secondQuestionMark, noDirection, noGraphs, noTypes] = ["error", [["d@ar"]], "error", [["d"]]];
const withoutUnbound = { "unbound column": [["a"], ["b"]], "unbound column, federated": [["a"], ["b"]] };
const withDirection = (shown: unknown) => ({ "base direction": shown, "base direction, federated": shown });
const exceptions: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  SPARQLWrapper: { partial: secondQuestionMark },
  rdflib: { ...withoutUnbound, ...withDirection(noDirection), partial: secondQuestionMark },
  pandas: withDirection(noTypes),
  sparql_dataframe: { ...withDirection(noTypes), partial: secondQuestionMark },
  sparqldataframe: withDirection(noTypes),
  "sparql-client-2": { CONSTRUCT: noGraphs, "CONSTRUCT, federated": noGraphs },
  "sparql-http-client": { ...withoutUnbound, ...withDirection(noDirection) },
  RDF4J: withDirection(noDirection),
  LDkit: withDirection(noTypes),
};

it.each(clients)("%s gives what is right, or an error", (client) => {
  const own = met.filter((one) => one.client === client);
  expect(own.length).toBeGreaterThanOrEqual(9);
  const differing: Record<string, unknown> = {};
  for (const { situation, outcome } of own) {
    const right = asked.find(([each]) => each === situation)![4];
    const shown = isLoud(outcome) ? "error" : outcome;
    if (!isDeepStrictEqual(shown, right ?? "error")) differing[situation] = shown;
  }
  expect(differing).toEqual(exceptions[client] ?? {});
});
