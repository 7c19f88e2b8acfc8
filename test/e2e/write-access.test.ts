import { readFile, stat } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BuiltService, runCommand, startBuiltService } from "../support/built-program.ts";
import { endpointTurtle } from "../support/catalog-folder.ts";
import { startNginx } from "../support/engines/nginx.ts";
import { type ServerProcess } from "../support/engines/server-process.ts";
import { freePort } from "../support/listening.ts";
import { newFolder } from "../support/scratch-folder.ts";

// The service as it is started without a word about who may change it.

const template = new URL("../fixtures/nginx/reverse-proxy.conf.template", import.meta.url);
let dataDir: string;
let service: BuiltService;
let nginx: ServerProcess;
let proxied: string;
let nameless: string;
const env = (): Readonly<Record<string, string>> => ({
  FEDWAY_DATA_DIR: dataDir,
  FEDWAY_ADMIN_TOKEN: "",
  FEDWAY_LOG_LEVEL: "trace",
});

beforeAll(async () => {
  dataDir = newFolder();
  service = await startBuiltService({ ...env(), FEDWAY_PUBLIC_URL: "http://fedway.example" });
  const [port, otherPort] = [await freePort(), await freePort()];
  const values = { UPSTREAM_PORT: new URL(service.url).port, OTHER_PORT: String(otherPort) };
  nginx = await startNginx({ template, values, runDir: newFolder(), port, readyPath: "/health/live" });
  proxied = `http://127.0.0.1:${port}`;
  nameless = `http://127.0.0.1:${otherPort}`;
});
afterAll(async () => {
  await nginx?.stop();
  await service?.stop();
});

const tokenOf = async (): Promise<string> => (await readFile(join(dataDir, "admin-token"), "utf8")).trim();

/** Status and code of the answer to a change; `fetch` would send no Host of ours. */
function change(
  base: string,
  [method, path]: readonly [string, string],
  headers: Readonly<Record<string, string>> = {},
) {
  return new Promise<{ readonly status: number | undefined; readonly code: string | undefined }>((resolve, reject) => {
    const asked = request(
      `${base}${path}`,
      { method, headers: { "Content-Type": "text/turtle", ...headers } },
      (answer) => {
        let text = "";
        answer.on("data", (chunk: Buffer) => (text += chunk.toString()));
        answer.on("error", reject);
        answer.on("end", () => resolve({ status: answer.statusCode, code: /"code": "(\w+)"/.exec(text)?.[1] }));
      },
    );
    asked.on("error", reject);
    asked.end(method === "POST" ? endpointTurtle("mine", "http://mine.example/sparql") : undefined);
  });
}

const add = ["POST", "/api/endpoints"] as const;
const remove = ["DELETE", "/api/endpoints/people"] as const;
const refused = { status: 401, code: "TOKEN_REQUIRED" };

describe("changes without the token", () => {
  for (const headers of [
    {},
    { Host: "localhost" },
    { "X-Forwarded-For": "127.0.0.1", "X-Real-IP": "127.0.0.1", Forwarded: "for=127.0.0.1" },
    { "X-Forwarded-For": "127.0.0.1, ::1", "X-Forwarded-Host": "localhost", Host: "127.0.0.1" },
    { Authorization: "Bearer " },
    { Authorization: "Bearer off" },
    { Authorization: "Basic YWRtaW46YWRtaW4=" },
  ]) {
    it(`are refused on this machine and through nginx, with ${JSON.stringify(headers)}`, async () => {
      for (const base of [service.url, proxied]) {
        for (const target of [add, remove]) expect(await change(base, target, headers)).toEqual(refused);
      }
    });
  }

  it("and everything else are refused through a proxy that names neither this machine nor the public URL", async () => {
    for (const target of [add, remove, ["GET", "/api/endpoints"]] as const) {
      expect(await change(nameless, target)).toEqual({ status: 421, code: "HOST_REFUSED" });
    }
  });
});

it("changes with the token are taken, here and through nginx, which reads under the public URL too", async () => {
  const headers = { Authorization: `Bearer ${await tokenOf()}` };
  expect((await change(proxied, add, headers)).status).toBe(201);
  expect((await change(service.url, ["DELETE", "/api/endpoints/mine"], headers)).status).toBe(204);
  expect((await change(proxied, ["GET", "/api/endpoints"], { Host: "fedway.example" })).status).toBe(200);
});

it("the token is in a file of this account's and nowhere in the log; the start message has a link that signs in once", async () => {
  const token = await tokenOf();
  expect(token).toMatch(/^[\w-]{43}$/);
  expect((await stat(join(dataDir, "admin-token"))).mode & 0o777).toBe(0o600);
  const link = /\/login\?token=\S+/.exec(service.log())?.[0] ?? "";
  const visits = [1, 2].map(async () => (await fetch(service.url + link, { redirect: "manual" })).status);
  expect(new Set(await Promise.all(visits))).toEqual(new Set([303, 401]));
  await fetch(`${service.url}/nowhere/${token}?token=${token}`, { headers: { Authorization: `Bearer ${token}` } });
  // Lines are written after a quarter of a second.
  await expect.poll(() => service.log().includes('"route":"unmatched"')).toBe(true);
  expect(service.log()).not.toContain(token);
});

it("the command line finds the token by itself, for the service that it talks to only", async () => {
  for (const args of [
    ["export", "--reviewed"],
    ["export", "--reviewed", "--url", service.url.replace("127.0.0.1", "localhost")],
  ]) {
    const { stdout, stderr, code } = await runCommand(args, env());
    expect([code, stderr]).toEqual([0, expect.not.stringContaining(await tokenOf())]);
    expect(JSON.parse(stdout)).toHaveProperty("endpoints");
  }
  const { code, stderr } = await runCommand(["export", "--url", proxied], env());
  expect([code, stderr]).toEqual([1, expect.stringContaining("TOKEN_REQUIRED")]);
});

it("the next start has the same token", async () => {
  const token = await tokenOf();
  await service.stop();
  service = await startBuiltService({
    ...env(),

    FEDWAY_PUBLIC_URL: "http://fedway.example",
  });
  expect(await tokenOf()).toBe(token);
});
