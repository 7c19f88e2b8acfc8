import { createServer, type ServerResponse } from "node:http";

/** An endpoint that sends an answer piece by piece, as slowly as its caller wants. */
export interface SlowUpstream {
  readonly url: string;
  /** Resolves with the next request's response, of which nothing has been sent. */
  nextRequest(): Promise<ServerResponse>;
  close(): Promise<void>;
}

export async function startSlowUpstream(): Promise<SlowUpstream> {
  const waiting: ((response: ServerResponse) => void)[] = [];
  const arrived: ServerResponse[] = [];
  const server = createServer((request, response) => {
    request.resume();
    const next = waiting.shift();
    if (next) next(response);
    else arrived.push(response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the slow upstream has no port");
  return {
    url: `http://127.0.0.1:${address.port}/slow/sparql`,
    nextRequest: () =>
      new Promise((resolve) => {
        const response = arrived.shift();
        if (response) resolve(response);
        else waiting.push(resolve);
      }),
    close: async () => {
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    },
  };
}
