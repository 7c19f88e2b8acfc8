import { join } from "node:path";
import { exitCodes, type CliIo, UsageError } from "../../../src/cli/cli-io.ts";
import { oneLine, write } from "../../../src/cli/output.ts";
import { withProgress } from "../../../src/cli/progress.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { serviceAsker } from "../evaluate/run/ask-service.ts";
import { text2sparqlAsker } from "../evaluate/run/ask-text2sparql.ts";
import { readTrace, traceSetup } from "../evaluate/run/read-trace.ts";
import { openRunFolder, type RunDescription } from "../evaluate/run/run-folder.ts";
import { type Ask, type Asked, type Budget, runQuestions } from "../evaluate/run/run-questions.ts";
import { askSetupOf, readSetup } from "../evaluate/setups/read-setup.ts";
import { missing } from "../evaluate/records.ts";
import { type BenchmarkPackage, openPackage, packageChecksum } from "../package/open-package.ts";
import { withPackageService } from "./evaluated-service.ts";

/** Options of `fedway evaluate run`. */
export interface EvaluateRunOptions {
  readonly out: string;
  readonly setup: string;
  readonly model?: string;
  readonly modelName?: string;
  readonly mode: string;
  /** Of a million tokens in and out. */
  readonly price?: string;
  readonly service?: string;
  readonly token?: string;
  readonly trace?: string;
  readonly text2sparql?: string;
  readonly question?: readonly string[];
  readonly repeats: number;
  readonly parallel: number;
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly timeout?: number;
}

/** The model that is asked, and the budget of one question. */
interface Asker {
  readonly setup: RunDescription["setup"];
  readonly model: string;
  readonly ask: Ask;
  readonly mostOfOne: Budget;
}

/**
 * `fedway evaluate run`: asks the questions of a package. Resolves to the exit code.
 * @throws UsageError, FedwayError `MODEL_FAILED` also when the run is whole, where a question was not answered
 */
export async function runEvaluateRun(io: CliIo, folder: string, options: EvaluateRunOptions): Promise<number> {
  const benchmark = await openPackage(folder);
  const run: Run = { benchmark, options, questions: chosenQuestions(benchmark, options.question) };
  try {
    return await withAsker(io, run, (asker) => askAll(io, run, asker));
  } catch (error) {
    if (!io.interrupted.aborted) throw error;
    await write(io.stderr, "Interrupted. The run goes on where it was when it is started again.\n");
    return exitCodes.interrupted;
  }
}

interface Run {
  readonly benchmark: BenchmarkPackage;
  readonly questions: BenchmarkPackage["questions"];
  readonly options: EvaluateRunOptions;
}

async function askAll(io: CliIo, { benchmark, questions, options }: Run, asker: Asker): Promise<number> {
  const { setup, model, ask, mostOfOne } = asker;
  const { out, repeats, parallel, maxTokens, maxCost } = options;
  const { manifest } = benchmark;
  const budget = { tokens: maxTokens ?? Number.POSITIVE_INFINITY, cost: maxCost ?? Number.POSITIVE_INFINITY };
  const folder = await openRunFolder(out, {
    package: { dataset: manifest.dataset, sha256: await packageChecksum(benchmark) },
    setup,
    model,
    questions: questions.length === benchmark.questions.length ? undefined : questions.map(({ id }) => id),
    limits: { repeats, parallel, maxTokens, maxCost },
    versions: { fedway: io.version, node: process.version, package: manifest.engine.version },
  });
  const who = { setup: setup.name, model };
  const running = { folder, questions, repeats, who, ask, parallel, budget, mostOfOne, signal: io.interrupted };
  try {
    const result = await withProgress(io.stderr, (onProgress) => runQuestions({ ...running, onProgress }));
    await write(io.stdout, resultText(out, result));
    if (result.failure !== undefined) throw unanswered(result, result.failure);
    return result.notAsked === 0 ? exitCodes.ok : exitCodes.failed;
  } finally {
    await folder.close();
  }
}

function chosenQuestions({ questions, folder }: BenchmarkPackage, ids: readonly string[] = []) {
  const unknown = ids.find((id) => !questions.some((question) => question.id === id));
  if (unknown === undefined) return ids.length === 0 ? questions : questions.filter(({ id }) => ids.includes(id));
  throw new FedwayError("REQUEST_INVALID", `The package has no question "${oneLine(unknown)}".`, {
    next: `${join(folder, "questions.jsonl")} has all questions with their ids.`,
  });
}

type Use = (asker: Asker) => Promise<number>;

async function withAsker(io: CliIo, run: Run, use: Use): Promise<number> {
  const { benchmark, options } = run;
  const { trace, text2sparql, modelName, timeout = 120_000 } = options;
  const { manifest, questions } = benchmark;
  if (trace !== undefined) {
    const traces = await readTrace(trace, new Set(questions.map(({ id }) => id)));
    const ask = async ({ id }: { readonly id: string }): Promise<Asked> => traces.get(id) ?? notInTrace;
    return use({ setup: { name: traceSetup }, model: modelName ?? "unknown", ask, mostOfOne: nothing });
  }
  if (text2sparql !== undefined) {
    const dataset = `${manifest.baseUrl}/federations/${manifest.dataset}`;
    const ask = text2sparqlAsker({ url: text2sparql, dataset, timeoutMs: timeout, fetch: io.fetch });
    return use({ setup: { name: "text2sparql" }, model: modelName ?? text2sparql, ask, mostOfOne: nothing });
  }
  return withModel(io, run, use);
}

async function withModel(io: CliIo, { benchmark, options }: Run, use: Use): Promise<number> {
  const { service, model, modelName, price, token } = options;
  const place = service ?? model;
  if (place === undefined) throw new UsageError("name who is asked: --model, --service, --trace or --text2sparql");
  if (modelName === undefined) throw new UsageError("--model-name has to name the model");
  const given = await readSetup(options.setup);
  const limits = { ...given.limits, timeoutMs: options.timeout ?? given.limits.timeoutMs };
  // A running service has a mode of its own.
  const mode = service === undefined ? options.mode : "service";
  const setup = { ...given, limits, mode };
  const mostOfOne = mostOf(setup.limits.tokens, options);
  const shards = new Map(benchmark.endpoints.map(({ entry, id }) => [entry, id]));
  const asked = { rounds: setup.limits.rounds, setup: askSetupOf(setup, benchmark) };
  const useAt = (url: string, adminToken: string | undefined): Promise<number> =>
    use({
      setup,
      model: modelName,
      ask: serviceAsker({ url, token: adminToken, fetch: io.fetch, asked, shards }),
      mostOfOne,
    });
  if (service !== undefined) {
    const url = place.replace(/(?<!\/)\/+$/u, "");
    return useAt(url, token ?? (await io.adminToken(url)));
  }
  const settings = {
    FEDWAY_CHAT: place,
    FEDWAY_CHAT_MODEL: modelName,
    FEDWAY_CHAT_MODE: mode,
    FEDWAY_CHAT_PRICE: price ?? "",
    FEDWAY_ASK_TOKENS: String(mostOfOne.tokens),
    FEDWAY_ASK_TIMEOUT_MS: String(setup.limits.timeoutMs),
  };
  return withPackageService(io, { benchmark, settings }, (url) => useAt(url, undefined));
}

/** Budget of one question: that of the setup, or less where all may not use as much. @throws UsageError where it is unknown */
function mostOf(wanted: number, { price, maxTokens, maxCost, service }: EvaluateRunOptions): Budget {
  const prices = price?.split("/").map(Number) ?? [];
  if (maxCost !== undefined && prices.length === 0) throw new UsageError("--max-cost needs --price");
  const tokenPrice = Math.max(0, ...prices) / 1e6;
  const affordable = maxCost === undefined || tokenPrice === 0 ? wanted : Math.floor(maxCost / tokenPrice);
  const tokens = Math.min(wanted, maxTokens ?? wanted, affordable);
  if (tokens < wanted && service !== undefined)
    throw new UsageError(
      `one question may use ${wanted} tokens (cost ${wanted * tokenPrice}), which is more than the whole run may; a running service keeps its own FEDWAY_ASK_TOKENS: lower that, and the setup's limit`,
    );
  return { tokens, cost: tokens * tokenPrice };
}

const nothing: Budget = { tokens: 0, cost: 0 };

const notInTrace: Asked = { ...missing, why: "The trace lacks this question." };

type Result = Awaited<ReturnType<typeof runQuestions>>;

/** The error of a run with questions that model or service failed at. */
function unanswered({ outcomes, notAsked }: Result, why: string): FedwayError {
  const failed = (outcomes["model-failed"] ?? 0) + (outcomes["service-failed"] ?? 0);
  const asked = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  const stopped = notAsked === 0 ? "" : `, and ${notAsked} not asked`;
  return new FedwayError("MODEL_FAILED", `${failed} of ${asked} questions were not answered${stopped}: ${why}`, {
    next: "Mend that, and start the run again: it asks these questions again, and keeps the others.",
  });
}

function resultText(folder: string, { outcomes, notAsked, failure }: Result): string {
  const counted = Object.entries(outcomes).map(([outcome, count]) => `${count} ${outcome}`);
  const reason =
    failure === undefined
      ? "the budget has no room for another question. Raise it and run again."
      : "the model or the service failed.";
  const lines = [
    counted.join(", "),
    ...(notAsked === 0 ? [] : [`${notAsked} not asked: ${reason}`]),
    `The run is in ${oneLine(folder)}.`,
  ];
  return `${lines.join("\n")}\n`;
}
