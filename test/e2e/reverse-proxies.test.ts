import { readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BuiltService, startBuiltService } from "../support/built-program.ts";
import { createCatalogFolder, endpointTurtle } from "../support/catalog-folder.ts";
import { answers, requireProgram, type ServerProcess, startServer } from "../support/engines/server-process.ts";
import { freePort, type Listening, listening } from "../support/listening.ts";
import { newFolder } from "../support/scratch-folder.ts";

// The examples of deploy/proxies as they stand, but for addresses and certificates; and with the path stripped.

const token = "a-token-of-these-tests";
const authorization = { Authorization: `Bearer ${token}` };
const example = (name: string): Promise<string> =>
  readFile(new URL(`../../deploy/proxies/${name}`, import.meta.url), "utf8");

const json = "application/sparql-results+json";
const row = (name: string): string => `{"s":{"type":"uri","value":"urn:${name}"}}`;

/** An endpoint whose answers begin at once, and end when the test says so, or when they are no longer wanted. */
async function startEndpoint() {
  const open = new Map<string, ServerResponse>();
  const left = new Set<string>();
  const begin = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const name = /urn(?:%3A|:)x(?:%3A|:)(\w+)/.exec(`${request.url} ${await textOf(request)}`)?.[1] ?? "other";
    response.on("close", () => {
      if (!response.writableFinished) left.add(name);
    });
    response.writeHead(200, { "Content-Type": json });
    response.write(`{"head":{"vars":["s"]},"results":{"bindings":[${row("first")}`);
    if (name === "whole") response.end("]}}");
    else open.set(name, response);
  };
  const server = createServer((request, response) => void begin(request, response));
  const { origin, close }: Listening = await listening(server);
  return {
    url: `${origin}/sparql`,
    close,
    left,
    more: (name: string): unknown => open.get(name)?.write(`,${row("middle")}`),
    end: (name: string): unknown => open.get(name)?.end(`,${row("last")}]}}`),
  };
}

let endpoint: Awaited<ReturnType<typeof startEndpoint>>;
let service: BuiltService;

beforeAll(async () => {
  endpoint = await startEndpoint();
  const catalog = await createCatalogFolder();
  await catalog.write({ "slow.ttl": endpointTurtle("slow", endpoint.url) });
  service = await startBuiltService({
    FEDWAY_PUBLIC_URL: "https://example.org/fedway",
    FEDWAY_TRUST_PROXY: "1",
    FEDWAY_CATALOG: catalog.path,
    FEDWAY_ALLOW_ADDRESSES: "127.0.0.0/8",
    FEDWAY_ADMIN_TOKEN: token,
  });
});
afterAll(async () => {
  await service?.stop();
  await endpoint?.close();
});

/** What makes the examples strip the path. */
const strip = {
  nginx: (text: string) => text.replaceAll(/(?<=location (?:= )?\/fedway\/? \{\s+proxy_pass http:\/\/fedway)/g, "/"),
  caddy: (text: string) => text.replace("handle @fedway {", "handle @fedway {\n\t\turi strip_prefix /fedway"),
} as const;

async function startProxy(program: "nginx" | "caddy", isStripping: boolean) {
  const [port, runDir] = [await freePort(), newFolder()];
  const text = await example(program === "nginx" ? "nginx.conf" : "Caddyfile");
  const addressed = text.replace("127.0.0.1:3000", new URL(service.url).host);
  const written = isStripping ? strip[program](addressed) : addressed;
  expect(written === addressed).toBe(!isStripping);
  const file = join(runDir, "proxy.conf");
  const started = {
    name: program,
    cwd: runDir,
    ready: () => answers(`http://127.0.0.1:${port}/fedway/health/live`),
    readyWithinMs: 20_000,
  };
  if (program === "caddy") {
    const options = "{\n\tadmin off\n\tauto_https off\n}\n";
    await writeFile(file, options + written.replace("example.org {", `http://127.0.0.1:${port} {`));
    const command = requireProgram("caddy", "apt-get install caddy");
    const env = { HOME: runDir, XDG_DATA_HOME: runDir, XDG_CONFIG_HOME: runDir };
    const server = await startServer({
      ...started,
      command,
      args: ["run", "--adapter", "caddyfile", "--config", file],
      env,
    });
    return { server, url: `http://127.0.0.1:${port}` };
  }
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${runDir}/${kind};`,
  );
  const block = written.replace("listen 443 ssl;", `listen 127.0.0.1:${port};`).replaceAll(/^ *ssl_.*\n/gm, "");
  const http = `http { access_log off; ${temporary.join(" ")}\n${block}\n}`;
  await writeFile(
    file,
    `daemon off; worker_processes 1; pid ${runDir}/pid; error_log ${runDir}/error.log;\nevents {}\n${http}\n`,
  );
  const command = requireProgram("nginx", "apt-get install nginx-light");
  const server = await startServer({ ...started, command, args: ["-c", file, "-p", runDir] });
  return { server, url: `http://127.0.0.1:${port}` };
}

/** Reads a body piece by piece. */
function reading({ body }: Response) {
  const reader = (body ?? new ReadableStream<Uint8Array>()).getReader();
  const decoder = new TextDecoder();
  let received = "";
  return {
    async until(wanted: string): Promise<string> {
      while (!received.includes(wanted)) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`ended before ${wanted}: ${received}`);
        received += decoder.decode(value, { stream: true });
      }
      return received;
    },
  };
}

describe.each([
  ["nginx", false],
  ["nginx", true],
  ["caddy", false],
  ["caddy", true],
] as const)("behind %s (path stripped: %s)", (program, isStripping) => {
  let proxy: ServerProcess | undefined;
  let origin = "";
  let url = "";
  beforeAll(async () => {
    const started = await startProxy(program, isStripping);
    proxy = started.server;
    origin = started.url;
    url = `${started.url}/fedway`;
  });
  afterAll(() => proxy?.stop());
  const ask = (name: string, signal?: AbortSignal): Promise<Response> =>
    fetch(`${url}/endpoints/slow/sparql`, {
      method: "POST",
      headers: { Accept: json },
      body: new URLSearchParams({ query: `SELECT ?s { ?s a <urn:x:${name}> }` }),
      ...(signal && { signal }),
    });

  it("pages load what they name, and nothing outside of the path is passed on", async () => {
    const page = await (await fetch(url)).text();
    const links = [...page.matchAll(/(?:href|src)="(\/[^"]*)"/g)].map(([, link = ""]) => link);
    expect(links.length).toBeGreaterThan(10);
    const statuses = await Promise.all(links.map(async (link) => [link, (await fetch(origin + link)).status] as const));
    expect(statuses.filter(([, status]) => status !== 200)).toEqual([]);
    expect((await (await fetch(`${origin}/status`)).text()).includes("Fedway")).toBe(false);
  });

  it("a sign-in changes things from the pages below the path, and only there", async () => {
    const body = new URLSearchParams({ token });
    const { status, headers } = await fetch(`${url}/login`, { method: "POST", body, redirect: "manual" });
    expect([status, headers.get("location")]).toEqual([303, "/fedway/"]);
    const [cookie = ""] = headers.getSetCookie();
    expect(cookie).toContain("Path=/fedway; HttpOnly; SameSite=Strict; Secure");
    const sent = (site: string): Promise<Response> =>
      fetch(`${url}/endpoints/slow/capabilities`, {
        method: "POST",
        redirect: "manual",
        headers: { Cookie: cookie.split(";")[0] ?? "", "Sec-Fetch-Site": site },
      });
    const changed = await sent("same-origin");
    expect([changed.status, changed.headers.get("location")]).toEqual([303, "/fedway/endpoints/slow"]);
    expect((await sent("same-site")).status).toBe(403);
  });

  it("answers leave row by row", async () => {
    const name = `rows${program}${isStripping}`;
    const rows = reading(await ask(name));
    expect(await rows.until("urn:first")).not.toContain("urn:middle");
    endpoint.more(name);
    expect(await rows.until("urn:middle")).not.toContain("urn:last");
    endpoint.end(name);
    await rows.until("urn:last");
  });

  it("a client that leaves ends its query at the endpoint", async () => {
    const name = `left${program}${isStripping}`;
    const leaving = new AbortController();
    await reading(await ask(name, leaving.signal)).until("urn:first");
    expect(endpoint.left.has(name)).toBe(false);
    leaving.abort();
    await expect.poll(() => endpoint.left.has(name), { timeout: 10_000 }).toBe(true);
  });

  it("events of a job come while it runs", async () => {
    const asked = await fetch(`${url}/api/endpoints/slow/describe`, { method: "POST", headers: authorization });
    expect(asked.status).toBe(202);
    const at = asked.headers.get("location") ?? "";
    expect(at).toMatch(/^\/fedway\/api\/jobs\//);
    const events = reading(await fetch(`${origin}${at}/events`));
    await events.until("event: progress");
    expect((await fetch(origin + at, { method: "DELETE", headers: authorization })).status).toBe(204);
    await events.until("event: end");
  });

  it("agents are answered at /mcp, and find the metadata of its token from the origin", async () => {
    const metadata: unknown = await (await fetch(`${origin}/.well-known/oauth-protected-resource/fedway/mcp`)).json();
    expect(metadata).toMatchObject({ resource: "https://example.org/fedway/mcp" });
    const message = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
    };
    const response = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
      body: JSON.stringify(message),
    });
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"serverInfo"')]);
  });

  it("a query of a megabyte goes through; one that is too large is refused in the service's words", async () => {
    const sized = (bytes: number): Promise<Response> => {
      const query = `SELECT ?s { ?s a <urn:x:whole> } #${"x".repeat(bytes)}`;
      return fetch(`${url}/endpoints/slow/sparql`, {
        method: "POST",
        headers: { Accept: json },
        body: new URLSearchParams({ query }),
      });
    };
    expect((await sized(1_000_000)).status).toBe(200);
    const refused = await sized(1_200_000);
    expect([refused.status, refused.headers.get("content-type")]).toEqual([413, "application/problem+json"]);
  });
});
