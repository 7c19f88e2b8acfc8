import oxigraph from "oxigraph";
import { Readable } from "node:stream";
import { createTestedEngine } from "./tested-engine.ts";
import type { ExecutionBounds } from "../../src/engine/execution-bounds.ts";
import { type SourceDocuments, createPatternSources } from "../../src/engine/sources/pattern-source.ts";
import type { FedwayError } from "../../src/errors/fedway-error.ts";
import type { FederatedPlan, PlannedEndpoint } from "../../src/plan/query-plan.ts";
import type { SourceSelection } from "../../src/plan/source-selection.ts";
import type { QueryResult } from "../../src/results/model.ts";
import { parseAnswer } from "../../src/results/parse.ts";
import { storeAnswer, toAnswer, type CanonicalAnswer } from "./canonical-answer.ts";
import { toBounds } from "./engine-answer.ts";
import type { SparqlClient } from "../../src/outbound/sparql-request.ts";
import { createStoreClient, type StoreClient } from "./store-client.ts";
import { createTrueHolders } from "./true-holders.ts";
import { createTpfPages, type TpfOptions } from "./tpf-server.ts";

/** How a member's data is reached. */
export type MemberKind = "sparql" | "tpf" | "file";

/** Documents in this process by URL; for tests of what stands above the transport. */
interface FakeDocuments extends SourceDocuments {
  readonly requests: string[];
  /** Makes every later request to a URL that begins like this fail. */
  fail(url: string, error: FedwayError): void;
}

/** A federation whose members are in this process. */
export interface MergedFederation {
  readonly client: StoreClient;
  readonly documents: FakeDocuments;
  readonly members: readonly PlannedEndpoint[];
  /** Replaces the members by new ones with these N-Quads; documents have no named graphs. */
  setData(data: readonly string[]): void;
  plan(query: string): FederatedPlan;
  execute(plan: FederatedPlan, bounds?: ExecutionBounds): Promise<QueryResult>;
  result(query: string, bounds?: ExecutionBounds): Promise<QueryResult>;
  answer(query: string, inOrder?: boolean): Promise<CanonicalAnswer>;
}

interface Parts {
  readonly selection: SourceSelection | undefined;
  readonly client: StoreClient;
  readonly documents: FakeDocuments;
  readonly members: readonly PlannedEndpoint[];
  /** The N-Triples of a member, by URL. */
  readonly dataAt: (url: string) => string | undefined;
}

// Members have URLs of their own, so that one engine, which takes a while to make, serves all federations of a test file.
const partsByUrl = new Map<string, Parts>();
let generation = 0;
let engineForAll: ReturnType<typeof createTestedEngine> | undefined;
const sharedEngine = () => (engineForAll ??= createEngine(200_000));

function createEngine(maxSolutions: number): ReturnType<typeof createTestedEngine> {
  const partsOf = (url: string): Parts => {
    const parts = partsByUrl.get(url.split(/[?#]/u)[0] ?? "");
    if (!parts) throw new Error(`No member has the URL ${url}`);
    return parts;
  };
  const now = () => performance.now();
  const client: SparqlClient = {
    query: (request) => partsOf(request.endpoint.url).client.query(request),
  };
  const documents: SourceDocuments = { fetch: (request) => partsOf(request.url).documents.fetch(request) };
  const holders = createTrueHolders((url) => partsByUrl.get(url)?.dataAt(url));
  const openSource = createPatternSources({ documents, now });
  return createTestedEngine({ client, openSource, holders, maxSolutions, now });
}

interface FederationOptions extends TpfOptions {
  readonly maxSolutions?: number;
  /** What the plans say of who has what. */
  readonly select?: (data: readonly string[]) => SourceSelection | undefined;
}

/** What the form of a query answers with. */
function answerKindOf(query: string): FederatedPlan["answer"] {
  const [form = "SELECT"] = /\b(?:SELECT|ASK|CONSTRUCT|DESCRIBE)\b/i.exec(query) ?? [];
  if (form.toUpperCase() === "SELECT") return "bindings";
  return form.toUpperCase() === "ASK" ? "boolean" : "quads";
}

/** Members `m0`, `m1`, ... with these N-Quads; `kinds` repeat. */
export function createMergedFederation(
  data: readonly string[],
  kinds: readonly MemberKind[] = ["sparql"],
  options: FederationOptions = {},
): MergedFederation {
  const build = (texts: readonly string[]): Parts => {
    generation++;
    const members = texts.map((_, index) => toMember(index, kinds[index % kinds.length] ?? "sparql"));
    const client = createStoreClient(Object.fromEntries(members.map(({ url }, index) => [url, texts[index] ?? ""])));
    const documents = createFakeDocuments(texts, members, options);
    const dataAt = (url: string) => texts[members.findIndex((member) => member.url === url)];
    const built = { members, client, documents, dataAt, selection: options.select?.(texts) };
    for (const { url } of members) partsByUrl.set(url, built);
    return built;
  };
  let parts = build(data);
  const engine = options.maxSolutions === undefined ? sharedEngine() : createEngine(options.maxSolutions);
  const plan = (query: string): FederatedPlan => ({
    kind: "federated",
    answer: answerKindOf(query),
    query,
    skeleton: query,
    clauses: [],
    over: { federation: "test", members: parts.members, selection: parts.selection },
    members: parts.members.map((endpoint) => ({ endpoint, clauses: 0, silent: false })),
    notes: [],
  });
  const execute = (planned: FederatedPlan, bounds = toBounds()) => engine.execute(planned, bounds);
  const result = (query: string, bounds?: ExecutionBounds) => execute(plan(query), bounds);
  return {
    get client() {
      return parts.client;
    },
    get documents() {
      return parts.documents;
    },
    get members() {
      return parts.members;
    },
    setData(texts) {
      for (const { url } of parts.members) partsByUrl.delete(url);
      parts = build(texts);
    },
    plan,
    execute,
    result,
    answer: async (query, inOrder = false) => toAnswer(await result(query), inOrder),
  };
}

/** A URL of its own for each generation, because files are remembered. */
function toMember(index: number, kind: MemberKind): PlannedEndpoint {
  const url = `http://m${index}.example/data${generation}`;
  return { id: `m${index}`, url, ...(kind !== "sparql" && { interface: kind }) };
}

function createFakeDocuments(
  data: readonly string[],
  members: readonly PlannedEndpoint[],
  options: TpfOptions,
): FakeDocuments {
  const requests: string[] = [];
  const failures = new Map<string, FedwayError>();
  const pages = members.map(({ url }, index) => createTpfPages(data[index] ?? "", url, options));
  return {
    requests,
    fail: (url, error) => failures.set(url, error),
    async fetch({ url, maxQuads, signal }) {
      requests.push(url);
      signal.throwIfAborted();
      for (const [start, error] of failures) if (url.startsWith(start)) throw error;
      const index = members.findIndex((member) => url.split(/[?#]/u)[0] === member.url);
      const isFile = members[index]?.interface === "file";
      const { body, mediaType } = isFile
        ? { body: data[index] ?? "", mediaType: "application/n-triples" }
        : (pages[index]?.(url) ?? { body: "", mediaType: "text/turtle" });
      const bytes = Readable.from([Buffer.from(body)]);
      const limits = { maxRows: maxQuads };
      const result = await parseAnswer(bytes, { mediaType, kind: "quads", baseIri: url, limits });
      const quads = result.kind === "quads" ? await collect(result.quads) : [];
      return { url, mediaType, quads, bytes: body.length };
    },
  };
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** What a query answers over the RDF merge of these N-Quads: one Oxigraph store that has all of them. */
export function mergedAnswer(data: readonly string[], query: string, inOrder = false): CanonicalAnswer {
  const store = new oxigraph.Store();
  for (const [index, text] of data.entries()) store.load(text.replaceAll("_:", `_:m${index}x`), { format: "nq" });
  return storeAnswer(store, query, inOrder);
}
