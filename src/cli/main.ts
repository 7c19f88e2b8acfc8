#!/usr/bin/env node
import { configReference, loadConfig } from "../config/load-config.ts";
import { packageVersion } from "../config/version.ts";
import type { CliIo } from "./cli-io.ts";
import { runCli } from "./program.ts";

/** First signal: end in order. The second one ends the process at once, by the default of the platform. */
function interruption(): AbortSignal {
  const aborter = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => aborter.abort());
  return aborter.signal;
}

const io: CliIo = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  fetch,
  version: packageVersion(),
  reference: configReference,
  interrupted: interruption(),
  openApp: async (overrides) => {
    const { createApp } = await import("../app.ts");
    return createApp(loadConfig({ ...process.env, ...overrides }));
  },
};

// A reader that closes the pipe (`| head`) has what it wanted.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

process.exitCode = await runCli(process.argv.slice(2), io);
