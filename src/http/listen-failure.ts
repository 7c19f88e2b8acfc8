import { FedwayError } from "../errors/fedway-error.ts";

/** Why a server cannot listen, by the system's code. */
const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "another process listens there",
  EACCES: "the account of this process may not",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "there is no host of that name",
};

/** Where a server is to listen, and the setting that says so. */
interface Place {
  readonly host: string;
  readonly port: number;
  readonly setting: "PORT" | "FEDWAY_METRICS_PORT";
}

/** The failure to listen at a place as `CONFIG_INVALID`; anything else as it is. */
export function listenFailure(thrown: unknown, { host, port, setting }: Place): unknown {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  const reason = reasons[code];
  if (reason === undefined) return thrown;
  return new FedwayError("CONFIG_INVALID", `The service cannot listen at ${host}:${port}: ${reason}.`, {
    next: `Choose another HOST or ${setting}, or stop what listens there.`,
    cause: thrown,
  });
}
