import type { Count } from "../void/void-description.ts";
import { type DatasetCount, keysOf, mergedCount } from "./fact-base.ts";
import { families, type Family } from "./families.ts";
import type { ListTotal, Run } from "./run.ts";

/** The keys of a list. */
export const listed = (run: Run, family: Family): readonly string[] => [...keysOf(run.base, family).keys()];

/** All keys have exact counts: batches agreed with their sum, or with totals of their own. */
export function isCountedExactly(run: Run, family: Family): boolean {
  const { classes, properties, namedGraphs } = run.base;
  if (family.key === "c") return [...classes.values()].every(({ entities }) => entities?.status === "exact");
  const counted = family.key === "p" ? properties : namedGraphs;
  return [...counted.values()].every(({ triples }) => triples?.status === "exact");
}

/** What was found out of a list. */
export interface ListVerdict {
  readonly complete: boolean;
  readonly total: ListTotal | undefined;
  /** Where it shows; undefined when nothing was answered. */
  readonly record: number | undefined;
}

/** Keeps the counts of the dataset that follow from a list and its total. */
export function keepTotals(run: Run, family: Family, verdict: ListVerdict): void {
  const { base } = run;
  const { complete, total, record } = verdict;
  const size = listed(run, family).length;
  if (family.key === "g") {
    base.graphsComplete = complete;
    return;
  }
  if (family.key === "c") base.classesComplete = complete;
  else base.propertiesComplete = complete;
  if (record === undefined) return;
  const value = complete ? size : Math.max(size, total?.keys ?? 0);
  const status = complete ? "exact" : "lowerBound";
  keepTotal(run, family.key === "c" ? "classes" : "properties", { value, status, record });
  if (family.key === "p") keepTriples(run, verdict, record);
}

function keepTriples(run: Run, { complete, total }: ListVerdict, record: number): void {
  const counts = [...run.base.properties.values()].flatMap(({ triples }) => (triples ? [triples.value] : []));
  const sum = counts.reduce((left, right) => left + right, 0);
  const exact = complete && run.dialect.count && isCountedExactly(run, families.properties);
  const value = exact ? sum : Math.max(sum, total?.solutions ?? 0);
  keepTotal(run, "triples", { value, status: exact ? "exact" : "lowerBound", record });
}

function keepTotal(run: Run, name: DatasetCount, count: Count): void {
  // "At least none" says nothing.
  if (count.status === "lowerBound" && count.value === 0) return;
  run.base.totals.set(name, mergedCount(run.base.totals.get(name), count));
}
