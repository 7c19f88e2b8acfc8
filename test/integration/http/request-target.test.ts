import { describe, expect, it } from "vitest";
import type { HttpSettings } from "../../../src/http/http-deps.ts";
import { fakeSettings } from "../../support/fake-query-service.ts";
import { askQuery, raw, start, type Started } from "./http-fixture.ts";

const serve = (settings: Partial<HttpSettings> = {}): Promise<Started> =>
  start({ config: { ...fakeSettings, ...settings } });

/** Status and body of the answer to a request whose head is written out. */
async function answerTo(app: Started, target: string, head: string): Promise<string> {
  const connection = raw(app, `GET ${target} HTTP/1.1\r\n${head}Connection: close\r\n\r\n`);
  await connection.ended;
  return connection.received();
}

describe("requests that are not for this service are refused", () => {
  for (const [name, target, head] of [
    ["a target with a host of its own", "http://localhost/api/endpoints", "Host: localhost\r\n"],
    ["a target on another host", "http://other.example/sparql?query=ASK%7B%7D", "Host: localhost\r\n"],
    ["a target that is no path", "api/endpoints", "Host: localhost\r\n"],
    ["two hosts", "/api/endpoints", "Host: localhost\r\nHost: other.example\r\n"],
    ["the same host twice", "/api/endpoints", "Host: localhost\r\nhOsT: localhost\r\n"],
    ["no host", "/api/endpoints", ""],
  ] as const) {
    it(`with ${name}`, async () => {
      const app = await serve();
      expect(await answerTo(app, target, head)).toMatch(/^HTTP\/1\.1 400 [^]*"code": "REQUEST_INVALID"/);
      expect(app.queries.requests).toEqual([]);
    });
  }

  it("unless they are of HTTP/1.0, which knows no hosts", async () => {
    const connection = raw(await serve(), "GET /health/live HTTP/1.0\r\n\r\n");
    await connection.ended;
    expect(connection.received()).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe("a service that listens on loopback", () => {
  const statusOf = async (app: Started, host: string): Promise<string> =>
    (await answerTo(app, "/api/endpoints", `Host: ${host}\r\n`)).slice(9, 12);

  it("answers to the names of this machine and of its public URL", async () => {
    const app = await serve({ publicUrl: "https://fedway.example" });
    for (const host of [
      "localhost",
      "localhost:3000",
      "127.0.0.1:1",
      "127.8.8.8",
      "[::1]:3000",
      "fedway.example",
      "FEDWAY.example:443",
    ]) {
      expect([host, await statusOf(app, host)]).toEqual([host, "200"]);
    }
  });

  it("refuses names that were made to point here, whatever is asked", async () => {
    const app = await serve({ publicUrl: "https://fedway.example" });
    const hosts = [
      "rebound.example:3000",
      "localhost.rebound.example",
      "127.0.0.1.rebound.example",
      "localhost@rebound.example",
      "localhost/rebound.example",
      "fedway.example.rebound.example",
      "192.0.2.1",
      "0.0.0.0",
      "",
    ];
    for (const host of hosts) expect([host, await statusOf(app, host)]).toEqual([host, "421"]);
    for (const path of ["/", `/sparql?${askQuery}`, "/metrics", "/nowhere"]) {
      const answer = await answerTo(app, path, "Host: rebound.example\r\n");
      expect(answer).toMatch(/^HTTP\/1\.1 421 [^]*"code": "HOST_REFUSED"[^]*FEDWAY_PUBLIC_URL[^]*FEDWAY_ALLOWED_HOSTS/);
    }
    expect(app.queries.requests).toEqual([]);
  });

  it("answers plain reads under any name where it listens elsewhere too", async () =>
    expect(await statusOf(await serve({ host: "0.0.0.0" }), "anything.example")).toBe("200"));
});

describe("scripts of other origins may read", () => {
  const headersFor = async (
    app: Started,
    origin: string | undefined,
    path = `/sparql?${askQuery}`,
    init: { readonly method?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ) => {
    const given = { ...init.headers, ...(origin !== undefined && { Origin: origin }) };
    const { headers } = await fetch(app.url + path, { ...init, headers: given });
    const [leave, vary] = [headers.get("access-control-allow-origin"), headers.get("vary") ?? ""];
    return { leave, varies: vary.includes("Origin"), exposed: headers.has("access-control-expose-headers"), vary };
  };
  const friend = "https://yasgui.example";
  const paths = [
    `/sparql?${askQuery}`,
    "/api/endpoints",
    "/api/catalog",
    "/.well-known/void",
    "/incidents.atom",
    "/nowhere",
    "/%E0%A4%A",
    "/api/endpoints/alpha?format=turtle",
  ];

  it("from everywhere unless it is said", async () => {
    const app = await serve();
    for (const path of paths)
      expect(await headersFor(app, "https://x.example", path)).toMatchObject({ leave: "*", varies: false });
  });

  it("from the origins that are named, and no other, on every route", async () => {
    const app = await serve({ corsOrigins: [friend, "http://localhost:8080"] });
    for (const path of paths) {
      expect([path, await headersFor(app, friend, path)]).toMatchObject([
        path,
        { leave: friend, varies: true, exposed: true },
      ]);
      for (const other of ["https://x.example", `${friend}.x.example`, "null", undefined]) {
        expect([path, await headersFor(app, other, path)]).toMatchObject([
          path,
          { leave: null, varies: true, exposed: false },
        ]);
      }
    }
    expect((await headersFor(app, friend)).vary).toBe("Accept, Accept-Encoding, Origin");
  });

  it("after a preflight from there only", async () => {
    const app = await serve({ corsOrigins: [friend] });
    const init = { method: "OPTIONS", headers: { "Access-Control-Request-Method": "POST" } };
    expect(await headersFor(app, friend, "/sparql", init)).toMatchObject({ leave: friend, varies: true });
    expect(await headersFor(app, "https://x.example", "/sparql", init)).toMatchObject({ leave: null, varies: true });
    expect(
      await headersFor(app, friend, "/api/endpoints", {
        ...init,
        headers: { "Access-Control-Request-Method": "DELETE" },
      }),
    ).toMatchObject({ leave: null });
  });

  it("from nowhere where none is named", async () =>
    expect(await headersFor(await serve({ corsOrigins: [] }), friend)).toMatchObject({ leave: null, varies: true }));
});
