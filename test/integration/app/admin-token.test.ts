import { chmod, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { createApp } from "../../../src/app.ts";
import { loadConfig } from "../../../src/config/config.ts";
import { type AdminToken, knownAdminToken, offerToken, openAdminToken } from "../../../src/store/admin-token.ts";
import { holdDataFolder } from "../../../src/store/data-folder.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { newFolder } from "../../support/scratch-folder.ts";

let dataDir: string;
let file: string;
beforeEach(async () => {
  dataDir = newFolder();
  file = join(dataDir, "admin-token");
});

const open = (env: Readonly<Record<string, string>> = {}, shared?: Store): Promise<AdminToken> =>
  openAdminToken(loadConfig({ FEDWAY_DATA_DIR: dataDir, ...env }), {
    store: shared ?? openSqliteStore({ path: ":memory:" }),
    soleOwner: shared === undefined,
  });

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

describe("without FEDWAY_ADMIN_TOKEN", () => {
  it("the first start makes a token of 32 random bytes that only its account can read", async () => {
    const { value, from } = await open();
    expect(from).toBe("folder");
    expect(value).toMatch(/^[\w-]{43}$/);
    expect(await readFile(file, "utf8")).toBe(`${value}\n`);
    expect(await modeOf(file)).toBe(0o600);
  });

  it("later starts keep it, and close the file to others", async () => {
    const { value } = await open();
    await chmod(file, 0o644);
    expect((await open()).value).toBe(value);
    expect(await modeOf(file)).toBe(0o600);
  });

  it("a file that holds no token, or too much, stops the start", async () => {
    for (const text of ["", "short\n", "two words of one token", "x".repeat(2000)]) {
      await writeFile(file, text);
      await expect(open()).rejects.toMatchObject({
        code: "CONFIG_INVALID",
        details: { next: expect.stringMatching(/^Remove/) },
      });
    }
  });

  it("nothing is written through a link that leads nowhere", async () => {
    const elsewhere = join(dataDir, "elsewhere");
    await symlink(elsewhere, file);
    await expect(open()).rejects.toMatchObject({ code: "STORE_FAILED" });
    await expect(stat(elsewhere)).rejects.toThrow("ENOENT");
  });

  it("a folder that cannot be written stops the start", () =>
    expect(open({ FEDWAY_DATA_DIR: join(dataDir, "missing") })).rejects.toMatchObject({ code: "STORE_FAILED" }));

  it("processes that share their state agree on one, whoever comes first", async () => {
    const shared = openSqliteStore({ path: ":memory:" });
    const redis = { REDIS_URL: "redis://127.0.0.1:1" };
    const found = await Promise.all(Array.from({ length: 8 }, () => open(redis, shared)));
    expect(new Set(found.map(({ value }) => value)).size).toBe(1);
    expect(found[0]?.from).toBe("store");
    await expect(stat(file)).rejects.toThrow("ENOENT");
  });

  it("what was in the store when it was emptied is put back, unless another has come", async () => {
    const shared = openSqliteStore({ path: ":memory:" });
    expect(await offerToken(shared, "the-token-of-before")).toBe("the-token-of-before");
    expect(await offerToken(shared, "another-token-of-now")).toBe("the-token-of-before");
  });

  it("a worker makes none that others could use", async () => {
    const shared = openSqliteStore({ path: ":memory:" });
    const worker = await open({ REDIS_URL: "redis://127.0.0.1:1", ROLE: "worker" }, shared);
    expect((await open({ REDIS_URL: "redis://127.0.0.1:1", ROLE: "web" }, shared)).value).not.toBe(worker.value);
  });
});

it("FEDWAY_ADMIN_TOKEN wins, and nothing is written", async () => {
  expect(await open({ FEDWAY_ADMIN_TOKEN: "0123456789abcdef" })).toEqual({
    value: "0123456789abcdef",
    from: "environment",
  });
  expect(await open({ FEDWAY_ADMIN_TOKEN: "OFF" })).toEqual({ value: "off", from: "environment" });
  await expect(stat(file)).rejects.toThrow("ENOENT");
});

it.each([
  [
    "has a link that signs in, and not the token",
    {},
    /admin-token; for pages: http:\/\/here\/login\?token=\d+\.[\w-]{43} \(once, within an hour\)\n$/,
  ],
  [
    "does not show the operator's own",
    { FEDWAY_ADMIN_TOKEN: "0123456789abcdef" },
    /FEDWAY_ADMIN_TOKEN; for pages: http:\/\/here\/login\n$/,
  ],
  ["says that nothing limits clients", { HOST: "0.0.0.0" }, /nothing limits[^\n]* set FEDWAY_RATE_LIMIT[^\n]*\n$/],
  ["is silent about a limit that is there", { HOST: "0.0.0.0", FEDWAY_RATE_LIMIT: "600" }, /within an hour\)\n$/],
  ["says that changes are open", { FEDWAY_ADMIN_TOKEN: "off" }, /whoever reaches/],
])("the start message %s", async (_what, env, text) => {
  const quiet = { FEDWAY_EXAMPLES: "off", FEDWAY_MONITOR: "off", FEDWAY_LOG_LEVEL: "silent" };
  const app = await createApp(loadConfig({ FEDWAY_DATA_DIR: dataDir, ...quiet, ...env }));
  expect(app.startMessage("http://here")).toMatch(
    /^Fedway listens at http:\/\/here with \d+ endpoints and \d+ federations\.\n/,
  );
  expect(app.startMessage("http://here")).toMatch(text);
  await app.close();
});

describe("the command line", () => {
  const known = (url: string, env: Readonly<Record<string, string>> = {}): Promise<string | undefined> =>
    knownAdminToken(loadConfig({ FEDWAY_DATA_DIR: dataDir, ...env }), url);

  it("knows the token of the service that holds the data folder, by any name of this machine", async () => {
    const folder = await holdDataFolder(dataDir);
    await folder.announce("http://127.0.0.1:4321");
    const { value } = await open();
    expect(await known("http://127.0.0.1:4321")).toBe(value);
    expect(await known("http://localhost:4321/")).toBe(value);
    expect(await known("http://[::1]:4321/")).toBe(value);
    for (const other of ["http://127.0.0.1:4322", "http://192.0.2.1:4321", "https://fedway.example", "nonsense"]) {
      expect([other, await known(other)]).toEqual([other, undefined]);
    }
    await folder.release();
    expect(await known("http://127.0.0.1:4321")).toBeUndefined();
  });

  it("sends the operator's own wherever the operator says, and none where changes are open", async () => {
    expect(await known("https://fedway.example", { FEDWAY_ADMIN_TOKEN: "0123456789abcdef" })).toBe("0123456789abcdef");
    expect(await known("https://fedway.example", { FEDWAY_ADMIN_TOKEN: "off" })).toBeUndefined();
  });
});
