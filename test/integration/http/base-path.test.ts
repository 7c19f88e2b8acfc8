import { describe, expect, it } from "vitest";
import { shardRoutes, type ShardService } from "../../../shards/src/service/routes.ts";
import type { Job } from "../../../src/jobs/job-queue.ts";
import { createFakeMonitor } from "../../support/fake-monitor.ts";
import { fakeSettings } from "../../support/fake-query-service.ts";
import { fakeNowMs } from "../../support/http-deps.ts";
import { pageDeps, pageEntries } from "../../support/page-deps.ts";
import { start, type Started } from "./http-fixture.ts";

// A service below a path of somebody else's origin: nothing that it sends leads out of that path.

const publicUrl = "https://example.org/fedway";
const config = { ...fakeSettings, publicUrl, adminToken: "a-token-of-these-tests", mcpToken: "a-token-of-agents" };
const job: Job = { id: "people", kind: "describe-endpoint", state: "running", payload: {}, attempts: 1, createdAt: "" };
const authorization = { Authorization: `Bearer ${config.adminToken}` };
const nowhere: Sent = { path: "/nowhere", init: { headers: { Accept: "text/html" } } };

const startBelow = (): Promise<Started> =>
  start({
    ...pageDeps({ count: 30 }),
    routes: [
      shardRoutes({ datasets: [], dataset: () => undefined, endpoint: () => undefined } as unknown as ShardService),
    ],
    config,
    monitor: createFakeMonitor({ endpoints: pageEntries(0), nowMs: fakeNowMs }),
    jobs: { get: async () => job, list: async () => [job], cancel: async () => true, watch: () => () => undefined },
    mcp: async () => ({ handle: async () => undefined, close: async () => undefined }),
  });

interface Sent {
  readonly path: string;
  readonly init?: RequestInit;
}

/** Each route that the OpenAPI document names, with each of its methods. */
async function routesOf({ url }: Started): Promise<readonly Sent[]> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, object> };
  return Object.entries(paths).flatMap(([pattern, methods]) =>
    Object.keys(methods).map((name) => ({
      path: pattern.replaceAll(/\{\w+\}/g, "people"),
      init: {
        method: name.toUpperCase(),
        ...(["post", "put", "patch"].includes(name) && { body: "{}" }),
        headers: { Accept: "text/html, */*;q=0.1", "Content-Type": "application/json", ...authorization },
      },
    })),
  );
}

async function answerOf({ url }: Started, { path, init }: Sent) {
  const leaving = new AbortController();
  const response = await fetch(url + path, { redirect: "manual", signal: leaving.signal, ...init });
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  const text = isStream ? "" : await response.text();
  leaving.abort();
  return { status: response.status, headers: response.headers, text };
}

const attribute = /\s(?:href|src|srcset|action|formaction|poster|data-\w*(?:href|src|url))="([^"]*)"/g;
const linksIn = (page: string): readonly string[] =>
  [...page.matchAll(attribute)].map(([, link = ""]) => link.replaceAll("&amp;", "&"));

const isOutside = (link: string): boolean =>
  (/^\/|^\w+:\/\/example\.org/.test(link) && !/^(?:https:\/\/example\.org)?\/fedway(?:[/?#]|$)/.test(link)) ||
  link.startsWith("//");

/** What in an answer leads out of the base path: links, headers, and URLs of this service. */
function leavesIn({ headers, text }: Awaited<ReturnType<typeof answerOf>>): readonly string[] {
  const isPage = headers.get("content-type")?.startsWith("text/html") === true;
  const named = ["location", "content-location"].map((name) => headers.get(name) ?? "");
  const linked = [...(headers.get("link") ?? "").matchAll(/<([^>]*)>/g)].map(([, link = ""]) => link);
  const cookies = headers.getSetCookie().map((cookie) => /; Path=([^;]*)/.exec(cookie)?.[1] ?? "/");
  const urls = [...text.matchAll(/https:\/\/example\.org[^\s"'<>&]*/g)].map(([url]) => url);
  return [...named, ...linked, ...cookies, ...urls, ...(isPage ? linksIn(text) : [])].filter(isOutside);
}

/** Follows all links from the first page; the paths are those that a stripping proxy would pass on. */
async function crawl(app: Started, first: readonly string[]) {
  const found = new Set(first);
  const faults: string[] = [];
  for (const path of found) {
    const answer = await answerOf(app, {
      path,
      init: { headers: { Accept: "text/html, */*;q=0.1", ...authorization } },
    });
    faults.push(...leavesIn(answer).map((link) => `${path}: ${link}`));
    if (answer.text.includes("No route has this path")) faults.push(`${path} leads nowhere`);
    if (answer.headers.get("content-type")?.startsWith("text/html") !== true) continue;
    for (const link of linksIn(answer.text)) {
      const [below = ""] = link.replace("/fedway", "").split("#");
      if (link.startsWith("/fedway") && found.size < 500) found.add(below);
    }
  }
  return { found, faults };
}

describe("below https://example.org/fedway", () => {
  it("no answer of any route leads out of /fedway", async () => {
    const app = await startBelow();
    const routes = await routesOf(app);
    expect(routes.length).toBeGreaterThan(70);
    const faults: string[] = [];
    for (const sent of [...routes, nowhere]) {
      const leaves = leavesIn(await answerOf(app, sent));
      faults.push(...leaves.map((link) => `${sent.init?.method ?? "GET"} ${sent.path}: ${link}`));
    }
    expect(faults).toEqual([]);
  });

  it("all links from all pages stay below /fedway and lead somewhere", async () => {
    const app = await startBelow();
    const pages = (await routesOf(app)).filter(({ init }) => init?.method === "GET").map(({ path }) => path);
    const { found, faults } = await crawl(app, ["/", ...pages]);
    expect(faults).toEqual([]);
    expect(found.size).toBeGreaterThan(100);
  });

  it("answers alike behind proxies that strip the path and that pass it on", async () => {
    const app = await startBelow();
    for (const path of [
      "/",
      "/status",
      "/docs",
      "/api/endpoints?limit=2",
      "/endpoints/people",
      "/login",
      "/sparql?format=turtle",
    ]) {
      const [stripped, passedOn] = [await answerOf(app, { path }), await answerOf(app, { path: `/fedway${path}` })];
      expect([path, passedOn.status, passedOn.text]).toEqual([path, stripped.status, stripped.text]);
      expect(stripped.status).toBe(200);
    }
    expect((await answerOf(app, { path: "/fedway" })).status).toBe(200);
    expect((await answerOf(app, { path: "/fedway?q=people" })).text).toContain("People of the north");
    for (const path of [
      "/fedwayx",
      "/fedwayx/status",
      "/other/status",
      "/fedway//evil.example",
      "/fedway/%2Fevil.example",
    ])
      expect([path, (await answerOf(app, { path })).status]).toEqual([path, 404]);
  });

  it("signs in for its path alone, and redirects within it", async () => {
    const app = await startBelow();
    const body = new URLSearchParams({ token: config.adminToken });
    const { status, headers } = await answerOf(app, { path: "/login", init: { method: "POST", body } });
    expect([status, headers.get("location")]).toEqual([303, "/fedway/"]);
    expect(headers.get("set-cookie")).toMatch(/^fedway-session=.*; Path=\/fedway; HttpOnly; SameSite=Strict; Secure$/);
    const out = await answerOf(app, { path: "/fedway/logout", init: { method: "POST" } });
    expect([out.headers.get("location"), out.headers.get("set-cookie")]).toEqual([
      "/fedway/login",
      "fedway-session=; Max-Age=0; Path=/fedway; HttpOnly; SameSite=Strict",
    ]);
  });

  it("has the metadata of MCP where it says, and where clients look from the origin", async () => {
    const app = await startBelow();
    const refused = await answerOf(app, { path: "/mcp", init: { method: "POST", body: "{}" } });
    const [, at = ""] =
      /resource_metadata="https:\/\/example\.org([^"]*)"/.exec(refused.headers.get("www-authenticate") ?? "") ?? [];
    expect(at).toBe("/fedway/.well-known/oauth-protected-resource/mcp");
    for (const path of [at, "/.well-known/oauth-protected-resource/fedway/mcp"])
      expect(JSON.parse((await answerOf(app, { path })).text)).toMatchObject({ resource: `${publicUrl}/mcp` });
  });
});

it("refuses a path whose first part is that of a route: a proxy that strips it would make them look alike", async () => {
  const below = (path: string) => start({ config: { ...fakeSettings, publicUrl: `https://example.org/${path}` } });
  await expect(below("sparql")).rejects.toThrow("begins with /sparql");
  await expect(below("api/v1")).rejects.toThrow("begins with /api");
});
