import type { Clock } from "../../src/clock.ts";
import { createDirectExecutor } from "../../src/engine/direct-executor.ts";
import { createInProcessExecutor, type FederationEngine } from "../../src/engine/executor.ts";
import { createSparqlClient } from "../../src/outbound/client.ts";
import { createPlanner } from "../../src/plan/create-planner.ts";
import { Admission } from "../../src/query/admission.ts";
import { createQueryService } from "../../src/query/create-query-service.ts";
import { createWatches } from "../../src/watch/create-watches.ts";
import { catalogEntry, createCatalog } from "./catalog-entry.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { createRandom, type Random } from "./random.ts";
import { startSparqlTestServer, type SparqlTestServer } from "./sparql-test-server.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const startMs = Date.parse("2026-03-02T00:10:00Z");
const publicUrl = "http://fedway.example";

/** How the size of a data set goes. */
const characters = ["stable", "growing", "noisy", "weekly"] as const;

/** What is planted, and at which queries it can be seen. */
export const plantedDrifts = {
  "renamed property": ["list", "optional", "join", "links"],
  "dropped class": ["list", "optional", "count", "join"],
  "emptied graph": ["list", "optional", "count", "join", "links"],
  "doubled rows": ["list", "optional", "count", "join", "links"],
  "halved rows": ["list", "optional", "count", "join", "links"],
  "language tags": ["list", "optional", "join"],
  "other namespace": ["links"],
  timeouts: ["list", "count", "join"],
  errors: ["list", "optional", "links"],
  "dropped optional column": ["optional"],
} as const;
export type PlantedDrift = keyof typeof plantedDrifts;

const prefix = "PREFIX e: <http://e.org/ns#>\n";
const queries = {
  list: "SELECT ?thing ?name { ?thing a e:Thing ; e:name ?name }",
  optional: "SELECT ?name ?nick { ?thing a e:Thing ; e:name ?name OPTIONAL { ?thing e:nick ?nick } }",
  count: "SELECT (COUNT(*) AS ?n) { ?thing a e:Thing }",
  join: "SELECT ?part ?name { ?part e:of ?thing . ?thing a e:Thing ; e:name ?name }",
  links: "SELECT ?link ?year { ?thing e:name ?name ; e:same ?link ; e:year ?year }",
};
type QueryName = keyof typeof queries;
const queryNames: readonly QueryName[] = ["list", "optional", "count", "join", "links"];

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  readonly how: "reset" | "status" | "maintenance";
}

interface Simulated {
  readonly id: string;
  readonly query: QueryName;
  readonly character: (typeof characters)[number];
  readonly base: number;
  readonly server: SparqlTestServer;
  readonly spans: readonly Span[];
  drift: PlantedDrift | undefined;
  loaded: string;
}

function sizeAt({ character, base }: Simulated, atMs: number, noise: number): number {
  const days = (atMs - startMs) / dayMs;
  if (character === "growing") return base * 1.02 ** days;
  if (character === "noisy") return base * (0.9 + 0.2 * noise);
  const weekday = new Date(atMs).getUTCDay();
  return character === "weekly" && (weekday === 0 || weekday === 6) ? base * 0.4 : base;
}

/** N-Triples of a data set with a drift. */
function dataOf(size: number, drift: PlantedDrift | undefined): string {
  if (drift === "emptied graph") return '<http://e.org/about> <http://e.org/ns#note> "nothing" .';
  const n = Math.round(drift === "doubled rows" ? 2 * size : drift === "halved rows" ? size / 2 : size);
  const name = drift === "renamed property" ? "label" : "name";
  const tag = drift === "language tags" ? "@en" : "";
  const space = drift === "other namespace" ? "http://other.net/id/" : "http://links.org/things/";
  return Array.from({ length: n }, (_, at) => {
    const thing = `<http://e.org/thing/${at}>`;
    return [
      drift === "dropped class"
        ? ""
        : `${thing} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e.org/ns#Thing> .`,
      `${thing} <http://e.org/ns#${name}> "Thing ${at}"${tag} .`,
      at % 5 < 3 && drift !== "dropped optional column" ? `${thing} <http://e.org/ns#nick> "N${at}" .` : "",
      `${thing} <http://e.org/ns#same> <${space}${at}> .`,
      `${thing} <http://e.org/ns#year> "${1990 + (at % 30)}"^^<http://www.w3.org/2001/XMLSchema#integer> .`,
      `<http://e.org/part/${at}> <http://e.org/ns#of> ${thing} .`,
    ].join("\n");
  }).join("\n");
}

function spansOf(random: Random, days: number): readonly Span[] {
  return Array.from({ length: 3 }, () => {
    const fromMs = startMs + random.below(days * 24) * hourMs + random.below(60) * 60_000;
    const how = random.pick(["reset", "status", "maintenance"] as const);
    return { fromMs, toMs: fromMs + (2 + random.below(18)) * hourMs, how };
  });
}

/** What the monitor knows: maintenance at once, an outage after a probe, and half an hour longer than it lasts. */
const troubleIn = (spans: readonly Span[], nowMs: number): string | undefined =>
  spans.find(({ fromMs, toMs, how }) => {
    const lag = how === "maintenance" ? 0 : 900_000;
    return nowMs >= fromMs + lag && nowMs < toMs + 2 * lag;
  })?.how;

/** Forty watched queries over as many endpoints whose data change by a clock of the test's own. */
export async function openWatchedEndpoints({
  seed,
  days,
  watched = 40,
}: {
  seed: number;
  days: number;
  watched?: number;
}) {
  const random = createRandom(seed);
  let simulatedMs = startMs;
  let realMs = performance.now();
  const now = (): number => simulatedMs + performance.now() - realMs;
  const clock: Clock = {
    now,
    setTimeout: (run, ms) => setTimeout(run, ms),
    clearTimeout: (timer) => clearTimeout(timer),
  };
  const all: Simulated[] = [];
  for (let at = 0; at < watched; at++) {
    all.push({
      id: `e${at}`,
      query: queryNames[at % queryNames.length] ?? "list",
      character: characters[Math.floor(at / queryNames.length) % characters.length] ?? "stable",
      base: 20 + random.below(100),
      server: await startSparqlTestServer(""),
      spans: spansOf(random, days),
      drift: undefined,
      loaded: "",
    });
  }
  const client = createSparqlClient({ version: "1", allowAddresses: ["127.0.0.0/8"], retry: { limit: 0 }, clock });
  const catalog = createCatalog(
    all.map(({ id, server }) => ({ ...catalogEntry(id), url: server.url })),
    [],
    { publicUrl, federations: [] },
  );
  const unused: FederationEngine = {
    evaluate: () => Promise.reject(new Error("no federation")),
    close: async () => {},
  } as never;
  const service = createQueryService({
    planner: createPlanner({ catalog, egress: "catalog", publicUrl }),
    direct: createDirectExecutor(client, now),
    federated: createInProcessExecutor(unused),
    admission: new Admission({ maxConcurrent: 20 }),
    limits: { timeoutMs: 1_500, maxRows: 100_000, runs: 100 },
    metrics: { observeRun: () => {}, observePlan: () => {}, observeBusy: () => {} },
    now,
  });
  const open = new Map<
    string,
    { readonly openedMs: number; readonly summary: string; readonly repair?: string | undefined }
  >();
  const opened: { readonly id: string; readonly key: string; readonly atMs: number; readonly summary: string }[] = [];
  const queue: { readonly id: string }[] = [];
  const spansBy = new Map(all.map(({ id, spans }) => [id, spans]));
  const watches = createWatches({
    store: openSqliteStore({ path: ":memory:" }),
    queries: service,
    catalog,
    finder: { hasTerm: () => "unknown" },
    jobs: {
      enqueue: async (_kind, payload) => {
        queue.push(payload as { id: string });
        return {} as never;
      },
    },
    monitor: {
      async report({ endpoint, key, atMs, summary, repair }) {
        if (open.has(key)) return;
        open.set(key, { openedMs: atMs, summary, repair });
        opened.push({ id: endpoint, key, atMs, summary });
      },
      clear: async ({ key }) => void open.delete(key),
    },
    troubleOf: (id) => troubleIn(spansBy.get(id) ?? [], simulatedMs),
    mend: async () => undefined,
    now: () => simulatedMs,
    confirmMs: 1_800_000,
  });
  for (const { id, query } of all) {
    await watches.save({ id: `w-${id}`, query: prefix + queries[query], endpoint: id, everyMs: 6 * hourMs });
  }

  /** Gives a server the data, and the faults, of this moment. */
  function arrange(one: Simulated): void {
    const span = one.spans.find(({ fromMs, toMs }) => simulatedMs >= fromMs && simulatedMs < toMs);
    const noise =
      createRandom(seed + Math.floor(simulatedMs / (6 * hourMs)) * 41 + Number(one.id.slice(1))).below(1_000) / 1_000;
    const size = sizeAt(one, simulatedMs, noise);
    const drift = span?.how === "maintenance" ? "emptied graph" : one.drift;
    const key = `${Math.round(size)} ${drift}`;
    if (key !== one.loaded) one.server.setData(dataOf(size, drift));
    one.loaded = key;
    // Of any ninety runs one fails for once.
    const isBlip = random.below(90) === 0;
    if (span?.how === "reset") one.server.setFault({ kind: "reset" });
    else if (span?.how === "status" || isBlip) one.server.setFault({ kind: "status", status: 503 });
    else if (one.drift === "errors") one.server.setFault({ kind: "status", status: 500 });
    else if (one.drift === "timeouts") one.server.setFault({ kind: "hang" });
    else one.server.setFault(undefined);
  }

  const context = { attempt: 1, signal: new AbortController().signal, progress: () => {}, children: [] };
  const [sweep, run] = watches.kinds;
  /** Runs what is due until this moment. */
  async function live(untilDay: number): Promise<number> {
    let runs = 0;
    for (const untilMs = startMs + untilDay * dayMs; simulatedMs < untilMs; simulatedMs += 300_000) {
      realMs = performance.now();
      await sweep?.run({}, { ...context, id: "sweep" });
      for (const payload of queue.splice(0)) {
        const id = payload.id.slice(2);
        const one = all.find((each) => each.id === id);
        if (one) arrange(one);
        await run?.run(payload, { ...context, id });
        runs++;
      }
    }
    return runs;
  }
  return {
    watches,
    all,
    random,
    live,
    opened: opened as readonly (typeof opened)[number][],
    open: open as ReadonlyMap<string, unknown>,
    day: () => (simulatedMs - startMs) / dayMs,
    async close() {
      await service.close();
      await client.close();
      for (const { server } of all) await server.close();
    },
  };
}
