import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  type BuiltService,
  type CommandOutcome,
  runCommand,
  startBuiltService,
  startNote,
  startProgram,
} from "../support/built-program.ts";
import { type CatalogFolder, createCatalogFolder, endpointTurtle } from "../support/catalog-folder.ts";
import { type SparqlTestServer, startSparqlTestServer } from "../support/sparql-test-server.ts";
import { startWebhookReceiver, status, type WebhookReceiver } from "../support/webhook-receiver.ts";
import { newFolder } from "../support/scratch-folder.ts";

// The built program as an operator sees it: snapshots, the end of a process, what the log holds.

const secrets = {
  token: "OperationsToken-8201",
  webhookKey: "OperationsKey-8202-of-the-receiver",
  webhookSecret: "OperationsSigning-8203",
};
const ids = ["alpha", "beta", "gamma", "delta"];
/** Rows of the answer that a query under way at the end must still get. */
const manyRows = 4_000;
const data = Array.from({ length: manyRows }, (_, index) => `<urn:x:s${index}> <urn:x:p> "o${index}" .`).join("\n");

let folder: string;
let catalog: CatalogFolder;
let servers: SparqlTestServer[];
let receiver: WebhookReceiver;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  folder = newFolder();
  catalog = await createCatalogFolder();
  servers = await Promise.all(ids.map(() => startSparqlTestServer(data)));
  await catalog.write(
    Object.fromEntries(ids.map((id, index) => [`${id}.ttl`, endpointTurtle(id, servers[index]?.url ?? "")])),
  );
  receiver = await startWebhookReceiver(secrets.webhookSecret);
  env = {
    FEDWAY_CATALOG: catalog.path,
    FEDWAY_EXAMPLES: "off",
    FEDWAY_ALLOW_ADDRESSES: "127.0.0.0/8",
    FEDWAY_ADMIN_TOKEN: secrets.token,
    FEDWAY_MONITOR: "on",
    FEDWAY_PROBE_EVERY_MS: "1000",
    FEDWAY_INCIDENT_AFTER: "2",
    FEDWAY_WEBHOOK_GROUP_MS: "0",
    FEDWAY_WEBHOOKS: `${receiver.origin}/hooks/${secrets.webhookKey}?key=${secrets.webhookKey}`,
    FEDWAY_WEBHOOK_SECRET: secrets.webhookSecret,
    FEDWAY_LOG_LEVEL: "trace",
  };
});
afterAll(async () => {
  await Promise.all((servers ?? []).map((server) => server.close()));
  await receiver?.close();
});

interface Snapshot {
  readonly schema: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly endpoints: readonly {
    readonly id: string;
    readonly state: string;
    readonly incident?: { readonly fault: string };
    readonly windows: readonly { readonly probes: number; readonly good: number }[];
  }[];
}

const snapshotOf = (text: string): Snapshot => JSON.parse(text) as Snapshot;

const statesIn = ({ endpoints }: Snapshot): Readonly<Record<string, string>> =>
  Object.fromEntries(endpoints.map(({ id, state }) => [id, state]));

const threeUp = { alpha: "up", beta: "up", gamma: "up", delta: "down" };

/** No secret is in what was written, and something was. */
function shouldKeepSecrets(text: string): void {
  expect(text.length).toBeGreaterThan(0);
  expect(text.split("\n").filter((line) => Object.values(secrets).some((secret) => line.includes(secret)))).toEqual([]);
}

describe("fedway export", () => {
  let dataDir: string;
  let service: BuiltService;
  let log = "";
  /** What a service that stopped has stored is believed for three intervals. */
  const stopped = { FEDWAY_PROBE_EVERY_MS: "600000" };
  const run = (args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<CommandOutcome> =>
    runCommand(["export", ...args], { ...env, FEDWAY_DATA_DIR: dataDir, ...more });

  beforeAll(async () => {
    dataDir = join(folder, "state");
    receiver.react(status(500));
    servers.at(-1)?.setFault({ kind: "status", status: 503 });
    service = await startBuiltService({ ...env, FEDWAY_DATA_DIR: dataDir });
  });
  afterAll(async () => {
    await service?.stop();
  });

  it("asks the running service, and writes what that publishes", async () => {
    const states = async (): Promise<Readonly<Record<string, string>>> => {
      const answer = (await (await fetch(`${service.url}/api/status`)).json()) as {
        endpoints: { endpoint: string; state: string }[];
      };
      return Object.fromEntries(answer.endpoints.map(({ endpoint, state }) => [endpoint, state]));
    };
    await expect.poll(states).toEqual(threeUp);
    const { code, stdout, stderr } = await run([]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const snapshot = snapshotOf(stdout);
    expect(snapshot).toMatchObject({
      schema: 1,
      counts: { up: 3, degraded: 0, flapping: 0, down: 1, unknown: 0 },
      heartbeat: { alive: true },
    });
    expect(statesIn(snapshot)).toEqual(threeUp);
    const [, , delta] = snapshot.endpoints;
    expect(delta).toMatchObject({ id: "delta", incident: { fault: "http-5xx" } });
    expect(delta?.windows[0]?.good).toBe(0);
  });

  it("writes into a file, and says how much", async () => {
    const file = join(folder, "running.json");
    const { code, stdout, stderr } = await run(["--output", file, "--url", service.url]);
    const written = await readFile(file, "utf8");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toContain(`${file}: ${Buffer.byteLength(written)} bytes`);
    expect(statesIn(snapshotOf(written))).toEqual(threeUp);
  });

  it("needs the token of the service", async () => {
    const { code, stdout, stderr } = await run(["--url", service.url], { FEDWAY_ADMIN_TOKEN: "" });
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: "", stderr: expect.stringContaining("token") });
    const wrong = await run(["--url", service.url], { FEDWAY_ADMIN_TOKEN: "not-the-right-token" });
    expect(wrong).toMatchObject({ code: 1, stdout: "" });
    expect(wrong.stderr).not.toContain("not-the-right-token");
  });

  it("says that it cannot write before it publishes", async () => {
    const { code, stdout } = await run(["--output", join(folder, "no", "such", "folder.json")]);
    expect(code).toBeGreaterThan(0);
    expect(stdout).toBe("");
  });

  it("works on what is stored when no service runs", async () => {
    await expect.poll(() => receiver.received.length).toBeGreaterThanOrEqual(2);
    expect(await service.stop()).toBe(0);
    log = service.log();
    for (const server of servers) server.clearRequests();
    const { code, stdout, stderr } = await run([], stopped);
    expect({ code, stderr }).toEqual({ code: 0, stderr: startNote });
    expect(statesIn(snapshotOf(stdout))).toEqual(threeUp);
    expect(servers.flatMap(({ requests }) => requests)).toEqual([]);
  });

  it("refuses a snapshot that has lost half of the endpoints, until somebody has looked at it", async () => {
    await Promise.all(ids.slice(2).map((id) => rm(catalog.file(`${id}.ttl`))));
    const file = join(folder, "halved.json");
    const refused = await run(["--output", file], stopped);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("It has 2 endpoints; the one of 20");
    expect(refused.stderr).toContain("had 4.");
    expect(refused.stderr).toContain("reviewed");
    await expect(readFile(file)).rejects.toThrow("ENOENT");
    const again = await run([], stopped);
    expect(again).toMatchObject({ code: 1, stdout: "" });
    const reviewed = await run(["--output", file, "--reviewed"], stopped);
    expect(reviewed).toMatchObject({ code: 0, stdout: "" });
    expect(statesIn(snapshotOf(await readFile(file, "utf8")))).toEqual({ alpha: "up", beta: "up" });
    const next = await run([], stopped);
    expect(next).toMatchObject({ code: 0, stderr: startNote });
  });

  it("refuses what nobody has ever probed", async () => {
    const { code, stdout, stderr } = await run([], { FEDWAY_DATA_DIR: join(folder, "empty") });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("No endpoint has been probed.");
  });

  it("left no secret in the log of the service", () => {
    expect(log).toContain("incident opened");
    expect(receiver.received.every(({ authentic, path }) => authentic && path.includes(secrets.webhookKey))).toBe(true);
    shouldKeepSecrets(log);
  });
});

describe("SIGTERM", () => {
  const ask = (service: BuiltService, id: string): Promise<Response> =>
    fetch(`${service.url}/endpoints/${id}/sparql`, {
      method: "POST",
      headers: { accept: "text/csv" },
      body: new URLSearchParams({ query: "SELECT ?o WHERE { ?s <urn:x:p> ?o }" }),
    });

  it("is told by readiness first; queries are answered, those under way to their end", async () => {
    const [quick, slow] = servers;
    await catalog.write({ "alpha.ttl": endpointTurtle("alpha", quick?.url ?? "") });
    const service = await startBuiltService({ ...env, FEDWAY_MONITOR: "off", FEDWAY_DRAIN_MS: "2000" });
    slow?.clearRequests();
    slow?.setDelay(4_000);
    const long = ask(service, "beta");
    await expect.poll(() => slow?.requests.length).toBe(1);
    const stopped = service.stop();
    const readiness = async (): Promise<unknown> => {
      const response = await fetch(`${service.url}/health/ready`);
      return { status: response.status, body: await response.json() };
    };
    await expect.poll(readiness).toMatchObject({
      status: 503,
      body: { ready: false, checks: { service: { ok: false, detail: "shutting down" } } },
    });
    const meanwhile = await ask(service, "alpha");
    expect(meanwhile.status).toBe(200);
    expect((await meanwhile.text()).trim().split("\r\n")).toHaveLength(manyRows + 1);
    expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
    const response = await long;
    expect(response.status).toBe(200);
    expect((await response.text()).trim().split("\r\n")).toHaveLength(manyRows + 1);
    expect(await stopped).toBe(0);
    await expect(fetch(`${service.url}/health/live`)).rejects.toThrow();
    slow?.setDelay(0);
    expect(service.log()).toContain('"route":"/endpoints/:id/sparql"');
    shouldKeepSecrets(service.log());
  });

  it("ends an idle service at once, and its folder is free for the next", async () => {
    const own = { ...env, FEDWAY_DATA_DIR: join(folder, "again") };
    for (let count = 0; count < 2; count += 1) {
      const service = await startBuiltService(own);
      expect(await service.stop()).toBe(0);
      shouldKeepSecrets(service.log());
    }
  });
});

/** Runs the service until it ends by itself. */
async function runService(more: Readonly<Record<string, string>>) {
  const program = startProgram([process.execPath, "dist/main.js"], {
    PORT: "0",
    FEDWAY_DATA_DIR: join(folder, "refused"),
    ...env,
    ...more,
  });
  onTestFinished(() => void program.stop());
  return { code: await program.ended, stderr: program.log() };
}

describe("a service that cannot be what it is told to be", () => {
  it.each(["worker", "web"])("%s without a Redis does not start", async (role) => {
    const { code, stderr } = await runService({ ROLE: role });
    expect(code).toBe(1);
    expect(stderr).toContain("CONFIG_INVALID");
    expect(stderr).toContain(`ROLE is ${role}, but there is no REDIS_URL`);
    shouldKeepSecrets(stderr);
  });

  it.each([
    ["webhooks without a secret", { FEDWAY_WEBHOOK_SECRET: "" }, "no FEDWAY_WEBHOOK_SECRET"],
    ["a secret that is none", { FEDWAY_WEBHOOK_SECRET: "whsec_%%%%%%%%%%%%" }, "FEDWAY_WEBHOOK_SECRET begins with"],
    ["probes without a pause", { FEDWAY_PROBE_EVERY_MS: "10" }, "FEDWAY_PROBE_EVERY_MS"],
    ["a role that is none", { ROLE: "boss" }, "one of all, web, worker"],
  ])("%s", async (_name, wrong, text) => {
    const { code, stderr } = await runService(wrong);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(text) });
    shouldKeepSecrets(stderr);
  });

  it("a port that is taken", async () => {
    const { port } = new URL(receiver.origin);
    const { code, stderr } = await runService({ PORT: port });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(port) });
    shouldKeepSecrets(stderr);
  });

  it("says the same as fedway serve", async () => {
    const { code, stderr } = await runCommand(["serve"], { ...env, ROLE: "worker" });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("there is no REDIS_URL") });
  });
});

describe("--help", () => {
  it.each([
    ["export", ["--output", "--reviewed", "--url", "fedway export --reviewed"]],
    ["serve", ["FEDWAY_DRAIN_MS", "FEDWAY_PROBE_EVERY_MS", "FEDWAY_WEBHOOKS", "ROLE", "OTEL_EXPORTER_OTLP_ENDPOINT"]],
    ["backup", ["<file>"]],
  ])("of %s", async (command, words) => {
    const { code, stdout, stderr } = await runCommand([command, "--help"], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`Usage: fedway ${command}`);
    for (const word of words) expect(stdout).toContain(word);
    shouldKeepSecrets(stdout);
  });

  it("names every command", async () => {
    const { code, stdout } = await runCommand(["--help"]);
    expect(code).toBe(0);
    for (const command of ["serve", "query", "explain", "describe", "catalog", "backup", "export"]) {
      expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, "m"));
    }
  });
});
