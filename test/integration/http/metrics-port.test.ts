import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { fakeSettings } from "../../support/fake-query-service.ts";
import { freePort } from "../../support/listening.ts";
import { raw, start } from "./http-fixture.ts";

async function startApart(role: "web" | "worker" = "web") {
  const metricsPort = await freePort();
  const app = await start({ config: { ...fakeSettings, role, metricsPort } });
  return { app, metrics: `http://127.0.0.1:${metricsPort}` };
}

describe("metrics on a port of their own", () => {
  it.each(["web", "worker"] as const)("are there and not among what a %s process tells its clients", async (role) => {
    const { app, metrics } = await startApart(role);
    const response = await fetch(`${metrics}/metrics`);
    expect(response.status).toBe(200);
    expect(response.headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(await response.text()).toBe("fedway_up 1\n");
    expect((await fetch(`${app.url}/metrics`)).status).toBe(404);
    expect((await fetch(`${app.url}/health/live`)).status).toBe(200);
  });

  it("are not in the description of the API", async () => {
    const { app } = await startApart();
    const { paths } = (await (await fetch(`${app.url}/openapi.json`)).json()) as { paths: Record<string, object> };
    expect(Object.keys(paths)).toContain("/health/ready");
    expect(Object.keys(paths)).not.toContain("/metrics");
  });

  it("are all that is there", async () => {
    const { metrics } = await startApart();
    const statuses = ["/", "/sparql", "/health/live", "/metrics/x"].map(
      async (path) => (await fetch(metrics + path)).status,
    );
    expect(await Promise.all(statuses)).toEqual([404, 404, 404, 404]);
    expect((await fetch(`${metrics}/metrics`, { method: "POST", body: "x" })).status).toBe(405);
    expect((await fetch(`${metrics}/metrics?a=b`, { method: "HEAD" })).status).toBe(200);
  });

  it("are told on loopback under names of this machine only, and nothing of them runs in a browser", async () => {
    const { metrics } = await startApart();
    const rebound = raw(
      { url: metrics },
      "GET /metrics HTTP/1.1\r\nHost: rebound.example\r\nConnection: close\r\n\r\n",
    );
    await rebound.ended;
    expect(rebound.received()).toMatch(/^HTTP\/1\.1 421 [^]*"code": "HOST_REFUSED"/);
    for (const path of ["/metrics", "/nowhere"]) {
      const { headers } = await fetch(metrics + path);
      expect(headers.get("content-security-policy")).toBe("sandbox; default-src 'none'");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  it("end with the service, also for who asks slowly", async () => {
    const { app, metrics } = await startApart();
    const slow = raw({ url: metrics }, "GET /metrics HT");
    await once(slow.socket, "connect");
    await app.server.close(0);
    await slow.ended;
    await expect(fetch(`${metrics}/metrics`)).rejects.toThrow("fetch failed");
  });

  it("keep the service from starting when another listens there, with the setting's name", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    await expect(start({ config: { ...fakeSettings, metricsPort: port } })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: `The service cannot listen at 127.0.0.1:${port}: another process listens there.`,
      details: { next: expect.stringContaining("FEDWAY_METRICS_PORT") },
    });
    other.close();
  });
});
