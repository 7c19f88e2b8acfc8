import { McpServer } from "@modelcontextprotocol/server";
import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import type { ListedTool, Toolbox } from "../../../src/agent/toolbox.ts";
import { createHttpHandler } from "../../../src/mcp/http-handler.ts";
import { fakeSettings } from "../../support/fake-query-service.ts";
import { start } from "./http-fixture.ts";

const mcp = async () =>
  createHttpHandler(
    () => new McpServer({ name: "test", version: "1" }),
    () => undefined,
  );
const token = "a-token-of-these-tests";
const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

const post = (url: string, headers: Readonly<Record<string, string>> = {}, body = ping): Promise<Response> =>
  fetch(`${url}/mcp`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...headers },
    body,
  });

describe("/mcp", () => {
  it("is closed to pages of other sites, unless they are named", async () => {
    const open = await start({ mcp });
    const statuses = async (app: { url: string }, origins: readonly string[]) =>
      Promise.all(origins.map(async (Origin) => (await post(app.url, { Origin })).status));
    expect((await post(open.url)).status).toBe(200);
    expect(await statuses(open, ["https://evil.example", "null", open.url])).toEqual([403, 403, 200]);
    const named = await start({ mcp, config: { ...fakeSettings, corsOrigins: ["https://good.example"] } });
    expect(await statuses(named, ["https://evil.example", "https://good.example"])).toEqual([403, 200]);
    const answer = await post(named.url, { Origin: "https://good.example" });
    expect(answer.headers.get("access-control-allow-origin")).toBe("https://good.example");
  });

  it("has the same rule for the tools over HTTP", async () => {
    const tool = {
      name: "look",
      title: "Look",
      description: "",
      input: Type.Object({}),
      annotations: {},
    } as ListedTool;
    const toolbox: Toolbox = {
      tools: [tool],
      callable: [tool],
      hint: (text) => text,
      call: async () => ({ text: "seen", data: {} }),
    };
    const app = await start({ toolbox: () => toolbox });
    const call = async (headers: Readonly<Record<string, string>>): Promise<number> =>
      (await fetch(`${app.url}/api/tools/look`, { method: "POST", headers, body: "{}" })).status;
    const type = { "Content-Type": "application/json" };
    expect(await call(type)).toBe(200);
    expect(await call({ ...type, Origin: app.url })).toBe(200);
    expect(await call({ ...type, Origin: "https://evil.example" })).toBe(403);
    expect(await call({ "Content-Type": "text/plain", Origin: "https://evil.example" })).toBe(403);
  });

  it("asks for the token where there is one, and says where its metadata is", async () => {
    const app = await start({ mcp, config: { ...fakeSettings, mcpToken: token } });
    expect((await post(app.url, { Authorization: `Bearer ${token}` })).status).toBe(200);
    for (const headers of [{}, { Authorization: "Bearer wrong" }, { Authorization: `Basic ${token}` }]) {
      const refused = await post(app.url, headers);
      expect(refused.status).toBe(401);
      const [, metadata = ""] = /resource_metadata="([^"]+)"/.exec(refused.headers.get("www-authenticate") ?? "") ?? [];
      expect(await refused.json()).toMatchObject({ code: "TOKEN_REQUIRED" });
      const described = await fetch(app.url + new URL(metadata).pathname);
      expect(await described.json()).toMatchObject({
        resource: metadata.replace("/.well-known/oauth-protected-resource", ""),
      });
    }
  });

  it("refuses what is no message, or too large", async () => {
    const app = await start({ mcp });
    expect((await post(app.url, {}, "{")).status).toBe(400);
    expect((await post(app.url, { "Content-Type": "text/plain" })).status).toBe(415);
    expect((await post(app.url, {}, `"${"x".repeat(5 << 20)}"`)).status).toBe(413);
    expect((await fetch(`${app.url}/mcp`)).status).toBe(405);
  });

  it("is not there where there are no tools", async () => {
    const app = await start();
    expect((await post(app.url)).status).toBe(404);
  });
});
