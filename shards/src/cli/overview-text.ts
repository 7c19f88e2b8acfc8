import { itemAt } from "../../../src/values.ts";
import { comparability, groupTitle, type ShardOverview } from "../report/overview.ts";
import { figureText, shareText, figureRows } from "../report/words.ts";
import type { ShardStatistics } from "../report/shard-statistics.ts";
import { oneLine } from "../../../src/cli/output.ts";

/** Reports side by side: a row a dataset, then each figure of each group beside the published one. */
export function overviewText({ datasets, groups }: ShardOverview): string {
  const columns = groups.map((group) => ({ title: groupTitle(group), figures: group.figures }));
  const titles = [...columns.map(({ title }) => oneLine(title)), "published"];
  const lines = [
    ...table([heads, ...datasets.map(cellsOf)]),
    "",
    oneLine(comparability),
    ...figureRows(columns).flatMap((row) => figureLines(row, titles)),
  ];
  return `${lines.join("\n")}\n`;
}

const heads = [
  "dataset",
  "made",
  "questions",
  "rules",
  "V/C/H",
  "optimum",
  "shards",
  "variation",
  "largest",
  "not federated",
  "one shard alone",
  "realised fan-out",
] as const;

function cellsOf(entry: ShardOverview["datasets"][number]): readonly string[] {
  const { dataset, mode, reading, predicted, optimum, statistics, notFederated } = entry;
  const { composition, realisedFanOut, sizeVariation, largestShare, answers } = statistics;
  const name = reading.name.includes(mode) ? reading.name : `${reading.name}, ${mode}`;
  return [
    dataset.id,
    predicted ? `${name}, predicted` : name,
    String(statistics.questions),
    String(statistics.rules),
    [composition.vertical, composition.class, composition.horizontal].join("/"),
    optimum.proven ? "proven" : `at least ${optimum.lowerBound}`,
    String(statistics.shards),
    sizeVariation === undefined ? "unknown" : sizeVariation.toFixed(2),
    largestShare === undefined ? "unknown" : shareText(largestShare),
    String(notFederated),
    answers === undefined ? "unknown" : answeredText(answers),
    realisedFanOut.summary === undefined ? "unknown" : figureText(realisedFanOut.summary, "number"),
  ];
}

function answeredText({ unknown, ...answers }: NonNullable<ShardStatistics["answers"]>): string {
  return unknown === 0 ? String(answers["one-shard"]) : `${answers["one-shard"]}, ${unknown} unknown`;
}

/** Texts from elsewhere would break the columns. */
const widestCell = 60;

const cut = (text: string): string => {
  const line = oneLine(text);
  return line.length <= widestCell ? line : `${line.slice(0, widestCell - 1).toWellFormed()}…`;
};

/** Columns of equal width, two spaces between them. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const cells = rows.map((row) => row.map(cut));
  const widths = heads.map((_, column) => Math.max(...cells.map((row) => itemAt(row, column).length)));
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(itemAt(widths, column)))
      .join("  ")
      .trimEnd(),
  );
}

function figureLines(
  { title, definition, values, published }: ReturnType<typeof figureRows>[number],
  titles: readonly string[],
): readonly string[] {
  const texts = [...values.map((value) => value ?? "unknown"), published ?? "not published"];
  const width = Math.max(...titles.map(({ length }) => length));
  return ["", `${title}: ${definition}`, ...titles.map((name, at) => `  ${name.padEnd(width)}  ${itemAt(texts, at)}`)];
}
