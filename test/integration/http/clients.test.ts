import { McpServer } from "@modelcontextprotocol/server";
import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import type { ListedTool, Toolbox } from "../../../src/agent/toolbox.ts";
import { openClientKeys, type Role, roles } from "../../../src/clients/client-keys.ts";
import { systemClock } from "../../../src/clock.ts";
import { createHttpHandler } from "../../../src/mcp/http-handler.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { fakeSettings } from "../../support/fake-query-service.ts";
import { askQuery, start } from "./http-fixture.ts";

// Who a request is from, and what that may do: each role at each kind of route, by each way of showing a key.

const adminToken = "a-token-of-these-tests";
const tool = { name: "look", title: "Look", description: "", input: Type.Object({}), annotations: {} } as ListedTool;
const toolbox: Toolbox = {
  tools: [tool],
  callable: [tool],
  hint: (text) => text,
  call: async () => ({ text: "seen", data: {} }),
};
const mcp = async () =>
  createHttpHandler(
    () => new McpServer({ name: "test", version: "1" }),
    () => undefined,
  );

type Kind = "open" | Role;
type Request = readonly [method: string, path: string, kind: Kind, type?: string, body?: string];
const form = "application/x-www-form-urlencoded";
const json = "application/json";
const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
/** Each kind of route by each door. */
const requests: readonly Request[] = [
  ["GET", "/health/live", "open"],
  ["GET", "/health/ready", "open"],
  ["GET", "/login", "open"],
  ["POST", "/logout", "open"],
  ["GET", "/", "read"],
  ["GET", "/status", "read"],
  ["GET", "/endpoints/alpha", "read"],
  ["GET", "/api/endpoints", "read"],
  ["GET", "/api/status", "read"],
  ["GET", "/api/keys/self", "read"],
  ["GET", "/metrics", "read"],
  ["GET", "/openapi.json", "read"],
  ["GET", `/sparql?${askQuery}`, "query"],
  ["POST", "/endpoints/alpha/sparql", "query", form, askQuery],
  ["POST", "/api/query", "query", json, '{"query": "ASK {}", "endpoint": "alpha"}'],
  ["POST", "/api/explain", "query", json, '{"query": "ASK {}", "endpoint": "alpha"}'],
  ["POST", "/api/tools/look", "query", json, "{}"],
  ["POST", "/mcp", "query", json, ping],
  ["DELETE", "/api/maintenance/nope", "write"],
  ["DELETE", "/api/endpoints/alpha", "write"],
  ["POST", "/api/snapshot", "write"],
  ["GET", "/api/keys", "admin"],
  ["DELETE", "/api/keys/nobody", "admin"],
  ["POST", "/api/keys/nobody/rotate", "admin", json, "{}"],
  ["GET", "/api/webhooks/dead", "admin"],
];

const keys = () =>
  openClientKeys({ store: openSqliteStore({ path: ":memory:" }), clock: systemClock, onFault: () => {} });
type Settings = Partial<typeof fakeSettings>;

/** A server with a client of each role, named after it. */
async function serve(settings: Settings = {}, names: readonly Role[] = roles) {
  const clients = await keys();
  const given: Record<string, string> = { nobody: "", token: adminToken };
  for (const role of names) given[role] = (await clients.add(`a-${role}`, { role })).key;
  const app = await start({
    clients,
    mcp,
    toolbox: () => toolbox,
    config: { ...fakeSettings, adminToken, ...settings },
  });
  const ask = ([method, path, , type, body]: Request, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(app.url + path, {
      method,
      redirect: "manual",
      headers: {
        Accept: "application/json, text/event-stream, */*",
        ...(type !== undefined && { "Content-Type": type }),
        ...headers,
      },
      ...(body !== undefined && { body }),
    });
  return { ...app, clients, given, ask };
}

const bearer = (key: string): Record<string, string> => (key === "" ? {} : { Authorization: `Bearer ${key}` });
const basic = (key: string): Record<string, string> => ({ Authorization: `Basic ${btoa(`anything:${key}`)}` });

const rank = (kind: Kind): number => ["open", ...roles].indexOf(kind);

/** Statuses of refusals; anything else has passed. */
const refusals: ReadonlySet<number> = new Set([401, 403]);

describe("wrong keys in a row", () => {
  it("make their address wait, longer after each, and no other one; a right one counts anew", async () => {
    const time = { nowMs: Date.now() };
    const clients = await openClientKeys({
      store: openSqliteStore({ path: ":memory:" }),
      clock: { ...systemClock, now: () => time.nowMs },
      onFault: () => {},
    });
    const { key } = await clients.add("ada", { role: "query" });
    const app = await start({ clients, config: { ...fakeSettings, adminToken, trustProxy: 1 } });
    const ask = async (secret: string, from = "203.0.113.1"): Promise<readonly unknown[]> => {
      const headers = { ...bearer(secret), "X-Forwarded-For": from };
      const { status, headers: answered } = await fetch(`${app.url}/api/endpoints`, { headers });
      return [status, answered.get("retry-after")];
    };
    const wrong = (at: number): string => `fw_ada_${String(at).padStart(43, "x")}`;
    for (let at = 0; at < 9; at += 1) expect(await ask(wrong(at))).toEqual([401, null]);
    expect(await ask(key)).toEqual([200, null]);
    for (let at = 0; at < 10; at += 1) expect(await ask(wrong(at))).toEqual([401, null]);
    expect(await ask(wrong(11))).toEqual([429, "1"]);
    // A program with a key that has ended is refused as before.
    expect(await ask(wrong(9))).toEqual([401, null]);
    // The right one is not told from a wrong one meanwhile.
    expect(await ask(key)).toEqual([429, "1"]);
    expect(await ask(key, "203.0.113.2")).toEqual([200, null]);
    time.nowMs += 1_000;
    expect(await ask(wrong(12))).toEqual([401, null]);
    expect(await ask(wrong(13))).toEqual([429, "2"]);
    const body = new URLSearchParams({ token: adminToken });
    const signIn = { method: "POST", body, headers: { "X-Forwarded-For": "203.0.113.1" }, redirect: "manual" } as const;
    expect((await fetch(`${app.url}/login`, signIn)).status).toBe(429);
    time.nowMs += 2_000;
    expect((await fetch(`${app.url}/login`, signIn)).status).toBe(303);
    expect(await ask(wrong(14))).toEqual([401, null]);
  });
});

describe("what each caller may do", () => {
  it.each<[caller: string, may: Kind, settings: Settings]>([
    ["nobody", "query", {}],
    ["nobody", "read", { anonymous: "read" }],
    ["nobody", "open", { anonymous: "none" }],
    ["read", "read", { anonymous: "none" }],
    ["query", "query", { anonymous: "none" }],
    ["write", "write", {}],
    ["admin", "admin", {}],
    ["token", "admin", {}],
    // A key has its own role, also where callers without one may do more.
    ["read", "read", {}],
    ["nobody", "admin", { adminToken: "off" }],
  ])("%s: %s", async (caller, may, settings) => {
    const app = await serve(settings);
    for (const request of requests) {
      const response = await app.ask(request, bearer(app.given[caller] ?? ""));
      const passed = !refusals.has(response.status);
      expect([request[0], request[1], passed]).toEqual([request[0], request[1], rank(request[2]) <= rank(may)]);
      if (passed) continue;
      const isKnown = caller !== "nobody";
      expect([response.status, response.headers.has("www-authenticate")]).toEqual(isKnown ? [403, false] : [401, true]);
    }
  });
});

describe("a key", () => {
  it("reads where others may not, so that shared caches keep nothing of it", async () => {
    const kept = async (settings: Settings, path: string): Promise<string | null> => {
      const app = await serve(settings);
      return (await app.ask(["GET", path, "read"], bearer(app.given["read"] ?? ""))).headers.get("cache-control");
    };
    for (const path of ["/endpoints/alpha/badge.svg", "/endpoints/alpha/badge.json", "/incidents.atom"]) {
      expect(await kept({ anonymous: "none" }, path)).toMatch(/^private, /);
      expect(await kept({}, path)).toMatch(/^public, /);
    }
  });

  it("opens as the password of Basic, and by /login as a session that ends with it", async () => {
    const app = await serve({ anonymous: "none" });
    const self: Request = ["GET", "/api/keys/self", "read"];
    expect(await (await app.ask(self, basic(app.given["query"] ?? ""))).json()).toMatchObject({ client: "a-query" });
    const login: Request = ["POST", "/login", "open", form, `token=${app.given["query"]}`];
    const cookie = (await app.ask(login)).headers.get("set-cookie") ?? "";
    expect(cookie).not.toContain(app.given["query"]?.slice(-20));
    const session = { Cookie: cookie.split(";")[0] ?? "" };
    expect(await (await app.ask(self, session)).json()).toMatchObject({ client: "a-query", role: "query" });
    expect((await app.ask(["GET", "/", "read"], session)).status).toBe(200);
    expect(await (await app.ask(["GET", "/runs", "read"], session)).text()).toContain("sent by the client a-query.");
    const forged = { Cookie: session.Cookie.replace("a-query", "a-admin") };
    expect((await app.ask(self, forged)).status).toBe(401);
    await app.clients.rotate("a-query", 0);
    expect((await app.ask(self, session)).status).toBe(401);
  });

  it("of a session is believed from pages of this service only", async () => {
    const app = await serve();
    const login: Request = ["POST", "/login", "open", form, `token=${app.given["write"]}`];
    const Cookie = ((await app.ask(login)).headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const change: Request = ["DELETE", "/api/maintenance/nope", "write"];
    const from = async (site: Record<string, string>): Promise<number> =>
      (await app.ask(change, { Cookie, ...site })).status;
    expect(await from({ "Sec-Fetch-Site": "same-origin" })).toBe(404);
    expect(await from({ "Sec-Fetch-Site": "cross-site" })).toBe(403);
    expect(await from({ Origin: "https://elsewhere.example" })).toBe(403);
    expect(await from({})).toBe(403);
    const foreign = { "Sec-Fetch-Site": "cross-site", ...basic(app.given["write"] ?? "") };
    expect((await app.ask(change, foreign)).status).toBe(403);
  });

  it.each<[string, (key: string) => Record<string, string>]>([
    ["wrong", (key) => bearer(`${key.slice(0, -1)}${key.endsWith("A") ? "B" : "A"}`)],
    ["cut short", (key) => bearer(key.slice(0, -1))],
    ["of another name", (key) => bearer(key.replace("a-admin", "a-write"))],
    ["of no name", (key) => bearer(key.replace("a-admin", "zzz"))],
    ["without its beginning", (key) => bearer(key.slice(3))],
    ["wrong, as a password", (key) => basic(`${key}x`)],
    ["with a name of 10,000 letters", () => bearer(`fw_${"a".repeat(900)}_${"b".repeat(43)}`)],
    ["of prototypes", () => bearer(`fw_constructor_${"b".repeat(43)}`)],
  ])("%s is refused at every door", async (_what, headers) => {
    const app = await serve();
    for (const request of requests) {
      const response = await app.ask(request, headers(app.given["admin"] ?? ""));
      const challenge = response.headers.get("www-authenticate");
      expect([request[1], response.status, challenge]).toEqual([request[1], 401, expect.stringContaining("Bearer")]);
      expect(await response.text()).not.toContain(app.given["admin"]?.slice(-20));
    }
  });

  it("that has ended, or was revoked or rotated away, is refused at once", async () => {
    const app = await serve();
    const status = async (key: string): Promise<number> =>
      (await app.ask(["GET", "/status", "read"], bearer(key))).status;
    const ended = (await app.clients.add("ended", { role: "read" }, Date.now() - 1)).key;
    expect(await status(ended)).toBe(401);
    const { key } = await app.clients.rotate("a-read", 60_000);
    expect([await status(key), await status(app.given["read"] ?? "")]).toEqual([200, 200]);
    const third = await app.clients.rotate("a-read", 60_000);
    expect([await status(third.key), await status(key), await status(app.given["read"] ?? "")]).toEqual([
      200, 200, 401,
    ]);
    await app.clients.remove("a-read");
    expect([await status(third.key), await status(key)]).toEqual([401, 401]);
  });

  it("in a URL is refused as leaked, wherever it stands", async () => {
    const app = await serve();
    for (const path of ["/status?key=", "/login?token=", "/sparql?access_token=", "/", "/api/runs/"]) {
      const response = await app.ask(["GET", path + app.given["read"], "open"], bearer(adminToken));
      expect([path, response.status]).toEqual([path, 400]);
      expect(await response.text()).not.toContain(app.given["read"]);
    }
  });

  it("is in no line of the log and no metric, its name is in both", async () => {
    const app = await serve();
    for (const request of requests) {
      for (const headers of [
        bearer(app.given["admin"] ?? ""),
        basic(app.given["admin"] ?? ""),
        bearer(`${app.given["admin"]}x`),
      ])
        await (await app.ask(request, headers)).text();
    }
    await app.ask(["GET", `/status?k=${app.given["admin"]}`, "read"]);
    await expect.poll(() => app.lines.filter((line) => "route" in line).length).toBe(requests.length * 3 + 1);
    const seen = JSON.stringify([app.lines, app.observed]);
    expect(seen).not.toContain(app.given["admin"]?.slice(-43));
    expect(app.lines[0]).toMatchObject({ client: "a-admin" });
    expect(app.observed[0]).toMatchObject({ owner: "key:a-admin" });
  });

  it("changes nothing for others until there is one: foreign credentials are ignored", async () => {
    const app = await serve({}, []);
    for (const headers of [bearer("what-a-proxy-passes-on"), basic("password")]) {
      expect((await app.ask(["GET", "/status", "read"], headers)).status).toBe(200);
    }
    expect((await app.ask(["GET", "/status", "read"], bearer(`fw_x_${"b".repeat(43)}`))).status).toBe(401);
    await app.clients.add("first", { role: "read" });
    for (const headers of [bearer("what-a-proxy-passes-on"), basic("password")]) {
      expect((await app.ask(["GET", "/status", "read"], headers)).status).toBe(401);
    }
  });

  it("opens /mcp beside its own token, which opens nothing else", async () => {
    const mcpToken = "the-token-of-mcp-alone";
    const app = await serve({ mcpToken });
    const status = async (path: string, key: string): Promise<number> =>
      (await app.ask(["POST", path, "query", json, path === "/mcp" ? ping : "{}"], bearer(key))).status;
    expect(await status("/mcp", mcpToken)).toBe(200);
    expect(await status("/mcp", app.given["query"] ?? "")).toBe(200);
    expect(await status("/mcp", app.given["read"] ?? "")).toBe(403);
    expect(await status("/mcp", "")).toBe(401);
    expect(await status("/api/tools/look", mcpToken)).toBe(401);
  });

  it("lets scripts of other origins send it, and read the answer, where they may ask", async () => {
    const app = await serve({ anonymous: "none" });
    const origin = { Origin: "https://yasgui.example" };
    const preflight = {
      ...origin,
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": "authorization",
    };
    const { status, headers } = await app.ask(["OPTIONS", "/sparql", "open"], preflight);
    expect([status, headers.get("access-control-allow-headers")]).toEqual([204, "*, Authorization"]);
    const query: Request = ["POST", "/endpoints/alpha/sparql", "query", form, askQuery];
    const answer = await app.ask(query, { ...origin, ...basic(app.given["query"] ?? "") });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, "*"]);
  });

  it("is refused with headers of any size", async () => {
    const app = await serve();
    for (const letters of [1_024, 1_025, 30_000, 60_000, 70_000]) {
      const response = await app.ask(["GET", "/status", "read"], bearer(`fw_${"k".repeat(letters)}`));
      expect([letters, [401, 413].includes(response.status)]).toEqual([letters, true]);
    }
  });
});

describe("a client that a proxy names", () => {
  const header: Settings = { clientHeader: "X-Auth-Request-Email", anonymous: "none" };
  const named = { "X-Auth-Request-Email": "ada@example.org" };
  const self: Request = ["GET", "/api/keys/self", "read"];

  it("is believed from the proxy's address", async () => {
    const app = await serve({ ...header, trustProxy: ["127.0.0.0/8"] });
    const answer = await (await app.ask(self, named)).json();
    expect(answer).toEqual({ client: "ada@example.org", role: "query" });
    expect((await app.ask(["DELETE", "/api/maintenance/nope", "write"], named)).status).toBe(403);
  });

  it.each([[["192.0.2.0/24", "2001:db8::/32"]], [1], [true], [false]] as const)(
    "is refused where FEDWAY_TRUST_PROXY is %s",
    async (trustProxy) => {
      const app = await serve({ ...header, trustProxy });
      for (const spoofed of [
        named,
        { ...named, "X-Forwarded-For": "192.0.2.1" },
        { ...named, ...bearer(adminToken) },
      ]) {
        expect((await app.ask(self, spoofed)).status).toBe(401);
      }
    },
  );

  it.each(["a b", "a,b", "<script>", "x".repeat(101)])("is refused when the name is %s", async (name) => {
    const app = await serve({ ...header, trustProxy: ["127.0.0.0/8"] });
    expect((await app.ask(self, { "X-Auth-Request-Email": name })).status).toBe(401);
  });

  it("cannot be used by pages of other sites for changes or queries", async () => {
    const app = await serve({ ...header, clientHeaderRole: "admin", trustProxy: ["127.0.0.0/8"] });
    const foreign = { ...named, "Sec-Fetch-Site": "cross-site" };
    expect((await app.ask(["DELETE", "/api/maintenance/nope", "write"], foreign)).status).toBe(403);
    expect((await app.ask(["POST", "/endpoints/alpha/sparql", "query", form, askQuery], foreign)).status).toBe(401);
    expect((await app.ask(["DELETE", "/api/maintenance/nope", "write"], named)).status).toBe(404);
  });

  it("is not confused with a key, the admin or an address of the same text", async () => {
    const app = await serve({ clientHeader: "X-User", trustProxy: ["127.0.0.0/8"] });
    const owners = async (headers: Record<string, string>): Promise<unknown> => {
      await app.ask(["POST", "/endpoints/alpha/sparql", "query", form, askQuery], headers);
      return app.queries.requests.at(-1)?.owner;
    };
    expect(await owners({ "X-User": "admin" })).toBe("user:admin");
    expect(await owners({ "X-User": "a-read" })).toBe("user:a-read");
    expect(await owners({ "X-Forwarded-For": "admin" })).toBe("address:admin");
    expect(await owners({ "X-Forwarded-For": "key:a-query" })).toBe("address:key:a-query");
    expect(await owners(bearer(app.given["query"] ?? ""))).toBe("key:a-query");
    expect(await owners(bearer(adminToken))).toBe("admin");
  });
});

describe("/api/keys", () => {
  it("shows a key once, and keeps no part of it", async () => {
    const store = openSqliteStore({ path: ":memory:" });
    const clients = await openClientKeys({ store, clock: systemClock, onFault: () => {} });
    const app = await start({ clients, config: { ...fakeSettings, adminToken } });
    const ask = async (method: string, path: string, body?: object) => {
      const headers = { ...bearer(adminToken), ...(body && { "Content-Type": json }) };
      const response = await fetch(app.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      return { status: response.status, cache: response.headers.get("cache-control"), text: await response.text() };
    };
    const made = await ask("POST", "/api/keys", { name: "ada", role: "query", quota: { hour: { requests: 5 } } });
    expect([made.status, made.cache]).toEqual([201, "no-store"]);
    const [key = ""] = /fw_ada_[\w-]{43}/.exec(made.text) ?? [];
    const kept = JSON.stringify(await store.list(""));
    expect(key.length).toBe(50);
    expect(kept).not.toContain(key.slice(-20));
    const listed = await ask("GET", "/api/keys");
    expect(JSON.parse(listed.text)).toMatchObject({
      clients: [{ name: "ada", role: "query", keys: [{ live: true }] }],
    });
    expect(listed.text).not.toMatch(/fw_|[0-9a-f]{64}/);
    for (const name of ["ada", "admin", "self", "Ada", "a_b", "", "-a", "x".repeat(41)]) {
      expect([name, (await ask("POST", "/api/keys", { name, role: "read" })).status]).toEqual([
        name,
        expect.toSatisfy((status: number) => status === 400 || status === 409),
      ]);
    }
    expect((await ask("POST", "/api/keys", { name: "bob", role: "root" })).status).toBe(400);
    const rotated = await ask("POST", "/api/keys/ada/rotate", { graceSeconds: 0 });
    expect(JSON.parse(rotated.text)).toMatchObject({
      client: { quota: { hour: { requests: 5 } }, keys: [{ live: true }] },
    });
    expect((await ask("DELETE", "/api/keys/ada")).status).toBe(204);
    expect((await ask("DELETE", "/api/keys/ada")).status).toBe(404);
    expect((await ask("POST", "/api/keys/ada/rotate", {})).status).toBe(404);
  });
});
