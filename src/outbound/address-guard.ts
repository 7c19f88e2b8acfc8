import dns from "node:dns";
import type { LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { FedwayError } from "../errors/fedway-error.ts";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [Address, number];

/** The one range of IPv6 that is global unicast (RFC 4291, section 2.4); whatever lies outside is refused unseen. */
const globalUnicastV6: Range = [ipaddr.IPv6.parse("2000::"), 3];

/** Author of the URLs that a guard judges. */
type Author = "operator" | "anybody";

const remedies: Readonly<Record<Author, string>> = {
  operator: "FEDWAY_ALLOW_ADDRESSES has to name its address range.",
  anybody:
    "Use an endpoint with a public address, or let the operator allow this one: with FEDWAY_ALLOW_ADDRESSES, or a file in the folder that FEDWAY_CATALOG names.",
};

/** The error every refused address ends in. The address itself goes into `cause`, which is never sent. */
export function addressRefused(detail: string, author: Author = "anybody"): FedwayError {
  return new FedwayError("ADDRESS_REFUSED", "The endpoint's address is not one that Fedway may connect to.", {
    fault: "address",
    next: remedies[author],
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
  return address.range() === "unicast" && !isMetadata(address);
}

/**
 * Services of clouds that give credentials to whoever asks, beside those on link-local and reserved addresses: AWS, Google
 * Cloud, Scaleway, Alibaba Cloud, Azure.
 */
const metadata = ["fd00:ec2::/32", "fd20:ce::/32", "fd00:42::/32", "100.100.100.200", "168.63.129.16"].map(parseRange);
const isMetadata = (address: Address): boolean => metadata.some((range) => isWithin(address, range));

/** Addresses inside of networks: loopback, RFC 1918, RFC 6598, RFC 4193. */
const privateRanges: ReadonlySet<string> = new Set(["loopback", "private", "carrierGradeNat", "uniqueLocal"]);
const isPrivate = (address: Address): boolean => privateRanges.has(address.range()) && !isMetadata(address);

/**
 * Names that the public DNS does not have (RFC 6761, RFC 6762 with its appendix G, RFC 8375, ICANN's `internal`), those of
 * one label, and `svc` of Kubernetes: whoever answers for them is on the operator's side. The owner of a public name could
 * let it lead into the operator's network at any time.
 */
const isPrivateName = (host: string): boolean =>
  !host.includes(".") ||
  /\.(?:localhost|local|internal|intranet|private|corp|home|lan|home\.arpa|test|svc)$/iu.test(host);

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
 * Decides which addresses may be dialled: globally reachable ones and the operator's exceptions; where he wrote the URL
 * himself, also private addresses, as literals and behind private names. Link-local addresses and those of metadata
 * services are always exceptions.
 * @throws FedwayError `CONFIG_INVALID` when an exception is not a CIDR range or an address
 */
export function createAddressGuard(allowAddresses: readonly string[] = [], author: Author = "anybody") {
  const exceptions = allowAddresses.map(parseRange);
  const isOperators = author === "operator";
  const refusal = (detail: string): FedwayError => addressRefused(detail, author);
  const allowsParsed = (address: Address, mayBePrivate: boolean): boolean =>
    exceptions.some((range) => isWithin(address, range)) || isGlobal(address) || (mayBePrivate && isPrivate(address));

  /** True for an IP address, in any notation, that may be dialled under a name. Text that is no address is never allowed. */
  const allows = (text: string, name: string): boolean => {
    const address = parseAddress(text);
    return address !== undefined && allowsParsed(address, isOperators && isPrivateName(bareHost(name)));
  };

  /** The error for a host that is a refused IP literal; undefined for names and for allowed literals. */
  const refuseHost = (hostname: string): FedwayError | undefined => {
    const address = parseAddress(bareHost(hostname));
    if (address === undefined || allowsParsed(address, isOperators)) return undefined;
    return refusal(`${hostname} is not a global address`);
  };

  /** The same for a whole URL: http(s) only, no userinfo, no refused literal. Names are checked when dialled. */
  const refuseUrl = (url: string | URL): FedwayError | undefined => {
    const parsed = typeof url === "string" ? URL.parse(url) : url;
    if (parsed === null) return refusal("not an absolute URL");
    if (parsed.protocol !== "http:" && parsed.protocol !== "https:") return refusal(`scheme ${parsed.protocol}`);
    if (parsed.username !== "" || parsed.password !== "") return refusal("userinfo in the URL");
    if (parsed.hostname.length > longestHost) return refusal(`a host of more than ${longestHost} characters`);
    if (parsed.pathname.length > longestPath) return refusal(`a path of more than ${longestPath} characters`);
    return refuseHost(parsed.hostname);
  };

  return { allows, refusal, refuseHost, refuseUrl };
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
      const refused = addresses.find(({ address }) => !guard.allows(address, hostname));
      if (refused !== undefined) return callback(guard.refusal(`${hostname} is ${refused.address}`), "", 0);
      const [first] = addresses;
      if (first === undefined) {
        return callback(Object.assign(new Error(`${hostname} has no address`), { code: "ENOTFOUND" }), "", 0);
      }
      if (options.all === true) return callback(null, [...addresses]);
      return callback(null, first.address, first.family);
    });
  };
}
