import { createServer, type Server } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createDrain, type Drain } from "../../../src/http/server.ts";
import { listening } from "../../support/listening.ts";
import { startService } from "../../support/running-service.ts";

/** Much more than the buffers of both ends of a loopback connection hold. */
const largeBytes = 32 * 1024 * 1024;

interface Draining {
  readonly drain: Drain;
  readonly server: Server;
  readonly port: number;
  /** Ends all answers that are under way. */
  release(): void;
}

const closings: (() => void)[] = [];
afterEach(() => {
  for (const close of closings.splice(0)) close();
});

/** A server whose answers end when they are released; the path says how many bytes they have and when the head leaves. */
async function serve(): Promise<Draining> {
  const held: (() => void)[] = [];
  const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    const early = request.url?.startsWith("/early") === true;
    const bytes = request.url?.endsWith("large") === true ? largeBytes : 5;
    response.setHeader("Content-Length", bytes);
    if (early) response.flushHeaders();
    held.push(() => response.end(Buffer.alloc(bytes, "x")));
  });
  const drain = createDrain(server);
  const { port } = await listening(server);
  closings.push(() => server.closeAllConnections());
  const release = (): void => {
    for (const end of held.splice(0)) end();
  };
  return { drain, server, port, release };
}

interface Client {
  readonly socket: Socket;
  /** Resolves to all bytes when the server has ended the connection. */
  readonly ended: Promise<Buffer>;
  readonly ask: (path: string) => void;
}

function client(port: number): Client {
  const socket = connect(port, "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  const ended = new Promise<Buffer>((resolve, reject) => {
    socket.once("error", reject);
    socket.once("close", () => resolve(Buffer.concat(chunks)));
  });
  return { socket, ended, ask: (path) => void socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`) };
}

const requested = ({ server }: Draining): Promise<void> =>
  new Promise((resolve) => server.once("request", () => resolve()));

const bodyOf = (answer: Buffer): Buffer => answer.subarray(answer.indexOf("\r\n\r\n") + 4);

describe("a server that drains", () => {
  it.each(["/late", "/early"])("ends a connection with the answer that is under way on it: %s", async (path) => {
    const draining = await serve();
    const { ask, ended } = client(draining.port);
    const came = requested(draining);
    ask(path);
    await came;
    draining.drain.begin();
    draining.drain.begin();
    draining.release();
    const answer = (await ended).toString();
    expect(answer.endsWith("\r\n\r\nxxxxx")).toBe(true);
    // What left before could not say it yet.
    expect(/connection: close/i.test(answer)).toBe(path === "/late");
  });

  it("answers once more on a connection that was idle", async () => {
    const draining = await serve();
    const { ask, ended, socket } = client(draining.port);
    const first = requested(draining);
    ask("/late");
    await first;
    draining.release();
    await new Promise((resolve) => socket.once("data", resolve));
    draining.drain.begin();
    const second = requested(draining);
    ask("/late");
    await second;
    draining.release();
    const answers = (await ended).toString().split("HTTP/1.1 200 OK").slice(1);
    expect(answers.map((answer) => /connection: (\S+)/i.exec(answer)?.[1])).toEqual(["keep-alive", "close"]);
  });

  it.each(["/late-large", "/early-large"])("cuts no answer off that its client takes slowly: %s", async (path) => {
    const draining = await serve();
    const { ask, ended, socket } = client(draining.port);
    const came = requested(draining);
    ask(path);
    await came;
    draining.release();
    await new Promise((resolve) => socket.once("data", resolve));
    socket.pause();
    let taken = false;
    draining.drain.begin();
    const all = draining.drain.taken().then(() => {
      taken = true;
      return new Promise((resolve) => draining.server.close(resolve));
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(taken).toBe(false);
    socket.resume();
    const answer = await ended;
    expect(bodyOf(answer).byteLength).toBe(largeBytes);
    await all;
  });

  it("waits for nothing when nothing is under way, nor for an answer that has not ended", async () => {
    const draining = await serve();
    await draining.drain.taken();
    const { ask, ended } = client(draining.port);
    const came = requested(draining);
    ask("/late");
    await came;
    draining.drain.begin();
    await draining.drain.taken();
    draining.release();
    expect((await ended).toString()).toContain("xxxxx");
  });
});

it("a service ends without waiting for a connection on which nothing has come", async () => {
  // Longer than a test may take: queries under way have this time at the end.
  const service = await startService({}, { FEDWAY_TIMEOUT_MS: "600000" });
  const { ended } = client(Number(new URL(service.url).port));
  expect((await fetch(`${service.url}/health/live`)).ok).toBe(true);
  await service.close();
  expect(await ended).toHaveLength(0);
});
