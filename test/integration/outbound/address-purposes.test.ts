import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { ResolveHost } from "../../../src/outbound/address-guard.ts";
import { createSparqlClient, openClientNetwork, type SparqlClientOptions } from "../../../src/outbound/client.ts";
import { createDocumentClient } from "../../../src/outbound/documents.ts";
import { createJsonClient } from "../../../src/outbound/json-client.ts";
import { resultsOf } from "../../support/hostile-bodies.ts";
import { read, requestTo } from "../../support/hostile-client.ts";
import { listening } from "../../support/listening.ts";
import { refusedHosts } from "../../support/refused-hosts.ts";

// A private server that the operator names for one purpose, and all who would reach it for another. A try that gets
// through is a request that the server sees, or a failure that is not of its address.

let seen: string[];
let sockets: number;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
const sparql = (_: IncomingMessage, response: ServerResponse): void => {
  response.writeHead(200, { "content-type": "application/sparql-results+json" }).end(resultsOf(1));
};
const server = createServer((request, response) => {
  seen.push(request.url ?? "");
  answer(request, response);
});
server.on("connection", () => (sockets += 1));
let origin: string;
let port: number;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ origin, close } = await listening(server));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => close());
beforeEach(() => {
  [seen, sockets, answer] = [[], 0, sparql];
});

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of open.splice(0)) await end();
});

/** All clients over one network, as the service has them; the operator's endpoint is "own". */
function clients(own: string | undefined, options: Partial<SparqlClientOptions> = {}) {
  const operatorUrl = (id: string): string | undefined => (id === "own" ? own : undefined);
  const all = { version: "1", retry: { limit: 0 }, operatorUrl, ...options };
  const network = openClientNetwork(all);
  open.push(() => network.close());
  const client = createSparqlClient(all, network);
  const documents = createDocumentClient(all, network);
  const json = createJsonClient(all, network);
  const { signal } = new AbortController();
  const bounds = { signal, timeoutMs: 20_000 };
  return {
    ask: (url: string, id?: string) => read(client, requestTo(url, { endpoint: { id, url } })),
    fetch: (url: string, endpoint?: string) =>
      documents.read({ url, endpoint, maxBytes: 1_000_000, ...bounds }, async ({ pieces }) => {
        for await (const piece of pieces) void piece;
      }),
    post: (url: string, urlBy?: "operator") => json.post({ url, urlBy, headers: {}, body: "{}", ...bounds }),
  };
}

/** Whether a try was refused for its address. */
const isRefused = async (attempt: Promise<unknown>): Promise<boolean> =>
  attempt.then(
    () => false,
    (error: { readonly code?: string }) => error.code === "ADDRESS_REFUSED",
  );

/** Tries that were not refused. */
async function through(tries: Readonly<Record<string, () => Promise<unknown>>>): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [name, attempt] of Object.entries(tries)) if (!(await isRefused(attempt()))) found.push(name);
  return found;
}

const resolvingTo =
  (...addresses: readonly string[]): ResolveHost =>
  (_, done) =>
    done(
      null,
      addresses.map((address) => ({
        address,
        family: address.includes(":") ? 6 : 4,
      })),
    );

const forAll = <Item>(items: readonly Item[], make: (item: Item) => Readonly<Record<string, () => Promise<unknown>>>) =>
  Object.assign({}, ...items.map(make)) as Record<string, () => Promise<unknown>>;

/** What is never private in the sense of the allowance: it needs the setting, whoever wrote it. */
const alwaysRefused = refusedHosts.filter(
  (host) => !/^(?:127|10|172|192\.168|100\.(?:64|127)|\[(?:::1|0|fc|fd))/u.test(new URL(`http://${host}/`).hostname),
);
const metadata = ["[fd00:ec2::254]", "[fd20:ce::254]", "[fd00:42::42]", "100.100.100.200", "168.63.129.16"];

describe("the operator's own address", () => {
  it("is allowed for what he wrote it for", async () => {
    const { ask, fetch, post } = clients(`${origin}/sparql`);
    expect((await ask(`${origin}/sparql`, "own")).end.rows).toBe(1);
    expect(await post(`${origin}/hook`, "operator")).toEqual({ status: 200 });
    answer = (_, response) => response.writeHead(200, { "content-type": "text/turtle" }).end();
    for (const path of ["/sparql", "/sparql?page=2", "/.well-known/void", "/void.ttl"])
      await fetch(origin + path, "own");
    expect(seen).toHaveLength(6);
  });
  it("may be a private name", async () => {
    const named = `http://graphdb.data.svc:${port}/sparql`;
    const { ask, post } = clients(named, {
      resolveHost: resolvingTo("127.0.0.1"),
    });
    expect((await ask(named, "own")).end.rows).toBe(1);
    expect(await post(named, "operator")).toEqual({ status: 200 });
  });
});

describe("tries that the guard refuses", () => {
  let tried = 0;
  const shouldRefuse = async (tries: Readonly<Record<string, () => Promise<unknown>>>): Promise<void> => {
    expect(await through(tries)).toEqual([]);
    tried += Object.keys(tries).length;
  };

  it("hosts in every notation, which the operator did not write", async () => {
    const { ask, fetch, post } = clients(`${origin}/sparql`);
    await shouldRefuse(
      forAll(refusedHosts, (host) => ({
        [`query ${host}`]: () => ask(`http://${host}:${port}/sparql`),
        [`query of another id ${host}`]: () => ask(`http://${host}:${port}/sparql`, "other"),
        [`query of the operator's id ${host}`]: () => ask(`http://${host}:${port}/`, "own"),
        [`document ${host}`]: () => fetch(`http://${host}:${port}/sparql`),
        [`document of another id ${host}`]: () => fetch(`http://${host}:${port}/sparql`, "other"),
        [`document of the operator's id ${host}`]: () => fetch(`http://${host}:${port}/admin`, "own"),
        [`message ${host}`]: () => post(`http://${host}:${port}/sparql`),
      })),
    );
    expect(sockets).toBe(0);
  });

  it("hosts that need the setting, though the operator wrote them", async () => {
    const hosts = [...alwaysRefused, ...metadata];
    expect(hosts.length).toBeGreaterThan(40);
    for (const host of hosts) {
      const url = `http://${host}:${port}/sparql`;
      const { ask, fetch, post } = clients(url);
      await shouldRefuse({
        [`query ${host}`]: () => ask(url, "own"),
        [`document ${host}`]: () => fetch(url, "own"),
        [`message ${host}`]: () => post(url, "operator"),
      });
    }
    expect(sockets).toBe(0);
  });

  it("the operator's address for another purpose", async () => {
    const { ask, fetch, post } = clients(`${origin}/sparql`);
    await ask(`${origin}/sparql`, "own");
    await post(`${origin}/hook`, "operator");
    // Connections to the server are open now, and nothing else may use them.
    const before = seen.length;
    const paths = ["/sparql", "/sparql/", "/sparql?x=1", "/hook", "/", "/admin", "/sparql/../admin", "/SPARQL"];
    await shouldRefuse({
      ...forAll(paths, (path) => ({
        [`query ${path}`]: () => ask(origin + path),
        [`query of another id ${path}`]: () => ask(origin + path, "other"),
        [`message ${path}`]: () => post(origin + path),
        [`document ${path}`]: () => fetch(origin + path),
        [`document of another id ${path}`]: () => fetch(origin + path, "other"),
      })),
      ...forAll(paths.slice(1), (path) => ({
        [`query of its id ${path}`]: () => ask(origin + path, "own"),
      })),
      ...forAll(["/admin", "/sparql/x", "/hook", "/.well-known/", "/void.ttl/x"], (path) => ({
        [`document of its id ${path}`]: () => fetch(origin + path, "own"),
      })),
      "another port": () => ask(`http://127.0.0.1:${port + 1}/sparql`, "own"),
      "another scheme": () => fetch(`https://127.0.0.1:${port}/sparql`, "own"),
    });
    expect(seen).toHaveLength(before);
  });

  it("a name that he wrote, for others, also over the connections that it has open", async () => {
    const named = `http://graphdb:${port}/sparql`;
    const { ask, fetch, post } = clients(named, {
      resolveHost: resolvingTo("127.0.0.1"),
    });
    await ask(named, "own");
    await post(named, "operator");
    const before = seen.length;
    await shouldRefuse({
      "a query": () => ask(named),
      "of another id": () => ask(named, "other"),
      "a document": () => fetch(named),
      "a message": () => post(named),
    });
    expect(seen).toHaveLength(before);
  });

  it("names that the public DNS has, and addresses that are never private", async () => {
    const names = ["sparql.example.org", "localhost.example.org", "10-0-0-1.nip.io", "internal.example", "graphdb"];
    const inside = [["10.1.2.3"], ["127.0.0.1"], ["::1"], ["fd00::1"], ["8.8.8.8", "10.1.2.3"]];
    const never = [["169.254.169.254"], ["::ffff:127.0.0.1"], ["64:ff9b::7f00:1"], ["fe80::1"], ["fd00:ec2::254"]];
    for (const name of names)
      for (const addresses of [...inside, ...never, ["127.0.0.1", "0.0.0.0"]]) {
        const url = `http://${name}:${port}/sparql`;
        const { ask, fetch, post } = clients(url, {
          resolveHost: resolvingTo(...addresses),
        });
        const label = `${name} ${addresses.join()}`;
        const isAllowed = name === "graphdb" && inside.includes(addresses);
        await shouldRefuse({
          [`query ${label}`]: () => ask(url, "other"),
          [`document ${label}`]: () => fetch(url),
          [`message ${label}`]: () => post(url),
          ...(!isAllowed && {
            [`query of the operator's ${label}`]: () => ask(url, "own"),
            [`document of the operator's ${label}`]: () => fetch(url, "own"),
            [`message of the operator's ${label}`]: () => post(url, "operator"),
          }),
        });
      }
    expect(seen).toEqual([]);
  });

  it.each([
    ["http://graphdb", "169.254.169.254"],
    ["http://graphdb", "100.100.100.200"],
    ["http://graphdb", "::ffff:127.0.0.1"],
    ["http://graphdb", "0.0.0.0"],
  ])("%s, which is rebound to %s after its first connection", async (name, later) => {
    let lookups = 0;
    const named = `${name}:${port}/sparql`;
    const { ask, post } = clients(named, {
      resolveHost: (_, done) => {
        lookups += 1;
        resolvingTo(lookups === 1 ? "127.0.0.1" : later)(name, done);
      },
    });
    answer = (request, response) => {
      response.setHeader("connection", "close");
      sparql(request, response);
    };
    await ask(named, "own");
    await shouldRefuse({
      [`query ${later}`]: () => ask(named, "own"),
      [`message ${later}`]: () => post(named, "operator"),
      [`query of another ${later}`]: () => ask(named, "other"),
    });
    expect(seen).toHaveLength(1);
  });

  it("where the operator's endpoint redirects to", async () => {
    const names = [`http://localhost:${port}/other`, `http://graphdb:${port}/other`, "http://public.example.org/"];
    const literals = refusedHosts
      .filter((host) => /^[ -~]+$/u.test(host))
      .map((host) => `http://${host}:${port}/other`);
    const { ask, fetch } = clients(`${origin}/sparql`, {
      resolveHost: resolvingTo("127.0.0.1"),
      breaker: { faults: 1e9 },
    });
    for (const status of [301, 302, 303, 307, 308])
      for (const target of [...names, ...literals, `${origin}/sparql`, `${origin}/sparql/`]) {
        answer = (_, response) => response.writeHead(status, { location: target }).end();
        await shouldRefuse({
          [`query ${status} ${target}`]: () => ask(`${origin}/sparql`, "own"),
          [`document ${status} ${target}`]: () => fetch(`${origin}/sparql`, "own"),
        });
      }
    expect(new Set(seen)).toEqual(new Set(["/sparql"]));
  });

  it("are 0 of as many as before", () => {
    process.stdout.write(`0 of ${tried} tries got through\n`);
    expect(tried).toBeGreaterThan(1_900);
  });
});
