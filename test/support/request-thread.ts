import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { parentPort, Worker } from "node:worker_threads";

/** A request, whole. */
export interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
}

/** What came back. */
export interface Received {
  readonly status: number;
  readonly bytes: number;
  /** The first bytes of the body. */
  readonly head: string;
}

/** A client in a thread of its own, whose processor time is not that of the service under test. */
export function openRequestThread() {
  const worker = new Worker(new URL(import.meta.url), { execArgv: [] });
  let heard: ((received: Received) => void) | undefined;
  const { promise: listening, resolve: listens } = Promise.withResolvers<string>();
  worker.on("message", (told: Received | string) => (typeof told === "string" ? listens(told) : heard?.(told)));
  return {
    /** URL of a SPARQL endpoint in that thread, which answers every query with the same row. */
    endpoint: () => listening,
    /** Sends one request at a time. */
    send: (sent: Sent): Promise<Received> =>
      new Promise((resolve) => {
        heard = resolve;
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
        worker.postMessage(sent);
      }),
    close: () => worker.terminate(),
  };
}

const answer =
  '{"head":{"vars":["s","p","o"]},"results":{"bindings":[{"s":{"type":"uri","value":"http://x.example/s"}}]}}';

function tell(told: Received | string): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
  parentPort?.postMessage(told);
}

if (parentPort !== null) {
  const server = createServer((incoming, response) => {
    incoming.resume().on("end", () => {
      response.writeHead(200, { "Content-Type": "application/sparql-results+json" }).end(answer);
    });
  });
  server.listen(0, "127.0.0.1", () => {
    tell(`http://127.0.0.1:${(server.address() as AddressInfo).port}/sparql`);
  });
}

const longestHead = 300;

parentPort?.on("message", ({ method, url, headers, body }: Sent) => {
  let bytes = 0;
  let head = "";
  const over = (status: number): void => tell({ status, bytes, head });
  const sent = request(url, { method, headers, agent: false }, (response) => {
    response.on("data", (chunk: Buffer) => {
      if (head.length < longestHead) head = (head + chunk.toString()).slice(0, longestHead);
      bytes += chunk.length;
    });
    response.on("close", () => over(response.statusCode ?? 0));
    response.on("error", () => {});
  });
  let answered = false;
  sent.on("response", () => (answered = true));
  // The service may answer, and close the connection, before it has read all.
  sent.on("error", () => {
    if (!answered) over(0);
  });
  sent.end(body);
});
