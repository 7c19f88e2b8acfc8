import { describe, expect, it } from "vitest";
import { createHttpServer } from "../../../src/http/server.ts";
import type { HttpSettings } from "../../../src/http/http-deps.ts";
import { fakeSettings } from "../../support/fake-query-service.ts";
import { createFakeDeps } from "../../support/http-deps.ts";

interface Case {
  readonly headers?: Readonly<Record<string, string>>;
  readonly peer?: string;
  readonly settings?: Partial<HttpSettings>;
}

const token = "0123456789abcdefghij";
const withToken: Partial<HttpSettings> = { adminToken: token, publicUrl: "https://fedway.example" };

/** Removes what is not there: 404 when the request may change things, 403 when not. */
async function attempt({ headers = {}, peer = "127.0.0.1", settings = {} }: Case) {
  const deps = await createFakeDeps({ config: { ...fakeSettings, ...settings } });
  const server = await createHttpServer(deps);
  const response = await server.inject({
    method: "DELETE",
    url: "/api/endpoints/nope",
    remoteAddress: peer,
    headers: { host: "127.0.0.1:3000", ...headers },
  });
  await server.close(0);
  return response;
}

const shouldPass = (name: string, given: Case): void =>
  it(`takes changes ${name}`, async () => {
    expect((await attempt(given)).json()).toMatchObject({ status: 404, code: "ENDPOINT_UNKNOWN" });
  });

const shouldRefuse = (name: string, given: Case, detail: string): void =>
  it(`refuses changes ${name}`, async () => {
    const response = await attempt(given);
    expect(response.json()).toMatchObject({ status: 403, code: "WRITE_REFUSED", detail });
    expect(response.headers).not.toHaveProperty("access-control-allow-origin");
    expect(response.headers.connection).toBe("close");
  });

describe("without a token", () => {
  shouldPass("from this machine", {});
  shouldPass("from this machine by IPv6", { peer: "::1", headers: { host: "[::1]:3000" } });
  shouldPass("from this machine by mapped IPv4", { peer: "::ffff:127.0.0.1", headers: { host: "localhost" } });
  shouldPass("from its own pages", { headers: { host: "localhost:3000", origin: "http://localhost:3000" } });

  const elsewhere = "Changes are taken from this machine only.";
  shouldRefuse("from another machine", { peer: "192.0.2.7" }, elsewhere);
  shouldRefuse("from another machine by mapped IPv4", { peer: "::ffff:192.0.2.7" }, elsewhere);
  shouldRefuse("from another machine by IPv6", { peer: "2001:db8::1" }, elsewhere);

  const wrongHost = "The Host header does not name this machine.";
  shouldRefuse("to a name that was made to point here", { headers: { host: "attacker.example" } }, wrongHost);
  shouldRefuse("to a name that begins like ours", { headers: { host: "localhost.attacker.example" } }, wrongHost);
  shouldRefuse("to an address that begins like ours", { headers: { host: "127.0.0.1.attacker.example" } }, wrongHost);
  shouldRefuse("to a host with a user name", { headers: { host: "localhost@attacker.example" } }, wrongHost);
  shouldRefuse("to a host with a path", { headers: { host: "localhost/attacker.example" } }, wrongHost);
  shouldRefuse("to a host with a query", { headers: { host: "localhost?.attacker.example" } }, wrongHost);

  const otherSite = "The request comes from another site.";
  shouldRefuse("of another site", { headers: { origin: "https://attacker.example" } }, otherSite);
  shouldRefuse("of another port", { headers: { origin: "http://127.0.0.1:8080" } }, otherSite);
  shouldRefuse("of a page without origin", { headers: { origin: "null" } }, otherSite);

  const proxied = "The request came through a proxy.";
  for (const header of ["X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "Via", "X-Real-IP"]) {
    shouldRefuse(`with ${header}`, { headers: { [header]: "127.0.0.1" } }, proxied);
  }
  shouldRefuse("where a proxy is trusted", { settings: { trustProxy: 1 } }, proxied);
  const published = "This service is reached under a public URL.";
  shouldRefuse("where the service is published", { settings: { publicUrl: "https://fedway.example" } }, published);
});

describe("with a token", () => {
  const bearer = (value: string): Case => ({ settings: withToken, headers: { authorization: `Bearer ${value}` } });
  shouldPass("from anywhere", { ...bearer(token), peer: "192.0.2.7" });
  shouldPass("through a proxy", {
    ...bearer(token),
    headers: { ...bearer(token).headers, via: "1.1 x", host: "x.example" },
  });

  const wrong = "The token for changes is not the right one.";
  const missing = "The token for changes is missing.";
  shouldRefuse("with another one", bearer(`${token}x`), wrong);
  shouldRefuse("with a part of it", bearer(token.slice(0, -1)), wrong);
  shouldRefuse("without one, from this machine too", { settings: withToken }, missing);
  shouldRefuse("with an empty one", bearer(""), missing);
  shouldRefuse("as a password", { settings: withToken, headers: { authorization: `Basic ${btoa(token)}` } }, missing);

  it("says which credentials it wants", async () => {
    const { headers } = await attempt({ settings: withToken });
    expect(headers["www-authenticate"]).toBe('Bearer realm="fedway"');
  });

  it("never shows the token", async () => {
    const { body } = await attempt(bearer("wrong-token-wrong-token"));
    expect(body).not.toMatch(new RegExp(`${token}|wrong-token`));
  });
});
