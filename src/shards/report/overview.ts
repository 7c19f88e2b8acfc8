import {
  type ComparedFigure,
  comparedFigures,
  totalShards,
  published as publishedFigures,
} from "./compared-figures.ts";
import type { ShardStatistics } from "./shard-statistics.ts";
import type { ReportedDataset, ShardReport } from "./shard-report.ts";
import { amountText, numberText, figureText } from "./words.ts";

/** How rules were chosen and triples placed: figures of reports that differ in it are not put together. */
type Method = Pick<ShardReport, "mode" | "reading" | "precedence">;

/** One dataset of several. */
export interface OverviewEntry extends Pick<ShardReport, "mode" | "reading" | "predicted" | "optimum"> {
  readonly dataset: ReportedDataset;
  readonly statistics: ShardStatistics;
  /** Distinct queries that touch fewer than two shards. */
  readonly notFederated: number;
}

/** Datasets whose shards were made alike, and their figures together. */
export interface OverviewGroup extends Method {
  /** Names it among the groups of the overview. */
  readonly title: string;
  readonly datasets: number;
  /** How many of these are predicted. */
  readonly predicted: number;
  readonly figures: readonly ComparedFigure[];
}

/** Reports side by side. `version` grows when a field changes its meaning or goes. */
export interface ShardOverview {
  readonly format: "fedway-shard-overview";
  readonly version: 1;
  readonly datasets: readonly OverviewEntry[];
  readonly groups: readonly OverviewGroup[];
}

/** Puts reports side by side, in the order given; each counts, also one on a dataset that another is on. */
export function overviewOf(reports: readonly ShardReport[]): ShardOverview {
  return {
    format: "fedway-shard-overview",
    version: 1,
    datasets: reports.map(({ dataset, mode, reading, predicted, optimum, queries, statistics }) => ({
      dataset,
      mode,
      reading,
      predicted,
      optimum,
      statistics,
      notFederated: queries.filter(({ federated }) => !federated).length,
    })),
    groups: groupsOf(reports),
  };
}

/** In the order in which they come first. */
function groupsOf(reports: readonly ShardReport[]): readonly OverviewGroup[] {
  const titles = new Map<string, number>();
  const alike = Map.groupBy(reports, ({ mode, reading, precedence }) => JSON.stringify([mode, reading, precedence]));
  return [...alike.values()].flatMap((members) => {
    const [first] = members;
    if (first === undefined) return [];
    const { mode, reading, precedence } = first;
    const name = `${mode} mode, reading ${reading.name.replace(/, (?:balanced|guaranteed)$/u, "")}`;
    const used = (titles.get(name) ?? 0) + 1;
    titles.set(name, used);
    const statistics = members.map((report) => report.statistics);
    return {
      title: used === 1 ? name : `${name} (${used})`,
      mode,
      reading,
      precedence,
      datasets: members.length,
      predicted: members.filter(({ predicted }) => predicted).length,
      figures: [totalShards(statistics), ...comparedFigures(statistics)],
    };
  });
}

/** What stands over the figures of a group: how many datasets it has, and whether they were written. */
export const groupTitle = ({ title, datasets, predicted }: OverviewGroup): string =>
  `${title}: ${amountText(datasets, "dataset")}${predicted === 0 ? "" : `, ${predicted === datasets ? "all" : numberText(predicted)} predicted`}`;

/** How figures of some datasets stand to the published ones. */
export const comparability = `The published figures are of ${publishedFigures.datasets} datasets and of one choice of rules for each, of which several may be equally small. Other datasets, or some of these, need not have the same.`;

/** Figures under a name: of one dataset, or of datasets whose shards were made alike. */
export interface FigureColumn {
  readonly title: string;
  readonly figures: readonly ComparedFigure[];
}

/** One figure of each column beside the published one, in words. */
export interface FigureRow extends Pick<ComparedFigure, "id" | "title" | "definition"> {
  /** In the order of the columns; undefined where it is not known. */
  readonly values: readonly (string | undefined)[];
  /** Undefined where nothing comparable was published. */
  readonly published: string | undefined;
}

/** Every figure that any of the columns has, in the order in which they come first. */
export function figureRows(columns: readonly FigureColumn[]): readonly FigureRow[] {
  const known = columns.map(({ figures }) => new Map(figures.map((figure) => [figure.id, figure])));
  const each = new Map(columns.flatMap(({ figures }) => figures.map((figure) => [figure.id, figure])));
  return [...each.values()].map(({ id, title, definition, unit, published }) => ({
    id,
    title,
    definition,
    values: known.map((figures) => {
      const value = figures.get(id)?.value;
      return value === undefined ? undefined : figureText(value, unit);
    }),
    published: published === undefined ? undefined : figureText(published, unit),
  }));
}
