import type { Server, ServerResponse } from "node:http";

/** Lets the connections of a server end without an answer lost. */
export interface Drain {
  /** From now on every connection ends with the answer that is under way on it, or with its next one. */
  begin(): void;
  /**
   * Resolves when clients have taken the answers that are complete here. Whoever stops the server earlier cuts them off:
   * to Node a connection is idle as soon as the last piece of an answer is written, not when it is sent.
   */
  taken(): Promise<void>;
}

/** Watches the answers of a server; to be called before it listens. */
export function createDrain(server: Server): Drain {
  const underWay = new Set<ServerResponse>();
  let begun = false;
  server.prependListener("request", (_request, response: ServerResponse) => {
    underWay.add(response);
    response.once("close", () => underWay.delete(response));
    if (begun) response.shouldKeepAlive = false;
  });
  return {
    begin() {
      if (begun) return;
      begun = true;
      for (const response of underWay) endWith(response);
    },
    async taken() {
      const waiting = [...underWay].filter(({ writableEnded, writableFinished }) => writableEnded && !writableFinished);
      await Promise.all(waiting.map((response) => new Promise((resolve) => response.once("close", resolve))));
    },
  };
}

function endWith(response: ServerResponse): void {
  response.shouldKeepAlive = false;
  // A head that has gone out has promised the client that the connection stays.
  const { headersSent, socket } = response;
  if (headersSent && socket !== null) response.once("finish", () => socket.destroySoon());
}
