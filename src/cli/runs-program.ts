import { type Command, Option } from "commander";
import type { RunRecord } from "../query/run-log.ts";
import { type CliIo, exitCodes, milliseconds, type Running, wholeNumber, type ServiceOptions } from "./cli-io.ts";
import { addNoun, listAction, showAction } from "./noun.ts";
import { runView } from "../views/run-view.ts";
import { write } from "./output.ts";
import { searchOf, withService } from "./service.ts";

/** Adds `runs`. */
export function addRuns(program: Command, running: Running): void {
  const help = ["runs list --status running --longest", "runs show 1f-...", "runs cancel 1f-..."];
  const command = addNoun(program, "runs", { about: "running and recent queries", help });
  const statuses = ["running", "ok", "empty", "partial", "failed", "cancelled"];
  command("list", "list them, newest first; with the admin token those of all clients")
    .addOption(new Option("--status <status>", "only those").choices(statuses))
    .option("-e, --endpoint <id>", "only those that ask this endpoint")
    .option("--client <name>", "only those of this client's key")
    .option("--min-ms <ms>", "only those that take at least so long", milliseconds)
    .option("--since <moment>", "only those that began then or later (ISO 8601)")
    .option("--longest", "the longest first")
    .option("-n, --limit <number>", "most runs, up to 100 (50)", wholeNumber)
    .option("--json", "as JSON")
    .action(running(listRuns));
  command("show <run>", "how a run went")
    .option("--json", "its record as JSON")
    .action(running(showAction("runs", (record) => (isRun(record) ? runView(record) : { title: "No run." }))));
  command("cancel <run>", "end a run; its client gets the error CANCELLED").action(running(cancelRun));
}

interface RunsOptions extends ServiceOptions {
  readonly longest?: boolean;
}

const isRun = (value: object): value is RunRecord => "sources" in value && "notes" in value;

const columns = {
  run: ({ id }: RunRecord) => id,
  status: ({ status }: RunRecord) => status,
  elapsed: ({ elapsedMs }: RunRecord) => `${elapsedMs ?? "?"} ms`,
  what: ({ call, plan }: RunRecord) => call ?? plan,
  client: ({ client }: RunRecord) => client,
  endpoints: ({ sources }: RunRecord) => sources.map(({ endpoint }) => endpoint).join(","),
  query: ({ asked, queryHash }: RunRecord) => asked?.query ?? queryHash?.slice(0, 12),
};

async function listRuns(io: CliIo, { url, json, longest, ...filter }: RunsOptions): Promise<number> {
  const search = searchOf({ ...filter, order: longest ? "longest" : undefined });
  const service = { ...(url && { url }), ...(json && { json }) };
  return listAction({ path: `runs${search}`, field: "runs", columns })(io, service);
}

async function cancelRun(io: CliIo, id: string, { url }: ServiceOptions): Promise<number> {
  const path = `/api/runs/${encodeURIComponent(id)}`;
  const { status } = await withService(io, { url }, (service) => service.ask(path, { method: "DELETE" }));
  await write(io.stdout, status === 202 ? "asked to end; not seen to yet\n" : "cancelled\n");
  return exitCodes.ok;
}
