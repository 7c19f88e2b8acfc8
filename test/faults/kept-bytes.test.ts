import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { DataFactory } from "n3";
import { expect, it } from "vitest";
import { createQueryContainer } from "../../src/agent/container/container.ts";
import { createResultStore } from "../../src/agent/results/result-store.ts";
import { steadyClock, systemClock } from "../../src/clock.ts";
import { createExplainer } from "../../src/diagnosis/why/explainer.ts";
import { createSharingClient } from "../../src/engine/evaluators/sharing-client.ts";
import { matches } from "../../src/engine/expressions/regular-expressions.ts";
import { createRateLimiter } from "../../src/http/rate-limiter.ts";
import { EmbeddedJobQueue } from "../../src/jobs/embedded/embedded-job-queue.ts";
import { createSparqlClient } from "../../src/outbound/client.ts";
import { EndpointStates } from "../../src/outbound/endpoint-states.ts";
import { openNetwork } from "../../src/outbound/network.ts";
import { createPlanner } from "../../src/plan/create-planner.ts";
import { Admission } from "../../src/query/admission.ts";
import { toPlanDescription } from "../../src/query/explain.ts";
import { noTable } from "../../src/query/table.ts";
import { bytesOf } from "../../src/results/gathered-body.ts";
import { Existence } from "../../src/selection/existence.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { describedModels } from "../support/described-models.ts";
import { until } from "../support/eventually.ts";
import { listening } from "../support/listening.ts";
import { createRandom } from "../support/seeded-random.ts";
import { rowsAnswer } from "../support/scripted-asker.ts";
import { truthfulDescription } from "../support/truthful-description.ts";
import { truthOf } from "../support/void-truth.ts";
import { describedUnits } from "../support/described-data.ts";
import { catalog, toCatalog, toEntry } from "../unit/plan/plan-cases.ts";

// What the table of src/README.md says of the bytes of a mechanism holds when it is full of its largest items: each is given
// much more than its bound, and the memory is read.

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");
const mib = 2 ** 20;
async function memory(): Promise<number> {
  // What lies outside of the heap is given back a little later.
  for (let round = 0; round < 2; round += 1) {
    collectGarbage();
    await setTimeout(10);
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / mib;
}

const table = readFileSync(new URL("../../src/README.md", import.meta.url), "utf8");

/** The bound of a place as the table states it, in MiB. */
function boundOf(place: string): number {
  const row = table.split("\n").find((line) => line.startsWith("|") && line.includes(`\`${place}`));
  return Number(/\| *(\d+) MiB/u.exec(row ?? "")?.[1] ?? Number.NaN);
}

const { signal } = new AbortController();
const planner = () => createPlanner({ catalog, egress: "catalog", publicUrl: "http://fedway.example" });
/** Unlike each other, and of this many characters. */
const padding = (at: number, length: number): string => `${at} `.padEnd(length, "x");
const request = (text: string) => ({ text, strict: false, defaultGraphs: [], namedGraphs: [] });

/** What is read now: it must not be collected before. */
const alive = new Set<unknown>();

/** Each fills a mechanism and gives it back. */
const fills: Readonly<Record<string, () => unknown>> = {
  "jobs/embedded/job-records.ts": async () => {
    const queue = new EmbeddedJobQueue({ store: openSqliteStore({ path: ":memory:" }) });
    await queue.start([{ name: "a", validate: () => {}, run: async () => {} }]);
    for (let at = 0; at < 200; at += 1) await queue.enqueue("a", padding(at, 256 * 1024 - 2));
    await until(async () => (await queue.list({ state: "waiting" })).length === 0 || undefined);
    return queue;
  },
  "plan/create-planner.ts#cache": () => {
    const filled = planner();
    for (let at = 0; at < 45; at += 1) {
      filled.plan(request(`SELECT * { SERVICE <http://a.example/sparql> { ?s ?p "${padding(at, 390_000)}" } }`));
      const clauses = `{ SERVICE <http://a.example/sparql> { ?s <urn:p${at}> ?o } } UNION `.repeat(150);
      filled.plan(request(`SELECT * { ${clauses} { SERVICE <http://b.example/sparql> { ?s ?p ?o } } }`));
    }
    return filled;
  },
  "agent/results/result-store.ts#kept": () => {
    const store = createResultStore({ now: () => 0 });
    const { plan } = planner().plan(request("ASK { SERVICE <http://a.example/sparql> { ?s ?p ?o } }"));
    const answer = {
      ...noTable,
      run: "r",
      status: "ok",
      plan: toPlanDescription(plan),
      sources: [],
      notes: [],
      diagnosis: null,
    } as const;
    for (let at = 0; at < 50; at += 1) {
      const row = (number: number): readonly string[] =>
        Array.from({ length: 10 }, (_, column) => `"${number * column}"`);
      store.keep("o", padding(at, 20), { ...answer, rows: Array.from({ length: 5_000 }, (_, number) => row(number)) });
      const text = `SELECT * { SERVICE <http://a.example/sparql> { ?s ?p "${padding(at, 390_000)}" } }`;
      const long = toPlanDescription(planner().plan(request(text)).plan);
      store.keep("o", text, { ...answer, plan: long, rows: [] });
    }
    return store;
  },
  "agent/container/container.ts#drafts": async () => {
    const units = [...describedUnits({ seed: 4, triples: 50, classes: 1, maxProperties: 2, blankNodes: false })];
    const { plan } = planner().plan(request("ASK { SERVICE <http://a.example/sparql> { ?s ?p ?o } }"));
    const container = createQueryContainer({
      catalog: { ...toCatalog([toEntry("a")]), membersOf: () => [] },
      models: describedModels({ descriptions: [["a", truthfulDescription(truthOf(units.flat()))]] }).models,
      queries: { explain: () => toPlanDescription(plan) },
      ask: async () => [["1"]],
      now: () => 0,
    });
    for (let at = 0; at < 180; at += 1) {
      const call = { owner: `owner ${at}`, signal };
      const { handle } = await container.open(["a"], call);
      await container.step(handle, { step: "class", choice: 1 }, call);
      await container.step(handle, { step: "property", choice: 1 }, call);
      for (let step = 0; step < 25; step += 1)
        await container.step(handle, { step: "filter", choice: 1, value: `contains ${"ж".repeat(480)} ${at}` }, call);
    }
    return container;
  },
  "diagnosis/why/explainer.ts#known": async () => {
    const explainer = createExplainer({
      run: async () => ({ rows: [], requests: 1, byFacts: false }),
      planner: planner(),
      catalog: toCatalog([toEntry("a")]),
      admission: new Admission({ maxConcurrent: 20 }),
      maxRequests: 100,
      now: () => 0,
    });
    for (let at = 0; at < 64; at += 1) {
      await explainer.explain(
        { query: `SELECT * { ?s <urn:p> "${padding(at, 390_000)}" }`, endpoint: "a" },
        { signal },
      );
    }
    return explainer;
  },
  "selection/existence.ts#known": async () => {
    const found = Array.from({ length: 32 }, (_, number) => new Map([["n", DataFactory.literal(String(number))]]));
    const asker = { ask: async () => rowsAnswer(found) };
    const existence = new Existence({ asker, clock: steadyClock, lacksSubqueries: () => false, keepMs: 300_000 });
    for (let at = 0; at < 150; at += 1) {
      const endpoint = { id: `e${at}`, url: `http://${at}.example/` };
      for (let round = 0; round < 20; round += 1) {
        const patterns = Array.from({ length: 30 }, (_, number) => {
          const key = `? <${padding(at * 1_000 + round * 30 + number, 400)}> ?`;
          return { key, text: key };
        });
        await existence.ask([{ endpoint, patterns }], { signal, timeoutMs: 1_000 });
      }
    }
    return existence;
  },
  "engine/evaluators/sharing-client.ts#kept": async () => {
    const head = '{"head":{"vars":["x"]},"results":{"bindings":[';
    const bodyOf = (length: number): Buffer =>
      gzipSync(`${head}{"x":{"type":"literal","value":"${"x".repeat(length)}"}}]}}`);
    const bodies = [bodyOf(200_000), bodyOf(100)];
    let asked = 0;
    const server = await listening(
      createServer((incoming, response) => {
        incoming.resume().once("end", () => {
          asked += 1;
          const type = { "content-type": "application/sparql-results+json", "content-encoding": "gzip" };
          response.writeHead(200, type).end(bodies[asked < 200 ? 0 : 1]);
        });
      }),
    );
    const client = createSparqlClient({ version: "0", allowAddresses: ["127.0.0.0/8"], clock: steadyClock });
    const sharing = createSharingClient({ client, now: steadyClock.now, keepMs: 600_000 });
    for (let at = 0; at < 900; at += 1) {
      const answer = await sharing.query({
        endpoint: { url: server.origin },
        query: `SELECT ?x { ?s <urn:${at}> ?x }`,
        kind: "bindings",
        accept: "application/sparql-results+json",
        encoding: "decode",
        signal,
        deadlineMs: steadyClock.now() + 20_000,
      });
      for await (const _piece of bytesOf(answer.body));
    }
    await client.close();
    await server.close();
    return sharing;
  },
  "http/rate-limiter.ts#buckets": () => {
    const limiter = createRateLimiter({ perMinute: 10, now: () => 0 });
    for (let at = 0; at < 60_000; at += 1) limiter.take(`address:${padding(at, 100)}`);
    return limiter;
  },
  "outbound/endpoint-states.ts#states": () => {
    const clock = systemClock;
    const states = new EndpointStates({
      maxEndpoints: 10_000,
      scheduler: { concurrency: 16, queueLimit: 256, clock },
      breaker: { faults: 5, coolDownMs: 1_000, maxCoolDownMs: 60_000, clock },
    });
    for (let at = 0; at < 12_000; at += 1) {
      const url = `http://${at}.${"h".repeat(240)}/${at}${"p".repeat(2_040)}?${"q".repeat(2_000)}`;
      states.of({ url }, new URL(url));
    }
    return states;
  },
  "outbound/host-rates.ts#buckets": () => {
    const network = openNetwork({ version: "0", hostRate: { perSecond: 10, burst: 20 }, maxHosts: 10_000 });
    for (let at = 0; at < 11_000; at += 1) {
      const host = network.rateHost(new URL(`http://${at}.${"h".repeat(240)}/?${"q".repeat(4_000)}`)) ?? "";
      network.hostRates?.take(host, { deadlineMs: 0, granted: () => {} });
    }
    return network;
  },
  "engine/expressions/regular-expressions.ts#compiled": () => {
    const random = createRandom(1);
    const text = Array.from({ length: 8_000 }, () => (random() < 0.5 ? "a" : "b")).join("");
    for (let at = 1; at <= 18; at += 1) matches(text, String.raw`(a|b)*a(a|b){8}\p{Lu}{${at}}`);
    return undefined;
  },
};

it.each(Object.entries(fills))("%s holds no more bytes than it says", async (place, fill) => {
  const before = await memory();
  const filled = await fill();
  alive.add(filled);
  const grown = (await memory()) - before;
  expect(grown).toBeLessThan(1.25 * boundOf(place) + 1);
  expect(grown).toBeGreaterThan(boundOf(place) / 8);
  alive.delete(filled);
});
