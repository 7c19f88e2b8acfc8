import { BlockList, isIP } from "node:net";
import type { HttpSettings } from "./http-deps.ts";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

const withoutBrackets = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, "$1");

/** `localhost`, `127.0.0.1`, `::1`, `[::1]`: names and literals of this machine. */
export function isLoopbackHost(hostname: string): boolean {
  const bare = withoutBrackets(hostname);
  return bare === "localhost" || loopback.check(bare, bare.includes(":") ? "ipv6" : "ipv4");
}

/** A host and port, and nothing that a URL would take for something else. */
const hostHeader = /^[a-z0-9._:[\]-]{1,260}$/i;

const hostnameOf = (host: string): string | undefined =>
  hostHeader.test(host) ? URL.parse(`http://${host}/`)?.hostname : undefined;

/**
 * Recognises Host headers with a name of this service. Its names are those of this machine, of its public
 * URL and of `FEDWAY_ALLOWED_HOSTS`; where it listens beyond loopback, also every address, which no web page can have made
 * its own name.
 */
export function createOwnNames({
  host,
  publicUrl,
  allowedHosts,
}: Pick<HttpSettings, "host" | "publicUrl" | "allowedHosts">): (hostHeader: string) => boolean {
  const names = new Set([...allowedHosts, URL.parse(publicUrl)?.hostname]);
  const isLocal = isLoopbackHost(host);
  /** Clients send the same again and again. */
  let lastOwn: string | undefined;

  return (given) => {
    if (given === lastOwn) return true;
    const name = hostnameOf(given);
    if (name === undefined) return false;
    const isAddress = !isLocal && isIP(withoutBrackets(name)) !== 0;
    if (!isAddress && !isLoopbackHost(name) && !names.has(name)) return false;
    lastOwn = given;
    return true;
  };
}
