import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type BuiltService, startBuiltService } from "../support/built-program.ts";
import { requireProgram, type ServerProcess, startServer } from "../support/engines/server-process.ts";
import { freePort, type Listening, listening } from "../support/listening.ts";
import { newFolder } from "../support/scratch-folder.ts";

// deploy/proxies/nginx-oauth2-proxy.conf as it stands, but for addresses and certificates, in front of the built service;
// what oauth2-proxy answers is answered by a stand-in that knows one cookie.

const adminToken = "a-token-of-these-tests";
const header = "X-Auth-Request-Email";
let service: BuiltService;
let signIn: Listening;
let nginx: ServerProcess;
let port: number;

beforeAll(async () => {
  service = await startBuiltService({
    FEDWAY_PUBLIC_URL: "https://fedway.example.org",
    FEDWAY_TRUST_PROXY: "127.0.0.2/32",
    FEDWAY_ANONYMOUS: "none",
    FEDWAY_CLIENT_HEADER: header,
    FEDWAY_ADMIN_TOKEN: adminToken,
    FEDWAY_LOG_LEVEL: "info",
  });
  signIn = await listening(
    createServer(({ url = "", headers }, response) => {
      const isAda = headers.cookie?.includes("_oauth2_proxy=ada") === true;
      if (url !== "/oauth2/auth") response.writeHead(403).end("Sign in");
      else response.writeHead(isAda ? 202 : 401, isAda ? { [header]: "ada@example.org" } : {}).end();
    }),
  );
  const [runDir, free] = [newFolder(), await freePort()];
  port = free;
  const example = await readFile(new URL("../../deploy/proxies/nginx-oauth2-proxy.conf", import.meta.url), "utf8");
  const block = example
    .replace("127.0.0.1:3000", new URL(service.url).host)
    .replaceAll("127.0.0.1:4180", new URL(signIn.origin).host)
    .replaceAll("listen 443 ssl;", `listen 127.0.0.1:${port};`)
    .replaceAll(/^ *ssl_.*\n/gm, "")
    // The proxy has an address of its own, that of the test being another.
    .replaceAll("proxy_pass http://fedway;", "proxy_bind 127.0.0.2; proxy_pass http://fedway;");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${runDir}/${kind};`,
  );
  const file = join(runDir, "proxy.conf");
  const head = `daemon off; worker_processes 1; pid ${runDir}/pid; error_log ${runDir}/error.log;\nevents {}`;
  await writeFile(file, `${head}\nhttp { access_log off; ${temporary.join(" ")}\n${block}\n}\n`);
  nginx = await startServer({
    name: "nginx",
    command: requireProgram("nginx", "apt-get install nginx-light"),
    args: ["-c", file, "-p", runDir],
    cwd: runDir,
    ready: async () => (await ask("api.fedway.example.org", "/health/live")).status === 200,
    readyWithinMs: 20_000,
  });
});
afterAll(async () => {
  await nginx?.stop();
  await signIn?.close();
  await service?.stop();
});

/** As one of the two hosts; `fetch` would not send another Host. */
const ask = async (host: string, path: string, headers: Readonly<Record<string, string>> = {}) => {
  const { request } = await import("undici");
  const { statusCode, body } = await request(`http://127.0.0.1:${port}${path}`, { headers: { host, ...headers } });
  return { status: statusCode, text: await body.text() };
};
const people = (headers?: Readonly<Record<string, string>>) => ask("fedway.example.org", "/api/keys/self", headers);
const programs = (headers?: Readonly<Record<string, string>>) =>
  ask("api.fedway.example.org", "/api/keys/self", headers);

it("names people whom oauth2-proxy has signed in, and nobody else", async () => {
  const ada = await people({ cookie: "_oauth2_proxy=ada" });
  expect([ada.status, JSON.parse(ada.text)]).toEqual([200, { client: "ada@example.org", role: "query" }]);
  expect((await people({ cookie: "_oauth2_proxy=ada", [header]: "root@example.org" })).text).toContain(
    "ada@example.org",
  );
  expect((await people()).text).toBe("Sign in");
  expect((await people({ [header]: "root@example.org" })).text).toBe("Sign in");
});

it("lets programs in with keys, and lets none name itself, around the proxy neither", async () => {
  const made = await fetch(`${service.url}/api/keys`, {
    method: "POST",
    headers: { Authorization: `Bearer ${adminToken}`, "Content-Type": "application/json" },
    body: JSON.stringify({ name: "bot", role: "read" }),
  });
  const { key } = (await made.json()) as { readonly key: string };
  const own = { authorization: `Bearer ${key}`, [header]: "root@example.org" };
  expect(JSON.parse((await programs(own)).text)).toMatchObject({ client: "bot", role: "read" });
  expect((await programs({ [header]: "root@example.org" })).status).toBe(401);
  expect((await programs({ authorization: `Bearer ${key}x` })).status).toBe(401);
  const around = await fetch(`${service.url}/api/keys/self`, { headers: { [header]: "root@example.org" } });
  expect([around.status, ((await around.json()) as { code: string }).code]).toEqual([401, "KEY_REFUSED"]);
  await service.stop();
  expect(service.log()).toMatch(/"client":"bot"/u);
  expect(service.log()).toMatch(/"client":"ada@example.org"/u);
  expect(service.log()).not.toContain(key.slice(-43));
});
