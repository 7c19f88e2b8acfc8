import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { text } from "node:stream/consumers";
import oxigraph from "oxigraph";
import { listening } from "./listening.ts";

/** One request as a test endpoint saw it. */
export interface SeenRequest {
  readonly method: string;
  /** SPARQL text; undefined for a request without a query (a service description). */
  readonly query: string | undefined;
  readonly contentType: string | undefined;
  readonly accept: string | undefined;
  readonly userAgent: string | undefined;
  /** Milliseconds on `performance.now()`. */
  readonly startedMs: number;
  /** Requests under way at this endpoint when it came, itself included. */
  readonly inFlight: number;
  /** Status answered; undefined while under way and when cut off or hung. */
  status: number | undefined;
  /** Of the body that was answered. */
  answerBytes: number;
  /** The client went away before the answer was complete. */
  aborted: boolean;
}

/** How an endpoint misbehaves. */
export type Fault =
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** The connection is reset, after this many bytes of the body (default: before the response). */
  | { readonly kind: "reset"; readonly afterBytes?: number }
  /** Of queries that match, or of all. */
  | { readonly kind: "hang"; readonly on?: RegExp }
  /** 200 with this body instead of results. */
  | { readonly kind: "body"; readonly body: string; readonly headers?: Readonly<Record<string, string>> };

interface State {
  store: oxigraph.Store;
  delayMs: number;
  /** Aborted when the delays under way are over. */
  delays: AbortController;
  fault: Fault | undefined;
  faultsLeft: number;
  /** Requests that are answered before the fault. */
  goodLeft: number;
  inFlight: number;
  requests: SeenRequest[];
}

export type SparqlTestServer = Awaited<ReturnType<typeof startSparqlTestServer>>;

/** A SPARQL endpoint on a free port of 127.0.0.1 over an Oxigraph store in this process. */
export async function startSparqlTestServer(nTriples: string) {
  const state: State = {
    store: load(nTriples),
    delayMs: 0,
    delays: new AbortController(),
    fault: undefined,
    faultsLeft: 0,
    goodLeft: 0,
    inFlight: 0,
    requests: [],
  };
  const server = createServer((request, response) => {
    handle(state, request, response).catch((error: unknown) =>
      response.destroy(error instanceof Error ? error : undefined),
    );
  });
  const { origin, close } = await listening(server);
  return {
    url: `${origin}/sparql`,
    get requests(): readonly SeenRequest[] {
      return state.requests;
    },
    clearRequests(): void {
      state.requests = [];
    },
    /** Replaces the data (N-Triples or N-Quads); the server keeps its port. */
    setData(data: string): void {
      state.store = load(data);
    },
    /** Milliseconds before each answer; 0 ends the delays under way, too. */
    setDelay(ms: number): void {
      state.delayMs = ms;
      if (ms > 0) return;
      state.delays.abort();
      state.delays = new AbortController();
    },
    /** With numbers the fault strikes that many times only, and not before so many more requests are answered. */
    setFault(fault: Fault | undefined, times = Number.POSITIVE_INFINITY, after = 0): void {
      state.fault = fault;
      state.faultsLeft = times;
      state.goodLeft = after;
    },
    close,
  };
}

function load(nTriples: string): oxigraph.Store {
  const store = new oxigraph.Store();
  store.load(nTriples, { format: "nq" });
  return store;
}

async function handle(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const sparql = await readSparql(request);
  const seen = record(state, request, sparql.query);
  state.inFlight++;
  response.once("close", () => {
    state.inFlight--;
    seen.aborted = !response.writableFinished;
  });
  if (state.delayMs > 0) await sleep(state.delayMs, undefined, { signal: state.delays.signal }).catch(() => {});
  const fault = nextFault(state, sparql);
  if (fault?.kind === "hang") return;
  const reply =
    fault && fault.kind !== "reset"
      ? faultReply(fault)
      : evaluate(state.store, sparql, request.headers.accept ?? "*/*");
  if (fault?.kind === "reset") {
    await reset(response, reply, fault.afterBytes);
    return;
  }
  seen.status = reply.status;
  seen.answerBytes = Buffer.byteLength(reply.body);
  response.writeHead(reply.status, { ...reply.headers, "content-length": seen.answerBytes }).end(reply.body);
}

function nextFault(state: State, { query = "" }: Sparql): Fault | undefined {
  const { fault } = state;
  const isStruck = fault?.kind !== "hang" || fault.on?.test(query) !== false;
  if (!isStruck || state.faultsLeft <= 0 || state.goodLeft-- > 0) return undefined;
  state.faultsLeft--;
  return fault;
}

function record(state: State, request: IncomingMessage, query: string | undefined): SeenRequest {
  const seen: SeenRequest = {
    method: request.method ?? "",
    query,
    contentType: request.headers["content-type"],
    accept: request.headers.accept,
    userAgent: request.headers["user-agent"],
    startedMs: performance.now(),
    inFlight: state.inFlight + 1,
    status: undefined,
    answerBytes: 0,
    aborted: false,
  };
  state.requests.push(seen);
  return seen;
}

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function faultReply(fault: Extract<Fault, { kind: "status" | "body" }>): Reply {
  const status = fault.kind === "status" ? fault.status : 200;
  const type = { "content-type": fault.kind === "status" ? "text/plain" : "application/sparql-results+json" };
  return { status, headers: { ...type, ...fault.headers }, body: fault.body ?? "fault on purpose\n" };
}

async function reset(response: ServerResponse, reply: Reply, afterBytes: number | undefined): Promise<void> {
  if (afterBytes !== undefined) {
    response.writeHead(reply.status, { ...reply.headers, "content-length": Buffer.byteLength(reply.body) });
    await new Promise<void>((resolve) => {
      response.write(Buffer.from(reply.body).subarray(0, afterBytes), () => resolve());
    });
  }
  response.socket?.resetAndDestroy();
}

interface Sparql {
  readonly query: string | undefined;
  readonly defaultGraphs: readonly string[];
  readonly namedGraphs: readonly string[];
}

/** SPARQL 1.1 Protocol, section 2.1: query via GET, via URL-encoded POST, via POST directly. */
async function readSparql(request: IncomingMessage): Promise<Sparql> {
  const parameters = new URL(request.url ?? "/", "http://127.0.0.1").searchParams;
  const body = request.method === "POST" ? await text(request) : "";
  const type = request.headers["content-type"]?.split(";")[0]?.trim().toLowerCase();
  if (type === "application/x-www-form-urlencoded") {
    for (const [name, value] of new URLSearchParams(body)) parameters.append(name, value);
  }
  return {
    query: type === "application/sparql-query" ? body : (parameters.get("query") ?? undefined),
    defaultGraphs: parameters.getAll("default-graph-uri"),
    namedGraphs: parameters.getAll("named-graph-uri"),
  };
}

const resultFormats = [
  ["application/sparql-results+json", "json"],
  ["application/json", "json"],
  ["application/sparql-results+xml", "xml"],
  ["text/tab-separated-values", "tsv"],
  ["text/csv", "csv"],
] as const;
const graphFormats = [
  ["application/n-triples", "nt"],
  ["text/turtle", "ttl"],
] as const;

function evaluate(store: oxigraph.Store, sparql: Sparql, accept: string): Reply {
  if (sparql.query === undefined)
    return { status: 404, headers: { "content-type": "text/plain" }, body: "No description\n" };
  const isGraph = /^\s*(?:(?:PREFIX\s+\S*\s*<[^>]*>|BASE\s*<[^>]*>|#[^\n]*\n)\s*)*(?:CONSTRUCT|DESCRIBE)\b/iu.test(
    sparql.query,
  );
  const formats = isGraph ? graphFormats : resultFormats;
  const [mediaType, format] = bestFormat(formats, accept);
  try {
    const body = store.query(sparql.query, { ...datasetOf(sparql), results_format: format });
    return { status: 200, headers: { "content-type": mediaType }, body: typeof body === "string" ? body : "" };
  } catch (error) {
    return {
      status: 400,
      headers: { "content-type": "text/plain" },
      body: error instanceof Error ? error.message : "refused",
    };
  }
}

/** The first range of the Accept header, by quality, that this endpoint has; its first format otherwise. */
function bestFormat<F extends readonly (readonly [string, string])[]>(formats: F, accept: string): F[number] {
  const ranges = accept.split(",").map((part) => {
    const [type = "", ...parameters] = part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/u);
    const quality = parameters.find((parameter) => parameter.startsWith("q="));
    return { type, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
  });
  const wanted = ranges.toSorted((a, b) => b.quality - a.quality);
  for (const { type } of wanted) {
    const format = formats.find(([mediaType]) => mediaType === type);
    if (format) return format;
  }
  const [first] = formats;
  if (!first) throw new Error("No format");
  return first;
}

function datasetOf(sparql: Sparql): object {
  const { defaultGraphs, namedGraphs } = sparql;
  if (defaultGraphs.length + namedGraphs.length === 0) return {};
  return {
    default_graph: defaultGraphs.map((iri) => oxigraph.namedNode(iri)),
    named_graphs: namedGraphs.map((iri) => oxigraph.namedNode(iri)),
  };
}
