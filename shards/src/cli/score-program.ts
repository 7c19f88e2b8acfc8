import type { Command } from "commander";
import { examples, type Running } from "../../../src/cli/cli-io.ts";

const load = () => import("./score-commands.ts");

/** Adds `evaluate score`, `evaluate report`, `evaluate compare` and `evaluate ablation`. */
export function addScoring(evaluate: Command, running: Running): void {
  evaluate
    .command("score")
    .description("score a run over the data of its package: scores.json, scores.csv and report.html, without a model")
    .argument("<package>", "folder of a package (fedway shards package)")
    .argument("<run>", "folder of a run: run.json and runs.jsonl")
    .option("--json", "the scores as JSON")
    .addHelpText("after", () => examples("evaluate score .fedway/packages/harbour runs/agent"))
    .action(
      running(async (io, ...[folder, run, how]: [string, string, object]) =>
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
