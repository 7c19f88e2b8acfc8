import type { Socket } from "node:net";
import type { HostileCase } from "./hostile-server.ts";
import { reply, resultsOf } from "./hostile-bodies.ts";

const json = "application/sparql-results+json";
const small = resultsOf(3);
const large = resultsOf(3000);

/** Takes the connection over and writes bytes to it. */
const raw =
  (write: (socket: Socket) => void): HostileCase =>
  ({ response }) => {
    const { socket } = response;
    if (socket !== null) write(socket);
  };

const repeatUntilClosed = (socket: Socket, everyMs: number, write: () => void): void => {
  const timer = setInterval(write, everyMs);
  socket.on("close", () => clearInterval(timer));
};

/** Writes, lets the bytes get out, then resets the connection. */
const writeThenReset =
  (text: string): HostileCase =>
  ({ response }) => {
    const { socket } = response;
    socket?.write(text, () => setTimeout(() => socket.resetAndDestroy(), 30));
  };

/** Misbehaviour below HTTP: silence, drips, resets, cut and endless messages. */
export const hostileWire: Readonly<Record<string, HostileCase>> = {
  hang: () => {},
  "slow-first-byte": ({ response }) => {
    setTimeout(() => reply(response, {}, small), 300);
  },
  "hang-in-body": ({ response }) => {
    response.writeHead(200, { "content-type": json });
    response.write(small.slice(0, 40));
  },
  "hang-in-small-body": ({ response }) => {
    response.writeHead(200, { "content-type": json, "content-length": 500 });
    response.write(small.slice(0, 40));
  },
  "hang-in-error": ({ response }) => {
    response.writeHead(500, { "content-type": "text/plain" });
    response.write("out of memory");
  },
  drip: ({ response }) => {
    response.writeHead(200, { "content-type": json });
    response.write('{"head":{"vars":["x"]},"results":{"bindings":[');
    if (response.socket !== null) repeatUntilClosed(response.socket, 20, () => response.write(" "));
  },
  reset: raw((socket) => socket.resetAndDestroy()),
  "close-silently": raw((socket) => socket.end()),
  "reset-then-ok": ({ response, nth }) => {
    if (nth === 1) response.socket?.resetAndDestroy();
    else reply(response, {}, small);
  },
  "reset-in-body": writeThenReset(
    `HTTP/1.1 200 OK\r\ncontent-type: ${json}\r\ncontent-length: ${large.length}\r\n\r\n${large.slice(0, 60_000)}`,
  ),
  "reset-in-chunked": writeThenReset(
    `HTTP/1.1 200 OK\r\ncontent-type: ${json}\r\ntransfer-encoding: chunked\r\n\r\n${(100).toString(16)}\r\n${large.slice(0, 100)}\r\n`,
  ),
  // Complete lines of a format without an end mark: only the reset tells that more was to come.
  "reset-close-delimited": writeThenReset(
    "HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\nconnection: close\r\n\r\nx\r\nhttp://example.org/1\r\n",
  ),
  "short-length": raw((socket) =>
    socket.end(
      `HTTP/1.1 200 OK\r\ncontent-type: ${json}\r\ncontent-length: ${large.length}\r\n\r\n${large.slice(0, 60_000)}`,
    ),
  ),
  "short-small-length": raw((socket) =>
    socket.end(`HTTP/1.1 200 OK\r\ncontent-type: ${json}\r\ncontent-length: 500\r\n\r\n${small.slice(0, 60)}`),
  ),
  "cut-chunked": raw((socket) =>
    socket.end(
      `HTTP/1.1 200 OK\r\ncontent-type: ${json}\r\ntransfer-encoding: chunked\r\n\r\n${(100).toString(16)}\r\n${large.slice(0, 100)}\r\n`,
    ),
  ),
  "bad-chunk": raw((socket) =>
    socket.end(`HTTP/1.1 200 OK\r\ncontent-type: ${json}\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n${small}\r\n`),
  ),
  "not-http": raw((socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n")),
  "endless-headers": raw((socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    const line = `x-filler: ${"y".repeat(1000)}\r\n`;
    repeatUntilClosed(socket, 5, () => socket.write(line));
  }),
  "endless-interim": raw((socket) => {
    repeatUntilClosed(socket, 5, () => socket.write("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"));
  }),
  "two-lengths": raw((socket) =>
    socket.end(`HTTP/1.1 200 OK\r\ncontent-type: ${json}\r\ncontent-length: 10\r\ncontent-length: 500\r\n\r\n${small}`),
  ),
};
