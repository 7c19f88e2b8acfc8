import { writeSync } from "node:fs";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";

// Writes without end into the database named on the command line, and says on stdout what was acknowledged:
// `put KEY VALUE`, `count SUM`. It waits for to be killed.
const [path = "", round = ""] = process.argv.slice(2);
const store = openSqliteStore({ path });

async function writer(name: string): Promise<never> {
  for (let step = 1; ; step += 1) {
    const key = `${name}/${step % 7}`;
    const value = `${round}-${step}-${"x".repeat((step * 37) % 3_000)}`;
    await store.put(key, value);
    writeSync(1, `put ${key} ${value}\n`);
    writeSync(1, `count ${await store.increment("count", 1)}\n`);
  }
}

await Promise.all(["a", "b", "c", "d"].map(writer));
