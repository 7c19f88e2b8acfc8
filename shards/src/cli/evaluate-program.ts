import { type Command, InvalidArgumentError, Option } from "commander";
import { examples, httpUrl, milliseconds, type Running } from "../../../src/cli/cli-io.ts";
import type { EvaluateRunOptions } from "./evaluate-run.ts";
import { addEngines } from "./engines-program.ts";
import { addScoring } from "./score-program.ts";

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
