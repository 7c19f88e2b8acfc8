import { Command, CommanderError, Option } from "commander";
import { FedwayError, toProblem } from "../errors/fedway-error.ts";
import { addAgentCommands, addAsk } from "./agent-program.ts";
import {
  type CliIo,
  type CommandPlugin,
  type CommandText,
  examples,
  exitCodes,
  milliseconds,
  type Options,
  type Running,
  serviceCommand,
  UsageError,
} from "./cli-io.ts";
import { runExplain, runQuery, runServe } from "./commands.ts";
import { oneLine, write, writeProblem } from "./output.ts";
import { RemoteProblem } from "./service.ts";
import { styled } from "./terminal.ts";
import { addCompletion } from "./completion.ts";
import { addProbe } from "./endpoint-jobs.ts";
import { addNouns, addRuns, addStatus } from "./nouns-program.ts";
import { addKeys, addMaintenance, addWatches } from "./operate-program.ts";
import { addDescribe } from "./describe-command.ts";
import { addBackup, addCatalog, addEmbeddings, addExport, addInit } from "./files-commands.ts";

/** The environment variables as aligned text. */
function environmentHelp({ reference }: CliIo): string {
  const width = Math.max(0, ...reference.map(({ name }) => name.length));
  const rows = reference.map(
    ({ name, default: fallback, meaning }) => `  ${name.padEnd(width)}  ${meaning} [${fallback || "unset"}]`,
  );
  return `\n\nEnvironment:\n${rows.join("\n")}`;
}

/** Adds a command on one query, with the options that `query` and `explain` share. */
function addQueryCommand(program: Command, name: string, text: CommandText): Command {
  return serviceCommand(program, name, text)
    .argument("<query>", "a file, - for standard input, or the query itself")
    .option("-e, --endpoint <id>", "catalogue id; the query then needs no SERVICE")
    .addOption(
      new Option("-F, --federation <id>", "ask all members of this federation as one dataset").conflicts("endpoint"),
    )
    .option("--strict", "refuse patterns outside SERVICE instead of sending them on")
    .option("--no-prune", "ask also endpoints that are known to have no match")
    .addOption(
      new Option("--prune <how>", "trust: leave such endpoints out without verifying that").choices(["trust"]),
    );
}

function addServe(program: Command, io: CliIo, running: Running): void {
  program
    .command("serve")
    .description("start the service")
    .option("--host <host>", "address to listen on (HOST)")
    .option("-p, --port <port>", "port to listen on (PORT)")
    .option("-c, --catalog <folder>", "folder of the catalogue (FEDWAY_CATALOG)")
    .addHelpText("after", () => examples("serve", "serve --port 8080 --catalog ./catalog") + environmentHelp(io))
    .action(running((_io, options: Options<"host" | "port" | "catalog">) => runServe(io, options)));
}

function addQuery(program: Command, running: Running): void {
  const help = [
    "query query.rq --format csv",
    "query --endpoint alpha 'SELECT * WHERE { ?s ?p ?o } LIMIT 10'",
    "query - --url http://127.0.0.1:3000 < query.rq",
  ];
  addQueryCommand(program, "query", { about: "run a query and write its answer to standard output", help })
    .option(
      "-f, --format <format>",
      "json, xml, csv, tsv, turtle, ntriples, jsonld or a media type; by default a table, or CSV and Turtle to a pipe",
    )
    .option("-t, --timeout <ms>", "time limit in milliseconds", milliseconds)
    .option("--provenance", "say of each row which endpoints it came from, in a column fedway_from")
    .option("--spreadsheet", "CSV whose cells no spreadsheet takes for formulas: an apostrophe marks them")
    .option("--partial", "allow partial results when an endpoint fails")
    .option("--subset", "like --partial, but only where every row is certain to be in the true answer")
    .action(running(runQuery));
}

function addExplain(program: Command, running: Running): void {
  const help = ["explain query.rq", "explain --analyze query.rq", "explain --json query.rq"];
  addQueryCommand(program, "explain", { about: "show the plan of a query; with --analyze run it too", help })
    .option("--json", "the plan as JSON")
    .option("--analyze", "run the query, drop its rows, and say what each step took")
    .option("-t, --timeout <ms>", "time limit of that run in milliseconds", milliseconds)
    .option("--partial", "go on without an endpoint that fails")
    .option("--subset", "like --partial, but only where every row is certain to be in the true answer")
    .option("--portable", "the plan as one SPARQL 1.1 query with SERVICE, for any other engine")
    .action(running(runExplain));
}

async function codeOf(error: unknown, io: CliIo): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (error instanceof UsageError) {
    await write(io.stderr, `${styled(io.stderr, "red", `error: ${oneLine(error.message)}`)}\n`);
    return exitCodes.usage;
  }
  const { problem, query } = error instanceof RemoteProblem ? error : { problem: toProblem(error), query: undefined };
  await writeProblem(io, problem, query);
  if (io.interrupted.aborted) return exitCodes.interrupted;
  const misused = error instanceof FedwayError && error.code === "CONFIG_INVALID";
  return misused ? exitCodes.usage : exitCodes.failed;
}

/**
 * Runs the command line; `argv` are the arguments after the program's name, `plugins` add commands to its own. Resolves to
 * the exit code.
 */
export async function runCli(
  argv: readonly string[],
  io: CliIo,
  plugins: readonly CommandPlugin[] = [],
): Promise<number> {
  let code: number = exitCodes.ok;
  const running: Running =
    (run) =>
    async (...args) => {
      code = await run(io, ...args);
    };
  const program = new Command("fedway")
    .description("Federated SPARQL proxy: one query in, the answer from the right endpoints out")
    .version(io.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void write(io.stdout, text),
      writeErr: (text) => void write(io.stderr, text),
      outputError: (text, show) => show(styled(io.stderr, "red", text)),
    });
  program.addHelpText("after", () =>
    examples("serve", "query query.rq --format csv", "explain query.rq", "describe people", "catalog check"),
  );
  addServe(program.commandsGroup("Run it:"), io, running);
  addInit(program, running);
  addBackup(program, running);
  addCompletion(program, running);
  addQuery(program.commandsGroup("Query:"), running);
  addExplain(program, running);
  addAgentCommands(program, running);
  addAsk(program, running);
  addRuns(program, running);
  addNouns(program.commandsGroup("Endpoints:"), running, ["endpoints", "federations", "jobs", "incidents"]);
  addDescribe(program, running);
  addProbe(program, running);
  addStatus(program, running);
  addCatalog(program, running);
  addMaintenance(program.commandsGroup("Operate:"), running);
  addExport(program, running);
  addKeys(program, running);
  addWatches(program, running);
  addEmbeddings(program, running);
  program.commandsGroup("Benchmarks:");
  for (const add of plugins) add(program, running);
  addNouns(program, running, ["shards"]);
  try {
    await program.parseAsync([...argv], { from: "user" });
    return code;
  } catch (error) {
    return codeOf(error, io);
  }
}
