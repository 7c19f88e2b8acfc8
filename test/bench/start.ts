import { rm } from "node:fs/promises";
import { freePort } from "../support/listening.ts";
import { startProgram } from "../support/built-program.ts";
import { newFolder } from "../support/scratch-folder.ts";
import { type Measure, median, printTable, writeReport } from "./proxy/report.ts";

/**
 * From `npm start` to the first good answer of `/health/ready`, and the memory then: with nothing built, and with an
 * unchanged tree. @throws Error when it does not start
 */
export async function runStartBench({ quick }: { readonly quick: boolean }): Promise<void> {
  const dist = new URL("../../dist/", import.meta.url);
  const rounds = quick ? 1 : 3;
  const measures: Measure[] = [];
  for (const [name, prepare] of [
    ["nothing built yet", () => rm(dist, { recursive: true, force: true })],
    ["unchanged tree", async () => {}],
  ] as const) {
    const starts: Started[] = [];
    for (let round = 0; round < rounds; round++) {
      await prepare();
      starts.push(await start());
    }
    const add = (what: string, unit: string, of: (each: Started) => number): void => {
      measures.push({ name: `${name}: ${what}`, fedway: "", value: median(starts.map(of)), unit });
    };
    add("first words", "s", ({ firstMs }) => firstMs / 1000);
    add("ready", "s", ({ readyMs }) => readyMs / 1000);
    add("memory when ready", "MB", ({ memoryMb }) => memoryMb);
  }
  printTable(measures);
  process.stdout.write(`\nwritten to ${await writeReport("start", { node: process.version, measures })}\n`);
}

interface Started {
  /** To the first words of our own. */
  readonly firstMs: number;
  readonly readyMs: number;
  readonly memoryMb: number;
}

async function start(): Promise<Started> {
  const port = await freePort();
  const beganMs = performance.now();
  const program = startProgram(["npm", "start"], {
    PORT: String(port),
    FEDWAY_DATA_DIR: newFolder(),
    FEDWAY_MONITOR: "off",
    FEDWAY_FACTS: "off",
    FEDWAY_LOG_LEVEL: "warn",
  });
  try {
    await program.until(() => /Fedway/.test(program.log()) || undefined);
    const firstMs = performance.now() - beganMs;
    const url = `http://127.0.0.1:${port}`;
    await program.until(async () => (await fetch(`${url}/health/ready`).catch(() => undefined))?.ok || undefined);
    const readyMs = performance.now() - beganMs;
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const bytes = Number(/^process_resident_memory_bytes\S* (\S+)$/m.exec(metrics)?.[1]);
    return { firstMs, readyMs, memoryMb: bytes / 1e6 };
  } finally {
    await program.stop();
  }
}
