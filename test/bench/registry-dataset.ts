import { createRegistryGraphs, type RegistryKnowledge } from "../../src/dataset/registry-graphs.ts";
import { EndpointPool, storeMemoryMb } from "../../src/hosting/endpoint-pool.ts";
import { describedModels } from "../support/described-models.ts";
import { createFakeMonitor } from "../support/fake-monitor.ts";
import { syntheticDescription, syntheticEntries } from "../support/synthetic-catalog.ts";
import type { Measure } from "./proxy/report.ts";
import type { Capabilities } from "../../src/registry/capabilities.ts";
import { documentOf } from "../../src/registry/catalog.ts";
import { createCatalog } from "../support/catalog-entry.ts";

interface Size {
  readonly entries: number;
  readonly described: number;
  readonly classes: number;
}

const sizes: readonly Size[] = [
  { entries: 94, described: 60, classes: 100 },
  { entries: 5_000, described: 0, classes: 0 },
  { entries: 5_000, described: 500, classes: 40 },
];
const publicUrl = "http://127.0.0.1:3000";
const right = { verdict: "right", durationMs: 10 } as const;

/** The registry as a dataset: what it takes to build it, and to look through it for changes. */
export async function measureDataset(
  { quick }: { readonly quick: boolean },
  add: (measure: Measure) => void,
): Promise<void> {
  for (const size of quick ? sizes.slice(0, 1) : sizes) {
    const name = `dataset, ${size.entries} entries, ${size.described} described`;
    const { ask, clock, close } = open(size);
    const rss = process.memoryUsage.rss();
    const cpu = process.cpuUsage();
    const triples = await ask("SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }");
    const { user, system } = process.cpuUsage(cpu);
    add({ name: `${name}: triples`, fedway: "", value: Number(triples), unit: "" });
    add({ name: `${name}: build`, fedway: "", value: (user + system) / 1_000, unit: "ms" });
    add({ name: `${name}: memory`, fedway: "", value: (process.memoryUsage.rss() - rss) / 1_048_576, unit: "MB" });
    clock.nowMs += 61_000;
    const before = process.cpuUsage();
    await ask("ASK {}");
    const after = process.cpuUsage(before);
    add({ name: `${name}: look for changes`, fedway: "", value: (after.user + after.system) / 1_000, unit: "ms" });
    await close();
  }
}

function open({ entries: count, described, classes }: Size) {
  const entries = syntheticEntries(count);
  const descriptions = new Map(
    entries
      .slice(0, described)
      .map(({ id }, at) => [id, { ...syntheticDescription(at, { classes, properties: classes * 3 }), id }] as const),
  );
  const known = createCatalog(entries, [], { publicUrl });
  const document: RegistryKnowledge["catalog"]["document"] = (kind, id) => {
    const { keyAdapters: _, ...fields } = known.byId(id) ?? {};
    return { id, kind, origin: "file", quads: documentOf("endpoint", JSON.parse(JSON.stringify(fields))), etag: "" };
  };
  const constructs = { values: right, aggregates: right, minus: right, subquery: right, zeroLengthPath: right };
  const capabilitiesOf = new Map<string, Capabilities>(
    entries.map(({ id, url }) => [
      id,
      {
        endpoint: url,
        probedAt: "2026-01-01T00:00:00Z",
        reachable: true,
        constructs,
        methods: [],
        formats: ["text/csv"],
      },
    ]),
  );
  const clock = { nowMs: Date.UTC(2026, 0, 1), now: (): number => clock.nowMs };
  const mostTriples = Math.min(Math.max(2_500 * count, 150_000), 500_000);
  const source = createRegistryGraphs({
    catalog: { ...known, document },
    models: describedModels({ entries, descriptions }).models,
    descriptions: { get: async (id) => descriptions.get(id) },
    capabilities: { version: 1, known: (id) => capabilitiesOf.get(id) },
    monitor: createFakeMonitor({ endpoints: entries, nowMs: clock.nowMs }),
    publicUrl,
    clock,
    mostTriples,
  });
  const pool = new EndpointPool({
    timeoutMs: 60_000,
    totalMb: 1_024,
    maxAnswerBytes: 8_388_608,
    maxWaiting: 8,
    maxPerClient: 8,
  });
  const endpoint = pool.endpoint({
    id: "registry",
    source,
    memoryMb: storeMemoryMb({ bytes: 0, triples: mostTriples }, 128),
  });
  const ask = async (query: string): Promise<string> => {
    const kind = query.startsWith("ASK") ? "boolean" : "bindings";
    const accept = kind === "boolean" ? "application/sparql-results+json" : "text/csv";
    const { signal } = new AbortController();
    const { body } = await endpoint.query({ query, kind, accept, signal, timeoutMs: 600_000 });
    return body.toString().split("\r\n")[1] ?? "";
  };
  return { ask, clock, close: () => pool.close() };
}
