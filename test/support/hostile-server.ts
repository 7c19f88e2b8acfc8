import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { hostileBodies } from "./hostile-bodies.ts";
import { hostileErrors, hostileWire } from "./hostile-errors.ts";
import { listening } from "./listening.ts";
import { eventually } from "./eventually.ts";

/** One request that the hostile server has received, body read. */
export interface RecordedRequest {
  readonly method: string;
  /** Name of the case, the first segment of the path. */
  readonly caseName: string;
  /** Path and query string. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** How one case misbehaves. `nth` counts the requests of this case from 1. */
export type HostileCase = (exchange: {
  readonly request: RecordedRequest;
  readonly response: ServerResponse;
  readonly nth: number;
  /** URL of another case of the same server. */
  readonly url: (caseName: string) => string;
}) => void;

/** Every case by name. */
const hostileCases: Readonly<Record<string, HostileCase>> = {
  ...hostileBodies,
  ...hostileErrors,
  ...hostileWire,
};

export type HostileServer = Awaited<ReturnType<typeof startHostileServer>>;

/** A SPARQL endpoint on a free port of 127.0.0.1 that misbehaves in every way an endpoint can; one path a case. */
export async function startHostileServer() {
  const recorded: RecordedRequest[] = [];
  const sockets = new Set<Socket>();
  let origin = "";
  const url = (caseName: string): string => `${origin}/${caseName}`;

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = incoming.url ?? "/";
    const caseName = /^\/([^/?]*)/.exec(path)?.[1] ?? "";
    const body = await text(incoming);
    const request = { method: incoming.method ?? "", caseName, path, headers: incoming.headers, body };
    recorded.push(request);
    const run = hostileCases[caseName];
    if (run === undefined) {
      response.writeHead(599).end(`no hostile case "${caseName}"`);
      return;
    }
    response.on("error", () => {});
    run({ request, response, nth: recorded.filter((other) => other.caseName === caseName).length, url });
  };

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.destroy());
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  const listener = await listening(server);
  origin = listener.origin;

  return {
    /** Endpoint URL of a case; the names are the keys of `hostileCases`. */
    url,
    /** Requests received so far, of one case or of all. */
    requests: (caseName?: string): readonly RecordedRequest[] =>
      recorded.filter((request) => caseName === undefined || request.caseName === caseName),
    /** Connections that are open now. */
    openSockets: (): number => sockets.size,
    /** Resolves when so many requests have been received in all. */
    received: (count: number): Promise<void> =>
      eventually(() => {
        if (recorded.length < count) throw new Error(`${recorded.length} of ${count} requests received`);
      }),
    /** Resolves when no connection is open. */
    allSocketsClosed: (): Promise<void> =>
      eventually(() => {
        if (sockets.size > 0) throw new Error(`${sockets.size} connections are still open`);
      }),
    close: listener.close,
  };
}
