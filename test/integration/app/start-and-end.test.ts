import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type App, createApp } from "../../../src/app.ts";
import { loadConfig } from "../../../src/config/config.ts";
import { dataFolderHolder } from "../../../src/store/data-folder.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { createCatalogFolder, endpointTurtle } from "../../support/catalog-folder.ts";
import { startSourceProgram } from "../../support/built-program.ts";
import { evaluatorsOf } from "../../support/child-processes.ts";
import { newFolder } from "../../support/scratch-folder.ts";

let folder: Awaited<ReturnType<typeof createCatalogFolder>>;
let dataDir: string;
let servers: Server[] = [];

beforeEach(async () => {
  folder = await createCatalogFolder();
  await folder.write({ "alpha.ttl": endpointTurtle("alpha", "http://127.0.0.1:9/sparql") });
  dataDir = newFolder();
});
afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
});

const environment = (more: Readonly<Record<string, string>> = {}) => ({
  PORT: "0",
  FEDWAY_CATALOG: folder.path,
  FEDWAY_DATA_DIR: dataDir,
  FEDWAY_EXAMPLES: "off",
  FEDWAY_MONITOR: "off",
  FEDWAY_LOG_LEVEL: "silent",
  ...more,
});

const open = (more: Readonly<Record<string, string>> = {}): Promise<App> => createApp(loadConfig(environment(more)));

/** A server that takes connections and says nothing; its port. */
async function silentPort(): Promise<string> {
  const server = createServer((socket) => socket.on("error", () => {}));
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? String(address.port) : "";
}

async function storedSchedules(): Promise<readonly string[]> {
  const store = openSqliteStore({ path: join(dataDir, "store.db") });
  try {
    return (await store.list("jobs/schedule/")).map(({ key }) => key.slice("jobs/schedule/".length));
  } finally {
    await store.close();
  }
}

describe("a start", () => {
  it("over values that cannot be read logs what each costs", async () => {
    const store = openSqliteStore({ path: join(dataDir, "store.db") });
    await store.put("client/bob", "{");
    await store.put("monitor/heartbeat", "[]");
    await store.close();
    const program = startSourceProgram(environment({ FEDWAY_LOG_LEVEL: "warn", FEDWAY_MONITOR: "on" }));
    await program.url();
    await program.stop();
    const lines = program
      .log()
      .split("\n")
      .filter((line) => line.includes("a stored value cannot be read"));
    expect(lines.map((line): unknown => JSON.parse(line))).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          key: "client/bob",
          reason: "it is not JSON",
          removed: false,
          msg: expect.stringContaining("its keys are refused until it is added again"),
        }),
        expect.objectContaining({ key: "monitor/heartbeat" }),
      ]),
    );
  });

  it("at a port that is taken says so, and leaves nothing open", async () => {
    const port = await silentPort();
    const app = await open({ PORT: port });
    await expect(app.listen()).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(`127.0.0.1:${port}`),
      details: { next: expect.stringContaining("PORT") },
    });
    expect(await dataFolderHolder(dataDir)).toBeUndefined();
    await app.close();
  });

  it("that fails half-way leaves nothing open", async () => {
    const hooks = { FEDWAY_WEBHOOKS: "https://hooks.example/1", FEDWAY_WEBHOOK_SECRET: "whsec_%%%%%%%%%%%%%%%%" };
    await expect(open(hooks)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    expect(await dataFolderHolder(dataDir)).toBeUndefined();
    const app = await open();
    await app.close();
  });

  it("that is broken off is closed when it can be, and leaves nothing open", async () => {
    const app = await open();
    const listening = app.listen().catch((error: unknown) => error);
    await Promise.all([app.close(), app.close()]);
    expect(await listening).toMatchObject({ code: "CANCELLED" });
    expect(await dataFolderHolder(dataDir)).toBeUndefined();
  });

  it.each([
    ["service", 1],
    ["query", 0],
  ])("has its evaluators with the %s", async (start, atOnce) => {
    const others = evaluatorsOf(process.pid);
    const own = (): number => evaluatorsOf(process.pid).filter((pid) => !others.includes(pid)).length;
    const app = await open({ FEDWAY_EVALUATORS: "1", FEDWAY_EVALUATORS_START: start });
    try {
      const url = await app.listen();
      expect(own()).toBe(atOnce);
      const query = encodeURIComponent("SELECT * { VALUES ?a { 1 2 } }");
      expect((await fetch(`${url}/sparql?query=${query}`)).status).toBe(200);
      expect(own()).toBe(1);
    } finally {
      await app.close();
    }
    expect(own()).toBe(0);
  });

  it("without monitor and facts takes the schedules back that an earlier one has left", async () => {
    const watching = await open({ FEDWAY_MONITOR: "on" });
    await watching.listen();
    await watching.close();
    expect(await storedSchedules()).toContain("monitor-upkeep");
    const idle = await open({ FEDWAY_FACTS: "off" });
    await idle.listen();
    await idle.close();
    expect(await storedSchedules()).toStrictEqual([]);
  });
});
