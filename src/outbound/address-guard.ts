import dns from "node:dns";
import type { LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { FedwayError } from "../errors/fedway-error.ts";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [Address, number];

/** The one range of IPv6 that is global unicast (RFC 4291, section 2.4); whatever lies outside is refused unseen. */
const globalUnicastV6: Range = [ipaddr.IPv6.parse("2000::"), 3];

/** The error every refused address ends in. The address itself goes into `cause`, which is never sent. */
export function addressRefused(detail: string): FedwayError {
  return new FedwayError("ADDRESS_REFUSED", "The endpoint's address is not one that Fedway may connect to.", {
    fault: "address",
    next: "Use an endpoint with a public address, or let the operator allow this one with FEDWAY_ALLOW_ADDRESSES.",
    cause: new Error(detail),
  });
}

function parseRange(text: string): Range {
  try {
    if (text.includes("/")) return ipaddr.parseCIDR(text);
    const address = ipaddr.parse(text);
    return [address, address.kind() === "ipv4" ? 32 : 128];
  } catch (cause) {
    throw new FedwayError("CONFIG_INVALID", `"${text.slice(0, 60)}" is not an address range such as 10.0.0.0/8.`, {
      next: "Write FEDWAY_ALLOW_ADDRESSES as a list of CIDR ranges.",
      cause,
    });
  }
}

function parseAddress(text: string): Address | undefined {
  try {
    return ipaddr.parse(text);
  } catch {
    return undefined;
  }
}

const isWithin = (address: Address, [base, bits]: Range): boolean =>
  address.kind() === base.kind() && address.match(base, bits);

/** Longest path of a URL: endpoints are remembered by origin and path. */
const longestPath = 2_048;
/** Names of the DNS are no longer. */
const longestHost = 253;

/** The URL, when it may be sent to. @throws FedwayError `ADDRESS_REFUSED` */
export function vettedUrl(text: string, guard: AddressGuard): URL {
  const url = URL.parse(text);
  const refused = guard.refuseUrl(url ?? text);
  if (refused !== undefined) throw refused;
  return url ?? new URL(text);
}

/** Globally reachable unicast; embedded IPv4 (mapped, NAT64, 6to4, Teredo) counts as not global. */
function isGlobal(address: Address): boolean {
  if (address.kind() === "ipv6" && !isWithin(address, globalUnicastV6)) return false;
  return address.range() === "unicast";
}

/** Host part of a URL as a name or an address text: without brackets, zone and trailing dot. */
export const bareHost = (hostname: string): string => {
  const open = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  return open.endsWith(".") ? open.slice(0, -1) : open;
};

/** The host of a URL is `localhost` or, in any notation, an address that is not globally reachable. */
export function isOwnHost(hostname: string): boolean {
  const host = bareHost(hostname);
  if (host === "localhost") return true;
  const address = parseAddress(host);
  return address !== undefined && !isGlobal(address);
}

/**
 * Decides which addresses may be dialled: globally reachable ones and the operator's exceptions.
 * @throws FedwayError `CONFIG_INVALID` when an exception is not a CIDR range or an address
 */
export function createAddressGuard(allowAddresses: readonly string[] = []) {
  const exceptions = allowAddresses.map(parseRange);
  const allowsParsed = (address: Address): boolean =>
    exceptions.some((range) => isWithin(address, range)) || isGlobal(address);

  /** True for an IP address, in any notation, that may be dialled. Text that is no address is never allowed. */
  const allows = (text: string): boolean => {
    const address = parseAddress(text);
    return address !== undefined && allowsParsed(address);
  };

  /** The error for a host that is a refused IP literal; undefined for names and for allowed literals. */
  const refuseHost = (hostname: string): FedwayError | undefined => {
    const address = parseAddress(bareHost(hostname));
    if (address === undefined || allowsParsed(address)) return undefined;
    return addressRefused(`${hostname} is not a global address`);
  };

  /** The same for a whole URL: http(s) only, no userinfo, no refused literal. Names are checked when dialled. */
  const refuseUrl = (url: string | URL): FedwayError | undefined => {
    const parsed = typeof url === "string" ? URL.parse(url) : url;
    if (parsed === null) return addressRefused("not an absolute URL");
    if (parsed.protocol !== "http:" && parsed.protocol !== "https:") return addressRefused(`scheme ${parsed.protocol}`);
    if (parsed.username !== "" || parsed.password !== "") return addressRefused("userinfo in the URL");
    if (parsed.hostname.length > longestHost) return addressRefused(`a host of more than ${longestHost} characters`);
    if (parsed.pathname.length > longestPath) return addressRefused(`a path of more than ${longestPath} characters`);
    return refuseHost(parsed.hostname);
  };

  return { allows, refuseHost, refuseUrl };
}

/** Decides which addresses may be dialled. */
export type AddressGuard = ReturnType<typeof createAddressGuard>;

/** Resolves a name to all its addresses; `dns.lookup` with `all: true` by default. */
export type ResolveHost = (
  hostname: string,
  done: (error: Error | null, addresses: readonly { readonly address: string; readonly family: number }[]) => void,
) => void;

const systemResolve: ResolveHost = (hostname, done) => {
  dns.lookup(hostname, { all: true, verbatim: true }, (error, addresses) => done(error, addresses ?? []));
};

/**
 * A `lookup` that hands on only names whose every address is allowed. The socket dials exactly what is returned
 * here, so nothing can be rebound between the check and the connection.
 */
export function createGuardedLookup(guard: AddressGuard, resolveHost: ResolveHost = systemResolve): LookupFunction {
  return (hostname, options, callback) => {
    resolveHost(hostname, (error, addresses) => {
      if (error !== null) return callback(error, "", 0);
      const refused = addresses.find(({ address }) => !guard.allows(address));
      if (refused !== undefined) return callback(addressRefused(`${hostname} is ${refused.address}`), "", 0);
      const [first] = addresses;
      if (first === undefined) {
        return callback(Object.assign(new Error(`${hostname} has no address`), { code: "ENOTFOUND" }), "", 0);
      }
      if (options.all === true) return callback(null, [...addresses]);
      return callback(null, first.address, first.family);
    });
  };
}
