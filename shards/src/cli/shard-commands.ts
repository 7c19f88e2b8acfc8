import { allGroups } from "../rules/term-groups.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { amountText } from "../../../src/figures.ts";
import type { BuildProgress } from "../build-problem.ts";
import type { BuildResult } from "../build.ts";
import type { ShardReport } from "../report/shard-report.ts";
import { shardModes, type ShardSpec } from "../spec.ts";
import { type CliIo, exitCodes, UsageError } from "../../../src/cli/cli-io.ts";
import type { NamedInput } from "../load/input.ts";
import type { GeneratedQuestions, QuestionRequest } from "../questions/generate-questions.ts";
import type { createShardCommands } from "../service/commands.ts";
import type { Check, Verification } from "../verify/verification.ts";
import { checkOutputFile, oneLine, write, writeJson, writeOutputFile } from "../../../src/cli/output.ts";

/** Commands on shards. */
export interface ShardCommands extends ReturnType<typeof createShardCommands> {
  questions(inputs: readonly NamedInput[], options: QuestionRequest): Promise<GeneratedQuestions>;
}

/** Everything the commands touch outside themselves. */
export interface ShardIo extends CliIo {
  shards(): Promise<ShardCommands>;
}

/** Options of `fedway shards build`: fields of a description that the command line gives too, and how to build. */
interface BuildCommandOptions extends Partial<ShardSpec> {
  readonly dryRun?: boolean;
  readonly output?: string;
  readonly allow?: readonly string[];
  /** Milliseconds. */
  readonly solveTimeout?: number;
  /** Fail where queries are left out or there is no triple. */
  readonly strict?: boolean;
  readonly json?: boolean;
}

interface Form {
  readonly json?: boolean;
}

/** Options of `fedway shards compare`. */
interface CompareCommandOptions extends ReportCommandOptions {
  readonly allow?: readonly string[];
  /** Milliseconds. */
  readonly solveTimeout?: number;
}

/** Options of `fedway shards report`. */
interface ReportCommandOptions extends Form {
  /** File that the page is written to. */
  readonly html?: string;
}

/** Options of `fedway shards verify`. */
interface VerifyCommandOptions extends Form {
  readonly input?: readonly string[];
  /** False with `--no-answers`. */
  readonly answers?: boolean;
  readonly timeout?: number;
}

/** `fedway shards build`: builds, or predicts; resolves to the exit code. @throws FedwayError */
export async function runShardBuild(io: ShardIo, spec: string, options: BuildCommandOptions): Promise<number> {
  const { dryRun = false, output, allow = [], solveTimeout, json: isJson = false, strict = false, ...fields } = options;
  const commands = await io.shards();
  const outcomes = await unlessInterrupted(io, (onProgress) =>
    commands.build(spec, {
      dryRun,
      allow,
      fields,
      ...(output !== undefined && { output }),
      ...(solveTimeout !== undefined && { solveMs: solveTimeout }),
      signal: io.interrupted,
      onProgress,
    }),
  );
  if (outcomes === undefined) return exitCodes.interrupted;
  const value = outcomes.length === 1 ? outcomes[0] : outcomes;
  await (isJson ? writeJson(io, value) : write(io.stdout, outcomes.map(outcomeText).join("\n")));
  if (outcomes.length > 1 && !isJson) await write(io.stdout, `\n${(await tellSeveral(outcomes)).text()}`);
  const isWhole = outcomes.every(({ report }) => report.leftOut.length === 0 && report.statistics.triples > 0);
  return isWhole || !strict ? exitCodes.ok : exitCodes.failed;
}

/**
 * `fedway shards report`: the outcome of a finished build, or several side by side. All reports are read before anything
 * is written. Resolves to the exit code. @throws UsageError, FedwayError
 */
export async function runShardReport(
  io: ShardIo,
  folders: readonly string[],
  { html, json: isJson = false }: ReportCommandOptions,
): Promise<number> {
  if (html !== undefined) await checkOutputFile(html, "--html");
  const commands = await io.shards();
  const outcomes: BuildResult[] = [];
  for (const folder of folders) outcomes.push(await commands.report(folder));
  refuseTwice(outcomes);
  const [first, ...more] = outcomes;
  if (first === undefined) throw new UsageError("name a folder of finished shards");
  return tell(io, more.length === 0 ? tellOne(first) : await tellSeveral(outcomes), { html, json: isJson });
}

/** `fedway shards compare`: what each mode would make of the datasets, side by side. Resolves to the exit code. @throws FedwayError */
export async function runShardCompare(io: ShardIo, spec: string, options: CompareCommandOptions): Promise<number> {
  const { allow = [], solveTimeout, html, json: isJson = false } = options;
  if (html !== undefined) await checkOutputFile(html, "--html");
  const commands = await io.shards();
  const outcomes = await unlessInterrupted(io, async (onProgress) => {
    const found: BuildResult[] = [];
    for (const mode of shardModes) {
      const limit = solveTimeout === undefined ? {} : { solveMs: solveTimeout };
      const signal = io.interrupted;
      const fields = {
        mode,
        ...(mode === "paper" && { shares: undefined, maxShards: undefined, minShardTriples: undefined }),
      };
      found.push(...(await commands.build(spec, { dryRun: true, fields, allow, ...limit, signal, onProgress })));
    }
    return found;
  });
  if (outcomes === undefined) return exitCodes.interrupted;
  return tell(io, await tellSeveral(outcomes), { html, json: isJson });
}

async function tell(
  io: ShardIo,
  told: Told,
  { html, json: isJson }: { readonly html: string | undefined; readonly json: boolean },
): Promise<number> {
  if (html !== undefined) {
    const page = Buffer.from(await told.page());
    await writeOutputFile(html, page);
    await write(io.stderr, `${oneLine(html)}: ${page.byteLength} bytes\n`);
  }
  await (isJson ? writeJson(io, told.value) : write(io.stdout, told.text()));
  return exitCodes.ok;
}

/** It would count twice. */
function refuseTwice(outcomes: readonly BuildResult[]): void {
  const seen = new Set<string | undefined>();
  for (const { folder } of outcomes) {
    if (seen.has(folder)) throw new UsageError(`the folder "${folder}" is named twice`);
    seen.add(folder);
  }
}

/** Output of reports; the pages are loaded when one is wanted. */
interface Told {
  readonly value: unknown;
  readonly text: () => string;
  readonly page: () => Promise<string>;
}

const tellOne = (outcome: BuildResult): Told => ({
  value: outcome.report,
  text: () => outcomeText(outcome),
  page: async () => (await import("../report/report-page.ts")).reportPage(outcome.report),
});

async function tellSeveral(outcomes: readonly BuildResult[]): Promise<Told> {
  const { overviewOf } = await import("../report/overview.ts");
  const { overviewText } = await import("./overview-text.ts");
  const overview = overviewOf(outcomes.map(({ report }) => report));
  return {
    value: overview,
    text: () => overviewText(overview),
    page: async () => (await import("../report/report-page.ts")).overviewPage(overview),
  };
}

/** `fedway shards verify`: a line a check; one that does not hold is a failure. Resolves to the exit code. @throws FedwayError */
export async function runShardVerify(io: ShardIo, folder: string, options: VerifyCommandOptions): Promise<number> {
  const commands = await io.shards();
  const { input: inputs = [], answers = true, timeout } = options;
  const result = await unlessInterrupted(io, (onProgress) =>
    commands.verify(folder, {
      inputs,
      answers,
      ...(timeout !== undefined && { timeoutMs: timeout }),
      signal: io.interrupted,
      onProgress,
    }),
  );
  if (result === undefined) return exitCodes.interrupted;
  await (options.json ? writeJson(io, result) : write(io.stdout, verifyText(result)));
  return result.outcome === "held" ? exitCodes.ok : exitCodes.failed;
}

type Work<Result> = (onProgress: (progress: BuildProgress) => void) => Promise<Result>;

/** The result; undefined, with a word about it, when the user ended the work. */
export async function unlessInterrupted<Result>(io: ShardIo, work: Work<Result>): Promise<Result | undefined> {
  try {
    // The other commands start without it.
    const { withProgress } = await import("../../../src/cli/progress.ts");
    return await withProgress(io.stderr, work);
  } catch (error) {
    const isOther = error instanceof FedwayError && error.code !== "CANCELLED";
    if (isOther || !io.interrupted.aborted) throw error;
    await write(io.stderr, "Interrupted. A build goes on where it was when it is started again.\n");
    return undefined;
  }
}

const mostLines = 20;

function listed<Item>(title: string, items: readonly Item[], line: (item: Item) => string): readonly string[] {
  if (items.length === 0) return [];
  const rest = items.length - mostLines;
  return [
    title,
    ...items.slice(0, mostLines).map((item) => `- ${line(item)}`),
    ...(rest > 0 ? [`- and ${rest} more`] : []),
  ];
}

function outcomeText({ report, folder }: BuildResult): string {
  const { dataset, mode, reading, statistics, optimum, rules, shards, queries, leftOut } = report;
  const bound = optimum.proven
    ? "no choice is better"
    : `not proven: between ${optimum.lowerBound} and ${optimum.cost}`;
  const others = new Map(allGroups(report.groups).map((terms) => [terms[0], terms.length - 1]));
  const termText = (iri: string): string => (others.get(iri) ? `${iri} (and ${others.get(iri)} more)` : iri);
  const notFederated = queries.filter(({ federated }) => !federated);
  const lines = [
    `${dataset.id}: ${statistics.triples} triples, ${statistics.questions} questions with ${statistics.distinctQueries} queries`,
    ...listed("left out:", leftOut, ({ id, place, message }) => `${id} (${place}): ${message}`),
    `${rules.length} rules (${bound}), ${shards.length} shards; mode ${mode}, reading ${reading.name}`,
    ...(optimum.trouble === undefined ? [] : [optimum.trouble]),
    ...listed(
      "rules:",
      rules,
      ({ kind, iris, questions }) =>
        `${kind} ${iris.map(termText).join(" ")}: covers ${amountText(questions, "question")}`,
    ),
    ...listed("shards:", shards, ({ id, key, triples }) => `${id}: ${triples} triples, ${key}`),
    ...listed("not federated:", notFederated, ({ id, reason = "" }) => `${id}: ${reason}`),
    sourcesText(queries),
    ...(report.badLines ?? []).flatMap(({ name, count, first }) =>
      listed(
        `${name}: ${count} ${count === 1 ? "line that cannot be read was" : "lines that cannot be read were"} left out, the first of them:`,
        first,
        ({ line, reason }) => `line ${line}: ${reason}`,
      ),
    ),
    ...(report.predicted ? ["sizes are predicted"] : []),
    folder === undefined ? "nothing was written (--dry-run)" : `folder: ${folder} (report.html is the report to read)`,
  ];
  return `${lines.map(oneLine).join("\n")}\n`;
}

/** Where the answers of the queries come from. */
function sourcesText(queries: ShardReport["queries"]): string {
  const count = (source: ShardReport["queries"][number]["source"]): number =>
    queries.filter((query) => query.source === source).length;
  const unknown = count(undefined);
  return `answers: ${count("several-shards")} need several shards, ${count("one-shard")} one shard has alone, ${count("none")} are empty${unknown === 0 ? "" : `, ${unknown} were not asked`}`;
}

const verdicts = {
  held: "the shards hold",
  broken: "the shards do not hold",
  unknown: "nothing wrong was found, but not all could be looked at",
} as const;

function verifyText({ outcome, checks }: Verification): string {
  return `${[...checks.flatMap(checkLines), verdicts[outcome]].map(oneLine).join("\n")}\n`;
}

function checkLines({ name, outcome, checked, wrong, notLookedAt, findings }: Check): readonly string[] {
  const counts = [
    `${checked} looked at`,
    ...(wrong > 0 ? [`${wrong} wrong`] : []),
    ...(notLookedAt > 0 ? [`${notLookedAt} not looked at`] : []),
  ];
  return [
    `${name}: ${outcome} (${counts.join(", ")})`,
    ...findings.map(({ subject, reason }) => `- ${subject}: ${reason}`),
  ];
}
