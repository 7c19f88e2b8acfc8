import { setTimeout as sleep } from "node:timers/promises";
import type { App } from "./app.ts";
import { type Config, loadConfig } from "./config/config.ts";
import { toFedwayError } from "./errors/fedway-error.ts";
import { visible } from "./html.ts";

let app: App | undefined;
/** When the service was asked to stop, on the clock of `performance`. */
let stoppingSinceMs: number | undefined;

/** Between two attempts of a worker to start whose store does not answer. */
const retryMs = 2_000;

/** Ctrl-C comes twice under npm: from the terminal, and handed on by npm. */
const sameSignalMs = 1_000;

/** Runs the service until SIGINT or SIGTERM; a later one, or one before there is a service, ends it at once. */
async function main(): Promise<void> {
  // Before all else is loaded: the first process of a container is not ended by a signal that it does not handle.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
  const { app: opened, url } = await start(loadConfig(process.env));
  process.stderr.write(opened.startMessage(url));
}

/** A worker has no clients waiting, and its jobs wait for the store as well: until that answers, it waits too. */
async function start(config: Config): Promise<{ readonly app: App; readonly url: string }> {
  const { createApp } = await import("./app.ts");
  for (let attempt = 1; ; attempt++) {
    try {
      app = await createApp(config);
      return { app, url: await app.listen() };
    } catch (error) {
      const { code, message } = toFedwayError(error);
      const isLate = code === "STORE_FAILED" && config.role === "worker" && config.redisUrl !== undefined;
      if (!isLate || stoppingSinceMs !== undefined) throw error;
      app = undefined;
      if (attempt === 1) process.stderr.write(`fedway: ${message} This worker starts when it answers.\n`);
      await sleep(retryMs);
    }
  }
}

/** SIGTERM comes from what has others to send clients to; Ctrl-C from somebody who waits. */
function stop(signal: NodeJS.Signals): void {
  const nowMs = performance.now();
  if (stoppingSinceMs !== undefined) {
    if (nowMs - stoppingSinceMs < sameSignalMs) return;
    process.exit(1);
  }
  stoppingSinceMs = nowMs;
  // What a process leaves behind that has not begun to work is what a killed one leaves.
  if (app === undefined) process.exit(0);
  app.close({ drain: signal === "SIGTERM" }).then(() => process.exit(0), fail);
}

function fail(thrown: unknown): never {
  const error = toFedwayError(thrown);
  const { cause } = error;
  const lines = [`fedway: ${error.code}: ${error.message}`, error.details.next];
  if (cause instanceof Error) lines.push(error.code === "INTERNAL" ? cause.stack : `Cause: ${cause.message}`);
  process.stderr.write(`${visible(lines.filter((line) => line !== undefined).join("\n"))}\n`);
  process.exit(1);
}

try {
  await main();
} catch (error) {
  // A start that was broken off ends with the service.
  if (stoppingSinceMs === undefined) fail(error);
}
