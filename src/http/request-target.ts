import type { IncomingMessage } from "node:http";
import { BlockList } from "node:net";
import { FedwayError } from "../errors/fedway-error.ts";
import type { HttpSettings } from "./http-deps.ts";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** `localhost`, `127.0.0.1`, `::1`, `[::1]`: names and literals of this machine. */
function isLoopbackHost(hostname: string): boolean {
  const bare = hostname.replace(/^\[(.*)\]$/, "$1");
  return bare === "localhost" || loopback.check(bare, bare.includes(":") ? "ipv6" : "ipv4");
}

/** A host and port, and nothing that a URL would take for something else. */
const hostHeader = /^[a-z0-9._:[\]-]{1,260}$/i;

const hostnameOf = (host: string): string | undefined =>
  hostHeader.test(host) ? URL.parse(`http://${host}/`)?.hostname : undefined;

/** How many Host headers there are; Node keeps the first one only. */
function hostsOf({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name !== undefined && name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count;
}

const invalid = (message: string, next: string): FedwayError => new FedwayError("REQUEST_INVALID", message, { next });

/**
 * A check that requests are meant for this service: one target without a host of its own, one Host. A service that listens
 * on loopback answers to names of this machine and that of its public URL only: else any web page could make its own name
 * point here and read, in its visitor's browser, what only this machine is to see (DNS rebinding).
 */
export function createTargetCheck({
  host,
  publicUrl,
}: Pick<HttpSettings, "host" | "publicUrl">): (raw: IncomingMessage) => FedwayError | undefined {
  const publicName = URL.parse(publicUrl)?.hostname;
  const isLocal = isLoopbackHost(host);
  /** Clients send the same again and again. */
  let lastGood: string | undefined;

  const isOwn = (given: string): boolean => {
    if (given === lastGood) return true;
    const name = hostnameOf(given);
    if (name === undefined || !(isLoopbackHost(name) || name === publicName)) return false;
    lastGood = given;
    return true;
  };
  return (raw) => {
    const { url = "/", httpVersion } = raw;
    const given = raw.headers.host;
    if (!url.startsWith("/") && url !== "*") {
      return invalid("The request's target is not a path.", "Send the path alone; this service is no proxy.");
    }
    const hosts = hostsOf(raw);
    if (hosts > 1) return invalid("The request has more than one Host header.", "Send one Host header.");
    // Browsers always send it, and HTTP/1.0 knows none.
    if (given === undefined || hosts === 0) {
      return httpVersion === "1.0" ? undefined : invalid("The request has no Host header.", "Send one Host header.");
    }
    if (!isLocal || isOwn(given)) return undefined;
    return new FedwayError(
      "HOST_REFUSED",
      "This service listens on loopback, and the Host header names neither this machine nor its public URL.",
      {
        next: "Set FEDWAY_PUBLIC_URL to the URL that clients use, and have a reverse proxy pass their Host on (nginx: proxy_set_header Host $host).",
      },
    );
  };
}
