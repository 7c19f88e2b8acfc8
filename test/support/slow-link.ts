import { createConnection, createServer, type Socket } from "node:net";
import { listening } from "./listening.ts";

/** Listens on a free port of 127.0.0.1 and passes bytes on to another one, slowly. */
export async function openSlowLink(port: number) {
  let delayMs = 0;
  const carry = (from: Socket, to: Socket): void => {
    from.on("data", (chunk: Buffer) => setTimeout(() => to.write(chunk), delayMs));
    from.on("error", () => to.destroy());
    from.on("close", () => to.destroy());
  };
  const server = createServer((client) => {
    const upstream = createConnection({ host: "127.0.0.1", port });
    carry(client, upstream);
    carry(upstream, client);
  });
  return {
    ...(await listening(server)),
    /** Milliseconds that everything takes in each direction; order is kept. */
    setDelay(ms: number): void {
      delayMs = ms;
    },
  };
}
