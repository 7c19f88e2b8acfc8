import { comparedFigures, totalShards, published as publishedFigures } from "./compared-figures.ts";
import type { ShardReport } from "./shard-report.ts";
import { amountText, numberText } from "./words.ts";

/** Reports side by side. */
export type ShardOverview = ReturnType<typeof overviewOf>;

/**
 * Puts reports side by side, in the order given; each counts, also one on a dataset that another is on. `version` grows when
 * a field changes its meaning or goes.
 */
export function overviewOf(reports: readonly ShardReport[]) {
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
      /** Distinct queries that touch fewer than two shards. */
      notFederated: queries.filter(({ federated }) => !federated).length,
    })),
    groups: groupsOf(reports),
  };
}

/**
 * Datasets whose shards were made alike, and their figures together: those of reports that differ in how rules were chosen
 * and triples placed are not put together. In the order in which they come first.
 */
function groupsOf(reports: readonly ShardReport[]) {
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
      /** Names it among the groups of the overview. */
      title: used === 1 ? name : `${name} (${used})`,
      mode,
      reading,
      precedence,
      datasets: members.length,
      /** How many of these are predicted. */
      predicted: members.filter(({ predicted }) => predicted).length,
      figures: [totalShards(statistics), ...comparedFigures(statistics)],
    };
  });
}

/** Title over the figures of a group: how many datasets it has, and if they were written. */
export const groupTitle = ({ title, datasets, predicted }: ShardOverview["groups"][number]): string =>
  `${title}: ${amountText(datasets, "dataset")}${predicted === 0 ? "" : `, ${predicted === datasets ? "all" : numberText(predicted)} predicted`}`;

/** How figures of some datasets stand to the published ones. */
export const comparability = `The published figures are of ${publishedFigures.datasets} datasets and of one choice of rules for each, of which several may be equally small. Other datasets, or some of these, need not have the same.`;
