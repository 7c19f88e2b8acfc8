import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text as readText } from "node:stream/consumers";
import oxigraph from "oxigraph";
import { freePort, listening } from "./listening.ts";

/** How an endpoint fails; "none" is one that does not. */
export const endpointFaults = [
  "refused",
  "hang",
  "hang in the body",
  "reset",
  "429",
  "500",
  "206",
  "truncated",
  "wrong type",
  "drip",
] as const;

export type EndpointFault = (typeof endpointFaults)[number];

const json = { "Content-Type": "application/sparql-results+json" };
const dripMs = 40;
const dripBytes = 24;

/** Half of a body, then what `then` does; the client knows how much is to come. */
function half(response: ServerResponse, body: string, then: () => void): void {
  response.writeHead(200, { ...json, "Content-Length": String(Buffer.byteLength(body)) });
  response.write(body.slice(0, body.length / 2), then);
}

const responses: Readonly<
  Record<Exclude<EndpointFault, "refused"> | "none", (response: ServerResponse, body: string) => void>
> = {
  none: (response, body) => void response.writeHead(200, json).end(body),
  hang() {},
  "hang in the body": (response, body) => half(response, body, () => {}),
  reset: (response, body) => half(response, body, () => response.socket?.resetAndDestroy()),
  429: (response) => void response.writeHead(429, { "Retry-After": "30" }).end("Too many requests"),
  500: (response) => void response.writeHead(500, { "Content-Type": "text/plain" }).end("Out of order"),
  206: (response, body) => void response.writeHead(206, json).end(body),
  truncated: (response, body) => void response.writeHead(200, json).end(body.slice(0, body.length / 2)),
  "wrong type": (response) => void response.writeHead(200, { "Content-Type": "text/html" }).end("<h1>Maintenance</h1>"),
  drip(response, body) {
    response.writeHead(200, json);
    let at = 0;
    const timer = setInterval(() => {
      response.write(body.slice(at, at + dripBytes) || " ");
      at += dripBytes;
    }, dripMs);
    response.once("close", () => clearInterval(timer));
  },
};

/** Endpoints over one data set (N-Triples), a path each: `/{fault}/{any name}`. A path counts its requests under way. */
export async function startFaultyEndpoints(data: Readonly<Record<string, string>>) {
  const stores = new Map(Object.entries(data).map(([name, text]) => [name, storeOf(text)]));
  const open = new Map<string, number>();
  const closedPort = await freePort();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", "http://localhost");
    const body = await readText(request);
    const query = new URLSearchParams(request.method === "GET" ? url.search : body).get("query") ?? body;
    const [, fault = "", store = ""] = decodeURI(url.pathname).split("/");
    const results = stores.get(store)?.query(query, { results_format: "json" });
    responses[fault as keyof typeof responses](response, typeof results === "string" ? results : "");
  }

  const server = createServer((request, response) => {
    const path = decodeURI(request.url?.split("?")[0] ?? "");
    open.set(path, (open.get(path) ?? 0) + 1);
    response.once("close", () => open.set(path, (open.get(path) ?? 0) - 1));
    answer(request, response).catch(() => response.destroy());
  });
  const { origin, close } = await listening(server);
  return {
    /** @param name of the endpoint; those of one fault and store have nothing else in common */
    url: (fault: EndpointFault | "none", store: string, name: string): string =>
      encodeURI(fault === "refused" ? `http://127.0.0.1:${closedPort}/${name}` : `${origin}/${fault}/${store}/${name}`),
    /** Requests under way at an endpoint. */
    open: (url: string): number => open.get(decodeURI(new URL(url).pathname)) ?? 0,
    close,
  };
}

function storeOf(text: string): oxigraph.Store {
  const store = new oxigraph.Store();
  store.load(text, { format: "nt" });
  return store;
}
