import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { listening } from "./listening.ts";
import { startSparqlTestServer } from "./sparql-test-server.ts";

/** One request that a private endpoint has seen. */
interface PrivateRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

export type PrivateEndpoint = Awaited<ReturnType<typeof startPrivateEndpoint>>;

/**
 * A SPARQL endpoint behind a gate that wants a header and quotes whatever it was sent in its refusals, as some gateways
 * do when they are debugged.
 */
export async function startPrivateEndpoint(data: string, isLetIn: (headers: IncomingHttpHeaders) => boolean) {
  const inner = await startSparqlTestServer(data);
  const requests: PrivateRequest[] = [];
  /** Answers in place of the endpoint, where it returns true. */
  let instead: (request: PrivateRequest, response: ServerResponse) => boolean = () => false;
  const gate = await listening(
    asking(async (request, response) => {
      const { url: path = "/", headers, method = "GET" } = request;
      const seen = { path, headers };
      requests.push(seen);
      const body = await text(request);
      if (instead(seen, response)) return;
      if (!isLetIn(headers)) {
        response.writeHead(401, { "content-type": "text/plain", "www-authenticate": "Basic" });
        response.end(`refused, you sent ${JSON.stringify(headers)}`);
        return;
      }
      const answer = await fetch(new URL(path, inner.url), {
        method,
        headers: { accept: headers.accept ?? "*/*", "content-type": headers["content-type"] ?? "text/plain" },
        ...(method === "POST" && { body }),
      });
      response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" });
      response.end(Buffer.from(await answer.arrayBuffer()));
    }),
  );
  return {
    origin: gate.origin,
    url: gate.origin + new URL(inner.url).pathname,
    requests,
    answerInstead: (answer: typeof instead): void => void (instead = answer),
    close: async (): Promise<void> => {
      await gate.close();
      await inner.close();
    },
  };
}

/** A server of OAuth client credentials; each token is another one. */
export async function startTokenServer(clientId: string, clientSecret: string) {
  const wanted = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString("base64")}`;
  const issued: string[] = [];
  const bodies: string[] = [];
  let lifetimeS = 3_600;
  const server = await listening(
    asking(async (request, response) => {
      bodies.push(await text(request));
      const isKnown = request.headers.authorization === wanted;
      const token = `oauth-token-${issued.length}-0123456789abcdef`;
      if (isKnown) issued.push(token);
      response.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" });
      const answer = { access_token: token, token_type: "Bearer", expires_in: lifetimeS };
      response.end(JSON.stringify(isKnown ? answer : { error: "invalid_client", saw: request.headers.authorization }));
    }),
  );
  return {
    url: `${server.origin}/token`,
    issued,
    bodies,
    live: (seconds: number): void => void (lifetimeS = seconds),
    close: server.close,
  };
}

const asking = (answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>) =>
  createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
