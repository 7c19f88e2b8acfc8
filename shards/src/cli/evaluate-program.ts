import { type Command, InvalidArgumentError, Option } from "commander";
import { examples, httpUrl, milliseconds, type Running, wholeNumber } from "../../../src/cli/cli-io.ts";
import type { EvaluateRunOptions } from "./evaluate-run.ts";
import { type EngineForm, engineForms } from "../evaluate/engines/measure-engines.ts";
import type { EnginesOptions, NamedUrl } from "./engines-command.ts";

/** Adds `evaluate run` and what scores runs. What a command needs is loaded when it is run. */
export function addEvaluate(program: Command, running: Running): void {
  const evaluate = program
    .command("evaluate")
    .description("ask agents the questions of a benchmark package, and score their runs")
    .addHelpText("after", () => examples("evaluate run .fedway/packages/harbour --trace agent.jsonl --out runs/agent"));
  addRun(evaluate, running);
  addScoring(evaluate, running);
  addEngines(evaluate, running);
}

function addRun(evaluate: Command, running: Running): void {
  evaluate
    .command("run")
    .description("ask the questions and write a run folder: run.json and runs.jsonl; one that was interrupted goes on")
    .argument("<package>", "folder of a package (fedway shards package)")
    .requiredOption("-o, --out <folder>", "the run folder, new or begun")
    .option(
      "-s, --setup <name>",
      "what the agent is: baseline, high_level, void_tool, full, one_dataset, or a JSON file of that form",
      "full",
    )
    .addOption(
      new Option("--model <url>", "OpenAI-compatible API of the model; FEDWAY_CHAT_KEY is its key")
        .argParser(httpUrl)
        .conflicts(["service", "trace", "text2sparql"]),
    )
    .addOption(
      new Option("--mode <mode>", "how the model is asked: by calls of tools, as text, or held to a grammar")
        .choices(["tools", "text", "grammar"])
        .default("tools"),
    )
    .option("--price <in/out>", "price of a million tokens, such as 0.15/0.60", price)
    .addOption(
      new Option("--service <url>", "ask this running service, with its model, instead of one that hosts the package")
        .argParser(httpUrl)
        .conflicts(["trace", "text2sparql"]),
    )
    .option("--token <token>", "admin token of that service (FEDWAY_ADMIN_TOKEN)")
    .addOption(
      new Option("--trace <file>", "take what a foreign agent did from JSON Lines: id and query").conflicts(
        "text2sparql",
      ),
    )
    .option("--text2sparql <url>", "ask another system by the text2sparql API", httpUrl)
    .option("--model-name <name>", "name of the model, or of the system, in the records")
    .option("-q, --question <id...>", "ask only these")
    .option("--repeats <number>", "how often each question is asked", count(1, 100), 1)
    .option("--parallel <number>", "questions that are asked at once", count(1, 4), 1)
    .option("--max-tokens <number>", "most tokens of the whole run, in and out", count(1_000, 999_999_999))
    .option("--max-cost <amount>", "most that the whole run may cost, in the currency of --price", amount)
    .option("-t, --timeout <ms>", "time limit of a question in milliseconds", milliseconds)
    .addHelpText("after", () =>
      examples(
        "evaluate run .fedway/packages/harbour --model http://127.0.0.1:11434/v1 --model-name qwen3 --out runs/qwen3",
        "evaluate run .fedway/packages/harbour --text2sparql http://127.0.0.1:8000 --out runs/other",
      ),
    )
    .action(
      running(async (io, folder: string, options: EvaluateRunOptions) => {
        const { runEvaluateRun } = await import("./evaluate-run.ts");
        return runEvaluateRun(io, folder, options);
      }),
    );
}

function price(text: string): string {
  if (/^\d{1,6}(?:\.\d{1,6})?\/\d{1,6}(?:\.\d{1,6})?$/.test(text)) return text;
  throw new InvalidArgumentError("Two prices are expected, such as 0.15/0.60.");
}

function amount(text: string): number {
  if (/^\d{1,9}(?:\.\d{1,6})?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("An amount is expected, such as 2.50.");
}

const count =
  (least: number, most: number) =>
  (text: string): number => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : -1;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`A whole number from ${least} to ${most} is expected.`);
  };

const load = () => import("./score-commands.ts");

/** Adds `evaluate score`, `evaluate report`, `evaluate compare` and `evaluate ablation`. */
function addScoring(evaluate: Command, running: Running): void {
  evaluate
    .command("score")
    .description("score a run over the data of its package: scores.json, scores.csv and report.html, without a model")
    .argument("<package>", "folder of a package (fedway shards package)")
    .argument("[run]", "folder of a run: run.json and runs.jsonl")
    .option("--trace <file>", "instead of a run, what a foreign agent did as JSON Lines: id and query")
    .option("--model-name <name>", "name of the agent of a trace in the scores (that of its file)")
    .option("-o, --out <folder>", "folder of the scores (the run folder; of a trace none)")
    .option("--json", "the scores as JSON")
    .addHelpText("after", () =>
      examples(
        "evaluate score .fedway/packages/harbour runs/agent",
        "evaluate score .fedway/packages/harbour --trace agent.jsonl --out runs/agent",
      ),
    )
    .action(
      running(async (io, ...[folder, run, how]: [string, string | undefined, object]) =>
        (await load()).runScore(io, [folder, run], how),
      ),
    );
  evaluate
    .command("report")
    .description("show the scores of runs side by side, with the published figures beside them")
    .argument("<run...>", "folders of runs that have been scored")
    .option("--html <file>", "also write them as a page to this file, replacing it at the end")
    .option("--json", "the scores as JSON")
    .addHelpText("after", () => examples("evaluate report runs/agent runs/other --html report.html"))
    .action(running(async (io, runs: string[], how: object) => (await load()).runScoreReport(io, runs, how)));
  evaluate
    .command("compare")
    .description("test whether runs over one package differ, question by question, and name the questions that do")
    .argument("<run...>", "folders of runs that have been scored, two or more")
    .option("--json", "the comparisons as JSON")
    .addHelpText("after", () => examples("evaluate compare runs/agent runs/other"))
    .action(running(async (io, runs: string[], how: object) => (await load()).runCompare(io, runs, how)));
  evaluate
    .command("ablation")
    .description("compare forms of the endpoints' descriptions: terms of the gold queries found for the tokens spent")
    .argument("<package>", "folder of a package")
    .option("--json", "the table as JSON")
    .addHelpText("after", () => examples("evaluate ablation .fedway/packages/harbour"))
    .action(running(async (io, folder: string, how: object) => (await load()).runAblation(io, folder, how)));
}

/** Adds `evaluate engines`. */
function addEngines(evaluate: Command, running: Running): void {
  evaluate
    .command("engines")
    .description("ask SPARQL engines the queries of a package, without a model: right answers, requests, bytes, time")
    .argument("<package>", "folder of a package (fedway shards package)")
    .option(
      "--engine <name=url>",
      "beside Fedway, an engine on this machine that evaluates SERVICE clauses",
      engine,
      [],
    )
    .option("--plain <name=url>", "where an engine takes queries without SERVICE, as FedX does", engine, [])
    .addOption(new Option("--forms <names>", "gold, trivial, plain").argParser(forms).default(engineForms))
    .option("--questions <number>", "queries at most, spread over the package", wholeNumber)
    .option("-t, --timeout <ms>", "time limit of a query in milliseconds", milliseconds, 60_000)
    .option(
      "--port <port>",
      "where the shards answer and are counted, for an engine that has to know its members",
      wholeNumber,
      0,
    )
    .option("-o, --out <folder>", "keep the measurements here; started again, only the rest is measured")
    .option("--html <file>", "also write the table as a page to this file, replacing it at the end")
    .option("--json", "the table as JSON")
    .addHelpText("after", () =>
      examples(
        "evaluate engines .fedway/packages/harbour",
        "evaluate engines .fedway/packages/harbour --engine jena=http://localhost:3030/ds/sparql --forms gold,trivial",
      ),
    )
    .action(
      running(async (io, folder: string, options: EnginesOptions) =>
        (await import("./engines-command.ts")).runEngines(io, folder, options),
      ),
    );
}

function engine(text: string, before: readonly NamedUrl[]): readonly NamedUrl[] {
  const [, name = "", url = ""] = /^([\w.-]{1,32})=(.+)$/u.exec(text) ?? [];
  if (name === "" || name === "fedway") throw new InvalidArgumentError("A name and a URL are expected: NAME=URL.");
  return [...before, { name, url: httpUrl(url) }];
}

function forms(text: string): readonly EngineForm[] {
  const named = text.split(",");
  const known = engineForms.filter((form) => named.includes(form));
  if (known.length === named.length) return known;
  throw new InvalidArgumentError(`Names among ${engineForms.join(", ")} are expected, each once.`);
}
