import { FedwayError } from "../errors/fedway-error.ts";
import type { BuildProgress } from "../shards/build-progress.ts";
import type { ShardMode } from "../shards/spec.ts";
import { type CliIo, exitCodes, type ShardOutcome } from "./cli-io.ts";
import type { Check, Verification } from "../shards/verify/verification.ts";
import { oneLine, write } from "./output.ts";

/** Options of `fedway shards build`. */
export interface BuildCommandOptions {
  readonly dryRun?: boolean;
  readonly mode?: ShardMode;
  readonly output?: string;
  readonly allow?: readonly string[];
  readonly json?: boolean;
}

interface Form {
  readonly json?: boolean;
}

/** Options of `fedway shards verify`. */
export interface VerifyCommandOptions extends Form {
  readonly input?: readonly string[];
  /** False with `--no-answers`. */
  readonly answers?: boolean;
}

/** `fedway shards build`: builds, or predicts; resolves to the exit code. @throws FedwayError */
export async function runShardBuild(io: CliIo, spec: string, options: BuildCommandOptions): Promise<number> {
  const { dryRun = false, mode, output, allow = [] } = options;
  const commands = await io.shards();
  const outcome = await unlessInterrupted(io, (onProgress) =>
    commands.build(spec, {
      dryRun,
      allow,
      ...(mode !== undefined && { mode }),
      ...(output !== undefined && { output }),
      signal: io.interrupted,
      onProgress,
    }),
  );
  if (outcome === undefined) return exitCodes.interrupted;
  await write(io.stdout, options.json ? json(outcome) : outcomeText(outcome));
  return exitCodes.ok;
}

/** `fedway shards report`: the outcome of a finished build. Resolves to the exit code. @throws FedwayError */
export async function runShardReport(io: CliIo, folder: string, options: Form): Promise<number> {
  const commands = await io.shards();
  const outcome = await commands.report(folder);
  await write(io.stdout, options.json ? json(outcome.report) : outcomeText(outcome));
  return exitCodes.ok;
}

/** `fedway shards verify`: a line a check; what does not hold is a failure. Resolves to the exit code. @throws FedwayError */
export async function runShardVerify(io: CliIo, folder: string, options: VerifyCommandOptions): Promise<number> {
  const commands = await io.shards();
  const { input: inputs = [], answers = true } = options;
  const result = await unlessInterrupted(io, (onProgress) =>
    commands.verify(folder, { inputs, answers, signal: io.interrupted, onProgress }),
  );
  if (result === undefined) return exitCodes.interrupted;
  await write(io.stdout, options.json ? json(result) : verifyText(result));
  return result.outcome === "held" ? exitCodes.ok : exitCodes.failed;
}

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

type Work<Result> = (onProgress: (progress: BuildProgress) => void) => Promise<Result>;

/** The result; undefined, with a word about it, when the user ended the work. */
async function unlessInterrupted<Result>(io: CliIo, work: Work<Result>): Promise<Result | undefined> {
  try {
    return await withProgress(io, work);
  } catch (error) {
    const isOther = error instanceof FedwayError && error.code !== "CANCELLED";
    if (isOther || !io.interrupted.aborted) throw error;
    await write(io.stderr, "Interrupted. A build goes on where it was when it is started again.\n");
    return undefined;
  }
}

async function withProgress<Result>(io: CliIo, work: Work<Result>): Promise<Result> {
  // The other commands start without it.
  const { createProgressDisplay } = await import("./progress.ts");
  const display = createProgressDisplay(io.stderr);
  try {
    return await work((progress) => display.show(progress));
  } finally {
    display.end();
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

function outcomeText({ report, folder }: ShardOutcome): string {
  const { dataset, mode, reading, statistics, optimum, rules, shards, queries, leftOut } = report;
  const bound = optimum.proven
    ? "no choice is better"
    : `not proven: between ${optimum.lowerBound} and ${optimum.cost}`;
  const notFederated = queries.filter(({ federated }) => !federated);
  const lines = [
    `${dataset.id}: ${statistics.triples} triples, ${statistics.questions} questions with ${statistics.distinctQueries} queries`,
    `${rules.length} rules (${bound}), ${shards.length} shards; mode ${mode}, reading ${reading.name}`,
    ...listed(
      "rules:",
      rules,
      ({ kind, iris, questions }) => `${kind} ${iris.join(" ")}: covers ${questions} questions`,
    ),
    ...listed("shards:", shards, ({ id, key, triples }) => `${id}: ${triples} triples, ${key}`),
    ...listed("not federated:", notFederated, ({ id, reason = "" }) => `${id}: ${reason}`),
    ...listed("left out:", leftOut, ({ id, place, message }) => `${id} (${place}): ${message}`),
    folder === undefined ? "nothing was written (--dry-run)" : `folder: ${folder} (report.html is the report to read)`,
  ];
  return `${lines.map(oneLine).join("\n")}\n`;
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
