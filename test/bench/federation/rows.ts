import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { Store } from "oxigraph";
import { createComunicaEngine } from "../../../src/engine/comunica/comunica-engine.ts";
import { createInProcessExecutor } from "../../../src/engine/executor.ts";
import type { SparqlClient } from "../../../src/outbound/sparql-request.ts";
import { resultFormats } from "../../../src/results/formats.ts";
import { bytesOf } from "../../../src/results/gathered-body.ts";
import { toBounds, toFederatedPlan } from "../../support/engine-answer.ts";
import type { FederationOptions } from "./options.ts";
import { median, rounded, writeReport } from "../proxy/report.ts";

// What a row costs between the bytes of the endpoints' answers and the bytes of ours. The endpoints are in this process
// and answer what is asked from memory: an item has a subject, a label, a number and a group. Round numbers of rows would be
// taken for caps.
// Beside it, the processor time of the same query without its SERVICEs in one Oxigraph store that has the same items.

interface RowCase {
  readonly name: string;
  /** Rows that are joined, grouped, sorted or looked at in one run. */
  readonly rows: number;
  readonly query: string;
  /** Groups that the items are in; default 100. */
  readonly groups?: number;
}

const item = (index: number): string => `http://items.example/item/${index}`;

const integerType = "http://www.w3.org/2001/XMLSchema#integer";

/** The columns that a query asks for, of an item. */
const columns: Readonly<Record<string, (index: number, groups: number) => string>> = {
  s: (index) => `{"type":"uri","value":"${item(index)}"}`,
  label: (index) => `{"type":"literal","xml:lang":"en","value":"Label of the item ${(index * 7919) % 1_000_003}"}`,
  n: (index) => `{"type":"literal","datatype":"${integerType}","value":"${(index * 31) % 1_009}"}`,
  g: (index, groups) => `{"type":"uri","value":"http://items.example/group/${(index * 13) % groups}"}`,
};

/** Answers by request, in the pieces in which a socket would bring them. Made once: making them is no cost of ours. */
const answers = new Map<string, readonly Buffer[]>();

function answerOf(url: string, query: string): readonly Buffer[] {
  const request = `${url} ${query}`;
  const pieces = answers.get(request) ?? piecesOf(url, query);
  answers.set(request, pieces);
  return pieces;
}

function piecesOf(url: string, query: string): readonly Buffer[] {
  const [rows = 0, groups = 1] = new URL(url).pathname.split("/").slice(2).map(Number);
  const keys = [...query.matchAll(/items\.example\/item\/(\d+)>/g)].map(([, index]) => Number(index));
  const asked = keys.length > 0 ? keys : Array.from({ length: rows }, (_, index) => index);
  const head = query.slice(0, query.indexOf("WHERE"));
  const wanted = Object.entries(columns).filter(([name]) => head.split(" ").includes(`?${name}`));
  const rowText = (index: number): string =>
    `{${wanted.map(([column, textOf]) => `"${column}":${textOf(index, groups)}`).join(",")}}`;
  const vars = JSON.stringify(wanted.map(([column]) => column));
  const body = Buffer.from(`{"head":{"vars":${vars}},"results":{"bindings":[${asked.map(rowText).join(",\n")}]}}`);
  const pieces: Buffer[] = [];
  for (let from = 0; from < body.length; from += 65_536) pieces.push(body.subarray(from, from + 65_536));
  return pieces;
}

const client: SparqlClient = {
  async query({ endpoint, query }) {
    const body = Readable.from(answerOf(endpoint.url, query), { objectMode: false });
    const end = finished(body).then(() => ({ decodedBytes: 0, wireBytes: 0 }));
    end.catch(() => {});
    const mediaType = "application/sparql-results+json";
    return { status: 200, mediaType, contentEncoding: "identity", body, end, whole: undefined, requests: 1 };
  },
};

const pattern = "?s <urn:label> ?label ; <urn:n> ?n ; <urn:g> ?g";
const service = (rows: number, groups = 100, text = pattern): string =>
  `SERVICE <http://memory.example/items/${rows}/${groups}> { ${text} }`;

function casesOf(rows: number): RowCase[] {
  const all = service(rows);
  const grouped = (groups: number): RowCase => ({
    name: `GROUP BY, ${groups} groups`,
    rows,
    groups,
    query: `SELECT ?g (COUNT(*) AS ?c) (SUM(?n) AS ?sum) (MAX(?label) AS ?max) { ${service(rows, groups)} } GROUP BY ?g`,
  });
  const label = service(rows, 100, "?s <urn:label> ?label");
  const number = service(rows, 99, "?s <urn:n> ?n");
  // What has a LIMIT is no clause that could be asked by key.
  const limited = (text: string): string => `{ SELECT * { ${text} } LIMIT ${rows} }`;
  return [
    { name: "pass on", rows, query: `SELECT * { ${all} }` },
    { name: "bound join", rows, query: `SELECT * { ${label} ${number} }` },
    { name: "hash join", rows, query: `SELECT * { ${limited(label)} ${limited(number)} }` },
    { name: "DISTINCT", rows, query: `SELECT DISTINCT ?label ?n ?g { ${all} }` },
    ...[1_000, 10_000, 100_000].filter((groups) => groups <= rows).map(grouped),
    { name: "ORDER BY", rows, query: `SELECT ?s ?label { ${all} } ORDER BY ?label DESC(?n)` },
    { name: "FILTER", rows, query: `SELECT ?s { ${all} FILTER(?n > 500 && CONTAINS(STR(?label), "1")) }` },
    { name: "BIND", rows, query: `SELECT ?s ?b { ${all} BIND(CONCAT(STR(?label), "-", STR(?n + 1)) AS ?b) }` },
  ];
}

const json = resultFormats.find(({ name }) => name === "json");
const engine = createComunicaEngine({
  client: client,
  maxSolutions: 10_000_000,
  maxHeldBytes: 4 * 1024 ** 3,
  now: () => performance.now(),
});
const executor = createInProcessExecutor(engine);

const isAsked = (name: string, queries: readonly string[]): boolean =>
  queries.length === 0 || queries.some((part) => name.includes(part));

interface Sample {
  readonly ms: number;
  readonly cpuMs: number;
  readonly bytes: number;
  /** Above what was used before, as seen at the pieces of the answer. */
  readonly heapBytes: number;
}

async function sample({ query }: RowCase): Promise<Sample> {
  if (!json) throw new Error("There is no JSON format");
  const plan = toFederatedPlan(query);
  globalThis.gc?.();
  const heapBefore = process.memoryUsage().heapUsed;
  let [bytes, heap] = [0, 0];
  const watch = setInterval(() => (heap = Math.max(heap, process.memoryUsage().heapUsed)), 20);
  const [startedMs, cpu] = [performance.now(), process.cpuUsage()];
  const { body } = await executor.fetch(plan, { format: json }, toBounds());
  for await (const piece of bytesOf(body)) bytes += piece.length;
  clearInterval(watch);
  const { user, system } = process.cpuUsage(cpu);
  const ms = performance.now() - startedMs;
  return { ms, cpuMs: (user + system) / 1_000, bytes, heapBytes: heap - heapBefore };
}

/** The items as one store. */
function storeOf({ rows, groups = 100 }: RowCase): Store {
  const lines = Array.from({ length: rows }, (_, index) => {
    const label = `"Label of the item ${(index * 7919) % 1_000_003}"@en`;
    const number = `"${(index * 31) % 1_009}"^^<${integerType}>`;
    const group = `<http://items.example/group/${(index * 13) % groups}>`;
    return `<${item(index)}> <urn:label> ${label} ; <urn:n> ${number} ; <urn:g> ${group} .`;
  });
  const store = new Store();
  store.load(lines.join("\n"), { format: "text/turtle" });
  return store;
}

/** Processor time in which Oxigraph answers the same, its answer as JSON. */
function oxigraphCpuMs(store: Store, { query }: RowCase): number {
  const cpu = process.cpuUsage();
  store.query(query.replaceAll(/SERVICE <[^>]*>/g, ""), { results_format: "json" });
  const { user, system } = process.cpuUsage(cpu);
  return (user + system) / 1_000;
}

/** Measures what rows cost; `queries` are parts of the cases' names. @throws Error when an answer fails or differs */
export async function runRowsBench({ quick, queries }: FederationOptions): Promise<void> {
  const rounds = quick ? 3 : 7;
  const results = [];
  for (const one of casesOf(quick ? 20_011 : 100_003).filter(({ name }) => isAsked(name, queries))) {
    const samples: Sample[] = [];
    const store = storeOf(one);
    const oxigraph: number[] = [];
    await sample(one);
    for (let round = 0; round < rounds; round++) {
      samples.push(await sample(one));
      oxigraph.push(oxigraphCpuMs(store, one));
    }
    if (new Set(samples.map(({ bytes }) => bytes)).size > 1) throw new Error(`${one.name}: the answers differ`);
    const ms = median(samples.map((each) => each.ms));
    const cpuMs = median(samples.map((each) => each.cpuMs));
    const heapMb = Math.max(...samples.map(({ heapBytes }) => heapBytes)) / 1e6;
    const ofOxigraph = median(oxigraph) / cpuMs;
    const result = {
      name: one.name,
      rows: one.rows,
      ms,
      cpuMs,
      rowsPerSecond: (one.rows * 1_000) / ms,
      heapMb,
      ofOxigraph,
    };
    results.push(result);
    const shown = [result.rowsPerSecond, result.ms, result.cpuMs, heapMb, ofOxigraph];
    const numbers = shown.map((value) => rounded(value).padStart(8));
    process.stdout.write(`${one.name.padEnd(26)}${numbers.join("  ")}\n`);
  }
  process.stdout.write(
    `rows/s, ms, CPU ms, MB of heap, rows a second of processor time beside Oxigraph; written to ${await writeReport("rows", { results })}\n`,
  );
}
