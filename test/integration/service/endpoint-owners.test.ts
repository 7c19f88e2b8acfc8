import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type MonitoredService, startMonitored } from "../../support/monitored-service.ts";
import { cli } from "../../support/run-cli.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../../support/sparql-test-server.ts";

// What the owner of an endpoint gets: a badge, a page with evidence, maintenance.

const hostile = '</title><script>alert(1)</script>"&\u202e';
let server: SparqlTestServer;
let service: MonitoredService;
beforeAll(async () => {
  server = await startSparqlTestServer('<urn:x:s> <urn:x:p> "o" .');
  const odd = `@prefix dcat: <http://www.w3.org/ns/dcat#> . @prefix dcterms: <http://purl.org/dc/terms/> .
    [] a dcat:DataService ; dcterms:identifier "odd" ; dcterms:title ${JSON.stringify(hostile)} ;
      dcat:endpointURL <http://127.0.0.1:9/sparql> .`;
  service = await startMonitored({ alpha: server.url, odd }, { FEDWAY_CONTACT: "mailto:ops@example.org" });
});
afterAll(async () => {
  await service?.close();
  await server?.close();
});

const year = new Date().getUTCFullYear() + 1;

const badge = (id: string): Promise<{ message: string; label: string; isError: boolean }> =>
  service.json(`/endpoints/${id}/badge.json`);

const post = (path: string, fields: Record<string, string>): Promise<Response> =>
  fetch(service.url + path, { method: "POST", body: new URLSearchParams(fields), redirect: "manual" });

describe("a badge", () => {
  it("says state and uptime, and is kept by its tag", async () => {
    await expect.poll(async () => (await badge("alpha")).message).toBe("up · 100 % in 1 h");
    await expect.poll(async () => await badge("odd")).toMatchObject({ message: "down · 0 % in 1 h", isError: true });
    const svg = await fetch(`${service.url}/endpoints/alpha/badge.svg`);
    expect(svg.headers.get("content-type")).toMatch(/^image\/svg\+xml/);
    expect(svg.headers.get("cache-control")).toBe("public, max-age=300");
    const etag = svg.headers.get("etag") ?? "";
    const again = await fetch(svg.url, { headers: { "if-none-match": etag } });
    expect(again.status).toBe(304);
    expect((await fetch(`${service.url}/endpoints/none/badge.svg`)).status).toBe(404);
  });

  it("escapes what a title brings", async () => {
    const text = await service.text("/endpoints/odd/badge.svg");
    expect(text).toContain("&lt;/title&gt;&lt;script&gt;");
    expect(text).not.toMatch(/<script|\u202e/u);
  });
});

describe("maintenance", () => {
  it("is planned and removed on the page, and shown there, on the status page and the badge", async () => {
    const planned = await post("/endpoints/alpha/maintenance", {
      from: `${year}-01-01T00:00`,
      to: `${year}-01-02T00:00`,
      reason: "<b>disks",
    });
    expect(planned.status).toBe(303);
    expect(planned.headers.get("location")).toBe("/endpoints/alpha");
    for (const path of ["/status", "/endpoints/alpha", "/endpoints/alpha/owner"]) {
      const text = await service.text(path);
      expect(text).toContain("planned: &lt;b&gt;disks");
    }
    const { maintenance } = await service.json<{ maintenance: { id: string; from: string }[] }>("/api/maintenance");
    expect(maintenance).toMatchObject([{ endpoint: "alpha", from: `${year}-01-01T00:00:00.000Z` }]);
    expect((await badge("alpha")).message).toMatch(/^up/);
    await post(`/endpoints/alpha/maintenance/${maintenance[0]?.id}/remove`, {});
    expect(await service.json("/api/maintenance")).toEqual({ maintenance: [] });
    expect((await post("/endpoints/alpha/maintenance", { to: "soon" })).status).toBe(400);
  });

  it("is planned, listed and removed from the command line", async () => {
    const run = (...args: string[]) =>
      cli([...args, "--url", service.url], { fetch, interrupted: new AbortController().signal });
    const to = new Date(Date.now() + 3_600_000).toISOString();
    const added = await run("maintenance", "add", "alpha", "--to", to, "--reason", "disks");
    expect(added).toMatchObject({ code: 0, err: "" });
    await expect.poll(async () => (await badge("alpha")).message).toMatch(/^maintenance/);
    const { id } = JSON.parse(added.out) as { id: string };
    expect((await run("maintenance", "list")).out).toContain(id);
    expect(await run("maintenance", "remove", id)).toMatchObject({ code: 0, out: "removed\n" });
    expect((await run("maintenance", "remove", id)).err).toContain("NOT_FOUND");
  });
});

it("the owner's page says how the endpoint is asked, and whom to write to", async () => {
  const text = await service.text("/endpoints/alpha/owner");
  for (const part of [
    "mailto:ops@example.org",
    "Fedway/",
    "Slowest hours",
    "/endpoints/alpha/badge.svg)]",
    "Deviations",
  ])
    expect(text).toContain(part);
  expect(await service.text("/endpoints/odd/owner")).not.toContain("<script");
});
