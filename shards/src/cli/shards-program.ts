import { type Command, InvalidArgumentError, Option } from "commander";
import {
  examples,
  milliseconds,
  type Options,
  type Running,
  UsageError,
  wholeNumber,
} from "../../../src/cli/cli-io.ts";
import { runServe } from "../../../src/cli/commands.ts";
import { sqlDialects } from "../materialise/warehouse-sql.ts";
import { shardModes } from "../spec.ts";
import { runShardInit } from "./init-command.ts";
import { runShardQuestions, runShardRekey } from "./questions-command.ts";
import {
  runShardBuild,
  runShardCompare,
  runShardReport,
  runShardVerify,
  type ShardCommands,
  type ShardIo,
} from "./shard-commands.ts";
import { runShardPackage, runShardSql } from "./source-commands.ts";

/** Builds and verifications without a service, loaded when a command needs them. */
export async function loadShardCommands(dataDir: string): Promise<ShardCommands> {
  const [{ createShardCommands }, { storeOpener }, { packageLimits }, { generateQuestions }] = await Promise.all([
    import("../service/commands.ts"),
    import("../../../src/hosting/file-store.ts"),
    import("../package/package-shards.ts"),
    import("../questions/generate-questions.ts"),
  ]);
  return {
    ...createShardCommands(dataDir, storeOpener),
    questions: (inputs, options) =>
      generateQuestions(inputs, {
        ...options,
        openStore: storeOpener(packageLimits),
      }),
  };
}

type LoadCommands = () => Promise<ShardCommands>;

/** Adds `shards build`, `shards package`, `shards compare`, `shards report`, `shards verify` and `shards serve`. */
export function addShards(program: Command, run: Running, load: LoadCommands): void {
  const running: RunningShards = (command) => run((io, ...args) => command({ ...io, shards: load }, ...args));
  const shards = program
    .command("shards")
    .description("turn a dataset and its queries into a federated benchmark")
    .addHelpText("after", () =>
      examples("shards build shards/example/spec.json", "shards serve .fedway/shards/harbour"),
    );
  addInit(shards, run);
  addBuild(shards, running);
  addCompare(shards, running);
  addPackage(shards, running);
  addQuestions(shards, running);
  addRekey(shards, running);
  shards
    .command("report")
    .description("show the report of a build, or compare several, with their figures beside the published ones")
    .argument("<folder...>", "folders of finished shards")
    .option("--json", "the whole report as JSON")
    .option("--html <file>", "also write it as a page to this file, replacing it at the end")
    .addHelpText("after", () =>
      examples("shards report .fedway/shards/harbour", "shards report .fedway/shards/* --html overview.html"),
    )
    .action(running(runShardReport));
  shards
    .command("sql")
    .description("print statements by which a warehouse writes the same shards, and what the build claims of them")
    .argument("<source>", "folder of finished shards, or the JSON file of a description, whose shards are built first")
    .option("--allow <folder...>", "folders that may be read beside those of the description and the current one")
    .addOption(new Option("--dialect <name>", "of which warehouse").choices(sqlDialects).default(sqlDialects[0]))
    .addHelpText("after", () => examples("shards sql .fedway/shards/harbour --dialect spark"))
    .action(running(runShardSql));
  shards
    .command("verify")
    .description(
      "check finished shards: checksums, nothing twice, missing or misplaced, queries federated, every query's answer; or the files of a package",
    )
    .argument("<folder>", "folder of finished shards, or a package")
    .option(
      "-i, --input <file...>",
      "what the shards were made of, when it does not lie where it lay then; the shards of a package are checked with it only",
    )
    .option("--no-answers", "do not ask the queries, of which some may take minutes")
    .option("-t, --timeout <ms>", "time limit of the whole run in milliseconds; the rest is unknown", milliseconds)
    .option("--json", "the result as JSON")
    .addHelpText("after", () => examples("shards verify .fedway/shards/harbour"))
    .action(running(runShardVerify));
  shards
    .command("serve")
    .description("start the service with these shards, each behind an endpoint of its own (FEDWAY_SHARDS)")
    .argument("<folder...>", "folders of finished shards")
    .option("--host <host>", "address to listen on (HOST)")
    .option("-p, --port <port>", "port to listen on (PORT)")
    .addHelpText("after", () => examples("shards serve .fedway/shards/harbour --port 8080"))
    .action(
      running(async (io, folders: string[], options: Options<"host" | "port">) =>
        runServe(io, options, { FEDWAY_SHARDS: shardSetting(folders) }),
      ),
    );
}

function addInit(shards: Command, run: Running): void {
  shards
    .command("init")
    .description("write a spec for build of the RDF files and queries that a folder has")
    .argument("<folder>", "folder with data (.ttl, .nt, .nt.gz ...) and queries (JSON, CSV, .rq, .sparql)")
    .addHelpText("after", () => examples("shards init mydata", "shards build mydata/spec.json"))
    .action(run(runShardInit));
}

function addBuild(shards: Command, running: RunningShards): void {
  shards
    .command("build")
    .description("choose the rules and write the shards; a build that was interrupted goes on where it was")
    .argument("<spec>", "JSON file that names the dataset or datasets, their files and their queries")
    .option("--dry-run", "choose the rules and predict the sizes, write nothing")
    .addOption(
      new Option(
        "-m, --mode <mode>",
        "balanced: no shard answers a query alone, rules of all kinds, even sizes; guaranteed: the fewest rules that make every query federated; paper: the published method",
      ).choices(shardModes),
    )
    .option(
      "-o, --output <folder>",
      "folder of the result, replaced when it is complete (FEDWAY_DATA_DIR/shards/<dataset>)",
    )
    .option("--max-shards <number>", "most shards, where federation allows it (8 in balanced mode)", wholeNumber)
    .option("--min-shard-triples <number>", "least triples of a shard, where federation allows it", wholeNumber)
    .option(
      "--shares <list>",
      "target shares of rule kinds, such as vertical=0.18,class=0.3,horizontal=0.52 (in balanced mode the published ones)",
      shareList,
    )
    .option(
      "--skip-bad-lines",
      "leave out lines that cannot be read, of Turtle and the like statements with bad terms, and list the first ten",
    )
    .option("--allow <folder...>", "folders that may be read beside those of the description and the current one")
    .option(
      "--solve-timeout <ms>",
      "processor time of the search for the rules in milliseconds (60,000); the best ones found by then are used",
      milliseconds,
    )
    .option("--strict", "end with exit code 1 where a query cannot be used or the dataset has no triples")
    .option("--json", "the outcome as JSON")
    .addHelpText("after", () =>
      examples("shards build shards/example/spec.json", "shards build spec.json --dry-run --mode paper --allow /data"),
    )
    .action(running(runShardBuild));
}

/** The specification's reader checks kinds and numbers. */
function shareList(text: string): Readonly<Record<string, number>> {
  const pairs = text.split(",").map((each) => each.split("="));
  if (pairs.every(({ length }) => length === 2))
    return Object.fromEntries(pairs.map(([kind, share]) => [kind, Number(share)]));
  throw new InvalidArgumentError("A list such as vertical=0.18,class=0.3,horizontal=0.52 is expected.");
}

function addCompare(shards: Command, running: RunningShards): void {
  shards
    .command("compare")
    .description(
      `choose rules in every mode (${shardModes.join(", ")}) and put the figures side by side; writes no shards`,
    )
    .argument("<spec>", "JSON file that names the dataset, or several, as for build")
    .option("--html <file>", "also write it as a page to this file, replacing it at the end")
    .option("--allow <folder...>", "folders that may be read beside those of the description and the current one")
    .option(
      "--solve-timeout <ms>",
      "processor time of each search for the rules in milliseconds (60,000)",
      milliseconds,
    )
    .option("--json", "the figures as JSON")
    .addHelpText("after", () => examples("shards compare shards/example/spec.json"))
    .action(running(runShardCompare));
}

function addPackage(shards: Command, running: RunningShards): void {
  shards
    .command("package")
    .description(
      "make a benchmark of finished shards: questions, gold and trivial federated queries, gold answers, endpoints, and exports for other tools",
    )
    .argument("<source>", "folder of finished shards, or the JSON file of a description, whose shards are built first")
    .option(
      "-o, --out <folder>",
      "folder of the result, replaced when it is complete (FEDWAY_DATA_DIR/packages/<dataset>)",
    )
    .option("--base-url <url>", "where the endpoints will be", "http://localhost:3000")
    .option(
      "-t, --timeout <ms>",
      "time limit of each query in milliseconds (one minute); one that takes longer has no gold answer",
      milliseconds,
    )
    .option("--allow <folder...>", "folders that may be read beside those of the description and the current one")
    .option("--json", "the manifest as JSON")
    .addHelpText("after", () =>
      examples(
        "shards package .fedway/shards/harbour",
        "shards package shards/example/spec.json --out harbour --base-url https://benchmark.example",
      ),
    )
    .action(running(runShardPackage));
}

function addQuestions(shards: Command, running: RunningShards): void {
  shards
    .command("questions")
    .description("make questions with queries about RDF files: counts, lookups, filters, superlatives, paths, groups")
    .argument("<file...>", "the dataset's files, as the inputs of a description")
    .option("-o, --out <file>", "file of queries for `shards build`, replaced at the end (stdout)")
    .option("--seed <number>", "decides which names and values stand in the questions", wholeNumber, 1)
    .option("--most <number>", "questions at most", wholeNumber, 60)
    .addHelpText("after", () => examples("shards questions shards/example/harbour.nt --out queries.json"))
    .action(running(runShardQuestions));
}

function addRekey(shards: Command, running: RunningShards): void {
  shards
    .command("rekey")
    .description(
      "write the same dataset under other names, against models that have seen it: data, queries and questions",
    )
    .argument("<spec>", "JSON file of a description, as for build")
    .requiredOption("-o, --out <folder>", "folder of the result, which must not exist; it has a description for build")
    .option("--seed <number>", "decides the names", wholeNumber, 1)
    .option("--opaque", "rename instances only, to ids that say nothing; literals stay")
    .option("--allow <folder...>", "folders that may be read beside those of the description and the current one")
    .option("--json", "the result as JSON")
    .addHelpText("after", () => examples("shards rekey shards/example/spec.json --seed 7 --out twin"))
    .action(running(runShardRekey));
}

/** Runs a command over the outside world and what can be done with shards, and notes its exit code. */
type RunningShards = <Args extends readonly unknown[]>(
  command: (io: ShardIo, ...args: Args) => Promise<number>,
) => (...args: Args) => Promise<void>;

/** @throws UsageError */
function shardSetting(folders: readonly string[]): string {
  const split = folders.find((folder) => folder.includes(","));
  if (split === undefined) return folders.join(",");
  throw new UsageError(`the name of the folder "${split}" has a comma; name it through a link`);
}
