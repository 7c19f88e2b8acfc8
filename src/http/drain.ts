import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

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
  // By connections, which come and go less often: see the scheduler of the transport about sets.
  const connections = new Map<Socket, ServerResponse[]>();
  const underWay = (): readonly ServerResponse[] => [...connections.values()].flat();
  let begun = false;
  server.on("connection", (socket) => {
    connections.set(socket, []);
    socket.once("close", () => connections.delete(socket));
  });
  server.prependListener("request", ({ socket }, response: ServerResponse) => {
    const responses = connections.get(socket);
    responses?.push(response);
    response.once("close", () => responses?.splice(responses.indexOf(response), 1));
    if (begun) response.shouldKeepAlive = false;
  });
  return {
    begin() {
      if (begun) return;
      begun = true;
      for (const response of underWay()) endWith(response);
    },
    async taken() {
      const waiting = underWay().filter(({ writableEnded, writableFinished }) => writableEnded && !writableFinished);
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
