import { connect, type Socket } from "node:net";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import { afterEach, expect, it } from "vitest";
import type { HttpDeps } from "../../../src/http/http-deps.ts";
import { createHttpServer, type HttpServer } from "../../../src/http/server.ts";
import { createFakeDeps, type FakeDeps } from "../../support/http-deps.ts";

/** A listening server with fakes behind it. */
export type Started = FakeDeps & { readonly url: string; readonly server: HttpServer };

const running: HttpServer[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of running.splice(0)) await server.close(0);
});

/** Starts a server on a free port; it is closed after the test. */
export async function start(more: Partial<HttpDeps> = {}): Promise<Started> {
  const deps = await createFakeDeps(more);
  const server = await createHttpServer(deps);
  running.push(server);
  const url = await server.listen();
  return { ...deps, url, server };
}

/** A raw connection: what was received so far, and how it ended. */
export interface RawConnection {
  readonly socket: Socket;
  readonly received: () => string;
  /** Settles when the connection is over. */
  readonly ended: Promise<"closed" | "reset">;
  /** Settles when `text` has been received. */
  until(text: string): Promise<void>;
}

/** Writes `request` to the server and collects what comes back. */
export function raw({ url }: Pick<Started, "url">, request: string | Buffer): RawConnection {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  let received = "";
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    received += chunk;
  });
  const ended = new Promise<"closed" | "reset">((resolve) => {
    socket.once("error", () => resolve("reset"));
    socket.once("close", () => resolve("closed"));
  });
  socket.write(request);
  const until = async (text: string): Promise<void> => {
    while (!received.includes(text)) {
      if (socket.destroyed) throw new Error(`the connection ended before ${JSON.stringify(text)}: ${received}`);
      await new Promise((resolve) => {
        setTimeout(resolve, 2);
      });
    }
  };
  return { socket, received: () => received, ended, until };
}

export const askQuery = "query=ASK%20%7B%7D";

/** Body of a request, as JSON unless it is text. */
export const json = (body: unknown, method = "POST"): RequestInit => ({
  method,
  headers: { "Content-Type": "application/json" },
  body: typeof body === "string" ? body : JSON.stringify(body),
});

/** A test that an answer is what its schema says, with this in it, for scripts of any origin. */
export const shouldAnswer = (
  path: string,
  [status, schema, body]: readonly [status: number, schema: TSchema, body: object],
  init: RequestInit = {},
): void =>
  it(`${init.method ?? "GET"} ${path} ${typeof init.body === "string" ? init.body.slice(0, 60) : ""} is ${status}`, async () => {
    const app = await start();
    const response = await fetch(app.url + path, init);
    const found: unknown = await response.json();
    expect(found).toMatchObject(body);
    expect([...Value.Errors(schema, found)]).toStrictEqual([]);
    expect(response.status).toBe(status);
    expect(response.headers.get("Access-Control-Allow-Origin")).toBe("*");
  });
