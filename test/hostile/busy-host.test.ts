import { execFileSync } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { startBuiltService } from "../support/built-program.ts";
import { startBusyLoops } from "../support/busy-host.ts";
import { evaluatorsOf } from "../support/child-processes.ts";
import { until } from "../support/eventually.ts";
import { newFolder } from "../support/scratch-folder.ts";

// A processor on which eight processes compute beside the service: evaluators wait for it, at their start, idle and at
// work, and none of them is ended for it.

const LOOPS = 8;
const MOST_SECONDS = 240;
/** Longer than the 10 s of silence for which an evaluator was once ended. */
const STARVED_SECONDS = 15;
const federated = "SELECT * { SERVICE <people> { ?s a ?type } SERVICE <places> { ?place a ?other } } LIMIT 3";

async function ask(url: string): Promise<{ readonly status: number; readonly retryAfter: string | null }> {
  const response = await fetch(`${url}/sparql`, { method: "POST", body: new URLSearchParams({ query: federated }) });
  await response.text();
  return { status: response.status, retryAfter: response.headers.get("retry-after") };
}

test("no evaluator is ended for what the host keeps from it", { timeout: 600_000 }, async () => {
  const loops = startBusyLoops(LOOPS, MOST_SECONDS);
  const folder = newFolder();
  const service = await startBuiltService(
    { FEDWAY_DATA_DIR: join(folder, "data"), FEDWAY_TIMEOUT_MS: "20000" },
    `exec taskset --cpu-list 0 "$@"`,
  );
  const pid = service.process.pid ?? 0;
  const ends = async (): Promise<readonly string[]> =>
    (await (await fetch(`${service.url}/metrics`)).text())
      .split("\n")
      .filter((line) => line.startsWith("fedway_evaluator_ends_total") && !line.endsWith(" 0"));
  try {
    const outcomes: Awaited<ReturnType<typeof ask>>[] = [];
    await until(async () => outcomes[outcomes.push(await ask(service.url)) - 1]?.status === 200);
    const [killed, ...starved] = evaluatorsOf(pid);
    process.kill(killed ?? 0, "SIGKILL");
    // These get what eight loops leave: nothing.
    for (const each of starved) execFileSync("chrt", ["--idle", "--all-tasks", "--pid", "0", String(each)]);
    const over = performance.now() + STARVED_SECONDS * 1_000;
    while (performance.now() < over) {
      outcomes.push(await ask(service.url));
      await sleep(500);
    }
    process.stdout.write(`${outcomes.map(({ status }) => status).join(" ")}\n`);
    expect(await ends()).toEqual(['fedway_evaluator_ends_total{reason="killed"} 1']);
    expect(evaluatorsOf(pid)).toEqual(expect.arrayContaining([...starved]));
    for (const { status, retryAfter } of outcomes) {
      expect([200, 503, 504]).toContain(status);
      if (status === 503) expect(retryAfter).toMatch(/^\d+$/u);
    }
    await loops.stop();
    await until(async () => (await ask(service.url)).status === 200);
  } finally {
    await loops.stop();
    await service.stop();
    await rm(folder, { recursive: true });
  }
});
