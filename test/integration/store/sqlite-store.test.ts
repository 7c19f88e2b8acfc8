import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { migrate, migrations } from "../../../src/store/sqlite/database.ts";
import { backupDatabase } from "../../../src/store/sqlite/backup.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { newFolder } from "../../support/scratch-folder.ts";

type SqliteStoreOptions = Parameters<typeof openSqliteStore>[0];

async function openStore(options: SqliteStoreOptions): Promise<Store> {
  const store = openSqliteStore(options);
  onTestFinished(() => store.close());
  return store;
}

/** A connection of another program. */
function connect(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  onTestFinished(() => {
    if (database.isOpen) database.close();
  });
  return database;
}

describe("a store in a file", () => {
  it("has everything again after it was opened anew", async () => {
    const path = join(newFolder(), "store.db");
    const first = await openStore({ path });
    const version = await first.put("a", "1");
    await first.put("b", "short-lived", { ttlMs: 1 });
    await first.increment("c", 4);
    await first.acquire("l", "one", 60_000);
    await first.close();
    const second = await openStore({ path, clock: { now: () => Date.now() + 10 } });
    expect(await second.get("a")).toEqual({ key: "a", value: "1", version });
    expect(await second.get("b")).toBeUndefined();
    expect(await second.increment("c", 1)).toBe(5);
    expect(await second.acquire("l", "two", 1_000)).toBe(false);
    expect(await second.put("a", "2")).toBeGreaterThan(version ?? Number.NaN);
  });
  it("commits what waits when it is closed", async () => {
    const path = join(newFolder(), "store.db");
    const store = await openStore({ path });
    const waiting = Array.from({ length: 600 }, (_, index) => store.put(`k${index}`, "1"));
    await store.close();
    expect(await Promise.all(waiting)).toHaveLength(600);
    const again = await openStore({ path });
    expect(await again.list("k")).toHaveLength(600);
  });
  it("puts writes of one moment into few transactions", async () => {
    const path = join(newFolder(), "store.db");
    const store = await openStore({ path });
    const reader = connect(path);
    const version = (): unknown => reader.prepare("PRAGMA data_version").get()?.["data_version"];
    const seen = new Set([version()]);
    const writes = Promise.all(Array.from({ length: 1_000 }, (_, index) => store.put(`k${index}`, "v")));
    for (let turn = 0; turn < 30; turn += 1) {
      await new Promise((resolve) => void setImmediate(resolve));
      seen.add(version());
    }
    await writes;
    const commits = seen.size - 1;
    expect(commits).toBeGreaterThan(0);
    expect(commits).toBeLessThanOrEqual(8);
  });
});

describe("a database that cannot be used", () => {
  const shouldFail = async (path: string, message: RegExp): Promise<void> => {
    const failure = { code: "STORE_FAILED", message: expect.stringMatching(message) };
    expect(() => openSqliteStore({ path })).toThrow(expect.objectContaining(failure) as Error);
  };
  it("of a newer schema is refused and left alone", async () => {
    const path = join(newFolder(), "store.db");
    await (await openStore({ path })).close();
    const database = connect(path);
    database.exec("PRAGMA user_version = 999");
    database.close();
    await shouldFail(path, /schema 999.*schemas up to \d+/);
    expect(connect(path).prepare("PRAGMA user_version").get()).toMatchObject({ user_version: 999 });
  });
  it("of another program is refused and left alone", async () => {
    const path = join(newFolder(), "other.db");
    const database = connect(path);
    database.exec("CREATE TABLE theirs (a)");
    database.close();
    await shouldFail(path, /another program/);
    const tables = connect(path).prepare("SELECT name FROM sqlite_schema").all();
    expect(tables.map((row) => row["name"])).toEqual(["theirs"]);
  });
  it("is no database at all", async () => {
    const path = join(newFolder(), "store.db");
    writeFileSync(path, "no database, ".repeat(1_000));
    await shouldFail(path, /not a database/);
  });
  it("of no bytes in a folder that was in use is refused, with what is gone and how to begin anew", async () => {
    const path = join(newFolder(), "store.db");
    await openSqliteStore({ path }).close();
    for (const file of [`${path}-wal`, `${path}-shm`]) rmSync(file, { force: true });
    writeFileSync(path, "");
    expect(() => openSqliteStore({ path })).toThrowError(
      expect.objectContaining({
        code: "STORE_FAILED",
        message: expect.stringMatching(/empty \(0 bytes\).*keys, changes of the catalogue and the history are gone/u),
        details: expect.objectContaining({ next: expect.stringContaining(`rm ${path}`) }),
      }),
    );
    rmSync(path);
    await (await openStore({ path })).put("a", "1");
  });
  it("without one of its tables is refused in words", async () => {
    const path = join(newFolder(), "store.db");
    await openSqliteStore({ path }).close();
    connect(path).exec("DROP TABLE leases");
    expect(() => openSqliteStore({ path })).toThrowError(
      expect.objectContaining({ code: "STORE_FAILED", message: "The database lacks the tables leases." }),
    );
  });
  it("is readable for its owner only, as all files beside it and its backups are", async () => {
    const folder = newFolder();
    const path = join(folder, "store.db");
    writeFileSync(path, "", { mode: 0o644 });
    const store = await openStore({ path });
    await store.put("a", "1");
    await backupDatabase(path, join(folder, "backup.db"));
    const modes = readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]);
    expect(modes.map(([name]) => name)).toEqual(
      expect.arrayContaining(["backup.db", "store.db", "store.db-shm", "store.db-wal", "store.db.reserve"]),
    );
    expect(modes.filter(([, mode]) => mode !== "600")).toEqual([]);
  });
  it("lies in a folder that does not exist", async () => {
    await shouldFail(join(newFolder(), "missing", "store.db"), /cannot be opened/);
  });
});

describe("migrations", () => {
  const steps = [...migrations, "CREATE TABLE added (a INTEGER) STRICT; INSERT INTO added VALUES (1)"];

  it("bring an older database to the newest schema, once, with its data", async () => {
    const path = join(newFolder(), "store.db");
    const store = await openStore({ path });
    await store.put("a", "1");
    await store.close();
    const database = connect(path);
    migrate(database, steps);
    migrate(database, steps);
    expect(database.prepare("SELECT count(*) AS n FROM added").get()).toMatchObject({ n: 1 });
    expect(database.prepare("SELECT value FROM documents").all()).toMatchObject([{ value: "1" }]);
    expect(database.prepare("PRAGMA user_version").get()).toMatchObject({ user_version: steps.length });
  });
  it("leave the database at the last good schema when a step fails", () => {
    const database = connect(join(newFolder(), "store.db"));
    const broken = [...migrations, "CREATE TABLE half (a INTEGER) STRICT; INSERT INTO nothing VALUES (1)"];
    expect(() => migrate(database, broken)).toThrow(expect.objectContaining({ code: "STORE_FAILED" }));
    expect(database.prepare("PRAGMA user_version").get()).toMatchObject({ user_version: migrations.length });
    expect(database.prepare("SELECT name FROM sqlite_schema WHERE name = 'half'").all()).toEqual([]);
    expect(database.isTransaction).toBe(false);
  });
});

describe("no room", () => {
  const megabyte = "x".repeat(1024 * 1024);

  it("fails the writes that do not fit, and only them, and goes on when there is room", async () => {
    const store = await openStore({ path: join(newFolder(), "store.db"), maxBytes: 4 * 1024 * 1024 });
    const names = ["a", "b", "c", "d", "e", "f"];
    const large = await Promise.allSettled(names.map((name) => store.put(name, megabyte)));
    const fitted = names.filter((_, index) => large[index]?.status === "fulfilled");
    const refused = large.filter((result) => result.status === "rejected");
    expect(fitted.length).toBeGreaterThan(0);
    expect(refused.length).toBeGreaterThan(1);
    for (const { reason } of refused) expect(reason).toMatchObject({ code: "STORE_FAILED" });
    expect(refused[0]?.reason.message).toMatch(/no room/);
    expect((await store.list("")).map(({ key }) => key)).toEqual(fitted);
    expect(await store.put("small", "1")).toBeGreaterThan(0);
    await store.delete(fitted[0] ?? "");
    expect(await store.put("g", megabyte)).toBeGreaterThan(0);
    expect((await store.get("g"))?.value).toBe(megabyte);
  });
});

describe("writes side by side", () => {
  it("fail alone when one of them cannot be done", async () => {
    const store = await openStore({ path: join(newFolder(), "store.db") });
    await store.increment("full", Number.MAX_SAFE_INTEGER);
    const [before, broken, after] = await Promise.allSettled([
      store.put("a", "1"),
      store.increment("full", 1),
      store.put("b", "1"),
    ]);
    expect([before.status, broken.status, after.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await store.list("")).toHaveLength(2);
  });
  it("all fail while another program holds the database, and then go on", async () => {
    const path = join(newFolder(), "store.db");
    const store = await openStore({ path });
    const other = connect(path);
    other.exec("BEGIN IMMEDIATE");
    const results = await Promise.allSettled([store.put("a", "1"), store.put("b", "1")]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    other.exec("ROLLBACK");
    expect(await store.put("a", "2")).toBeGreaterThan(0);
  });
});

describe("what has expired", () => {
  it("leaves the file in bounded steps, and the file shrinks", async () => {
    let nowMs = 0;
    const path = join(newFolder(), "store.db");
    const store = await openStore({ path, clock: { now: () => nowMs } });
    const value = "x".repeat(4_000);
    await Promise.all(Array.from({ length: 1_200 }, (_, index) => store.put(`k${index}`, value, { ttlMs: 1_000 })));
    await store.increment("c", 1, { ttlMs: 1_000 });
    await store.acquire("l", "one", 1_000);
    const reader = connect(path);
    const count = (table: string): unknown => reader.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"];
    const pages = (): unknown => reader.prepare("PRAGMA page_count").get()?.["page_count"];
    const before = Number(pages());
    nowMs = 61_000;
    const left: unknown[] = [];
    for (let write = 0; write < 5; write += 1) {
      await store.put("other", `${write}`);
      left.push(count("documents"));
    }
    expect(left).toEqual([701, 201, 1, 1, 1]);
    expect([count("counters"), count("leases")]).toEqual([0, 0]);
    nowMs += 61_000;
    await store.put("other", "more");
    expect(Number(pages())).toBeLessThan(before / 2);
  });
});

describe("backup", () => {
  it("is a whole store at one moment, made while writes go on", async () => {
    const folder = newFolder();
    const store = await openStore({ path: join(folder, "store.db") });
    for (let index = 0; index < 50; index += 1) await store.put(`old${index}`, "x".repeat(50_000));
    const stop = new AbortController();
    let written = 0;
    const writer = (async () => {
      // Two documents that always change together would differ in a torn copy.
      for (; !stop.signal.aborted; written += 1) {
        await Promise.all([store.put("left", `${written}`), store.put("right", `${written}`)]);
      }
    })();
    const target = join(folder, "backup.db");
    const report = await backupDatabase(join(folder, "store.db"), target);
    stop.abort();
    await writer;
    expect(report.bytes).toBe(statSync(target).size);
    expect(report.bytes).toBeGreaterThan(50 * 50_000);
    expect(written).toBeGreaterThan(0);
    const copy = await openStore({ path: target });
    expect(await copy.list("old")).toHaveLength(50);
    expect((await copy.get("left"))?.value).toBe((await copy.get("right"))?.value);
    expect(readdirSync(folder).filter((name) => name.includes("partial"))).toEqual([]);
  });
  it("has what was acknowledged before it", async () => {
    const folder = newFolder();
    const store = await openStore({ path: join(folder, "store.db") });
    await store.put("a", "1");
    await backupDatabase(join(folder, "store.db"), join(folder, "backup.db"));
    await store.close();
    const copy = await openStore({ path: join(folder, "backup.db") });
    expect((await copy.get("a"))?.value).toBe("1");
    expect(await copy.put("b", "2")).toBeGreaterThan(0);
  });
  it("never replaces a file, and leaves nothing behind when it fails", async () => {
    const folder = newFolder();
    await openStore({ path: join(folder, "store.db") });
    writeFileSync(join(folder, "precious"), "mine");
    await expect(backupDatabase(join(folder, "store.db"), join(folder, "precious"))).rejects.toMatchObject({
      code: "REQUEST_INVALID",
    });
    expect(statSync(join(folder, "precious")).size).toBe(4);
    await expect(backupDatabase(join(folder, "store.db"), join(folder, "missing", "b.db"))).rejects.toMatchObject({
      code: "STORE_FAILED",
    });
    expect(existsSync(join(folder, "missing"))).toBe(false);
    expect(readdirSync(folder).toSorted()).toEqual([
      "precious",
      "store.db",
      "store.db-shm",
      "store.db-wal",
      "store.db.reserve",
    ]);
  });
});
