import { createApp } from "./app.ts";
import { loadConfig } from "./config/load-config.ts";
import { toFedwayError } from "./errors/fedway-error.ts";

/** Runs the service until SIGINT or SIGTERM; a second signal ends it at once. */
async function main(): Promise<void> {
  const config = loadConfig(process.env);
  const app = await createApp(config);
  const url = await app.listen();
  process.stderr.write(`Fedway listens at ${url} with ${app.catalog.entries.length} endpoints; see ${url}/docs\n`);
  const stop = () => {
    app.close().then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    );
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop);
}

function fail(thrown: unknown): never {
  const error = toFedwayError(thrown);
  process.stderr.write(`fedway: ${error.code}: ${error.message}\n${error.details.next ?? ""}\n`);
  if (error.code === "INTERNAL" && error.cause instanceof Error) process.stderr.write(`${error.cause.stack}\n`);
  process.exit(1);
}

try {
  await main();
} catch (error) {
  fail(error);
}
