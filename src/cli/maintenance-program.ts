import type { Command } from "commander";
import { type CliIo, exitCodes, type Running, type ServiceOptions } from "./cli-io.ts";
import { addNoun, itemAction, sendAndWrite, writeList } from "./noun.ts";

/** Adds `maintenance`. */
export function addMaintenance(program: Command, running: Running): void {
  const help = ["maintenance list", "maintenance add people --to $(date -ud '+2 hours' +%FT%TZ) --reason 'new disks'"];
  const about = "times in which an endpoint's probes do not count";
  const command = addNoun(program, "maintenance", { about, help });
  command("list [endpoint]", "those under way and planned").option("--json", "as JSON").action(running(listWindows));
  command("add <endpoint>", "plan one")
    .requiredOption("--to <moment>", "its end, ISO 8601 with time zone")
    .option("--from <moment>", "its beginning (now)")
    .option("--reason <text>", "shown with it")
    .action(running(addWindow));
  command("remove <window>", "call one off").action(running(itemAction("DELETE", "maintenance")));
}

type Window = Readonly<Record<"id" | "endpoint" | "from" | "to", string>> & { readonly reason?: string };

const columns = {
  window: ({ id }: Window) => id,
  endpoint: ({ endpoint }: Window) => endpoint,
  from: ({ from }: Window) => from,
  to: ({ to }: Window) => to,
  reason: ({ reason }: Window) => reason,
};

const pathOf = (endpoint: string): string => `endpoints/${encodeURIComponent(endpoint)}/maintenance`;

async function listWindows(io: CliIo, endpoint: string | undefined, options: ServiceOptions): Promise<number> {
  const path = endpoint === undefined ? "maintenance" : pathOf(endpoint);
  await writeList(io, options, { path, field: "maintenance", columns });
  return exitCodes.ok;
}

type AddOptions = ServiceOptions & Readonly<Record<"from" | "to" | "reason", string | undefined>>;

const addWindow = (io: CliIo, endpoint: string, { url, from, to, reason }: AddOptions): Promise<number> =>
  sendAndWrite(io, { url, path: pathOf(endpoint), body: { from, to, reason } });
