import { type FederationOptions, wants } from "../options.ts";
import { startFedway } from "./fedway.ts";
import { startComunicaPeer, startFedxPeer, startJenaPeer } from "./others.ts";
import type { Peer } from "./peer.ts";

/**
 * Starts who is wanted, over these members by name, and adds them one by one, so that the caller can stop them. Who is not
 * installed is missing, and it is said how to install it; in CI and when asked for by name that is an error.
 */
export async function startPeers(
  urls: Readonly<Record<string, string>>,
  options: FederationOptions,
  peers: Peer[],
): Promise<void> {
  const members = Object.values(urls);
  const start: Readonly<Record<string, () => Promise<Peer>>> = {
    fedway: () => startFedway(urls, options.readBytes),
    fedx: () => startFedxPeer(members),
    comunica: () => startComunicaPeer(members),
    ...(options.withService === true && { jena: () => startJenaPeer() }),
  };
  for (const [name, open] of Object.entries(start)) {
    if (!wants(options, name)) continue;
    try {
      peers.push(await open());
    } catch (error) {
      const isNeeded = name === "fedway" || options.peers.includes(name) || process.env["CI"] !== undefined;
      if (isNeeded) throw error;
      process.stdout.write(`without ${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
}
