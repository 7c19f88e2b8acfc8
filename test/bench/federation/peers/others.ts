import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startFedx } from "../../../support/engines/fedx.ts";
import { startFuseki } from "../../../support/engines/fuseki.ts";
import { newFolder } from "../../../support/scratch-folder.ts";
import { startScript } from "../script-process.ts";
import { askOverHttp, type Peer, peakBytesOf } from "./peer.ts";

interface Server {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** A server as a peer. What does not end with its client is ended with the server, which is then started again. */
async function asPeer(name: string, start: () => Promise<Server>): Promise<Peer> {
  let server = await start();
  let peak = 0;
  const peakBytes = (): number => (peak = Math.max(peak, peakBytesOf(server.pid)));
  return {
    name,
    ask: (query, signal) => askOverHttp(server.url, query, signal),
    peakBytes,
    async giveUp() {
      peakBytes();
      await server.stop();
      server = await start();
    },
    stop: () => server.stop(),
  };
}

/** FedX of RDF4J over these members. @throws Error when it is not installed */
export const startFedxPeer = (urls: readonly string[]): Promise<Peer> => asPeer("FedX", () => startFedx(urls));

/** Comunica as npm brings it, over these members. */
export function startComunicaPeer(urls: readonly string[]): Promise<Peer> {
  return asPeer("Comunica", async () => {
    const file = join(newFolder(), "members.txt");
    await writeFile(file, urls.join("\n"));
    const script = await startScript("comunica-server", [file]);
    return { url: script.line, pid: script.pid, stop: () => script.stop() };
  });
}

/** Jena's engine, which is told with SERVICE where things are: a Fuseki without data. @throws Error when it is not installed */
export function startJenaPeer(): Promise<Peer> {
  return asPeer("Jena", async () => {
    const engine = await startFuseki({ data: "" });
    return { url: engine.url, pid: engine.pid(), stop: () => engine.stop() };
  });
}
