import { FedwayError } from "../errors/fedway-error.ts";
import type { CliIo } from "./cli-io.ts";
import { createLocalRunner } from "./local-runner.ts";
import { oneLine, write } from "./output.ts";
import { createRemoteRunner } from "./remote-runner.ts";
import type { Runner } from "./runner.ts";

/**
 * The service at `url`; without one the running service that holds the data folder, and this process when nobody does.
 * @throws FedwayError `STORE_HELD` when the folder is held by a process that answers nowhere
 */
export async function openRunner(io: CliIo, url: string | undefined): Promise<Runner> {
  if (url !== undefined) return createRemoteRunner(url, io.fetch);
  const holder = await io.folderHolder();
  // Standard output belongs to the answer, so the service inside writes no log.
  if (holder === undefined) return createLocalRunner(await io.openApp({ FEDWAY_LOG_LEVEL: "silent" }));
  if (holder.url === undefined || !isHttp(holder.url)) throw held(holder.pid);
  const running = oneLine(holder.url);
  await write(
    io.stderr,
    `note: a running service holds the data folder; it answers at ${running}, with its settings\n`,
  );
  return createRemoteRunner(holder.url, io.fetch);
}

const isHttp = (url: string): boolean => /^https?:$/.test(URL.parse(url)?.protocol ?? "");

function held(pid: number | undefined): FedwayError {
  const who = pid === undefined ? "Another process" : `Process ${pid}`;
  return new FedwayError("STORE_HELD", `${who} holds the data folder and has not said where it answers.`, {
    next: "Try again when it has started, name a service with --url, or choose another folder with FEDWAY_DATA_DIR.",
  });
}
