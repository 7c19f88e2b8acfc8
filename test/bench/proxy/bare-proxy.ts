import type { IncomingMessage, ServerResponse } from "node:http";
import { fastify } from "fastify";
import { Agent } from "undici";

/**
 * What Fedway's framework and client reach at best: one request passed on, its answer gathered and sent, and nothing else - no
 * query is read, nothing is checked, counted, logged or bounded. Arguments: port, origin of the upstream.
 */
const [port = "0", origin = ""] = process.argv.slice(2);
const agent = new Agent({ connections: 64, pipelining: 1 });

function passOn(request: IncomingMessage, response: ServerResponse): void {
  const pieces: Buffer[] = [];
  let type = "";
  agent.dispatch(
    { origin, path: request.url ?? "/", method: "GET", headers: { accept: request.headers.accept ?? "*/*" } },
    {
      onRequestStart() {},
      onResponseStart(_controller, _status, headers) {
        type = String(headers["content-type"]);
      },
      onResponseData(_controller, piece) {
        pieces.push(piece);
      },
      onResponseEnd() {
        const body = Buffer.concat(pieces);
        response.writeHead(200, { "Content-Type": type, "Content-Length": body.length }).end(body);
      },
      onResponseError(_controller, error) {
        response.destroy(error);
      },
    },
  );
}

const app = fastify();
app.get("/*", (request, reply) => {
  reply.hijack();
  passOn(request.raw, reply.raw);
});
await app.listen({ port: Number(port), host: "127.0.0.1" });
