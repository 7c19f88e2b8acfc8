import { createServer } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** Requests to shards, and decoded bytes of their answers. */
export interface Traffic {
  readonly requests: number;
  readonly bytes: number;
}

/** Passes requests for shards on to the service at `target`, and counts them. Listens on this machine only; port 0: any. */
export async function startCountingProxy(target: string, listenAt = 0) {
  let [requests, bytes] = [0, 0];
  const server = createServer((request, response) => {
    requests++;
    const { method = "GET", url = "/", headers } = request;
    const ending = new AbortController();
    response.once("close", () => ending.abort());
    const forward = async (): Promise<void> => {
      const body = method === "POST" ? Readable.toWeb(request) : null;
      const sent = { "content-type": headers["content-type"] ?? "", accept: headers.accept ?? "*/*" };
      const answer = await fetch(new URL(url, target), {
        method,
        headers: { ...sent, "accept-encoding": "identity" },
        body,
        duplex: "half",
        signal: ending.signal,
      });
      response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
      if (answer.body === null) return void response.end();
      const counted = Readable.fromWeb(answer.body).on("data", (chunk: Buffer) => void (bytes += chunk.length));
      await pipeline(counted, response);
    };
    forward().catch(() => response.destroy());
  });
  await new Promise<void>((done, fail) => void server.once("error", fail).listen(listenAt, "127.0.0.1", done));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}`,
    /** Counts since the last call. */
    take(): Traffic {
      const counted = { requests, bytes };
      [requests, bytes] = [0, 0];
      return counted;
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((done) => void server.close(done));
    },
  };
}
