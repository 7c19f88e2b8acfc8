import { join } from "node:path";
import { exitCodes, type CliIo, UsageError } from "../../../src/cli/cli-io.ts";
import { oneLine, write } from "../../../src/cli/output.ts";
import { createProgressDisplay } from "../../../src/cli/progress.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { text2sparqlAsker } from "../evaluate/run/ask-text2sparql.ts";
import { readTrace } from "../evaluate/run/read-trace.ts";
import { checksumOf, openRunFolder } from "../evaluate/run/run-folder.ts";
import { type Ask, type Asked, type Budget, runQuestions } from "../evaluate/run/run-questions.ts";
import { type BenchmarkPackage, openPackage } from "../package/open-package.ts";

/** Options of `fedway evaluate run`. */
export interface EvaluateRunOptions {
  readonly out: string;
  readonly trace?: string;
  readonly text2sparql?: string;
  readonly modelName?: string;
  readonly question?: readonly string[];
  readonly repeats: number;
  readonly parallel: number;
  readonly timeout?: number;
}

/** Who is asked, and within which bounds. */
interface Asker {
  readonly setup: { readonly name: string };
  readonly model: string;
  readonly ask: Ask;
  readonly mostOfOne: Budget;
}

/** `fedway evaluate run`: asks the questions of a package. Resolves to the exit code. @throws UsageError, FedwayError */
export async function runEvaluateRun(io: CliIo, folder: string, options: EvaluateRunOptions): Promise<number> {
  const benchmark = await openPackage(folder);
  const questions = chosenQuestions(benchmark, options.question);
  const asker = await askerOf(io, benchmark, options);
  const { setup, model, ask, mostOfOne } = asker;
  const { repeats, parallel } = options;
  const { manifest } = benchmark;
  const budget = { tokens: Number.POSITIVE_INFINITY, cost: Number.POSITIVE_INFINITY };
  const runs = await openRunFolder(options.out, {
    package: { dataset: manifest.dataset, sha256: await checksumOf(join(benchmark.folder, "manifest.json")) },
    setup,
    model,
    limits: { repeats, parallel },
    versions: { fedway: io.version, node: process.version, package: manifest.engine.version },
  });
  const display = createProgressDisplay(io.stderr);
  try {
    const result = await runQuestions({
      folder: runs,
      questions,
      repeats,
      who: { setup: setup.name, model },
      ask,
      parallel,
      budget,
      mostOfOne,
      signal: io.interrupted,
      onProgress: (progress) => display.show(progress),
    });
    display.end();
    await write(io.stdout, resultText(options.out, result));
    return result.notAsked === 0 ? exitCodes.ok : exitCodes.failed;
  } catch (error) {
    display.end();
    if (!io.interrupted.aborted) throw error;
    await write(io.stderr, "Interrupted. The run goes on where it was when it is started again.\n");
    return exitCodes.interrupted;
  } finally {
    await runs.close();
  }
}

function chosenQuestions({ questions, folder }: BenchmarkPackage, ids: readonly string[] = []) {
  const unknown = ids.find((id) => !questions.some((question) => question.id === id));
  if (unknown === undefined) return ids.length === 0 ? questions : questions.filter(({ id }) => ids.includes(id));
  throw new FedwayError("REQUEST_INVALID", `The package has no question "${oneLine(unknown)}".`, {
    next: `${join(folder, "questions.jsonl")} has all questions with their ids.`,
  });
}

const nothing: Budget = { tokens: 0, cost: 0 };

async function askerOf(io: CliIo, benchmark: BenchmarkPackage, options: EvaluateRunOptions): Promise<Asker> {
  const { trace, text2sparql, modelName, timeout = 120_000 } = options;
  const { manifest, questions } = benchmark;
  if (trace !== undefined) {
    const traces = await readTrace(trace, new Set(questions.map(({ id }) => id)));
    const ask = async ({ id }: { readonly id: string }): Promise<Asked> => traces.get(id) ?? missing;
    return { setup: { name: "trace" }, model: modelName ?? "unknown", ask, mostOfOne: nothing };
  }
  if (text2sparql !== undefined) {
    const dataset = `${manifest.baseUrl}/federations/${manifest.dataset}`;
    const ask = text2sparqlAsker({ url: text2sparql, dataset, timeoutMs: timeout, fetch: io.fetch });
    return { setup: { name: "text2sparql" }, model: modelName ?? text2sparql, ask, mostOfOne: nothing };
  }
  throw new UsageError("name who is asked: --trace or --text2sparql");
}

const missing: Asked = {
  outcome: "missing",
  why: "The trace lacks this question.",
  final: null,
  calls: [],
  turns: 0,
  tokens: { input: 0, output: 0, estimated: true },
  cost: null,
  ms: 0,
};

function resultText(folder: string, { outcomes, notAsked }: Awaited<ReturnType<typeof runQuestions>>): string {
  const counted = Object.entries(outcomes).map(([outcome, count]) => `${count} ${outcome}`);
  const lines = [
    counted.join(", "),
    ...(notAsked === 0
      ? []
      : [`${notAsked} not asked: the budget has no room for another question. Raise it and run again.`]),
    `The run is in ${oneLine(folder)}.`,
  ];
  return `${lines.join("\n")}\n`;
}
