import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { beforeAll, describe, expect, it } from "vitest";
import type { HostedEndpoint } from "../../../src/hosting/hosted-endpoint.ts";
import type { HttpDeps } from "../../../src/http/http-deps.ts";
import type { Job } from "../../../src/jobs/job-queue.ts";
import type { ShardDataset } from "../../../shards/src/finished-folder.ts";
import { shardRoutes, type ShardService } from "../../../shards/src/service/routes.ts";
import { fakeAnswer, fakeSettings } from "../../support/fake-query-service.ts";
import { createFakeMonitor } from "../../support/fake-monitor.ts";
import { fakeNowMs } from "../../support/http-deps.ts";
import { pageDeps, pageEntries } from "../../support/page-deps.ts";
import { askQuery, raw, start, type Started } from "./http-fixture.ts";
import { newFolder } from "../../support/scratch-folder.ts";

// What an answer of somebody else holds is never to run on this origin, wherever it comes out.

const dataPolicy = "sandbox; default-src 'none'";
const job: Job = { id: "people", kind: "describe-endpoint", state: "running", payload: {}, attempts: 1, createdAt: "" };
const text = Buffer.from("<sparql/>");

const endpoint = {
  query: async () => ({ mediaType: "application/sparql-results+xml", body: text }),
} as unknown as HostedEndpoint;

let folder: string;
beforeAll(async () => {
  folder = newFolder();
  await writeFile(join(folder, "people.nt"), text);
});

/** Every lookup finds something, so that routes answer with what they are for. */
function generousDeps(): Partial<HttpDeps> {
  const path = join(folder, "people.nt");
  const dataset = { dataset: "people", title: "x", triples: 1, licence: "x", shards: [] } as unknown as ShardDataset;
  const shards: ShardService = {
    datasets: [dataset],
    dataset: () => dataset,
    endpoint: () => endpoint,
    download: () => ({
      path,
      fileName: "people.nt",
      mediaType: "application/n-triples",
      bytes: text.length,
      sha256: "0",
    }),
    report: async () => ({}) as Awaited<ReturnType<ShardService["report"]>>,
    reportPage: async () => "<!doctype html><title>x</title>",
    ruleFile: async () => ({ path, bytes: text.length }),
    build: async () => job,
    verify: async () => job,
    package: async () => job,
    packagedFile: async () => ({ handle: await open(path), bytes: text.length }),
  };
  return {
    ...pageDeps({ count: 0 }),
    monitor: createFakeMonitor({ endpoints: pageEntries(0), nowMs: fakeNowMs }),
    routes: [shardRoutes(shards)],
    hosted: () => endpoint,
    dataset: { endpoint, vocabulary: () => [] },
    jobs: { get: async () => job, list: async () => [job], cancel: async () => true, watch: () => () => undefined },
    publishSnapshot: async () => ({ schema: 1 }),
  };
}

interface Sent {
  readonly path: string;
  readonly init?: RequestInit;
}

/** Why the headers of an answer do not hold in what a browser makes of it; undefined when they do. */
async function fault({ url }: Pick<Started, "url">, { path, init }: Sent): Promise<string | undefined> {
  const leaving = new AbortController();
  const response = await fetch(url + path, { redirect: "manual", signal: leaving.signal, ...init });
  const { headers, status } = response;
  leaving.abort();
  const policy = headers.get("content-security-policy") ?? "none";
  // The query console and the API reference are the pages with a script, which is this service's own.
  const ownScripts: Readonly<Record<string, RegExp>> = {
    "/query": /script-src 'self'/,
    "/docs": /script-src 'self'; connect-src 'self' http:\/\/127\.0\.0\.1:\d+$/,
  };
  const rest = policy.replace(ownScripts[path] ?? "", "");
  const isPage = headers.get("content-type")?.startsWith("text/html") === true || headers.has("location");
  const isTight = isPage
    ? /^(default-src 'none'|sandbox)/.test(policy) && !/script|https?:/.test(rest)
    : policy === dataPolicy;
  if (isTight && headers.get("x-content-type-options") === "nosniff") return undefined;
  return `${init?.method ?? "GET"} ${path}: ${status}, ${policy}, ${headers.get("x-content-type-options")}`;
}

async function routesOf({ url }: Pick<Started, "url">): Promise<readonly Sent[]> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, object> };
  return Object.entries(paths).flatMap(([pattern, methods]) =>
    [...Object.keys(methods), "options", "trace"].map((name) => {
      const method = name.toUpperCase();
      const body = ["POST", "PUT", "PATCH"].includes(method)
        ? { body: "{}", headers: { "Content-Type": "application/json" } }
        : {};
      return { path: pattern.replaceAll(/\{\w+\}/g, "people"), init: { method, ...body } };
    }),
  );
}

const faultsOf = async (app: Started, sent: readonly Sent[]): Promise<readonly string[]> =>
  (await Promise.all(sent.filter(({ init }) => init?.method !== "TRACE").map((each) => fault(app, each)))).filter(
    (found) => found !== undefined,
  );

describe("every answer has a policy under which nothing foreign runs, and is what it says", () => {
  it("of every route, where it finds what it is asked for", async () => {
    const app = await start(generousDeps());
    const routes = await routesOf(app);
    expect(routes.length).toBeGreaterThan(80);
    expect(await faultsOf(app, routes)).toEqual([]);
    const found = [
      "/metrics",
      "/api/shards/people/package",
      "/api/shards/people/people",
      "/api/shards/people/report",
      "/api/shards/people/rules.lp",
    ];
    for (const path of found) expect([path, (await fetch(app.url + path)).status]).toEqual([path, 200]);
  });

  it("of every route, where it finds nothing, and where it takes nothing", async () => {
    for (const adminToken of ["off", "a-token-of-these-tests"]) {
      const app = await start({ config: { ...fakeSettings, adminToken } });
      expect(await faultsOf(app, await routesOf(app))).toEqual([]);
    }
  });

  it("of queries: whole, streamed, hosted, compressed, asked for their head only, and what fails", async () => {
    const app = await start(generousDeps());
    const bodies = [text, Readable.from([text]), Readable.from([text]), Readable.from([text])];
    app.queries.answer = async () =>
      fakeAnswer(bodies.shift() ?? text, { contentType: "application/sparql-results+xml" });
    const gzip = { headers: { "Accept-Encoding": "gzip" } };
    const asked: readonly Sent[] = [
      "/sparql",
      "/endpoints/people/sparql",
      "/hosted/people/sparql",
      "/shards/people/people/sparql",
    ].flatMap((route) =>
      [`${route}?${askQuery}`].flatMap((path) => [{ path }, { path, init: gzip }, { path, init: { method: "HEAD" } }]),
    );
    expect(await faultsOf(app, asked)).toEqual([]);
    app.queries.answer = () => Promise.reject(new Error("a defect"));
    expect(await faultsOf(app, asked)).toEqual([]);
  });

  it("of paths that lead nowhere, assets, pages that are known already", async () => {
    const app = await start(generousDeps());
    const page = await fetch(app.url);
    const [stylesheet = ""] = /\/assets\/fedway\.\w+\.css/.exec(await page.text()) ?? [];
    const known = { headers: { "If-None-Match": "*" } };
    const paths = [
      "/nowhere",
      "/%E0%A4%A",
      "/assets/none.css",
      "/endpoints/nobody",
      stylesheet,
      "/favicon.ico",
      "/login?token=wrong",
    ];
    expect(
      await faultsOf(app, [
        ...paths.map((path) => ({ path })),
        { path: "/", init: known },
        { path: stylesheet, init: known },
      ]),
    ).toEqual([]);
  });

  it("of what is no request, or expects what is not there", async () => {
    const app = await start();
    const head = "Host: localhost\r\nConnection: close\r\n";
    for (const bytes of [
      "NONSENSE\r\n\r\n",
      `GET /?${"x".repeat(70_000)} HTTP/1.1\r\n${head}\r\n`,
      `POST /sparql HTTP/1.1\r\n${head}Expect: tea\r\n\r\n`,
    ]) {
      const connection = raw(app, bytes);
      await connection.ended;
      expect(connection.received().toLowerCase()).toContain(`content-security-policy: ${dataPolicy}`);
      expect(connection.received().toLowerCase()).toContain("x-content-type-options: nosniff");
    }
  });
});
