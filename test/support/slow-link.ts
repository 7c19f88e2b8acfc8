import { createConnection, createServer, type Socket } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** A connection to a server that takes its time. */
export interface SlowLink {
  readonly port: number;
  /** Milliseconds that everything takes in each direction; order is kept. */
  setDelay(ms: number): void;
  close(): Promise<void>;
}

/** Listens on a free port of 127.0.0.1 and passes bytes on to another one. */
export async function openSlowLink(port: number): Promise<SlowLink> {
  let delayMs = 0;
  const sockets = new Set<Socket>();
  const carry = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.on("data", (chunk: Buffer) => setTimeout(() => to.write(chunk), delayMs));
    from.on("error", () => to.destroy());
    from.on("close", () => {
      sockets.delete(from);
      to.destroy();
    });
  };
  const server = createServer((client) => {
    const upstream = createConnection({ host: "127.0.0.1", port });
    carry(client, upstream);
    carry(upstream, client);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    setDelay(ms) {
      delayMs = ms;
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}
