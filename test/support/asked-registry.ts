import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createRegistryGraphs } from "../../src/dataset/registry-graphs.ts";
import { vocabularyQuads } from "../../src/dataset/vocabulary.ts";
import { EndpointPool } from "../../src/hosting/endpoint-pool.ts";
import type { HttpDeps } from "../../src/http/http-deps.ts";
import type { Incident } from "../../src/monitor/monitor.ts";
import { openCatalog } from "../../src/registry/catalog/open-catalog.ts";
import { describedModels } from "./described-models.ts";
import { createFakeMonitor, type Fate } from "./fake-monitor.ts";
import { fakeSettings } from "./fake-query-service.ts";
import { fakeNowMs } from "./http-deps.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { incident } from "./monitor-records.ts";
import { newFolder } from "./scratch-folder.ts";
import type { Capabilities } from "../../src/registry/capabilities.ts";
import type { VoidDescription } from "../../src/registry/descriptions.ts";

/** The endpoints of the known state, and how they have fared. */
const fateOf: Readonly<Record<string, Fate>> = {
  alpha: "steady",
  beta: "flaky",
  delta: "silent",
  epsilon: "recovered",
  gamma: "down",
  shard: "young",
  wikidata: "steady",
};

const prefixes = `@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dcterms: <http://purl.org/dc/terms/> .
@prefix fedway: <https://w3id.org/fedway/ns#> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .`;
const endpoint = (id: string, more: string): string => `${prefixes}
[] a dcat:DataService ; dcterms:identifier "${id}" ; dcterms:title "The ${id}" ; dcat:endpointURL <https://${id}.example/sparql> ${more} .`;
const federation = (id: string, members: string): string => `${prefixes}
<> a fedway:Federation ; dcterms:identifier "${id}" ; dcterms:title "${id}" ; ${members} .`;

const files: Readonly<Record<string, string>> = {
  alpha: endpoint("alpha", '; dcat:keyword "biology" ; fedway:engine "virtuoso" ; fedway:rowCap 10000'),
  beta: endpoint("beta", '; dcat:keyword "biology", "geography" ; dcterms:license <https://licence.example/by>'),
  delta: endpoint("delta", '; dcat:keyword "geography"'),
  epsilon: endpoint("epsilon", "; foaf:homepage <https://epsilon.example/>"),
  gamma: endpoint("gamma", '; dcat:keyword "biology" ; fedway:mirrorOf "alpha"'),
  shard: endpoint("shard", "; fedway:subjectPartition <https://cells.example/1>"),
  wikidata: endpoint("wikidata", '; dcat:keyword "geography"'),
  "f-up": federation("f-up", 'fedway:member "alpha", "wikidata"'),
  "f-mixed": federation("f-mixed", 'fedway:memberKeyword "biology"'),
  "f-own": federation("f-own", 'fedway:member "alpha", "registry"'),
};

const ex = (name: string): string => `http://vocabulary.example/${name}`;
const count = (value: number, status: "exact" | "lowerBound" = "exact") => ({ value, status, record: 0 });

interface Described {
  readonly classes: readonly string[];
  readonly properties: readonly string[];
  readonly daysAgo: number;
  readonly source: VoidDescription["source"];
  readonly linkTo?: string;
}

const described: Readonly<Record<string, Described>> = {
  alpha: {
    classes: ["Person", "City"],
    properties: ["name", "knows"],
    daysAgo: 2,
    source: "computed",
    linkTo: "wikidata",
  },
  beta: { classes: ["Person"], properties: ["name"], daysAgo: 60, source: "retrieved", linkTo: "wikidata" },
  epsilon: { classes: ["Person", "Gene"], properties: ["name", "encodes"], daysAgo: 31, source: "mixed" },
  gamma: { classes: ["Person", "Gene"], properties: ["encodes"], daysAgo: 5, source: "computed", linkTo: "alpha" },
  wikidata: { classes: ["City"], properties: ["name"], daysAgo: 1, source: "computed" },
};

const dayMs = 86_400_000;

/** The description of an endpoint, with this many more classes. */
function descriptionOf(id: string, made: Described, more = 0): VoidDescription {
  const finishedAt = new Date(fakeNowMs - made.daysAgo * dayMs).toISOString();
  const known = { status: "exact" as const, record: 0 };
  const properties = made.properties.map((name, at) => ({
    property: ex(name),
    status: "exact" as const,
    record: 0,
    triples: count(1_000 - at),
    objectClasses: [],
    datatypes: [],
    objectsComplete: false,
  }));
  const names = [...made.classes, ...Array.from({ length: more }, (_, at) => `More${at}`)];
  return {
    endpoint: `https://${id}.example/sparql`,
    id,
    dataset: `${fakeSettings.publicUrl}/endpoints/${id}#dataset`,
    source: made.source,
    startedAt: finishedAt,
    finishedAt,
    unfinished: false,
    triples: count(5_000),
    classPartitions: names.map((name, at) => ({
      class: ex(name),
      status: "exact",
      record: 0,
      entities: count(names.length * 10 - at, id === "beta" ? "lowerBound" : "exact"),
      properties,
      propertiesComplete: true,
    })),
    classesComplete: true,
    propertyPartitions: properties,
    propertiesComplete: true,
    languages: ["en"],
    namespaces: [],
    linksets: made.linkTo === undefined ? [] : [{ property: ex("same"), targetEndpoint: made.linkTo, ...known }],
    unknown: [],
    records: [{ rung: 1, query: "SELECT 1", httpStatus: 200, durationMs: 5, at: finishedAt, outcome: "ok" }],
    cost: { requests: 1, bytes: 100, ms: 5 },
  };
}

const right = { verdict: "right", durationMs: 10 } as const;
const wrong = { verdict: "wrong", durationMs: 10 } as const;
const probed = (id: string, more: Partial<Capabilities>): Capabilities => ({
  endpoint: `https://${id}.example/sparql`,
  probedAt: "2026-03-10T10:00:00.000Z",
  reachable: true,
  constructs: { values: right, zeroLengthPath: right, minus: right },
  methods: ["post-form"],
  formats: ["application/sparql-results+json"],
  ...more,
});

const capabilities: Readonly<Record<string, Capabilities>> = {
  alpha: probed("alpha", { rowCap: 10_000, maxValuesRows: 1_000, textSearch: { syntax: "virtuoso" } }),
  beta: probed("beta", { constructs: { values: right, zeroLengthPath: wrong }, wholeRows: 20_000 }),
  epsilon: probed("epsilon", {
    constructs: { values: right, zeroLengthPath: { verdict: "failed", durationMs: 10_000 }, minus: wrong },
    formats: ["application/sparql-results+json", "text/csv"],
    rowCap: 500,
  }),
  wikidata: probed("wikidata", { maxUrlBytes: 8_192 }),
};

/** A published fact about `delta`, which was never asked. */
const published = {
  format: 1,
  url: "https://delta.example/sparql",
  asOf: "2026-01-01",
  sources: [{ repo: "example/models", commit: "c".repeat(40), path: "delta.ttl", date: "2026-01-01", licence: "CC0" }],
  classes: { "http://vocabulary.example/": { Gene: { by: ["declared"] } } },
};

/**
 * A registry of seven endpoints whose state is known, asked by SPARQL; `description` replaces that of an endpoint while it runs.
 */
export async function openAskedRegistry(
  settings: { readonly mostTriples?: number; readonly moreClasses?: number } = {},
) {
  const [folder, publishedFolder] = [newFolder(), newFolder()];
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, `${name}.ttl`), text);
  await writeFile(join(publishedFolder, "delta.json"), JSON.stringify(published));
  const descriptions = new Map(
    Object.entries(described).map(([id, made]) => [id, descriptionOf(id, made, settings.moreClasses)]),
  );
  const { publicUrl } = fakeSettings;
  const catalog = await openCatalog({
    dirs: [{ path: folder }],
    published: [publishedFolder],
    baseUrl: publicUrl,
    store: openSqliteStore({ path: ":memory:" }),
    now: () => fakeNowMs,
    isDescribed: (id) => descriptions.has(id),
  });
  if (catalog.problems.length > 0) throw new Error(JSON.stringify(catalog.problems));
  const known = describedModels({
    entries: catalog.entries,
    descriptions,
    published: (id) => catalog.published.facts(id),
  });
  catalog.onChange(() => known.models.setEntries(catalog.entries, (id) => catalog.published.facts(id)));
  const monitor = monitorOf(catalog.entries);
  const capabilityReader = {
    version: 0,
    get: async (id: string) => capabilities[id],
    known: (id: string) => capabilities[id],
  };
  const descriptionReader = { get: async (id: string) => descriptions.get(id) };
  const clock = { nowMs: fakeNowMs, now: (): number => clock.nowMs };
  const source = createRegistryGraphs({
    catalog,
    models: known.models,
    monitor,
    publicUrl,
    clock,
    descriptions: descriptionReader,
    capabilities: capabilityReader,
    mostTriples: settings.mostTriples ?? 100_000,
  });
  const pool = new EndpointPool({
    timeoutMs: 10_000,
    totalMb: 1_024,
    maxAnswerBytes: 8_388_608,
    maxWaiting: 8,
    maxPerClient: 8,
  });
  const deps: Partial<HttpDeps> = {
    ...known,
    catalog,
    monitor,
    descriptions: {
      ...descriptionReader,
      begun: async () => undefined,
      freshness: async () => ({ state: "fresh" }),
      request: rejected,
    },
    capabilities: { get: capabilityReader.get, request: rejected },
    dataset: { endpoint: pool.endpoint({ id: "registry", source, memoryMb: 192 }), vocabulary: vocabularyQuads },
  };
  return { deps, catalog, clock, monitor, descriptions, models: known.models, source, close: () => pool.close() };
}

const rejected = async () => Promise.reject(new Error("no jobs in this test"));

/** Incidents: those of the fates, an older one of beta, and one of a host. */
function monitorOf(entries: Parameters<typeof createFakeMonitor>[0]["endpoints"]) {
  const monitor = createFakeMonitor({
    endpoints: entries,
    nowMs: fakeNowMs,
    fateOf: (id) => fateOf[id] ?? "silent",
  });
  const more: Incident[] = [
    incident({ id: "old-beta", endpoint: "beta", closedMs: Date.parse("2026-03-01T12:00:00Z"), closedBy: "recovered" }),
    incident({
      id: "drift-1",
      endpoint: "epsilon",
      kind: "drift",
      summary: "ex:Gene has no instances.",
      fault: undefined,
    }),
    incident({ id: "certificate-1", endpoint: "alpha", kind: "certificate", fault: undefined }),
    incident({ id: "host-1", endpoint: "_host.example.org", endpoints: ["alpha", "gamma"], fault: "dns" }),
  ];
  const incidents: typeof monitor.incidents = async (options = {}) =>
    [...(await monitor.incidents({ ...options, limit: 1_000 })), ...more].slice(0, options.limit ?? 100);
  return { ...monitor, incidents };
}
