import { Readable } from "node:stream";
import { type Command, Option } from "commander";
import { parsedJson } from "../json.ts";
import type { ListedRuns } from "../query/run-list.ts";
import type { RunRecord } from "../query/run-log.ts";
import { tableLines } from "./answer-table.ts";
import { type CliIo, examples, exitCodes, httpUrl, milliseconds, type Running, wholeNumber } from "./cli-io.ts";
import { pour, write } from "./output.ts";
import { type AskedOfService, askService } from "./runner.ts";

interface ServiceOptions {
  readonly url?: string;
  readonly json?: boolean;
}

const ask = (io: CliIo, { url, method = "GET", ...asked }: ServiceOptions & AskedOfService): Promise<Response> =>
  askService(io, url, { method, ...asked });

const widthOf = ({ stdout }: CliIo): number =>
  "columns" in stdout && typeof stdout.columns === "number" ? stdout.columns : Number.POSITIVE_INFINITY;

type Row = readonly (string | undefined)[];

const cell = (text = ""): string => text.replaceAll(/\s+/g, " ");

/** Rows as aligned columns, lines cut to the width of the terminal. */
async function writeTable(io: CliIo, rows: readonly Row[]): Promise<number> {
  const text = rows.map((row) => row.map(cell).join("\t")).join("\n");
  const width = widthOf(io);
  async function* lines() {
    for await (const line of tableLines(Buffer.from(text))) {
      yield line.length > width
        ? `${Array.from(line)
            .slice(0, width - 1)
            .join("")}…\n`
        : line;
    }
  }
  await pour(Readable.from(lines()), io.stdout);
  return exitCodes.ok;
}

async function writeJson(io: CliIo, answer: Response): Promise<number> {
  await write(io.stdout, `${JSON.stringify(parsedJson(await answer.text()), undefined, 2)}\n`);
  return exitCodes.ok;
}

interface RunsOptions extends ServiceOptions {
  readonly status?: string;
  readonly endpoint?: string;
  readonly client?: string;
  readonly minMs?: number;
  readonly since?: string;
  readonly limit?: number;
  readonly longest?: boolean;
}

const heads = ["run", "status", "elapsed", "what", "client", "endpoints", "query"];

const runRow = ({ id, status, elapsedMs, plan, call, client, sources, asked, queryHash }: RunRecord): Row => {
  const endpoints = sources.map(({ endpoint }) => endpoint).join(",");
  return [id, status, `${elapsedMs ?? "?"} ms`, call ?? plan, client, endpoints, asked?.query ?? queryHash];
};

async function runList(io: CliIo, { url, json, longest, ...filter }: RunsOptions): Promise<number> {
  const search = new URLSearchParams(longest ? { order: "longest" } : {});
  for (const [name, value] of Object.entries(filter)) search.set(name, String(value));
  const answer = await ask(io, { ...(url && { url }), path: `runs?${search.toString()}` });
  if (json) return writeJson(io, answer);
  const { runs = [], next } = (parsedJson(await answer.text()) ?? {}) as Partial<ListedRuns>;
  await writeTable(io, [heads, ...runs.map(runRow)]);
  if (next !== undefined) await write(io.stderr, "There are more: name a filter, or a larger --limit.\n");
  return exitCodes.ok;
}

const pathOf = (id: string): string => `runs/${encodeURIComponent(id)}`;

const runShow = async (io: CliIo, id: string, options: ServiceOptions): Promise<number> =>
  writeJson(io, await ask(io, { ...options, path: pathOf(id) }));

async function runCancel(io: CliIo, id: string, options: ServiceOptions): Promise<number> {
  const { status } = await ask(io, { ...options, method: "DELETE", path: pathOf(id) });
  await write(io.stdout, status === 202 ? "asked to end; not seen to yet\n" : "cancelled\n");
  return exitCodes.ok;
}

const atUrl = (command: Command): Command => command.option("--url <url>", "ask this running service", httpUrl);

/** Adds `runs`. */
export function addRuns(program: Command, running: Running): void {
  const help = examples("runs list --status running --longest", "runs show 1f-...", "runs cancel 1f-...");
  const runs = program
    .command("runs")
    .description("running and recent queries")
    .addHelpText("after", () => help);
  const statuses = ["running", "ok", "empty", "partial", "failed", "cancelled"];
  atUrl(runs.command("list").description("list them, newest first; with the admin token those of all clients"))
    .addOption(new Option("--status <status>", "only those").choices(statuses))
    .option("-e, --endpoint <id>", "only those that ask this endpoint")
    .option("--client <name>", "only those of this client's key")
    .option("--min-ms <ms>", "only those that take at least so long", milliseconds)
    .option("--since <moment>", "only those that began then or later (ISO 8601)")
    .option("--longest", "the longest first")
    .option("-n, --limit <number>", "most runs, up to 100 (50)", wholeNumber)
    .option("--json", "as JSON")
    .action(running(runList));
  atUrl(runs.command("show").description("the record of a run, as JSON").argument("<run>", "id")).action(
    running(runShow),
  );
  atUrl(
    runs.command("cancel").description("end a run; its client gets the error CANCELLED").argument("<run>", "id"),
  ).action(running(runCancel));
}

type Window = Readonly<Record<"id" | "endpoint" | "from" | "to", string>> & { readonly reason?: string };

async function listWindows(io: CliIo, endpoint: string | undefined, options: ServiceOptions): Promise<number> {
  const path = endpoint === undefined ? "maintenance" : `endpoints/${encodeURIComponent(endpoint)}/maintenance`;
  const answer = await ask(io, { ...options, path });
  if (options.json) return writeJson(io, answer);
  const { maintenance = [] } = (parsedJson(await answer.text()) ?? {}) as { readonly maintenance?: readonly Window[] };
  const rows = maintenance.map(({ id, endpoint: of, from, to, reason }) => [id, of, from, to, reason]);
  return writeTable(io, [["window", "endpoint", "from", "to", "reason"], ...rows]);
}

interface AddOptions extends ServiceOptions {
  readonly from?: string;
  readonly to: string;
  readonly reason?: string;
}

async function addWindow(io: CliIo, endpoint: string, { from, to, reason, ...options }: AddOptions): Promise<number> {
  const body = { to, ...(from !== undefined && { from }), ...(reason !== undefined && { reason }) };
  const path = `endpoints/${encodeURIComponent(endpoint)}/maintenance`;
  return writeJson(io, await ask(io, { ...options, method: "POST", path, body }));
}

async function removeWindow(io: CliIo, id: string, options: ServiceOptions): Promise<number> {
  await ask(io, { ...options, method: "DELETE", path: `maintenance/${encodeURIComponent(id)}` });
  await write(io.stdout, "removed\n");
  return exitCodes.ok;
}

/** Adds `maintenance`. */
export function addMaintenance(program: Command, running: Running): void {
  const help = examples(
    "maintenance list",
    "maintenance add people --to $(date -ud '+2 hours' +%FT%TZ) --reason 'new disks'",
  );
  const noun = program
    .command("maintenance")
    .description("times in which an endpoint's probes do not count")
    .addHelpText("after", () => help);
  atUrl(noun.command("list").description("those under way and planned").argument("[endpoint]", "id"))
    .option("--json", "as JSON")
    .action(running(listWindows));
  atUrl(noun.command("add").description("plan one").argument("<endpoint>", "id"))
    .requiredOption("--to <moment>", "its end, ISO 8601 with time zone")
    .option("--from <moment>", "its beginning (now)")
    .option("--reason <text>", "shown with it")
    .action(running(addWindow));
  atUrl(noun.command("remove").description("call one off").argument("<window>", "id")).action(running(removeWindow));
}
