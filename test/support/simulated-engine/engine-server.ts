import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text as readText } from "node:stream/consumers";
import { withDistinctFault } from "../distinct-faults.ts";
import { readQuery, type ReadQuery } from "./cost.ts";
import type { Ending, EnginePolicy, EngineStatistics } from "./policy.ts";
import type { SimulatedStore } from "./simulated-store.ts";
import { advance } from "./virtual-clock.ts";

/** What one simulated engine is made of. */
export interface EngineOptions {
  readonly policy: EnginePolicy;
  readonly store: SimulatedStore;
  /** Work that takes a second. */
  readonly workPerSecond: number;
  /** The clock that its answers take their time on. */
  readonly aheadMs: SharedArrayBuffer;
}

/** One simulated engine, listening on a port of 127.0.0.1. */
export interface EngineServer {
  readonly port: number;
  readonly statistics: EngineStatistics;
  /** Listens again on the same port after its death. */
  revive(): Promise<void>;
}

type Counts = { -readonly [Name in keyof EngineStatistics]: number };

interface State extends EngineOptions {
  readonly server: Server;
  readonly counts: Counts;
}

interface Reply {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function startEngineServer(options: EngineOptions): Promise<EngineServer> {
  const counts: Counts = { requests: 0, bytes: 0, capped: 0, overLimit: 0, throttled: 0, refused: 0, deaths: 0 };
  const server = createServer((request, response) => {
    handle({ ...options, server, counts }, request, response).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined),
    );
  });
  const port = await listen(server, 0);
  return {
    port,
    statistics: counts,
    revive: async () => {
      await listen(server, port);
    },
  };
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The simulated engine has no port");
  return address.port;
}

async function handle(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const query = await readRequest(request);
  const { counts, policy, server } = state;
  counts.requests++;
  if (policy.diesAfter !== undefined && counts.deaths === 0 && counts.requests > policy.diesAfter) {
    counts.deaths++;
    server.close();
    server.closeAllConnections();
    return;
  }
  advance(state.aheadMs, policy.latencyMs ?? 0);
  const reply = throttle(state) ?? answer(state, query);
  counts.bytes += Buffer.byteLength(reply.body);
  response
    .writeHead(reply.status, {
      "content-type": reply.status < 300 ? "application/sparql-results+json" : "text/plain",
      "content-length": Buffer.byteLength(reply.body),
      ...reply.headers,
    })
    .end(reply.body);
}

/** SPARQL 1.1 Protocol, section 2.1. */
async function readRequest(request: IncomingMessage): Promise<string | undefined> {
  const body = request.method === "POST" ? await readText(request) : "";
  const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (type === "application/sparql-query") return body;
  const parameters =
    type === "application/x-www-form-urlencoded"
      ? new URLSearchParams(body)
      : new URL(request.url ?? "/", "http://127.0.0.1").searchParams;
  return parameters.get("query") ?? undefined;
}

function throttle({ policy: { bursts }, counts }: State): Reply | undefined {
  if (!bursts || (counts.requests - 1) % (bursts.every + bursts.length) < bursts.every) return undefined;
  counts.throttled++;
  return { status: 429, body: "Too many requests\n", headers: { "retry-after": String(bursts.retryAfterSeconds) } };
}

function answer(state: State, text: string | undefined): Reply {
  if (text === undefined) return { status: 404, body: "No description\n" };
  const { policy, counts, store } = state;
  try {
    const query = readQuery(text);
    const refused = refusal(query, policy);
    if (refused !== undefined) throw new Error(`${refused} is not supported`);
    const understood = withDistinctFault(text, policy.distinct);
    if (understood === undefined) throw new Error("DISTINCT is not supported");
    const cost = query.cost((group) => store.countSolutions(group));
    const limit = policy.timeLimit;
    const isOver = limit !== undefined && cost > limit.work;
    advance(state.aheadMs, durationMs(state, isOver ? limit.work : cost));
    if (!isOver) return capped(state, store.answer(understood));
    counts.overLimit++;
    return ended(state, { ending: limit.ending, query: understood, share: limit.work / cost });
  } catch (error) {
    counts.refused++;
    return { status: 400, body: error instanceof Error ? error.message : "refused" };
  }
}

/** What takes a query to the limit takes as long as the limit; ended queries are a little late. */
function durationMs({ policy: { timeLimit }, workPerSecond, counts }: State, cost: number): number {
  if (timeLimit?.instant === true) return 5;
  const ms = (1_000 * cost) / workPerSecond;
  return cost === timeLimit?.work ? ms + (counts.requests % 50) : ms;
}

function refusal(query: ReadQuery, { refuses = [] }: EnginePolicy): string | undefined {
  if (query.usesAggregates && refuses.includes("aggregates")) return "aggregation";
  return query.usesValues && refuses.includes("values") ? "VALUES" : undefined;
}

interface Cut {
  readonly ending: Ending;
  readonly query: string;
  /** Part of the work that was done in time. */
  readonly share: number;
}

/** Virtuoso's words; the header comes with any status that tells of a partial answer. */
const anytime = { "x-sql-state": "S1TAT", "x-sql-message": "RC...: Returning incomplete results, query interrupted" };

function ended(state: State, { ending, query, share }: Cut): Reply {
  const reached = (): Reply => capped(state, state.store.answer(query, share * (0.7 + 0.3 * fraction(query))));
  switch (ending) {
    case "error-500":
      return { status: 500, body: "Virtuoso S1T00 Error SR171: Transaction timed out\n" };
    case "error-503":
      return { status: 503, body: "Query timed out\n" };
    case "partial-header":
      return { ...reached(), headers: anytime };
    case "partial-206":
      return { ...reached(), status: 206 };
    case "empty-header":
      return { status: 200, body: '{"head":{"vars":[]},"results":{"bindings":[]}}', headers: anytime };
    default:
      return reached();
  }
}

/** A number in [0, 1) that differs from query to query: no two get equally far. */
function fraction(text: string): number {
  let hash = 2_166_136_261;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 16_777_619) >>> 0;
  return hash / 2 ** 32;
}

interface JsonAnswer {
  readonly results?: { readonly bindings: readonly unknown[] };
}

function capped({ policy: { rowCap }, counts }: State, body: string): Reply {
  if (rowCap === undefined) return { status: 200, body };
  const parsed = JSON.parse(body) as JsonAnswer;
  const bindings = parsed.results?.bindings ?? [];
  if (bindings.length <= rowCap.rows) return { status: 200, body };
  counts.capped++;
  const cut = JSON.stringify({ ...parsed, results: { bindings: bindings.slice(0, rowCap.rows) } });
  return { status: 200, body: cut, ...(rowCap.header && { headers: { "x-sparql-maxrows": String(rowCap.rows) } }) };
}
