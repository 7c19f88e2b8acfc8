import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dataFolderHolder } from "../../src/store/data-folder.ts";
import { type CatalogFolder, createCatalogFolder, endpointTurtle } from "../support/catalog-folder.ts";
import { startSourceProgram } from "../support/built-program.ts";
import { newFolder } from "../support/scratch-folder.ts";

let folder: CatalogFolder;
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

/** A server that takes connections and says nothing, and its port. */
async function silentServer(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((socket) => socket.on("error", () => {}));
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return { server, port: typeof address === "object" && address !== null ? address.port : 0 };
}

describe("the program", () => {
  it("that cannot reach Redis says what to look at, without the password", async () => {
    const { port } = await silentServer();
    for (const server of servers.splice(0)) server.close();
    const program = startSourceProgram(environment({ REDIS_URL: `redis://:a-secret-word@127.0.0.1:${port}` }));
    expect(await program.ended).toBe(1);
    expect(program.log()).toMatch(/^fedway: STORE_FAILED: /);
    expect(program.log()).toContain("REDIS_URL");
    expect(program.log()).toContain("ECONNREFUSED");
    expect(program.log()).not.toMatch(/answered all the same|a-secret-word/);
  });

  it("ends at once and in peace when it is told so before it is there", async () => {
    const { server, port } = await silentServer();
    const program = startSourceProgram(environment({ REDIS_URL: `redis://127.0.0.1:${port}` }));
    // It waits for Redis, which says nothing.
    await once(server, "connection");
    expect(await program.stop()).toBe(0);
    expect(program.log()).toBe("");
  });

  it("ends in order when it is told so while it answers", async () => {
    const program = startSourceProgram(environment());
    await program.url();
    expect(await program.stop()).toBe(0);
    expect(await dataFolderHolder(dataDir)).toBeUndefined();
  });
});
