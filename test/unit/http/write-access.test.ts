import { describe, expect, it } from "vitest";
import { createHttpServer } from "../../../src/http/server.ts";
import type { HttpSettings } from "../../../src/http/http-deps.ts";
import { sessionCookie } from "../../../src/http/write-access.ts";
import { fakeSettings } from "../../support/fake-query-service.ts";
import { createFakeDeps } from "../../support/http-deps.ts";
import { readOnlyCatalog } from "../../support/page-deps.ts";

const host = "127.0.0.1:3000";

interface Case {
  readonly headers?: Readonly<Record<string, string>>;
  readonly peer?: string;
  readonly settings?: Partial<HttpSettings>;
}

const token = "0123456789abcdefghij";
const withToken: Partial<HttpSettings> = { adminToken: token, publicUrl: "https://fedway.example" };
const open: Partial<HttpSettings> = { adminToken: "off" };

/** Removes what is not there: 404 when the request may change things, 401 or 403 when not. */
async function attempt({ headers = {}, peer = "127.0.0.1", settings = withToken }: Case) {
  const deps = await createFakeDeps({ config: { ...fakeSettings, ...settings }, catalog: readOnlyCatalog([]) });
  const server = await createHttpServer(deps);
  const response = await server.inject({
    method: "DELETE",
    url: "/api/maintenance/nope",
    remoteAddress: peer,
    headers: { host, ...headers },
  });
  await server.close(0);
  return response;
}

const shouldPass = (name: string, given: Case): void =>
  it(`takes changes ${name}`, async () => {
    expect((await attempt(given)).json()).toMatchObject({ status: 404, code: "NOT_FOUND" });
  });

const shouldRefuse = (name: string, given: Case, problem: object): void =>
  it(`refuses changes ${name}`, async () => {
    const response = await attempt(given);
    expect(response.json()).toMatchObject(problem);
    expect(response.headers).not.toHaveProperty("access-control-allow-origin");
    expect(response.headers.connection).toBe("close");
  });

const missing = { status: 401, code: "TOKEN_REQUIRED", detail: "No key or token was sent; this needs the role write." };
const wrong = { ...missing, detail: "The token is not the right one; this needs the role write." };
const foreign = { status: 403, code: "WRITE_REFUSED", detail: "The request comes from another site." };

describe("without the token", () => {
  shouldRefuse("from this machine", {}, missing);
  shouldRefuse("from another machine", { peer: "192.0.2.7" }, missing);
  shouldRefuse("from a page of this service", { headers: { origin: `http://${host}` } }, missing);
  for (const header of ["X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "Via", "X-Real-IP"]) {
    shouldRefuse(`with ${header}`, { headers: { [header]: "127.0.0.1" } }, missing);
  }
  shouldRefuse("of another site", { headers: { origin: "https://attacker.example" } }, foreign);
  shouldRefuse("with an empty one", { headers: { authorization: "Bearer " } }, missing);
  shouldRefuse("with it as a password", { headers: { authorization: `Basic ${btoa(token)}` } }, missing);
  shouldRefuse("with a word that opens", { headers: { authorization: "Bearer off" } }, wrong);

  it("says which credentials it wants, and where they are", async () => {
    const response = await attempt({});
    expect(response.headers["www-authenticate"]).toBe('Bearer realm="fedway"');
    expect(response.json()).toMatchObject({ next: expect.stringContaining(".fedway/admin-token") });
  });
});

describe("with a token", () => {
  const bearer = (value: string, more: Case["headers"] = {}): Case => ({
    headers: { authorization: `Bearer ${value}`, ...more },
  });
  shouldPass("from anywhere", { ...bearer(token), peer: "192.0.2.7" });
  shouldPass("through a proxy", bearer(token, { via: "1.1 x", host: "fedway.example" }));
  shouldPass("of a script that was given it", bearer(token, { origin: "https://x.example" }));
  shouldRefuse("with another one", bearer(`${token}x`), wrong);
  shouldRefuse("with a part of it", bearer(token.slice(0, -1)), wrong);
  shouldRefuse("that another site sends", bearer(token, { "sec-fetch-site": "cross-site" }), foreign);

  it("never shows the token", async () => {
    const { body } = await attempt(bearer("wrong-token-wrong-token"));
    expect(body).not.toMatch(new RegExp(`${token}|wrong-token`));
  });
});

describe("with a session", () => {
  const [cookie = ""] = sessionCookie({ adminToken: token, publicUrl: "http://127.0.0.1" }).split(";");
  const [other = ""] = sessionCookie({ adminToken: `${token}x`, publicUrl: "http://127.0.0.1" }).split(";");
  const signedIn = (more: Case["headers"]): Case => ({ headers: { cookie: `a=b; ${cookie}; c=d`, ...more } });
  shouldPass("of a page of this service", signedIn({ "sec-fetch-site": "same-origin" }));
  shouldPass("of a page, in a browser that tells its origin only", signedIn({ origin: `http://${host}` }));
  shouldPass("of a page at the public URL", signedIn({ origin: "https://fedway.example" }));
  shouldRefuse("that no page sends", signedIn({}), foreign);
  shouldRefuse("of another port of this host", signedIn({ "sec-fetch-site": "same-site" }), foreign);
  shouldRefuse("of another port, by its origin", signedIn({ origin: "http://127.0.0.1:8080" }), foreign);
  shouldRefuse("of another site", signedIn({ "sec-fetch-site": "cross-site" }), foreign);
  shouldRefuse("of a page without origin", signedIn({ origin: "null" }), foreign);
  const own = { "sec-fetch-site": "same-origin" };
  shouldRefuse("with a session of another token", { headers: { ...own, cookie: other } }, missing);
  const longer = cookie.replace(/\d+/, (until) => String(Number(until) + 1));
  shouldRefuse("with a session that was made longer", { headers: { ...own, cookie: longer } }, missing);

  it("holds for a week and not in scripts, on other sites or, with TLS, without it", () => {
    const text = sessionCookie({ adminToken: token, publicUrl: "https://fedway.example" });
    expect(text).toMatch(/; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict; Secure$/);
    expect(text).not.toContain(token);
  });
});

describe("opened knowingly", () => {
  shouldPass("from anywhere", { settings: open, peer: "192.0.2.7" });
  shouldPass("from its own pages", { settings: open, headers: { origin: `http://${host}` } });
  shouldRefuse("of another site", { settings: open, headers: { origin: "https://attacker.example" } }, foreign);
  shouldRefuse("of a page without origin", { settings: open, headers: { origin: "null" } }, foreign);
  shouldRefuse("of another port", { settings: open, headers: { "sec-fetch-site": "same-site" } }, foreign);
});
