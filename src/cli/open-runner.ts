import { FedwayError } from "../errors/fedway-error.ts";
import type { CliIo } from "./cli-io.ts";
import { createLocalRunner } from "./local-runner.ts";
import { oneLine, write } from "./output.ts";
import { createRemoteRunner } from "./remote-runner.ts";
import type { Runner } from "./runner.ts";

/**
 * The URL of the service that is meant: the one that was named, else the running one that holds the data folder; undefined
 * when nobody does, so that this process may. @throws FedwayError `STORE_HELD` when it is held by one that answers nowhere
 */
export async function chooseService(io: CliIo, url: string | undefined): Promise<string | undefined> {
  if (url !== undefined) return url;
  const holder = await io.folderHolder();
  if (holder === undefined) return undefined;
  if (holder.url === undefined || !isHttp(holder.url)) throw held(holder.pid);
  const running = oneLine(holder.url);
  await write(
    io.stderr,
    `note: a running service holds the data folder; it answers at ${running}, with its settings\n`,
  );
  return holder.url;
}

/** The service at `url` or the running one, else this process. @throws FedwayError `STORE_HELD` */
export async function openRunner(io: CliIo, url: string | undefined): Promise<Runner> {
  const service = await chooseService(io, url);
  if (service !== undefined) return createRemoteRunner(service, io.fetch);
  // Standard output belongs to the answer, so the service inside writes no log.
  return createLocalRunner(await io.openApp({ FEDWAY_LOG_LEVEL: "silent" }));
}

const isHttp = (url: string): boolean => /^https?:$/.test(URL.parse(url)?.protocol ?? "");

function held(pid: number | undefined): FedwayError {
  const who = pid === undefined ? "Another process" : `Process ${pid}`;
  return new FedwayError("STORE_HELD", `${who} holds the data folder and has not said where it answers.`, {
    next: "Try again when it has started, name a service with --url, or choose another folder with FEDWAY_DATA_DIR.",
  });
}
