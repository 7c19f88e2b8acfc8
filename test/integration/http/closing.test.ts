import { expect, it } from "vitest";
import type { HttpDeps } from "../../../src/http/http-deps.ts";
import { raw, start } from "./http-fixture.ts";

const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

/** Jobs that are looked for until `found` is called. */
function slowJobs(): { readonly jobs: HttpDeps["jobs"]; readonly asked: Promise<void>; readonly found: () => void } {
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const jobs: HttpDeps["jobs"] = {
    async get() {
      asked.resolve();
      await gate.promise;
      return undefined;
    },
    list: async () => [],
    cancel: async () => false,
    watch: () => () => undefined,
  };
  return { jobs, asked: asked.promise, found: gate.resolve };
}

/** Waits until no connection is taken any more. */
async function refused(url: string): Promise<void> {
  const isTaken = (): Promise<boolean> =>
    fetch(`${url}/health/live`).then(
      () => true,
      () => false,
    );
  while (await isTaken()) await new Promise(setImmediate);
}

// Far longer than a test may take.
const graceMs = 600_000;

it("a connection whose answer was under way is closed after it, and does not hold the end up", async () => {
  const { jobs, asked, found } = slowJobs();
  const app = await start({ jobs });
  const client = raw(app, request("/api/jobs/j1"));
  await asked;
  const closed = app.server.close(graceMs);
  await refused(app.url);
  found();
  await client.until('"code": "JOB_UNKNOWN"');
  await closed;
  expect(await client.ended).toBe("closed");
});

it("a connection that is idle is closed at once", async () => {
  const app = await start();
  const client = raw(app, request("/health/live"));
  await client.until('{"live":true}');
  await app.server.close(graceMs);
  expect(await client.ended).toBe("closed");
});

it("what does not end is cut off when the grace is over", async () => {
  const { jobs, asked } = slowJobs();
  const app = await start({ jobs });
  const client = raw(app, request("/api/jobs/j1"));
  await asked;
  await app.server.close(50);
  expect(await client.ended).not.toBe("");
  expect(client.received()).toBe("");
});
