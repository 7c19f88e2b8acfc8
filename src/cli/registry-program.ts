import { type Command, Option } from "commander";
import { examples, httpUrl, milliseconds, requests, type Running } from "./cli-io.ts";
import { descriptionFormats, runBackup, runCatalogCheck, runCatalogRefresh, runDescribe } from "./registry-commands.ts";
import { runExport } from "./commands.ts";

/** Adds `describe`. */
export function addDescribe(program: Command, running: Running): void {
  program
    .command("describe")
    .description("describe the data behind an endpoint (VoID): the publisher's description, and what queries find out")
    .argument("<endpoint>", "URL of a SPARQL endpoint, or its id in the catalogue")
    .addOption(new Option("-f, --format <format>", "how it is written (turtle)").choices(descriptionFormats))
    .addOption(
      new Option("--view <view>", "all that is known, or what query planners may rely on (agent)").choices([
        "agent",
        "planner",
      ]),
    )
    .addOption(
      new Option("--variant <variant>", "VoID, or with what only extensions can say (standard)").choices([
        "standard",
        "extended",
      ]),
    )
    .option("-s, --summary", "a short text: counts, and a line for each class with its properties")
    .option("--json", "the whole description as JSON: the run, the schema with counts, the VoID")
    .option("-o, --output <file>", "write to this file, replacing it at the end")
    .option("-n, --max-requests <number>", "most requests that are sent (1000 and those for the publisher's)", requests)
    .option("-t, --timeout <ms>", "time limit of the whole run in milliseconds (one hour)", milliseconds)
    .option("--no-retrieve", "do not look for the publisher's description, only compute")
    .option("--partial", "a description that is unfinished is a success too")
    .option("--url <url>", "ask this running service", httpUrl)
    .addHelpText("after", () =>
      examples(
        "describe people --summary",
        "describe https://example.org/sparql --output example.ttl --max-requests 200",
        "describe people --view planner --format ntriples",
      ),
    )
    .action(running(runDescribe));
}

/** Adds `catalog check` and `catalog refresh`. */
export function addCatalog(program: Command, running: Running): void {
  const catalog = program
    .command("catalog")
    .description("work on the files of the catalogue")
    .addHelpText("after", () => examples("catalog check", "catalog check ./catalog ./catalog/examples --json"));
  catalog
    .command("check")
    .description("check catalogue files: syntax, shapes, addresses, duplicates, members")
    .argument("[folder...]", "folders of Turtle files (FEDWAY_CATALOG)")
    .option("--json", "the report as JSON")
    .addHelpText("after", () => examples("catalog check", "catalog check ./catalog ./catalog/examples --json"))
    .action(running(runCatalogCheck));
  catalog
    .command("refresh")
    .description("take published facts about public endpoints from a collection into the catalogue")
    .argument("<file>", "JSON with the facts of all endpoints; catalog/README.md describes it")
    .addHelpText("after", () => examples("catalog refresh facts.json"))
    .action(running(runCatalogRefresh));
}

/** Adds `backup`. */
export function addBackup(program: Command, running: Running): void {
  program
    .command("backup")
    .description("copy the state of the service into a new file, also while the service runs")
    .argument("<file>", "the new file; a file that exists is never replaced")
    .addHelpText("after", () => examples("backup fedway-monday.db", "backup /backups/$(date +%F).db"))
    .action(running(runBackup));
}

/** Adds `export`. */
export function addExport(program: Command, running: Running): void {
  program
    .command("export")
    .description("publish a snapshot: state, uptime, incidents and score of all endpoints, as JSON")
    .option("-o, --output <file>", "write to this file, replacing it at the end")
    .option("--reviewed", "publish although it has lost much since the last snapshot: somebody looked at it")
    .option("--url <url>", "ask this running service", httpUrl)
    .addHelpText("after", () =>
      examples("export --output status.json", "export --reviewed", "export --url http://127.0.0.1:3000"),
    )
    .action(running(runExport));
}
