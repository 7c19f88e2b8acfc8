import type { Command } from "commander";
import { parsedJson } from "../json.ts";
import { readCollection } from "../watch/read-collection.ts";
import { type CliIo, examples, exitCodes, httpUrl, type Running, UsageError, wholeNumber } from "./cli-io.ts";
import { oneLine, write } from "./output.ts";
import { checked, post } from "./remote-runner.ts";
import { chooseService } from "./runner.ts";

interface WatchCommandOptions {
  readonly json?: boolean;
  readonly url?: string;
  readonly endpoint?: string;
  readonly federation?: string;
  readonly every?: number;
}

/** @throws UsageError, FedwayError `STORE_HELD` */
async function serviceOf(io: CliIo, { url }: WatchCommandOptions): Promise<string> {
  const service = await chooseService(io, url);
  if (service !== undefined) return service;
  throw new UsageError("no service runs: start one with fedway serve, or name one with --url");
}

interface Asked {
  readonly method: string;
  readonly path?: string;
  readonly body?: object;
}

/** Sends a request about watches to a service. @throws RemoteProblem, FedwayError */
async function ask(io: CliIo, service: string, { path = "", ...asked }: Asked): Promise<unknown> {
  const token = await io.adminToken(service);
  const response = await checked(await post(io, `${service}/api/watches${path}`, { ...asked, token }));
  return parsedJson(await response.text());
}

async function print(io: CliIo, value: unknown): Promise<number> {
  if (value !== undefined) await write(io.stdout, `${JSON.stringify(value, undefined, 2)}\n`);
  return exitCodes.ok;
}

const fieldOf = (value: unknown, name: string): unknown =>
  Object.entries(value ?? {}).find(([key]) => key === name)?.[1];

async function runList(io: CliIo, options: WatchCommandOptions): Promise<number> {
  const found = await ask(io, await serviceOf(io, options), { method: "GET" });
  if (options.json) return print(io, found);
  for (const watch of Object.values(fieldOf(found, "watches") ?? {})) {
    const summaries = Object.values(fieldOf(watch, "drifts") ?? {}).map((drift) => fieldOf(drift, "summary"));
    const line = [`${String(fieldOf(watch, "id"))} (${String(fieldOf(watch, "state"))})`, ...summaries].join(" ");
    await write(io.stdout, `${oneLine(line)}\n`);
  }
  return exitCodes.ok;
}

async function runAdd(io: CliIo, paths: readonly string[], options: WatchCommandOptions): Promise<number> {
  const { endpoint, federation, every: everyMinutes } = options;
  const given = { ...(endpoint && { endpoint }), ...(federation && { federation }), everyMinutes };
  const service = await serviceOf(io, options);
  let isWhole = true;
  for (const path of paths) {
    const { queries, problems } = await readCollection(path, service);
    for (const { id, ...query } of queries) {
      await ask(io, service, { method: "PUT", path: `/${id}`, body: { ...query, ...given } });
      await write(io.stdout, `${id}\n`);
    }
    for (const { file, reason } of problems) await write(io.stderr, `${oneLine(`${file}: ${reason}`)}\n`);
    isWhole &&= problems.length === 0 && queries.length > 0;
  }
  return isWhole ? exitCodes.ok : exitCodes.failed;
}

const acts = [
  ["show", "show a watched query as JSON", "GET", ""],
  ["run", "run a watched query now, as a job", "POST", "/run"],
  ["accept", "make its latest answer the normal one", "POST", "/accept"],
  ["remove", "watch a query no longer", "DELETE", ""],
] as const;

/** Adds `watches`. */
export function addWatches(program: Command, running: Running): void {
  const watches = program
    .command("watches")
    .description("queries that the service runs on a schedule, to see when their answers change")
    .addHelpText("after", () =>
      examples("watches add ./queries --endpoint people", "watches list", "watches accept by-birth"),
    );
  const command = (name: string, description: string): Command =>
    watches.command(name).description(description).option("--url <url>", "ask this running service", httpUrl);
  command("list", "id, state and what changed, a line each").option("--json", "as JSON").action(running(runList));
  command("add", "watch .rq files (which may begin with # endpoint: id), SHACL examples, or folders of them")
    .argument("<path...>", "files or folders")
    .option("-e, --endpoint <id>", "catalogue id for all of them")
    .option("-F, --federation <id>", "federation for all of them")
    .option("--every <minutes>", "minutes between two runs", wholeNumber)
    .action(running(runAdd));
  for (const [name, description, method, path] of acts) {
    const act = async (io: CliIo, id: string, options: WatchCommandOptions): Promise<number> =>
      print(io, await ask(io, await serviceOf(io, options), { method, path: `/${encodeURIComponent(id)}${path}` }));
    command(name, description).argument("<id>", "of the watch").action(running(act));
  }
}
