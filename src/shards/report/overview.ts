import { type ComparedFigure, comparedFigures } from "../statistics/compared-figures.ts";
import type { ShardStatistics } from "../statistics/shard-statistics.ts";
import type { ReportedDataset, ShardReport } from "./shard-report.ts";

/** One dataset of several. */
export interface OverviewEntry extends Pick<ShardReport, "mode" | "reading" | "predicted" | "optimum"> {
  readonly dataset: ReportedDataset;
  readonly statistics: ShardStatistics;
  /** Distinct queries that touch fewer than two shards. */
  readonly notFederated: number;
}

/** The figures of several datasets together. `version` grows when a field changes its meaning or goes. */
export interface ShardOverview {
  readonly format: "fedway-shard-overview";
  readonly version: 1;
  /** Of all datasets, as the published total of 118. */
  readonly shards: number;
  readonly datasets: readonly OverviewEntry[];
  readonly figures: readonly ComparedFigure[];
}

/** Puts reports on several datasets side by side, in the order given. */
export function overviewOf(reports: readonly ShardReport[]): ShardOverview {
  const statistics = reports.map((report) => report.statistics);
  return {
    format: "fedway-shard-overview",
    version: 1,
    shards: statistics.reduce((sum, { shards }) => sum + shards, 0),
    datasets: reports.map(({ dataset, mode, reading, predicted, optimum, queries, statistics: figures }) => ({
      dataset,
      mode,
      reading,
      predicted,
      optimum,
      statistics: figures,
      notFederated: queries.filter(({ federated }) => !federated).length,
    })),
    figures: comparedFigures(statistics),
  };
}
