import type { HostileCase } from "./hostile-server.ts";
import { reply, resultsOf } from "./hostile-bodies.ts";
import type { Socket } from "node:net";

const small = resultsOf(3);

const status =
  (code: number, headers: Record<string, string> = {}, body = `status ${code}`): HostileCase =>
  ({ response }) =>
    reply(response, { "content-type": "text/plain", ...headers, status: String(code) }, body);

/** Refuses the first `times` requests, then answers. */
const thenOk =
  (times: number, refuse: HostileCase): HostileCase =>
  (exchange) => {
    if (exchange.nth <= times) refuse(exchange);
    else reply(exchange.response, {}, small);
  };

const isForm = (type: string | undefined): boolean => type === "application/x-www-form-urlencoded";

const redirect =
  (code: number, location: (url: (caseName: string) => string) => string): HostileCase =>
  ({ response, url }) =>
    reply(response, { status: String(code), location: location(url) }, "moved");

/** Answers with other statuses: refusals, failures, redirects, methods that are not supported. */
export const hostileErrors: Readonly<Record<string, HostileCase>> = {
  "400": status(400, {}, "Parse error at line 1:\u0000\u001B[31m unexpected 'FOO'"),
  "400-long": status(400, {}, "x".repeat(100_000)),
  "401": status(401),
  "403": status(403),
  "404": status(404),
  "413": status(413),
  "500": status(500, {}, "java.lang.NullPointerException"),
  "504": status(504),
  "500-s1t00": status(500, {}, "Virtuoso S1T00 Error SR171: Transaction timed out"),
  "500-cost": status(
    500,
    {},
    "Virtuoso 42000 Error The estimated execution time 4103 (sec) exceeds the limit of 400 (sec).",
  ),
  "503": status(503),
  "503-then-ok": thenOk(1, status(503)),
  "503-seconds": status(503, { "retry-after": "3600" }),
  "429": status(429),
  "429-then-ok": thenOk(1, status(429, { "retry-after": "1" })),
  "429-seconds": status(429, { "retry-after": "120" }),
  "429-date": ({ response }) =>
    reply(response, { status: "429", "retry-after": new Date(Date.now() + 300_000).toUTCString() }, "slow down"),
  "429-date-then-ok": thenOk(1, ({ response }) =>
    reply(response, { status: "429", "retry-after": new Date(Date.now() + 1000).toUTCString() }, "slow down"),
  ),
  "429-qlever": status(
    429,
    { "content-type": "application/json" },
    '{"exception":"Operation timed out. In: Sort","status":"ERROR"}',
  ),
  "405-retry-after": status(405, { "retry-after": "120" }),

  "only-direct": ({ request, response }) => {
    if (request.headers["content-type"] === "application/sparql-query") reply(response, {}, small);
    else reply(response, { status: "415" }, "Unsupported Media Type");
  },
  "only-get": ({ request, response }) => {
    if (request.method === "GET" && request.path.includes("query=")) reply(response, {}, small);
    else reply(response, { status: "405", allow: "GET" }, "Method Not Allowed");
  },
  "hint-400": ({ request, response }) => {
    if (isForm(request.headers["content-type"])) reply(response, { status: "400" }, "No query parameter provided");
    else reply(response, {}, small);
  },
  "no-method": status(501, {}, "Not Implemented"),
  "not-acceptable": ({ request, response }) => {
    if (request.headers.accept?.includes("*/*") === true) reply(response, {}, small);
    else reply(response, { status: "406" }, "Not Acceptable");
  },
  "never-acceptable": status(406),

  "redirect-307": redirect(307, (url) => url("ok")),
  "redirect-308-relative": redirect(308, () => "/ok"),
  "redirect-301": redirect(301, (url) => url("only-get")),
  "redirect-303": redirect(303, (url) => `${url("only-get")}?lang=en`),
  "redirect-loop": redirect(307, (url) => url("redirect-loop")),
  "redirect-private": redirect(307, () => "http://10.0.0.1/sparql"),
  "redirect-mapped": redirect(302, () => "http://[::ffff:169.254.169.254]/latest/meta-data"),
  "redirect-userinfo": redirect(307, (url) => url("ok").replace("http://", "http://user:pass@")),
  "redirect-file": redirect(307, () => "file:///etc/passwd"),
  "redirect-nowhere": status(302),
  "redirect-garbage": redirect(307, () => "http://[nonsense"),
};

const json = "application/sparql-results+json";
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
