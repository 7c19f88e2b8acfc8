import { createServer, type ServerResponse } from "node:http";
import { listening } from "../../support/listening.ts";

export type SlowUpstream = Awaited<ReturnType<typeof startSlowUpstream>>;

/** An endpoint that sends an answer piece by piece, as slowly as its caller wants. */
export async function startSlowUpstream() {
  const waiting: ((response: ServerResponse) => void)[] = [];
  const arrived: ServerResponse[] = [];
  const server = createServer((request, response) => {
    request.resume();
    const next = waiting.shift();
    if (next) next(response);
    else arrived.push(response);
  });
  const listener = await listening(server);
  return {
    url: `${listener.origin}/slow/sparql`,
    /** Resolves with the next request's response, of which nothing has been sent. */
    nextRequest: (): Promise<ServerResponse> =>
      new Promise((resolve) => {
        const response = arrived.shift();
        if (response) resolve(response);
        else waiting.push(resolve);
      }),
    close: listener.close,
  };
}
