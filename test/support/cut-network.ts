import dns from "node:dns";
import { vi } from "vitest";
import type { SparqlTestServer } from "./sparql-test-server.ts";

/** Names under `.example` that lead to this machine, until the network is cut. */
export function fakeNetwork(server: SparqlTestServer) {
  const real = dns.lookup.bind(dns);
  let isCut = false;
  const lookup = (name: string, options: dns.LookupAllOptions, done: (error: Error | null, found: unknown) => void) => {
    if (!name.endsWith(".example")) return real(name, options, done as never);
    if (!isCut) return done(null, [{ address: "127.0.0.1", family: 4 }]);
    done(Object.assign(new Error(`getaddrinfo EAI_AGAIN ${name}`), { code: "EAI_AGAIN" }), undefined);
  };
  const spy = vi.spyOn(dns, "lookup").mockImplementation(lookup as never);
  return {
    /** Endpoints by id, each of a host of its own. */
    endpoints: (count: number): Readonly<Record<string, string>> =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`e${n}`, urlAt(`data.owner${n}.example`, "sparql")])),
    /** The URL of an endpoint at a host. */
    urlAt,
    /** From now on no name resolves, and connections that are open break. */
    cut(): void {
      isCut = true;
      server.setFault({ kind: "reset" });
    },
    mend(): void {
      isCut = false;
      server.setFault(undefined);
    },
    close: (): void => spy.mockRestore(),
  };

  function urlAt(host: string, path: string): string {
    return `http://${host}:${new URL(server.url).port}/${path}`;
  }
}
