import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { newFolder } from "../support/scratch-folder.ts";

const rounds = 50;
/** Writers at work at once, each on a database of its own. */
const lanes = 2;

/** What a writer has acknowledged, over all rounds of its database. */
interface Acknowledged {
  readonly documents: Map<string, { readonly order: number; readonly value: string }>;
  count: number;
}

/** Lets a writer work for some milliseconds after its first acknowledgement, then kills it; resolves to its lines. */
async function killedWriter(path: string, round: number, afterMs: number): Promise<readonly string[]> {
  const program = new URL("kill-writer.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [program, path, `${round}`], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const ended = once(child, "close");
  await Promise.race([once(child.stdout, "data"), ended]);
  await sleep(afterMs);
  child.kill("SIGKILL");
  const [code, signal] = await ended;
  expect([code, signal]).toEqual([null, "SIGKILL"]);
  // The last line may have been cut off; then it was not acknowledged.
  return output.split("\n").slice(0, -1);
}

/** Where a value stands among those of its key, which begin with round and step; NaN for anything else. */
function orderOf(value: string): number {
  const [round = "", step = ""] = value.split("-");
  return Number.parseInt(round, 10) * 1e9 + Number.parseInt(step, 10);
}

function note(acknowledged: Acknowledged, line: string): void {
  const [kind, first = "", second = ""] = line.split(" ");
  if (kind === "put") {
    acknowledged.documents.set(first, { order: orderOf(second), value: second });
  } else {
    acknowledged.count = Math.max(acknowledged.count, Number(first));
  }
}

/** Everything acknowledged is there; what is newer than acknowledged was written and not yet reported. */
async function shouldHoldAll(path: string, acknowledged: Acknowledged): Promise<void> {
  const store = openSqliteStore({ path });
  try {
    for (const [key, { order, value }] of acknowledged.documents) {
      const held = (await store.get(key))?.value ?? "";
      if (held !== value) expect(orderOf(held), key).toBeGreaterThan(order);
    }
    expect(await store.increment("count", 0)).toBeGreaterThanOrEqual(acknowledged.count);
  } finally {
    await store.close();
  }
}

async function lane(path: string, numbers: readonly number[]): Promise<readonly number[]> {
  const acknowledged: Acknowledged = { documents: new Map(), count: 0 };
  const writes: number[] = [];
  for (const round of numbers) {
    const lines = await killedWriter(path, round, Math.random() * 40);
    for (const line of lines) note(acknowledged, line);
    writes.push(lines.length);
    await shouldHoldAll(path, acknowledged);
  }
  return writes;
}

describe("a writer that is killed", () => {
  it(`loses no acknowledged write, ${rounds} times`, async () => {
    const folder = newFolder();
    const each = Array.from({ length: lanes }, (_, index) =>
      lane(
        join(folder, `store-${index}.db`),
        Array.from({ length: rounds / lanes }, (__, round) => round + 1),
      ),
    );
    const writes = (await Promise.all(each)).flat();
    expect(writes).toHaveLength(rounds);
    expect(Math.min(...writes)).toBeGreaterThan(0);
    console.info(`${rounds} kills, ${writes.reduce((sum, count) => sum + count, 0)} acknowledged writes`);
  });
});
