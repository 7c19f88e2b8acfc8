import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import oxigraph from "oxigraph";
import { listening } from "./listening.ts";

/** A request as a limited endpoint saw it. */
export interface LimitedRequest {
  readonly method: "post-form" | "post-direct" | "get";
  readonly query: string;
  readonly accept: string;
  /** Bytes of origin, path and query string. */
  readonly urlBytes: number;
}

/** An answer instead of the data's own. */
export interface LimitedReply {
  readonly status: number;
  readonly mediaType?: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An endpoint that is Oxigraph behind whatever a test puts before it. */
export interface LimitedEndpoint {
  readonly url: string;
  readonly requests: LimitedRequest[];
  close(): Promise<void>;
}

/** How it is limited. */
export interface LimitedEndpointOptions {
  /** N-Triples. */
  readonly data?: string;
  /** A reply of its own, or undefined to answer from the data. */
  readonly instead?: (request: LimitedRequest) => LimitedReply | undefined;
  /** Rewrites a query before it is answered, as an engine does that gets it wrong. */
  readonly misread?: (query: string) => string;
  /** Rows after which answers are cut without a word. */
  readonly rowCap?: number;
}

const tuples = {
  "application/sparql-results+json": "json",
  "application/sparql-results+xml": "xml",
  "text/csv": "csv",
  "text/tab-separated-values": "tsv",
} as const;
const graphs = { "application/n-triples": "nt", "text/turtle": "ttl", "application/rdf+xml": "rdf" } as const;

/** A reply that refuses a query. */
export const refuse = (body: string, status = 400): LimitedReply => ({ status, mediaType: "text/plain", body });

/** Starts an endpoint on a free port of 127.0.0.1. */
export async function startLimitedEndpoint(options: LimitedEndpointOptions = {}): Promise<LimitedEndpoint> {
  const store = new oxigraph.Store();
  if (options.data !== undefined) store.load(options.data, { format: "nt" });
  const requests: LimitedRequest[] = [];
  let origin = "";
  const server = createServer((incoming, response) => {
    void (async () => {
      const request = await readRequest(incoming, origin);
      requests.push(request);
      reply(response, options.instead?.(request) ?? answer(store, request, options));
    })();
  });
  const listener = await listening(server);
  origin = listener.origin;
  return {
    url: `${origin}/sparql`,
    requests,
    close: listener.close,
  };
}

async function readRequest(incoming: IncomingMessage, origin: string): Promise<LimitedRequest> {
  const url = new URL(incoming.url ?? "/", origin);
  const body = incoming.method === "POST" ? await text(incoming) : "";
  const isDirect = incoming.headers["content-type"]?.startsWith("application/sparql-query") === true;
  const inBody = isDirect ? body : (new URLSearchParams(body).get("query") ?? "");
  const method = incoming.method === "GET" ? "get" : isDirect ? "post-direct" : "post-form";
  return {
    method,
    query: method === "get" ? (url.searchParams.get("query") ?? "") : inBody,
    accept: incoming.headers.accept ?? "*/*",
    urlBytes: origin.length + (incoming.url ?? "").length,
  };
}

function reply(response: ServerResponse, { status, mediaType = "text/plain", body, headers }: LimitedReply): void {
  response.writeHead(status, { "content-type": mediaType, ...headers }).end(body);
}

/** Without data an answer is always the same; a few of them take long to compute. */
const answersWithoutData = new Map<string, LimitedReply>();

function answer(
  store: oxigraph.Store,
  { query, accept }: LimitedRequest,
  { data, misread = (same) => same, rowCap }: LimitedEndpointOptions,
): LimitedReply {
  const asked = capped(misread(query), rowCap);
  const known = data === undefined ? answersWithoutData.get(`${accept}\n${asked}`) : undefined;
  if (known) return known;
  const isGraph = /^\s*(?:CONSTRUCT|DESCRIBE)\b/iu.test(asked);
  const formats: Readonly<Record<string, string>> = isGraph ? graphs : tuples;
  const wanted = accept.split(",").map((range) => range.split(";")[0]?.trim() ?? "");
  const mediaType = wanted.find((type) => Object.hasOwn(formats, type)) ?? Object.keys(formats)[0] ?? "";
  try {
    const body = store.query(asked, { results_format: formats[mediaType] ?? "" });
    const whole = { status: 200, mediaType, body: typeof body === "string" ? body : "" };
    if (data === undefined) answersWithoutData.set(`${accept}\n${asked}`, whole);
    return whole;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : "refused");
  }
}

const capped = (query: string, rowCap: number | undefined): string =>
  rowCap === undefined || !/^\s*SELECT/iu.test(query) ? query : `SELECT * WHERE { { ${query} } } LIMIT ${rowCap}`;
