import { basename, join, resolve } from "node:path";
import { itemAt } from "../../../src/values.ts";
import { type CliIo, exitCodes, UsageError } from "../../../src/cli/cli-io.ts";
import { checkOutputFile, oneLine, write, writeJson, writeOutputFile } from "../../../src/cli/output.ts";
import { withProgress } from "../../../src/cli/progress.ts";
import { FedwayError } from "../../../src/errors/fedway-error.ts";
import { makeFolder } from "../../../src/make-folder.ts";
import { storeOpener } from "../../../src/hosting/file-store.ts";
import { readBoundedFile } from "../bounded-file.ts";
import { ablationOf } from "../evaluate/ablation/ablation.ts";
import * as figures from "../evaluate/report/figures.ts";
import { scorePage, type ScoreReport } from "../evaluate/report/score-page.ts";
import { readTraceRuns } from "../evaluate/run/read-trace.ts";
import { readRuns } from "../evaluate/score/read-runs.ts";
import { type Comparison, compareSystems } from "../evaluate/score/summary.ts";
import { isScores, type Scores, scoreRuns, type SystemScores } from "../evaluate/score/score-runs.ts";
import { parsedAs } from "../guards.ts";
import { type BenchmarkPackage, openPackage } from "../package/open-package.ts";

interface ShownHow {
  readonly json?: boolean;
  readonly html?: string;
}

interface ScoreOptions extends ShownHow {
  /** Of a foreign agent, in the place of a run folder. */
  readonly trace?: string;
  readonly out?: string;
  readonly modelName?: string;
}

/** A final query that takes longer, or whose answer is larger, is a fault of it; the memory is that of making the package. */
const limits = { timeoutMs: 60_000, memoryMb: 3_584, maxAnswerBytes: 64 * 1024 * 1024 };

/** `fedway evaluate score`. Resolves to the exit code. @throws FedwayError */
export async function runScore(
  io: CliIo,
  [folder, run]: readonly [string, string | undefined],
  { json: isJson = false, trace, out = run, modelName }: ScoreOptions,
): Promise<number> {
  if ((run === undefined) === (trace === undefined)) throw new UsageError("name a run, or the file of its --trace");
  const scoring = { openStore: storeOpener(limits), signal: io.interrupted };
  const readOf = (pkg: BenchmarkPackage) =>
    trace === undefined ? readRuns(run ?? "", pkg) : readTraceRuns(trace, pkg, modelName);
  const scores = await withProgress(io.stderr, (show) =>
    scoreRuns(folder, readOf, { ...scoring, onProgress: (done, total) => show({ stage: "scoring", done, total }) }),
  );
  const report = reportOf([scores], [out ?? trace ?? ""]);
  if (out !== undefined) await writeScores(out, scores, scorePage(report));
  const place =
    out === undefined
      ? "--out FOLDER keeps the scores and a page."
      : `The page is ${oneLine(join(out, "report.html"))}.`;
  await (isJson ? writeJson(io, scores) : write(io.stdout, `${reportText(report)}${place}\n`));
  return exitCodes.ok;
}

async function writeScores(folder: string, scores: Scores, page: string): Promise<void> {
  await makeFolder(folder);
  const files = {
    "scores.json": `${JSON.stringify(scores, undefined, 2)}\n`,
    "scores.csv": figures.scoresCsv(scores.systems),
    "report.html": page,
  };
  for (const [name, text] of Object.entries(files)) await writeOutputFile(join(folder, name), Buffer.from(text));
}

/** `fedway evaluate report`. */
export async function runScoreReport(
  io: CliIo,
  runs: readonly string[],
  { html, json: asJson }: ShownHow,
): Promise<number> {
  if (html !== undefined) await checkOutputFile(html, "--html");
  const report = reportOf(await Promise.all(runs.map(readScores)), runs);
  if (html !== undefined) await writeOutputFile(html, Buffer.from(scorePage(report)));
  await (asJson === true ? writeJson(io, report) : write(io.stdout, reportText(report)));
  return exitCodes.ok;
}

/** `fedway evaluate compare`. @throws UsageError, FedwayError */
export async function runCompare(io: CliIo, runs: readonly string[], how: ShownHow): Promise<number> {
  if (runs.length < 2) throw new UsageError("name two runs or more");
  const { comparisons } = reportOf(await Promise.all(runs.map(readScores)), runs);
  await (how.json === true ? writeJson(io, comparisons) : write(io.stdout, comparisons.map(comparisonText).join("\n")));
  return exitCodes.ok;
}

/** `fedway evaluate ablation`. */
export async function runAblation(io: CliIo, folder: string, how: ShownHow): Promise<number> {
  const ablation = await ablationOf(await openPackage(folder));
  await (how.json === true
    ? writeJson(io, ablation)
    : write(io.stdout, columns([figures.ablationHeads, ...figures.ablationRows(ablation)])));
  return exitCodes.ok;
}

/** @throws FedwayError `REQUEST_INVALID` */
async function readScores(run: string): Promise<Scores> {
  const refused = (why: string): FedwayError =>
    new FedwayError("REQUEST_INVALID", `The scores of the run in ${run} cannot be read: scores.json is ${why}.`, {
      next: "Score it first: fedway evaluate score.",
    });
  const bytes = await readBoundedFile(join(run, "scores.json"), 512 * 1024 * 1024, refused);
  const scores = parsedAs(bytes.toString("utf8"), isScores);
  if (scores === undefined) throw refused("damaged, or of another version");
  return scores;
}

/** Runs side by side; systems of one name get that of their folder. @throws FedwayError `REQUEST_INVALID`: other packages */
function reportOf(scores: readonly Scores[], runs: readonly string[]): ScoreReport {
  const first = itemAt(scores, 0);
  const other = scores.findIndex((each) => each.package.sha256 !== first.package.sha256);
  if (other >= 0)
    throw new FedwayError(
      "REQUEST_INVALID",
      `The run in ${itemAt(runs, other)} is over another package than the first.`,
      { next: "Name runs over one package." },
    );
  const all = scores.flatMap(({ systems }, at) => systems.map((system) => ({ system, folder: itemAt(runs, at) })));
  const systems = all.map(({ system, folder }): SystemScores => {
    const isAlone = all.filter((each) => each.system.name === system.name).length === 1;
    const name = isAlone ? system.name : `${system.name} (${basename(resolve(folder))})`;
    return Object.assign({}, system, { name });
  });
  const comparisons = systems.flatMap((left, at) => systems.slice(at + 1).map((right) => compareSystems(left, right)));
  return { package: first.package, ablation: first.ablation, systems, comparisons };
}

/** Columns of equal width, two spaces between them. */
export function columns(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map(oneLine));
  const widthOf = (column: number): number => Math.max(...cells.map((row) => itemAt(row, column).length));
  return cells
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widthOf(column)))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

function reportText({ systems, package: of, comparisons }: ScoreReport): string {
  const named = systems.flatMap((system) =>
    figures
      .failedOf(system)
      .map(({ question, outcome }) => `- ${oneLine(`${question} (${system.name}): ${outcome}`)}\n`),
  );
  const failed = named.length === 0 ? [] : ["failed runs, which count as errors:\n", ...named.slice(0, mostNamed)];
  return [
    `${oneLine(of.dataset)}; 95 % intervals in brackets\n`,
    columns([["", ...systems.map(({ name }) => name), "published"], ...figures.metricRows(systems)]),
    ...failed,
    ...(named.length > mostNamed ? [`- and ${named.length - mostNamed} more\n`] : []),
    ...comparisons.map(comparisonText),
  ].join("");
}

const mostNamed = 20;

function comparisonText(of: Comparison): string {
  const { left, right, questions, onlyLeft, onlyRight, mcNemar } = of;
  const lines = [
    `${left} beside ${right}: ${questions} questions, equal accuracy ${figures.probabilityText(mcNemar)} (McNemar)`,
    `right in ${left} alone: ${figures.namesText(onlyLeft)}`,
    `right in ${right} alone: ${figures.namesText(onlyRight)}`,
    ...figures
      .shownDifferences(of)
      .map(
        ({ metric: { title, unit }, left: one, right: other, p }) =>
          `${title}: ${figures.valueText(one, unit)} and ${figures.valueText(other, unit)}, ${figures.probabilityText(p)}`,
      ),
  ];
  return lines.map((line) => `${oneLine(line)}\n`).join("");
}
