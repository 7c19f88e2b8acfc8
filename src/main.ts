import type { App } from "./app.ts";
import { loadConfig } from "./config/config.ts";
import { toFedwayError } from "./errors/fedway-error.ts";

let app: App | undefined;
/** When the service was told to stop, on the clock of `performance`. */
let stoppingSinceMs: number | undefined;

/** Ctrl-C comes twice under npm: from the terminal, and handed on by npm. */
const sameSignalMs = 1_000;

/** Runs the service until SIGINT or SIGTERM; a later one, or one before there is a service, ends it at once. */
async function main(): Promise<void> {
  // Before all else is loaded: the first process of a container is not ended by a signal that it does not handle.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
  const { createApp } = await import("./app.ts");
  app = await createApp(loadConfig(process.env));
  const url = await app.listen();
  process.stderr.write(app.startMessage(url));
}

function stop(): void {
  const nowMs = performance.now();
  if (stoppingSinceMs !== undefined) {
    if (nowMs - stoppingSinceMs < sameSignalMs) return;
    process.exit(1);
  }
  stoppingSinceMs = nowMs;
  // What a process leaves behind that has not begun to work is what a killed one leaves.
  if (app === undefined) process.exit(0);
  app.close().then(() => process.exit(0), fail);
}

function fail(thrown: unknown): never {
  const error = toFedwayError(thrown);
  const { cause } = error;
  const lines = [`fedway: ${error.code}: ${error.message}`, error.details.next];
  if (cause instanceof Error) lines.push(error.code === "INTERNAL" ? cause.stack : `Cause: ${cause.message}`);
  process.stderr.write(`${lines.filter((line) => line !== undefined).join("\n")}\n`);
  process.exit(1);
}

try {
  await main();
} catch (error) {
  // A start that was broken off ends with the service.
  if (stoppingSinceMs === undefined) fail(error);
}
