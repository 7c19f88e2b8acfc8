import { expect } from "vitest";
import { eventually } from "./eventually.ts";
import oxigraph from "oxigraph";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createTestedEngine } from "./tested-engine.ts";
import { createDirectExecutor } from "../../src/engine/direct-executor.ts";
import { createInProcessExecutor } from "../../src/engine/executor.ts";
import type { Holders } from "../../src/engine/sources/key-routes.ts";
import type { SparqlAnswer, SparqlClient, SparqlRequest } from "../../src/outbound/sparql-request.ts";
import { createPlanner } from "../../src/plan/create-planner.ts";
import type { KnownCapabilities } from "../../src/plan/plan-request.ts";
import { Admission } from "../../src/query/admission.ts";
import { createQueryService } from "../../src/query/create-query-service.ts";
import type { QueryRequest } from "../../src/query/query-service.ts";
import { bytesOf } from "../../src/results/gathered-body.ts";
import { parseAnswer } from "../../src/results/parse.ts";
import { createTermKeeper } from "../../src/selection/endpoint-keys.ts";
import type { ReadTriple } from "../../src/registry/descriptions/compute/read-whole.ts";
import { openSources } from "../../src/selection/open-sources.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { type CanonicalAnswer, storeAnswer, toAnswer } from "./canonical-answer.ts";
import { catalogEntry, createCatalog } from "./catalog-entry.ts";
import { countedTerms } from "./counted-terms.ts";
import type { Triple } from "./described-data.ts";
import { isExistenceQuery } from "./existence-query.ts";
import { createSimulatedClock } from "./simulated-clock.ts";
import { sparqlAsker } from "./sparql-asker.ts";
import { truthfulDescription } from "./truthful-description.ts";
import { truthOf } from "./void-truth.ts";
import { EndpointModels } from "../../src/registry/model.ts";

const publicUrl = "http://fedway.example";
/** Exclusions count so long, unless a test says otherwise. */
export const verifyMs = 300_000;

/** What only some tests need. */
interface MoreOptions {
  /** Exclusions count so long, in milliseconds. */
  readonly intervalMs?: number;
  /** Called for each request. */
  readonly onSent?: (request: SparqlRequest) => void;
}

const textOf = (triples: Iterable<Triple>): string => [...triples].map((triple) => `${triple.join(" ")} .\n`).join("");

/** What one query came to. */
export interface HistoryAnswer {
  readonly run: string;
  readonly answer: CanonicalAnswer;
  /** Requests before the answer but for existence queries. */
  readonly requests: number;
  /** Of these requests, query texts and answers. */
  readonly bytes: number;
  /** What was asked. */
  readonly asked: readonly string[];
  /** Existence queries that were sent before the answer, by member. */
  readonly verified: ReadonlyMap<string, number>;
}

// One engine, which takes a while to make, serves all histories, one after the other.
let current: { readonly client: SparqlClient; readonly holders: Holders; readonly now: () => number } | undefined;
const engine = createTestedEngine({
  client: { query: (request) => required().client.query(request) },
  holders: (question, bounds) => required().holders(question, bounds),
  maxSolutions: 100_000,
  now: () => required().now(),
});

function required(): NonNullable<typeof current> {
  if (current === undefined) throw new Error("No members are open");
  return current;
}

/** A service over described members in this process whose data change under it. */
export type ChangingMembers = Awaited<ReturnType<typeof openChangingMembers>>;

/**
 * Members `m0`, `m1`, ... with these triples, all described; `reads`: their terms are known, too, and
 * their triples, unless they are only counted.
 * @param capabilities what probing found; absent: there is no probing
 * @param hosted members whose data have a checksum, which descriptions keep; default: none
 */
export async function openChangingMembers(
  data: readonly ReadonlySet<string>[],
  reads: boolean | "counted",
  capabilities?: KnownCapabilities,
  hosted: ReadonlySet<number> = new Set(),
  { intervalMs = verifyMs, onSent }: MoreOptions = {},
) {
  const clock = createSimulatedClock(Date.parse("2026-01-01T00:00:00Z"));
  const ids = data.map((_, index) => `m${index}`);
  const entries = ids.map((id) => catalogEntry(id));
  const members = new Map(entries.map(({ id, url }, index) => [url, { id, triples: new Set(data[index]) }]));
  const stores = new Map<string, oxigraph.Store>();
  const requests: SparqlRequest[] = [];
  const lateTurns = new Map<string, number>();
  let open = 0;
  let bytes = 0;

  const storeOf = (url: string): oxigraph.Store => {
    const known = stores.get(url) ?? new oxigraph.Store();
    if (!stores.has(url)) known.load(textOf(triplesOf(members.get(url)?.triples ?? [])), { format: "nt" });
    stores.set(url, known);
    return known;
  };
  const client: SparqlClient = {
    async query(request): Promise<SparqlAnswer> {
      requests.push(request);
      onSent?.(request);
      open++;
      for (let left = lateTurns.get(request.endpoint.url) ?? 0; left >= 0; left--) await nextTurn();
      open--;
      request.signal.throwIfAborted();
      const answer = answered(storeOf(request.endpoint.url), request);
      if (!isExistenceQuery(request.query)) bytes += Buffer.byteLength(request.query) + answer.body.length;
      return answer;
    },
  };

  const buildOf = (url: string): string | undefined =>
    hosted.has(entries.findIndex((entry) => entry.url === url))
      ? [...(members.get(url)?.triples ?? [])].toSorted().join("\n")
      : undefined;
  const models = new EndpointModels();
  models.setEntries(entries);
  const kept = openSqliteStore({ path: ":memory:" });
  const { keepTriples, keepTerms } = createTermKeeper(kept);
  const wanted = new Set(ids);
  /** Describes what is to be described. */
  const describe = (): void => {
    for (const { id, url } of entries.filter((entry) => wanted.delete(entry.id))) {
      const at = new Date(clock.now()).toISOString();
      const truth = truthfulDescription(truthOf(triplesOf(members.get(url)?.triples ?? [])));
      const description = { ...truth, endpoint: url, startedAt: at, finishedAt: at, build: buildOf(url) };
      const triples = storeOf(url).match().map(toReadTriple);
      if (reads === "counted") void keepTerms(id, description, countedTerms(triples));
      else if (reads) void keepTriples(id, description, triples);
      models.setDescription(id, description);
    }
  };
  describe();
  const asker = sparqlAsker({ client });
  const sources = await openSources({
    isOwn: () => true,
    buildOf,
    catalog: {
      entries,
      authorship: () => undefined,
    },
    renew: async (id) => void wanted.add(id),
    models,
    settings: {
      publicUrl,
      factsMaxAgeMs: 7 * 86_400_000,
      factsCheckMs: 0,
      factsVerifyMs: intervalMs,
      factsNoteMs: 86_400_000,
    },
    store: kept,
    asker,
    clock,
    lacksSubqueries: () => false,
    onFault: () => {},
  });
  const { now } = clock;
  current = { client, now, holders: (question, { pruned }) => sources.holders(question, pruned) };
  const catalog = createCatalog(entries, [], {
    publicUrl,
    federations: [{ id: "all", title: "all", members: ids, memberKeywords: [] }],
  });
  const queries = createQueryService({
    planner: createPlanner({ catalog, egress: "catalog", publicUrl, sources, ...(capabilities && { capabilities }) }),
    direct: createDirectExecutor(client, now),
    federated: createInProcessExecutor(engine),
    verifier: sources.verifier,
    admission: new Admission({ maxConcurrent: 20 }),
    limits: { timeoutMs: 60_000, maxRows: 10_000, runs: 100 },
    metrics: { observeRun: () => {}, observePlan: () => {}, observeBusy: () => {} },
    now,
  });

  /** Waits until nothing is under way in the background, and what is to be described has been. */
  async function settle(): Promise<void> {
    for (let quiet = 0, turns = 0; quiet < 6 && turns < 5_000; turns++) {
      if (wanted.size > 0) describe();
      await nextTurn();
      quiet = open === 0 && wanted.size === 0 ? quiet + 1 : 0;
    }
  }
  await settle();

  return {
    clock,
    settle,
    urls: entries.map(({ url }) => url),
    /** URLs of hosted members that were described as they are now. */
    described: (): readonly string[] =>
      entries.flatMap(({ id, url }) => {
        const build = buildOf(url);
        return build !== undefined && models.get(id)?.described?.build === build ? [url] : [];
      }),
    triplesAt: (index: number): Set<string> => members.get(entries[index]?.url ?? "")?.triples ?? new Set(),
    /** Members answer so many turns of the event loop late from now on. */
    delay: (turns: readonly number[]): void => {
      for (const [index, { url }] of entries.entries()) lateTurns.set(url, turns[index] ?? 0);
    },
    /** The data of a member have changed. */
    changed: (index: number): void => void stores.delete(entries[index]?.url ?? ""),
    /** @param inOrder the order of the rows is part of the answer; default: false */
    async ask(text: string, over: boolean, inOrder = false): Promise<HistoryAnswer> {
      requests.length = 0;
      bytes = 0;
      const answer = await queries.run(requestOf(text, over));
      const result = await parseAnswer(bytesOf(answer.body), {
        mediaType: answer.contentType.replace(/;.*$/u, ""),
        kind: answer.kind,
      });
      const canonical = await toAnswer(result, inOrder);
      const verified = new Map<string, number>();
      const existence = requests.filter(({ query }) => isExistenceQuery(query));
      for (const { endpoint } of existence) verified.set(endpoint.url, (verified.get(endpoint.url) ?? 0) + 1);
      const others = requests.filter((request) => !isExistenceQuery(request.query));
      const asked = others.map(({ query }) => query);
      return { run: answer.runId, answer: canonical, requests: others.length, bytes, asked, verified };
    },
    record: (run: string) => queries.runRecord(run),
    /** What one store answers in whose default graph all data are, and in whose named graphs those of each member. */
    expected(text: string, inOrder = false): CanonicalAnswer {
      const store = new oxigraph.Store();
      for (const [url, { triples }] of members) {
        const turtle = textOf(triplesOf(triples));
        store.load(turtle, { format: "nt" });
        store.load(turtle, { format: "nt", to_graph_name: oxigraph.namedNode(url) });
      }
      return storeAnswer(store, text.replaceAll("SERVICE", "GRAPH"), inOrder);
    },
    async close(): Promise<void> {
      await queries.close();
      await sources.close();
    },
  };
}

const toReadTriple = ({ subject, predicate, object }: oxigraph.Quad): ReadTriple => ({
  subject,
  property: predicate.value,
  object,
});

const triplesOf = (texts: Iterable<string>): readonly Triple[] =>
  [...texts].map((text): Triple => {
    const [subject = "", predicate = "", ...object] = text.split(" ");
    return [subject, predicate, object.join(" ")];
  });

const requestOf = (text: string, over: boolean): QueryRequest => ({
  text,
  federationId: over ? "all" : undefined,
  format: /^\s*CONSTRUCT/u.test(text) ? "ntriples" : "json",
  defaultGraphs: [],
  namedGraphs: [],
  strict: false,
  partial: false,
  signal: new AbortController().signal,
});

function answered(store: oxigraph.Store, { query, kind }: SparqlRequest): SparqlAnswer & { readonly body: Buffer } {
  const isGraph = kind === "quads";
  const format = isGraph ? "application/n-triples" : "json";
  const text = store.query(query, { results_format: format }) as unknown as string;
  const body = Buffer.from(text);
  const rows =
    kind === "bindings"
      ? (JSON.parse(text) as { results: { bindings: unknown[] } }).results.bindings.length
      : undefined;
  const whole = { decodedBytes: body.length, wireBytes: body.length, rows };
  const mediaType = isGraph ? format : "application/sparql-results+json";
  return { status: 200, mediaType, contentEncoding: "identity", body, requests: 1, whole, end: Promise.resolve(whole) };
}

/** Waits until the facts of all members are there: a question for things of `m1.example` goes to their member alone. */
export const routed = (members: ChangingMembers): Promise<void> =>
  eventually(async () => {
    const { requests } = await members.ask("SELECT * { <http://m1.example/s1> ?p ?o }", true);
    expect(requests).toBe(1);
  });
