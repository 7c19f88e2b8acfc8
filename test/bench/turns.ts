import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { holding } from "../support/held-loop.ts";
import { openRequestThread, type Received } from "../support/request-thread.ts";
import { entryTurtle, openService } from "../support/running-service.ts";
import { newFolder } from "../support/scratch-folder.ts";
import { syntheticEntries } from "../support/synthetic-catalog.ts";
import { type Measure, printTable, writeReport } from "./proxy/report.ts";

const count = 20_000;
/** Processor time that one turn of the main thread may take, milliseconds. */
const longestMs = 50;
const get = [
  "/",
  "/?q=ancient+coins",
  "/?q=dataset",
  "/?status=up",
  "/?cursor=15000",
  "/status",
  "/status?sort=latency",
  "/status?state=up",
  "/federations",
  "/incidents",
  "/incidents.atom",
  "/.well-known/void",
  "/api/endpoints",
  "/api/endpoints?limit=1000",
  "/api/endpoints?q=dataset&limit=1000",
  "/api/endpoints?q=ancient",
  "/api/status",
  "/api/search?q=dataset&limit=100",
  "/api/search?q=protien",
  "/api/federations",
  "/api/catalog",
  "/api/catalog/problems",
  "/health/ready",
  "/metrics",
  "/openapi.json",
  `/registry/sparql?query=${encodeURIComponent("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")}`,
];

const json = { "Content-Type": "application/json" };
const mcp = { ...json, Accept: "application/json, text/event-stream" };
const call = (method: string, params: object = {}): Buffer =>
  Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
const tool = (name: string, args: object): Buffer => call("tools/call", { name, arguments: args });
const entry = (id: string): Buffer => Buffer.from(entryTurtle(id, `https://${id}.example/sparql`));

const sent: readonly { name: string; method: string; url: string; headers?: Record<string, string>; body?: Buffer }[] =
  [
    ...get.map((url) => ({ name: `GET ${url}`, method: "GET", url })),
    {
      name: "GET /api/catalog as JSON-LD",
      method: "GET",
      url: "/api/catalog",
      headers: { Accept: "application/ld+json" },
    },
    {
      name: "GET /.well-known/void as JSON-LD",
      method: "GET",
      url: "/.well-known/void",
      headers: { Accept: "application/ld+json" },
    },
    // Loads the SDK.
    { name: "MCP, the first request", method: "POST", url: "/mcp", headers: mcp, body: call("resources/list") },
    { name: "MCP resources/list", method: "POST", url: "/mcp", headers: mcp, body: call("resources/list") },
    { name: "MCP list_endpoints", method: "POST", url: "/mcp", headers: mcp, body: tool("list_endpoints", {}) },
    {
      name: "MCP search_endpoints",
      method: "POST",
      url: "/mcp",
      headers: mcp,
      body: tool("search_endpoints", { query: "ancient coins" }),
    },
    {
      name: "PUT an entry",
      method: "PUT",
      url: "/api/endpoints/new",
      headers: { "Content-Type": "text/turtle" },
      body: entry("new"),
    },
    { name: "GET / after a change", method: "GET", url: "/" },
    { name: "DELETE an entry", method: "DELETE", url: "/api/endpoints/new" },
  ];

interface Spent {
  readonly longestMs: number;
  readonly totalMs: number;
}

const measureOf = (name: string, { longestMs: value, totalMs }: Spent, note = ""): Measure => ({
  name,
  fedway: `${note}${Math.round(totalMs)} ms in all`,
  value,
  unit: "ms",
  target: `< ${longestMs} ms`,
  met: value < longestMs,
});

/** The longest turn of the main thread over a catalogue of 20,000 entries: at the start, and with each request. */
export async function runTurnsBench({ quick }: { readonly quick: boolean }): Promise<void> {
  const client = openRequestThread();
  await client.endpoint();
  const env = { FEDWAY_CATALOG: catalogFolder(), FEDWAY_MONITOR: quick ? "off" : "on" };
  const opened = await holding(() => openService({}, env));
  if (!("value" in opened.outcome)) throw opened.outcome.thrown;
  const app = opened.outcome.value;
  const listening = await holding(() => app.listen());
  if (!("value" in listening.outcome)) throw listening.outcome.thrown;
  const measures = [measureOf("open", opened), measureOf("listen", listening)];
  try {
    for (const { name, headers = {}, ...request } of sent) {
      const url = listening.outcome.value + request.url;
      measures.push(
        await bestOf(name, request.method === "GET" ? 3 : 1, () => client.send({ ...request, headers, url })),
      );
    }
  } finally {
    await app.close();
    await client.close();
  }
  printTable(measures);
  process.stdout.write(`\nwritten to ${await writeReport("turns", { node: process.version, measures })}\n`);
}

function catalogFolder(): string {
  const folder = newFolder();
  for (const { id, url, title, description = "", keywords } of syntheticEntries(count)) {
    const words = keywords.map((word) => `"${word}"`).join(", ");
    const more = `; dcterms:description "${title}: ${description}" ; dcat:keyword ${words} .`;
    writeFileSync(join(folder, `${id}.ttl`), entryTurtle(id, url).replace(/\.$/, more));
  }
  return folder;
}

/** What other work of the runtime falls into (a collection of garbage) is not there every time. */
async function bestOf(name: string, rounds: number, send: () => Promise<Received>): Promise<Measure> {
  const found: Measure[] = [];
  for (let round = 0; round < rounds; round++) {
    const held = await holding(send);
    if (!("value" in held.outcome)) throw held.outcome.thrown;
    const { status, bytes } = held.outcome.value;
    found.push(measureOf(name, held, `${status}, ${bytes} bytes, `));
  }
  return found.reduce((best, each) => (each.value < best.value ? each : best));
}
