import net from "node:net";
import { TLSSocket } from "node:tls";
import { LRUCache } from "lru-cache";
import { Agent, buildConnector, type Dispatcher } from "undici";
import { sizedByKey } from "../cache-size.ts";
import { type Clock, systemClock } from "../clock.ts";
import { FedwayError } from "../errors/fedway-error.ts";
import {
  type AddressGuard,
  bareHost,
  createAddressGuard,
  createGuardedLookup,
  isOwnHost,
  type ResolveHost,
} from "./address-guard.ts";
import { type HostRate, HostRates } from "./host-rates.ts";
import type { Task } from "./task.ts";

/** Timers of one HTTP exchange, in milliseconds. Those above one second fire up to a second late. */
interface NetworkTimeouts {
  readonly connectMs: number;
  /** Longest wait for the response head. */
  readonly headersMs: number;
  /** Longest wait between two pieces of the body; a pause for a slow reader does not count. */
  readonly idleMs: number;
}

/** Options of the outbound network; only `version` has no default. */
export interface NetworkOptions {
  /** Version in the User-Agent. */
  readonly version: string;
  /** Contact (address or URL) in the User-Agent; some public endpoints refuse requests without one. */
  readonly contact?: string | undefined;
  /** CIDR ranges that may be dialled although they are not global. */
  readonly allowAddresses?: readonly string[] | undefined;
  /**
   * Requests sent per URL host (retries, fallbacks and redirects count); absent or 0: no limit. Exempt are `localhost`
   * and literal addresses that are not global: they are the operator's own.
   */
  readonly hostRate?: HostRate | undefined;
  /** Hosts whose rates are remembered; default 1,000. */
  readonly maxHosts?: number | undefined;
  /** Requests that may wait per host; default 256. */
  readonly hostQueue?: number | undefined;
  /** Connections per origin; default 64. */
  readonly connections?: number | undefined;
  readonly timeouts?: Partial<NetworkTimeouts> | undefined;
  /** Resolves host names; the result is vetted before it is dialled. */
  readonly resolveHost?: ResolveHost | undefined;
  readonly clock?: Clock | undefined;
}

/** A dispatch handler that also gets a way to end its connection attempt. */
export interface UpstreamHandler extends Dispatcher.DispatchHandler {
  dialling(abort: (reason: Error) => void): void;
}

/** The URL that the operator himself gives an endpoint, by its id in the catalogue. */
export type OperatorUrl = (id: string) => string | undefined;

/** An endpoint's URL, parsed and vetted once. */
interface Vetted {
  readonly url: URL | null;
  readonly refused: FedwayError | undefined;
  /** The host whose rate its requests count for. */
  readonly host: string | undefined;
}

/** A guard, and the connections that are made under its judgement. */
export interface Route {
  readonly guard: AddressGuard;
  /** Judges the URL of an endpoint; the verdict is remembered, as the guard never changes its mind about a literal. */
  readonly vet: (text: string) => Vetted;
  dispatch(request: Dispatcher.DispatchOptions, handler: UpstreamHandler): void;
}

/** The one way out: one rate per host under everything that is sent, and a guard with a pool of connections. */
export interface Network extends Route {
  /**
   * The same for a URL that the operator wrote himself, when it is sent what he wrote it for. Its connections are apart,
   * since one that is kept open passes no guard again.
   */
  readonly operators: Route;
  readonly clock: Clock;
  readonly userAgent: string;
  readonly hostRates: HostRates | undefined;
  /** Requests under way. */
  readonly tasks: Set<Task>;
  /** The host whose rate a request to this URL counts for; undefined when it has none. */
  readonly rateHost: (url: URL) => string | undefined;
  /** True while a socket error is being delivered: a response that "ends" now was cut off. */
  readonly failing: boolean;
  readonly closed: boolean;
  /** End of the certificate that the host of a URL showed at the latest connection, in milliseconds since the epoch. */
  certificateEndMs(url: string): number | undefined;
  /** Ends all requests and connections. */
  close(): Promise<void>;
}

const defaultTimeouts: NetworkTimeouts = { connectMs: 10_000, headersMs: 120_000, idleMs: 60_000 };
const defaultConnections = 64;
const defaultHosts = 1_000;
const defaultHostQueue = 256;
/** Bytes of one response head. */
const maxHeaderBytes = 16_384;
const keepAliveMs = 10_000;

/** Opens the way out. @throws FedwayError `CONFIG_INVALID` when an address exception is not a CIDR range */
export function openNetwork(options: NetworkOptions): Network {
  const { clock = systemClock, hostRate, maxHosts = defaultHosts, hostQueue = defaultHostQueue } = options;
  const limited = hostRate !== undefined && hostRate.perSecond > 0;
  const hostRates = limited ? new HostRates({ ...hostRate, queueLimit: hostQueue, maxHosts, clock }) : undefined;
  const tasks = new Set<Task>();
  const certificates = createCertificates(maxHosts);
  // One rate for a host under all its ports and schemes: that is what a ban would fall on. Copied: V8 keeps the whole URL,
  // with a query of a megabyte, for a part of it.
  const rateHost = ({ hostname }: URL): string | undefined =>
    limited && !isOwnHost(hostname) ? Buffer.from(bareHost(hostname)).toString("latin1") : undefined;
  const routeOf = (author?: "operator") => {
    const guard = createAddressGuard(options.allowAddresses, author);
    return { guard, vet: createVerdicts(guard, rateHost), ...openConnections(options, guard, certificates) };
  };
  const [anybodys, operators] = [routeOf(), routeOf("operator")];
  let closed = false;
  return {
    ...anybodys,
    operators,
    clock,
    userAgent: userAgent(options.version, options.contact),
    hostRates,
    tasks,
    rateHost,
    certificateEndMs: (url) => certificates.endMs(url),
    get failing() {
      return anybodys.failing() || operators.failing();
    },
    get closed() {
      return closed;
    },
    async close() {
      closed = true;
      for (const task of tasks) task.interrupt(networkClosed());
      hostRates?.close();
      await Promise.all([anybodys.agent.destroy(), operators.agent.destroy()]);
    },
  };
}

/** Verdicts of a guard on URLs, each made once. */
function createVerdicts(guard: AddressGuard, rateHost: Network["rateHost"]): Route["vet"] {
  const known = new LRUCache<string, Vetted>(sizedByKey(4, { each: 500, perCharacter: 6 }));
  return (text) => {
    let vetted = known.get(text);
    if (vetted === undefined) {
      const url = URL.parse(text);
      vetted = { url, refused: guard.refuseUrl(text), host: url === null ? undefined : rateHost(url) };
      known.set(text, vetted);
    }
    return vetted;
  };
}

/** The error of everything that is asked for, or under way, when the service stops. */
export const networkClosed = (): FedwayError => new FedwayError("CANCELLED", "The service is shutting down.");

/** Keep-alive pools, one per origin. */
function openConnections(
  options: NetworkOptions,
  guard: AddressGuard,
  certificates: ReturnType<typeof createCertificates>,
) {
  const { connectMs, headersMs, idleMs } = { ...defaultTimeouts, ...options.timeouts };
  let dispatching: UpstreamHandler | undefined;
  let failing = false;
  // The parser takes a body without a length for complete when the peer resets; the error event runs first.
  const onSocketError = (): void => {
    failing = true;
    queueMicrotask(() => {
      failing = false;
    });
  };
  const lookup = createGuardedLookup(guard, options.resolveHost);
  const dial = buildConnector({ timeout: connectMs, allowH2: false, lookup });
  /** Checks IP literals itself (sockets never look those up); the lookup checks names. */
  const connect: buildConnector.connector = (target, callback) => {
    const refused = guard.refuseHost(target.hostname);
    if (refused !== undefined) {
      // Later, as every other outcome: the HTTP client is not ready for an answer within the call.
      queueMicrotask(() => callback(refused, null));
      return;
    }
    const socket: unknown = dial(target, (...outcome) => {
      outcome[1]?.on("error", onSocketError);
      if (outcome[1] instanceof TLSSocket)
        certificates.see(`https://${target.hostname}:${target.port || "443"}`, outcome[1]);
      callback(...outcome);
    });
    // A dispatch that needs a new connection starts it before it returns, so this is its own attempt.
    if (socket instanceof net.Socket) dispatching?.dialling((reason) => socket.destroy(reason));
  };
  const agent = new Agent({
    connections: options.connections ?? defaultConnections,
    allowH2: false,
    pipelining: 1,
    headersTimeout: headersMs,
    bodyTimeout: idleMs,
    maxHeaderSize: maxHeaderBytes,
    keepAliveTimeout: keepAliveMs,
    connect,
  });
  return {
    agent,
    failing: () => failing,
    dispatch: (request: Dispatcher.DispatchOptions, handler: UpstreamHandler): void => {
      dispatching = handler;
      try {
        agent.dispatch(request, handler);
      } finally {
        dispatching = undefined;
      }
    },
  };
}

/** Ends of the certificates that hosts have shown, of the latest hosts. */
function createCertificates(most: number) {
  const ends = new Map<string, number>();
  return {
    see(origin: string, socket: TLSSocket): void {
      const endMs = Date.parse(socket.getPeerCertificate().valid_to);
      ends.delete(origin);
      const [oldest] = ends.keys();
      if (ends.size >= most && oldest !== undefined) ends.delete(oldest);
      if (Number.isFinite(endMs)) ends.set(origin, endMs);
    },
    endMs(text: string): number | undefined {
      const url = URL.parse(text);
      return url?.protocol === "https:" ? ends.get(`https://${url.hostname}:${url.port || "443"}`) : undefined;
    },
  };
}

const headerText = (text: string): string => text.replaceAll(/[^\x20-\x7e]|[()\\]/g, "").trim();

/** `Fedway/<version> (<contact>)`, without characters that a header cannot hold. */
export function userAgent(version: string, contact = ""): string {
  const comment = headerText(contact);
  return comment === "" ? `Fedway/${headerText(version)}` : `Fedway/${headerText(version)} (${comment})`;
}
