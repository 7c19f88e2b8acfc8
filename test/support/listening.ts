import { once } from "node:events";
import type { Server } from "node:http";

/** A server on a free port of 127.0.0.1. */
export interface Listening {
  readonly origin: string;
  /** Ends connections that are open, too. */
  close(): Promise<void>;
}

export async function listening(server: Server): Promise<Listening> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server listens at no port.");
  return {
    origin: `http://127.0.0.1:${address.port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
