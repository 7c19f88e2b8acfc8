import dns from "node:dns";
import net, { type LookupFunction, type Socket } from "node:net";
import { buildConnector } from "undici";
import { type AddressGuard, addressRefused } from "./address-guard.ts";

/** Resolves a name to all its addresses; `dns.lookup` with `all: true` by default. */
export type ResolveHost = (
  hostname: string,
  done: (error: Error | null, addresses: readonly { readonly address: string; readonly family: number }[]) => void,
) => void;

/** What the connector needs. */
export interface ConnectorOptions {
  readonly guard: AddressGuard;
  readonly connectMs: number;
  readonly resolveHost?: ResolveHost | undefined;
  /** Certificate authorities beside the system's, PEM. */
  readonly ca?: string | undefined;
  /** A connection attempt begins; `abort` ends it. */
  onDial(abort: (reason: Error) => void): void;
  /** A socket fails; called before the HTTP parser hears of it. */
  readonly onSocketError: () => void;
}

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

/** A connector that checks IP literals itself (sockets never look those up) and names in the lookup. */
export function createConnector(options: ConnectorOptions): buildConnector.connector {
  const { guard } = options;
  const base = buildConnector({
    timeout: options.connectMs,
    allowH2: false,
    lookup: createGuardedLookup(guard, options.resolveHost),
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  return (target, callback) => {
    const refused = guard.refuseHost(target.hostname);
    if (refused !== undefined) {
      // Later, as every other outcome: the HTTP client is not ready for an answer within the call.
      queueMicrotask(() => callback(refused, null));
      return;
    }
    const started: unknown = base(target, (...outcome) => {
      outcome[1]?.on("error", options.onSocketError);
      callback(...outcome);
    });
    if (started instanceof net.Socket) options.onDial(abortOf(started));
  };
}

const abortOf =
  (socket: Socket) =>
  (reason: Error): void => {
    socket.destroy(reason);
  };
