import { beforeAll, describe, expect, it } from "vitest";
import type { HttpDeps } from "../../../src/http/http-deps.ts";
import { createHttpServer, type HttpServer } from "../../../src/http/server.ts";
import { fakeSettings } from "../../support/fake-query-service.ts";
import { createFakeDeps } from "../../support/http-deps.ts";

// What changes something, or tells what only the operator is to know, asks who is there: every route, also those to come.

const token = "a-token-of-these-tests";
const foreign = "https://elsewhere.example";
/** These take queries, the token itself, or end a run of the caller's own (`test/integration/service/run-control.test.ts`). */
const queryRoutes =
  /^\/(login|logout|unsubscribe|sparql|(api\/)?runs\/\{id\}(\/cancel)?|registry\/sparql|(endpoints|federations|hosted)\/\{id\}\/sparql|shards\/.*\/sparql|api\/(query|explain|check|complete))$/;
/** Reading them is the operator's business, too. */
const secretReads: ReadonlySet<string> = new Set([
  "GET /api/webhooks/dead",
  "GET /api/webhooks/muted",
  "GET /api/keys",
]);

interface Route {
  readonly method: string;
  readonly path: string;
}

interface Problem {
  readonly status?: number;
  readonly code?: string;
}

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;

async function serve(config: Partial<HttpDeps["config"]> = {}): Promise<HttpServer> {
  const mcp = async () => ({ handle: async () => {}, close: async () => {} });
  return createHttpServer(await createFakeDeps({ config: { ...fakeSettings, ...config }, mcp }));
}

/** All routes, as the service itself describes them. */
async function allRoutes(server: HttpServer): Promise<readonly Route[]> {
  const { paths } = (await server.inject("/openapi.json")).json<{ paths: Record<string, object> }>();
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  );
}

const isGuarded = (route: Route): boolean =>
  secretReads.has(nameOf(route)) || (route.method !== "GET" && !queryRoutes.test(route.path));

const problemIn = (body: string): Problem => (body.startsWith("{") ? JSON.parse(body) : {});

function send(server: HttpServer, { method, path }: Route, headers: Readonly<Record<string, string>>) {
  return server.inject({
    method: method as "POST",
    url: path.replaceAll(/\{\w+\}/g, "alpha"),
    remoteAddress: "127.0.0.1",
    headers: { host: "127.0.0.1:3000", ...headers },
  });
}

let guarded: readonly Route[];
let all: readonly Route[];

beforeAll(async () => {
  const server = await serve();
  all = await allRoutes(server);
  guarded = all.filter(isGuarded);
  await server.close(0);
});

/** One request to each guarded route. */
const shouldBeRefused = (
  name: string,
  headers: Readonly<Record<string, string>>,
  expected: Problem = { status: 401, code: "TOKEN_REQUIRED" },
): void =>
  it(`refuse ${name}`, async () => {
    const server = await serve({ adminToken: token });
    const passed: string[] = [];
    for (const route of guarded) {
      const response = await send(server, route, headers);
      const { status, code } = problemIn(response.body);
      const isOpen = "access-control-allow-origin" in response.headers;
      if (isOpen) passed.push(nameOf(route));
      // Pages are refused with a page.
      const answered = route.path.startsWith("/api/") ? { status, code } : { ...expected, status: response.statusCode };
      expect([nameOf(route), answered]).toStrictEqual([nameOf(route), expected]);
    }
    expect(passed).toStrictEqual([]);
    await server.close(0);
  });

describe("routes that change something", () => {
  it("are found", () => {
    expect(all.length).toBeGreaterThan(40);
    const names = guarded.map(nameOf);
    expect(names.length).toBeGreaterThan(12);
    expect(names).toStrictEqual(
      expect.arrayContaining([
        "DELETE /api/endpoints/{id}",
        "DELETE /api/jobs/{id}",
        "DELETE /api/maintenance/{id}",
        "GET /api/webhooks/dead",
        "PATCH /api/endpoints/{id}",
        "POST /api/endpoints",
        "POST /api/endpoints/{id}/capabilities",
        "POST /api/endpoints/{id}/describe",
        "POST /api/endpoints/{id}/maintenance",
        "POST /api/snapshot",
        "POST /api/webhooks/dead/{id}",
        "PUT /api/federations/{id}",
      ]),
    );
  });

  const refused = { status: 403, code: "WRITE_REFUSED" };
  shouldBeRefused("another site", { origin: foreign }, refused);
  shouldBeRefused("a page that has no site", { origin: "null" }, refused);
  shouldBeRefused(
    "another site that has the token",
    { authorization: `Bearer ${token}`, "sec-fetch-site": "cross-site" },
    refused,
  );
  shouldBeRefused(
    "a name that was made to point here",
    { host: "rebound.example:3000" },
    { status: 421, code: "HOST_REFUSED" },
  );
  shouldBeRefused("everybody without the token", {});
  shouldBeRefused("what says that it comes from here", { "x-forwarded-for": "127.0.0.1" });
  shouldBeRefused("another token", { authorization: `Bearer ${token}x` });

  it("answer under own names only, as tools, runs and sessions do, where the service listens on all addresses", async () => {
    const server = await serve({ host: "0.0.0.0", publicUrl: "https://fedway.example", allowedHosts: ["fedway"] });
    const isPrivate = (route: Route): boolean =>
      isGuarded(route) ||
      /^\/(?:api\/)?(?:tools|runs|sessions|jobs|watches|keys|ask|text2sparql|log(?:in|out))\b/u.test(route.path);
    const statusUnder = async (route: Route, host: string, headers = {}): Promise<number> =>
      (await send(server, route, { host, ...headers })).statusCode;
    const routes = [...all, { method: "POST", path: "/mcp" }];
    for (const route of routes) {
      const expected = isPrivate(route) || route.path === "/mcp";
      for (const headers of [{}, { origin: "http://rebound.example:3000" }]) {
        const isRefused = (await statusUnder(route, "rebound.example:3000", headers)) === 421;
        expect([nameOf(route), isRefused]).toEqual([nameOf(route), expected]);
      }
    }
    expect(routes.filter(isPrivate).length).toBeGreaterThan(25);
    const runs = { method: "GET", path: "/api/runs" };
    const names = [
      "fedway.example",
      "fedway",
      "FEDWAY:3000",
      "localhost:3000",
      "127.0.0.1",
      "10.1.2.3:3000",
      "[fe80::1]:3000",
    ];
    for (const name of names) expect([name, await statusUnder(runs, name)]).not.toEqual([name, 421]);
    for (const name of ["fedway.rebound.example", "10.1.2.3.rebound.example", "fedway.example.", "x@fedway"])
      expect([name, await statusUnder(runs, name)]).toEqual([name, 421]);
    await server.close(0);
  });

  it("do not tell by their heads what they would not tell", async () => {
    const server = await serve({ adminToken: token });
    for (const { method, path } of guarded.filter((route) => route.method === "GET")) {
      const { statusCode } = await send(server, { method: "HEAD", path }, {});
      expect([method, path, statusCode]).toStrictEqual([method, path, 401]);
    }
    await server.close(0);
  });

  it("are told apart by the OpenAPI document", async () => {
    const server = await serve();
    const { paths } = (await server.inject("/openapi.json")).json<{ paths: Record<string, Record<string, object>> }>();
    const secured = all.filter(({ path, method }) => "security" in (paths[path]?.[method.toLowerCase()] ?? {}));
    expect(secured.map(nameOf)).toStrictEqual(guarded.map(nameOf));
    await server.close(0);
  });

  it("give scripts of other sites no leave", async () => {
    const server = await serve({ adminToken: token });
    for (const { method, path } of guarded) {
      const preflight = { origin: foreign, "access-control-request-method": method };
      const { headers } = await send(server, { method: "OPTIONS", path }, preflight);
      expect([path, headers["access-control-allow-origin"]]).toStrictEqual([path, undefined]);
    }
    await server.close(0);
  });
});

const shouldAnswerWithoutLeave = (method: string, path: string, more: Partial<HttpDeps> = {}): void =>
  it(`${method} ${path} is answered without leave for other sites`, async () => {
    const server = await createHttpServer(await createFakeDeps(more));
    const { statusCode, headers } = await send(server, { method, path }, {});
    expect(statusCode).toBe(200);
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers).not.toHaveProperty("access-control-allow-origin");
    await server.close(0);
  });

describe("what the operator is told", () => {
  shouldAnswerWithoutLeave("GET", "/api/webhooks/dead");
  shouldAnswerWithoutLeave("POST", "/api/snapshot", { publishSnapshot: async () => ({ schema: 1 }) });
});

describe("a worker", () => {
  it("has no route but those of its health", async () => {
    const server = await serve({ role: "worker" });
    const found: string[] = [];
    for (const route of all) {
      const { statusCode } = await send(server, route, {});
      if (statusCode !== 404) found.push(nameOf(route));
    }
    expect(found.toSorted()).toStrictEqual(["GET /health/live", "GET /health/ready", "GET /metrics"]);
    const refused = await send(server, { method: "GET", path: "/sparql" }, {});
    expect(refused.json()).toMatchObject({ code: "NOT_FOUND", next: expect.stringContaining("ROLE=web") });
    await server.close(0);
  });
});
