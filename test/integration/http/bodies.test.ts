import { McpServer } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import { createHttpHandler } from "../../../src/mcp/http-handler.ts";
import { fakeSettings } from "../../support/fake-query-service.ts";
import { raw, type RawConnection, start, type Started } from "./http-fixture.ts";

const mcp = async () =>
  createHttpHandler(
    () => new McpServer({ name: "test", version: "1" }),
    () => undefined,
  );

const startWith = (limits: Partial<typeof fakeSettings.limits>): Promise<Started> =>
  start({ mcp, config: { ...fakeSettings, trustProxy: true, limits: { ...fakeSettings.limits, ...limits } } });

type Route = readonly [path: string, mediaType: string];
const routes: readonly Route[] = [
  ["/mcp", "application/json"],
  ["/sparql", "application/sparql-query"],
  ["/api/query", "application/json"],
];

/** A request whose body has not ended: so many bytes of it were sent. */
const unfinished = (app: Started, [path, type]: Route, bytes: number, client = "10.0.0.1") =>
  raw(
    app,
    `POST ${path} HTTP/1.1\r\nHost: ${new URL(app.url).host}\r\nX-Forwarded-For: ${client}\r\nContent-Type: ${type}\r\n` +
      `Transfer-Encoding: chunked\r\n\r\n${bytes.toString(16)}\r\n${"x".repeat(bytes)}\r\n`,
  );

/** The status of a request without a body. */
const status = async (app: Started, client: string): Promise<number> =>
  (await fetch(`${app.url}/sparql?query=ASK%7B%7D`, { headers: { "X-Forwarded-For": client } })).status;

const isRefused = ({ received }: RawConnection): boolean => received().startsWith("HTTP/1.1 503");

describe.each(routes)("bodies under way at %s", (...route) => {
  it("have a sum, and one client has a quarter of it", async () => {
    const app = await startWith({ bodyBytes: 16_000 });
    // A query may have 4,096 bytes: four of 1,500 are more than 4,000 together.
    const greedy = Array.from({ length: 8 }, () => unfinished(app, route, 1_500));
    await expect.poll(() => greedy.filter(isRefused).length).toBe(6);
    const refused = greedy.find(isRefused);
    await refused?.ended;
    expect(refused?.received()).toMatch(/\r\nRetry-After: [1-9]/iu);
    expect(refused?.received()).toContain('"code": "SERVICE_BUSY"');
    // Others have room, and so has this one once its bodies are gone.
    const others = ["10.0.0.2", "10.0.0.3"].map((client) => unfinished(app, route, 3_000, client));
    expect(await status(app, "10.0.0.1")).toBe(200);
    expect(others.filter(isRefused)).toEqual([]);
    for (const { socket } of greedy) socket.destroy();
    const again = unfinished(app, route, 3_000);
    await expect.poll(() => again.socket.bytesWritten).toBeGreaterThan(3_000);
    expect(await status(app, "10.0.0.1")).toBe(200);
    expect(isRefused(again)).toBe(false);
  });

  it("are refused before they come where their length says that they do not fit", async () => {
    const app = await startWith({ bodyBytes: 16_400 });
    const [path, type] = route;
    const first = unfinished(app, route, 1_000, "127.0.0.1");
    await expect.poll(() => first.socket.bytesWritten).toBeGreaterThan(1_000);
    expect(await status(app, "127.0.0.1")).toBe(200);
    const large = raw(
      app,
      `POST ${path} HTTP/1.1\r\nHost: ${new URL(app.url).host}\r\nContent-Type: ${type}\r\nContent-Length: 4050\r\n\r\n`,
    );
    await large.ended;
    expect(isRefused(large)).toBe(true);
  });

  // The handler of /mcp takes larger bodies of any type.
  it.each(route[0] === "/mcp" ? [] : [route[1], "text/none"])(
    "give back what came after their refusal as %s",
    async (type) => {
      const app = await startWith({ bodyBytes: 2 ** 20 });
      for (let times = 0; times < 12; times += 1) {
        const large = unfinished(app, [route[0], type], 240_000);
        await expect.poll(() => large.received()).toMatch(/^HTTP\/1\.1 (413|415) /u);
        large.socket.destroy();
      }
      const next = unfinished(app, route, 3_000);
      await expect.poll(() => next.socket.bytesWritten).toBeGreaterThan(3_000);
      expect(await status(app, "10.0.0.1")).toBe(200);
      expect(isRefused(next)).toBe(false);
    },
  );

  it("end with 408 when they do not arrive", async () => {
    const app = await startWith({ bodyTimeoutMs: 50 });
    const slow = unfinished(app, route, 10);
    await slow.ended;
    expect(slow.received()).toMatch(/^HTTP\/1\.1 408 /u);
    expect(slow.received()).toContain('"code": "REQUEST_TIMEOUT"');
  });
});
