import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HostileServer, startHostileServer } from "../support/hostile-server.ts";
import { type Program, startSourceProgram } from "../support/built-program.ts";
import { type Listening, listening } from "../support/listening.ts";
import { until } from "../support/eventually.ts";
import { newFolder } from "../support/scratch-folder.ts";
import { entryTurtle } from "../support/running-service.ts";

const secrets = {
  adminToken: "AdminTokenSecret-4711",
  webhookKey: "WebhookKeySecret-4712",
  webhookSecret: "WebhookSigningSecret-4713",
  redisPassword: "RedisPasswordSecret-4714",
  urlPassword: "UrlPasswordSecret-4715",
  bearer: "WrongBearerSecret-4716",
  literal: "LiteralSecret-4717",
  path: "PathSecret-4718",
};
const cases = ["ok", "400", "500", "reset", "truncated-json", "html", "redirect-userinfo", "not-http", "bad-gzip"];

let endpoints: HostileServer;
let receiver: Listening;
let folder: string;
let program: Program;
let url: string;
const receipts = { count: 0 };

beforeAll(async () => {
  endpoints = await startHostileServer();
  const server = createServer((request, response) => {
    receipts.count += 1;
    request.resume();
    response.writeHead(500).end(`no: ${request.url}`);
  });
  receiver = await listening(server);
  folder = newFolder();
  await mkdir(join(folder, "catalog"));
  for (const id of cases) await writeFile(join(folder, "catalog", `${id}.ttl`), entryTurtle(id, endpoints.url(id)));
  const started = startSourceProgram({
    PORT: "0",
    FEDWAY_CATALOG: join(folder, "catalog"),
    FEDWAY_DATA_DIR: join(folder, "data"),
    FEDWAY_EXAMPLES: "off",
    FEDWAY_ALLOW_ADDRESSES: "127.0.0.0/8",
    FEDWAY_ADMIN_TOKEN: secrets.adminToken,
    FEDWAY_WEBHOOK_GROUP_MS: "0",
    FEDWAY_WEBHOOKS: `${receiver.origin}/hooks/${secrets.webhookKey}?key=${secrets.webhookKey}`,
    FEDWAY_WEBHOOK_SECRET: secrets.webhookSecret,
    FEDWAY_PROBE_EVERY_MS: "1000",
    FEDWAY_INCIDENT_AFTER: "1",
    FEDWAY_LOG_LEVEL: "trace",
    // A collector that is not there.
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
  });
  program = started;
  url = await started.url();
});

afterAll(async () => {
  await program.stop();
  await endpoints.close();
  await receiver.close();
});

/** Sends a request and does not mind what becomes of it. */
async function send(
  path: string,
  init: Omit<RequestInit, "headers"> & { readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const headers = { authorization: `Bearer ${secrets.bearer}`, cookie: `session=${secrets.bearer}`, ...init.headers };
  try {
    await (await fetch(`${url}${path}`, { ...init, headers })).arrayBuffer();
  } catch {
    // Cut off, as some of these must be.
  }
}

const query = (path: string, text: string): Promise<void> =>
  send(path, { method: "POST", body: new URLSearchParams({ query: text }) });

function raw(bytes: string): Promise<void> {
  return new Promise((resolve) => {
    const { port } = new URL(url);
    const socket = connect(Number(port), "127.0.0.1", () => socket.write(bytes));
    socket.resume();
    socket.on("error", () => {});
    socket.on("close", () => resolve());
    socket.setTimeout(2000, () => socket.destroy());
  });
}

async function misbehave(): Promise<void> {
  const { adminToken, urlPassword, literal, path, bearer } = secrets;
  for (const id of cases) await query(`/endpoints/${id}/sparql`, `SELECT ?x { ?x ?p "${literal}" }`);
  await query("/sparql", `SELECT * { SERVICE <http://user:${urlPassword}@127.0.0.1:1/sparql> { ?s ?p ?o } }`);
  await query(
    "/sparql",
    `SELECT * { SERVICE <${endpoints.url("500")}> { ?s ?p "${literal}" } SERVICE <${endpoints.url("ok")}> { ?s ?q ?o } }`,
  );
  await query("/sparql", `this is no SPARQL ${literal}`);
  await send(`/${path}?token=${path}`);
  await send(`/endpoints/${path}/sparql?query=${literal}`);
  await send(`/api/endpoints/${path}?x=${path}`, { headers: { referer: `http://x/?${path}`, "user-agent": path } });
  await send("/api/endpoints", { method: "POST", body: `${literal} {`, headers: { "content-type": "text/turtle" } });
  for (const body of [literal, entryTurtle("new", `http://user:${urlPassword}@127.0.0.1:1/`)]) {
    const headers = { authorization: `Bearer ${adminToken}`, "content-type": "text/turtle" };
    await send("/api/endpoints/new", { method: "PUT", body, headers });
  }
  await send("/api/query", {
    method: "POST",
    body: `{"query": "${literal}`,
    headers: { "content-type": "application/json" },
  });
  await send("/sparql?query=ASK%7B%7D", { headers: { traceparent: `00-${bearer}` } });
  await raw(`GET /${path} HTTP/1.1\r\nAuthorization: Basic ${bearer}\r\nBroken ${path}\r\n\r\n`);
  await raw(`${bearer}\r\n\r\n`);
  await raw(`GET /%E0%A4%A/${path} HTTP/1.1\r\nHost: localhost\r\nX: ${bearer.repeat(5000)}\r\n\r\n`);
}

interface Line {
  readonly level: number;
  readonly time: number;
  readonly msg: string;
  readonly id?: string;
  readonly run?: string;
  readonly route?: string;
  readonly trace?: string;
}

function linesOf(log: string): readonly Line[] {
  const lines = log.split("\n").filter((line) => line.startsWith("{"));
  return lines.map((line) => JSON.parse(line) as Line);
}

describe("the log of a service to which hostile things happen", () => {
  const startedMs = Date.now();
  let lines: readonly Line[];
  let log: string;

  beforeAll(async () => {
    await misbehave();
    await until(() => receipts.count > 0);
    await program.stop();
    log = program.log();
    lines = linesOf(log);
  });

  it("is there", () => {
    const requests = lines.filter(({ msg }) => msg === "request");
    expect(requests.length).toBeGreaterThanOrEqual(18);
    expect(lines.filter(({ msg }) => msg === "incident opened").length).toBeGreaterThan(0);
    expect(receipts.count).toBeGreaterThan(0);
  });

  it.each(Object.entries(secrets))("shows nothing of %s", (_, secret) => {
    expect(log.length).toBeGreaterThan(2000);
    expect(log.split("\n").filter((line) => line.includes(secret))).toEqual([]);
  });

  it("tells of requests as pino tells of the rest", () => {
    const requests = lines.filter(({ msg }) => msg === "request");
    expect(new Set(requests.map(({ level }) => level))).toEqual(new Set([30]));
    expect(requests.filter(({ time }) => !(time >= startedMs && time <= Date.now()))).toEqual([]);
    const keys = Object.keys(requests[0] ?? {});
    expect(keys.slice(0, 8)).toEqual(["level", "time", "id", "method", "route", "status", "ms", "bytes"]);
    expect(keys.at(-1)).toBe("msg");
  });

  it("names the request in each of its lines, and the run and the trace where there is one", () => {
    const requests = lines.filter(({ msg }) => msg === "request");
    const ids = requests.map(({ id }) => id);
    expect(ids.filter((id) => id === undefined)).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(requests.filter(({ trace }) => !/^[0-9a-f]{32}$/.test(trace ?? ""))).toEqual([]);
    const queries = requests.filter(({ route }) => route === "/endpoints/:id/sparql");
    expect(queries.filter(({ run }) => run !== undefined).length).toBeGreaterThanOrEqual(cases.length);
  });
});

it("a service that cannot reach its Redis does not say the password", async () => {
  const failing = startSourceProgram({
    PORT: "0",
    FEDWAY_CATALOG: join(folder, "catalog"),
    FEDWAY_DATA_DIR: join(folder, "other"),
    FEDWAY_LOG_LEVEL: "trace",
    REDIS_URL: `redis://user:${secrets.redisPassword}@127.0.0.1:1/0`,
  });
  expect(await failing.ended).not.toBe(0);
  expect(failing.log()).toContain("STORE_FAILED");
  expect(failing.log()).not.toContain(secrets.redisPassword);
});
