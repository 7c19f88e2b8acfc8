import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Job } from "../../../src/jobs/job-queue.ts";
import { sessionCookie, signInCode } from "../../../src/http/write-access.ts";
import { fakeSettings } from "../../support/fake-query-service.ts";
import { start, type Started } from "./http-fixture.ts";

const token = "a-token-of-these-tests";
const config = { ...fakeSettings, adminToken: token };
const described: string[] = [];
const descriptions = {
  get: async () => undefined,
  begun: async () => undefined,
  freshness: async () => ({ state: "none" }) as const,
  request: async (id: string) => {
    described.push(id);
    return {} as Job;
  },
};

const visit = ({ url }: Started, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(url + path, { redirect: "manual", ...init });

/** The cookie that signing in gives, as a browser sends it. */
async function signedIn(app: Started): Promise<Readonly<Record<string, string>>> {
  const { headers } = await visit(app, `/login?token=${signInCode(token)}`);
  return { Cookie: headers.get("set-cookie")?.split(";")[0] ?? "" };
}

describe("/login", () => {
  it("gives a cookie for the code of the start message, and leaves the URL that it stood in", async () => {
    const { status, headers } = await visit(await start({ config }), `/login?token=${signInCode(token)}`);
    expect([status, headers.get("location")]).toEqual([303, "/"]);
    expect(headers.get("set-cookie")).toMatch(
      /^fedway-session=[^;]+; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(headers.get("set-cookie")).not.toContain(token);
    expect([headers.get("referrer-policy"), headers.get("cache-control")]).toEqual(["no-referrer", "no-store"]);
  });

  const hourMs = 3_600_000;
  it.each([
    ["a second time", signInCode(token)],
    ["after an hour", signInCode(token, Date.now() - hourMs - 1)],
    ["of another token", signInCode("another-token")],
    ["with a later end", signInCode(token).replace(/^\d/, "2")],
    ["that is the token itself", token],
    ["that is empty", ""],
  ])("gives nothing for a link %s", async (what, code) => {
    const app = await start({ config });
    if (what === "a second time") expect((await visit(app, `/login?token=${code}`)).status).toBe(303);
    const { status, headers } = await visit(app, `/login?token=${code}`);
    expect([status, headers.has("set-cookie")]).toEqual([401, false]);
  });

  it("offers those who are signed in to sign out, which takes the cookie back", async () => {
    const app = await start({ config });
    const page = await (await visit(app, "/login", { headers: await signedIn(app) })).text();
    expect(page).toContain('<form class="card" method="post" action="/logout">');
    const { status, headers } = await visit(app, "/logout", { method: "POST" });
    expect([status, headers.get("location")]).toEqual([303, "/login"]);
    expect(headers.get("set-cookie")).toMatch(/^fedway-session=; Max-Age=0; Path=\/; HttpOnly; SameSite=Strict$/);
  });

  it("ends that session when it is signed out, also for a copy of its cookie, and no other one", async () => {
    const app = await start({ config });
    const session = await signedIn(app);
    // Sessions are known by the millisecond of their end.
    await sleep(5);
    const other = { Cookie: sessionCookie({ ...config, publicUrl: app.url }).replace(/;.*/s, "") };
    expect(other).not.toEqual(session);
    const statuses = (): Promise<number[]> =>
      Promise.all([session, other].map(async (headers) => (await visit(app, "/api/keys", { headers })).status));
    expect(await statuses()).toEqual([200, 200]);
    expect((await visit(app, "/logout", { method: "POST", headers: session })).status).toBe(303);
    expect(await statuses()).toEqual([401, 200]);
  });

  it("takes the token from its form", async () => {
    const app = await start({ config });
    const form = await (await visit(app, "/login")).text();
    expect(form).toContain('<form class="card" method="post" action="/login">');
    const { status, headers } = await visit(app, "/login", { method: "POST", body: new URLSearchParams({ token }) });
    expect([status, headers.has("set-cookie")]).toEqual([303, true]);
  });

  it("gives nothing for another text", async () => {
    const app = await start({ config });
    for (const answer of [
      await visit(app, "/login", { method: "POST", body: new URLSearchParams({ token: `${token}x` }) }),
      await visit(app, "/login", { method: "POST", body: new URLSearchParams({ token: "off" }) }),
      await visit(app, "/login", { method: "POST", body: new URLSearchParams() }),
    ]) {
      expect([answer.status, answer.headers.has("set-cookie")]).toEqual([401, false]);
      expect(await answer.text()).toContain("This is neither a key that is valid nor the admin token.");
    }
  });

  it("gives no session where changes are open", async () => {
    const app = await start();
    expect((await visit(app, "/login?token=off")).headers.has("set-cookie")).toBe(false);
  });

  it("tells neither log nor metrics what it was given", async () => {
    const app = await start({ config });
    await visit(app, `/login?token=${token}`);
    await visit(app, `/api/webhooks/dead?token=${token}`, { headers: { Authorization: `Bearer ${token}` } });
    expect(app.lines).toHaveLength(2);
    expect(JSON.stringify([app.lines, app.observed])).not.toContain(token);
  });
});

describe("a page", () => {
  it("offers those who are signed in to have an endpoint described, and others the command", async () => {
    const app = await start({ config, descriptions });
    const cookie = await signedIn(app);
    const [guest, operator] = await Promise.all(
      [{}, cookie].map(async (headers) => (await visit(app, "/endpoints/alpha", { headers })).text()),
    );
    expect(operator).toContain('<form method="post" action="/endpoints/alpha/describe">');
    expect(guest).not.toContain("<form");
    expect(guest).toContain("-H &quot;Authorization: Bearer $(cat .fedway/admin-token)&quot;");
  });

  it("has it described by its button, and by no page of another site", async () => {
    const app = await start({ config, descriptions });
    const headers = { ...(await signedIn(app)), "Content-Type": "application/x-www-form-urlencoded" };
    const press = async (more: Readonly<Record<string, string>>): Promise<number> =>
      (await visit(app, "/endpoints/alpha/describe", { method: "POST", body: "", headers: { ...headers, ...more } }))
        .status;
    expect(await press({ "Sec-Fetch-Site": "cross-site" })).toBe(403);
    expect(await press({ Origin: "https://x.example" })).toBe(403);
    expect(await press({ Cookie: "" })).toBe(401);
    expect(described).toEqual([]);
    expect(await press({ Origin: app.url })).toBe(303);
    expect(described).toEqual(["alpha"]);
  });
});

describe("jobs", () => {
  const secret = "https://hooks.example/key-of-the-operator";
  const job = (kind: string): Job => ({
    id: kind,
    kind,
    state: "done",
    payload: { message: secret },
    result: { why: secret },
    attempts: 1,
    createdAt: "2026-01-01T00:00:00.000Z",
  });
  const jobs = {
    get: async (id: string) => job(id),
    list: async () => [job("deliver-webhook"), job("a-kind-to-come")],
    cancel: async () => false,
    watch: () => () => undefined,
  };
  const paths = ["/api/jobs", "/api/jobs/deliver-webhook", "/api/jobs/deliver-webhook/events"];
  const shown = async (app: Started, path: string, headers = {}): Promise<boolean> => {
    const text = await (await visit(app, path, { headers })).text();
    expect(text).toContain("deliver-webhook");
    return text.includes(secret);
  };

  it("show what they were asked and what came of it to the operator only", async () => {
    const app = await start({ config, jobs });
    for (const path of paths) {
      expect([path, await shown(app, path)]).toEqual([path, false]);
      expect([path, await shown(app, path, { Authorization: `Bearer ${token}x` })]).toEqual([path, false]);
      expect([path, await shown(app, path, { Authorization: `Bearer ${token}` })]).toEqual([path, true]);
      expect([path, await shown(app, path, await signedIn(app))]).toEqual([path, true]);
    }
  });

  it("show everybody that there are, also of kinds about endpoints", async () => {
    const app = await start({ config, jobs });
    const text = await (await visit(app, "/api/jobs/describe-endpoint")).text();
    expect(JSON.parse(text)).toMatchObject({ kind: "describe-endpoint", state: "done" });
    expect(text).not.toContain(secret);
  });
});
