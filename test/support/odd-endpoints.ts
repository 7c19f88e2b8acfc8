import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { Store } from "oxigraph";
import { listening } from "./listening.ts";

/** A request as an odd endpoint sees it. */
export interface OddRequest {
  readonly name: string;
  readonly method: "post-form" | "post-direct" | "get";
  readonly query: string;
  readonly accept: string;
  readonly urlBytes: number;
}

/** An answer as it goes out; a body in pieces is sent without a length. */
export interface OddReply {
  readonly status: number;
  readonly type?: string | undefined;
  readonly body: string | Buffer | readonly (string | Buffer)[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Of a body in pieces. */
  readonly trailers?: Readonly<Record<string, string>>;
}

/** Answers from the data in a format; `refuse` of what the store does not understand. */
type FromData = (query: string, format: Format) => OddReply;

/** How an endpoint treats its requests. */
export type Manner = (request: OddRequest, fromData: FromData) => OddReply;

const formats = {
  json: "application/sparql-results+json",
  xml: "application/sparql-results+xml",
  tsv: "text/tab-separated-values",
  nt: "application/n-triples",
  ttl: "text/turtle",
  rdf: "application/rdf+xml",
} as const;
type Format = keyof typeof formats;

export const refuse = (body: string, status = 400): OddReply => ({ status, type: "text/plain", body });
const page: OddReply = { status: 200, type: "text/html", body: "<html><form>Your query</form></html>" };

export const isGraph = (query: string): boolean => /\b(?:CONSTRUCT|DESCRIBE)\b/u.test(query);

/** In the first format of Accept that it knows. */
export const plain: Manner = ({ query, accept }, fromData) => {
  const wanted = new Set(accept.split(",").map((range) => range.split(";")[0]?.trim()));
  const known = isGraph(query) ? (["ttl", "nt", "rdf"] as const) : (["json", "xml", "tsv"] as const);
  return fromData(query, known.find((format) => wanted.has(formats[format])) ?? known[0]);
};

/** Only some requests reach it. */
export const onlyFor =
  (passes: (request: OddRequest) => boolean, otherwise: OddReply, then: Manner = plain): Manner =>
  (request, fromData) =>
    passes(request) ? then(request, fromData) : otherwise;

export const byGet = (otherwise: OddReply, then: Manner = plain): Manner =>
  onlyFor(({ method }) => method === "get", otherwise, then);
export const byDirectPost = (otherwise: OddReply, then: Manner = plain): Manner =>
  onlyFor(({ method }) => method === "post-direct", otherwise, then);

const newWords = /\b(?:VALUES|BIND|EXISTS|MINUS|IN)\b|\bAS\s+\?|\{\s*SELECT\b/u;
/** SPARQL 1.0. */
export const old = (otherwise: OddReply = refuse("Lexical error: encountered VALUES"), then: Manner = plain): Manner =>
  onlyFor(({ query }) => !newWords.test(query), otherwise, then);

/** Tables as the store writes them in a format, changed. */
export const as =
  (format: Format, change: (body: string) => Omit<OddReply, "status">): Manner =>
  (request, fromData) => {
    if (isGraph(request.query)) return plain(request, fromData);
    const reply = fromData(request.query, format);
    return reply.status === 200 ? { status: 200, ...change(String(reply.body)) } : reply;
  };

/** JSON or XML under another name. */
export const named = (format: "json" | "xml", type: string | undefined): Manner =>
  as(format, (body) => ({ type, body }));

const undeclared = (xml: string): string => xml.replace(/^<\?xml[^>]*\?>\s*/u, "");
const declared = (xml: string, encoding: string): string =>
  `<?xml version="1.0" encoding="${encoding}"?>\n${undeclared(xml)}`;

/** XML in another encoding, as it names it. */
export const encoded = (encoding: string, encode: (text: string) => Buffer): Manner =>
  as("xml", (body) => ({
    type: formats.xml,
    body: encode(encoding === "" ? undeclared(body) : declared(body, encoding)),
  }));

export const latin1 = (body: string): Buffer => Buffer.from(body, "latin1");
export const utf16 = (body: string): Buffer => Buffer.from(body, "utf16le");
export const utf16be = (body: string): Buffer => utf16(body).swap16();
export const bytewise = (body: Buffer | string): Buffer[] => [...Buffer.from(body)].map((byte) => Buffer.of(byte));
export const zipped: Manner = as("xml", (body) => ({
  type: formats.xml,
  body: gzipSync(latin1(declared(body, "ISO-8859-1"))),
  headers: { "content-encoding": "gzip" },
}));

/** The service's own description, whatever it is asked. */
export const description = (type: "ttl" | "nt" | "rdf"): OddReply => {
  const store = new Store();
  const sd = "http://www.w3.org/ns/sparql-service-description#";
  store.load(`<urn:e> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <${sd}Service> .`, { format: "nt" });
  const query = "CONSTRUCT WHERE { ?s ?p ?o }";
  const body = store.query(query, { results_format: formats[type] });
  return { status: 200, type: formats[type], body: typeof body === "string" ? body : "" };
};
export { page };

/** Endpoints on one server that answer from the same data, each in its manner. */
export async function startOddEndpoints(manners: Readonly<Record<string, Manner>>, data: string) {
  const store = new Store();
  store.load(data, { format: "nt" });
  const requests: OddRequest[] = [];
  const fromData: FromData = (query, format) => {
    try {
      const answer = store.query(query, { results_format: formats[format] });
      return { status: 200, type: formats[format], body: typeof answer === "string" ? answer : "" };
    } catch (error) {
      return refuse(error instanceof Error ? error.message : "refused");
    }
  };
  const server = createServer((incoming, response) => {
    void (async () => {
      const request = await readRequest(incoming);
      requests.push(request);
      const manner = manners[request.name];
      send(response, manner === undefined ? refuse("no such endpoint", 404) : manner(request, fromData));
    })();
  });
  const { origin, close } = await listening(server);
  return { requests, urlOf: (name: string): string => `${origin}/${name}/sparql`, close };
}

async function readRequest(incoming: IncomingMessage): Promise<OddRequest> {
  const { url: target = "/", headers } = incoming;
  const { pathname, searchParams } = new URL(target, "http://odd.example");
  const known = { name: pathname.split("/")[1] ?? "", accept: headers.accept ?? "*/*", urlBytes: target.length };
  if (incoming.method === "GET") return { ...known, method: "get", query: searchParams.get("query") ?? "" };
  const body = await text(incoming);
  if (headers["content-type"] === "application/sparql-query") return { ...known, method: "post-direct", query: body };
  return { ...known, method: "post-form", query: new URLSearchParams(body).get("query") ?? "" };
}

function send(response: ServerResponse, { status, type, body, headers, trailers }: OddReply): void {
  const isPieces = Array.isArray(body);
  const whole = isPieces ? undefined : Buffer.from(body as string | Buffer);
  response.writeHead(status, {
    ...(type !== undefined && { "content-type": type }),
    ...(whole !== undefined && status !== 204 && { "content-length": whole.length }),
    ...(trailers && { trailer: Object.keys(trailers).join(", ") }),
    ...headers,
  });
  if (isPieces) for (const piece of body) response.write(piece);
  if (trailers) response.addTrailers(trailers);
  response.end(whole);
}
