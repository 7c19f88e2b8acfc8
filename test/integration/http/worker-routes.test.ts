import { expect, it } from "vitest";
import { fakeSettings } from "../../support/fake-query-service.ts";
import { start } from "./http-fixture.ts";

const answered = new Set(["/health/live", "/health/ready", "/metrics"]);

it("a worker answers about its health and metrics, and nothing else that the service has", async () => {
  const web = await start();
  const worker = await start({ config: { ...fakeSettings, role: "worker" } });
  const { paths } = (await (await fetch(`${web.url}/openapi.json`)).json()) as { paths: Record<string, object> };
  const requests = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, "alpha"),
    })),
  );
  expect(requests.length).toBeGreaterThan(40);
  for (const { method, path } of [
    ...requests,
    { method: "GET", path: "/openapi.json" },
    { method: "GET", path: "/" },
  ]) {
    const response = await fetch(worker.url + path, { method });
    await response.arrayBuffer();
    expect(`${method} ${path} ${response.status}`).toBe(`${method} ${path} ${answered.has(path) ? 200 : 404}`);
  }
  expect(requests.filter(({ path }) => answered.has(path)).length).toBeGreaterThanOrEqual(3);
});
