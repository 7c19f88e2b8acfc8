import type { PropertyFact } from "./fact-base.ts";
import { countOf, type Observation, solutionsOf } from "./observation.ts";
import { tripleCountsQueries } from "./queries.ts";
import { caughtLying, type Run } from "./run.ts";

/** Name of the unknown fact that keeps across runs that COUNT(DISTINCT) is refused or wrong. */
export const noDistinct = "distinct subjects and objects: COUNT(DISTINCT) is refused or wrong";

/** Name of the fact that keeps across runs that the default graph gives a triple once for each graph that has it. */
export const repeatedTriples = "which graphs a triple is from: it comes once for each of them";

/** Counts of solutions are all that is believed from now on; what was counted by COUNT(DISTINCT) before is forgotten. */
export function distrustDistinct(run: Run, record: number): void {
  run.dialect = { ...run.dialect, countDistinct: false };
  run.agenda.note({ what: noDistinct, why: "refused", record });
  const { base } = run;
  for (const { properties } of [base, ...base.classes.values()]) for (const fact of properties.values()) forget(fact);
}

function forget(fact: PropertyFact): void {
  delete fact.distinctSubjects;
  delete fact.distinctObjects;
}

/**
 * Finds out whether the same triple lies in several of so many graphs that are described together, so that it comes several
 * times. It is taken to do so while nothing shows the contrary.
 */
export async function findRepeats(run: Run, graphs: number): Promise<void> {
  const { count, countDistinct } = run.dialect;
  if (!count || graphs < 2) return;
  const { all, once, record } = await countBoth(run);
  const sizes = [...run.base.namedGraphs.values()].reduce((sum, graph) => sum + (graph.triples?.value ?? 0), 0);
  const cut = run.lies || all === undefined || all < sizes;
  run.dialect = { ...run.dialect, repeats: cut || all !== once };
  if (run.dialect.repeats || !countDistinct) return;
  // Equal numbers are also what comes where DISTINCT is ignored.
  const [, grouped] = tripleCountsQueries({ ...run.dialect, countDistinct: false });
  const triples = (await countOnce(run, grouped)).value;
  if (triples === undefined || triples === all) return;
  distrustDistinct(run, record);
  run.dialect = { ...run.dialect, repeats: true };
}

/**
 * A class has as many solutions as distinct instances. Where an answer says otherwise, either a triple comes several
 * times, or COUNT(DISTINCT) is wrong: finds out which. Whether the list must be made again.
 */
export async function settleDoubt(run: Run, classes: Observation | undefined): Promise<boolean> {
  const { countDistinct, repeats } = run.dialect;
  if (classes === undefined || !countDistinct) return false;
  const doubtful = [...classes.groups].find(([, groups]) => [...groups.values()].some(({ n, ds }) => n !== ds));
  const [key] = doubtful ?? classes.flawed;
  if (typeof key !== "string") return false;
  const { all, once, record } = await countBoth(run, key);
  if (!repeats && (once === undefined || all !== once)) {
    run.dialect = { ...run.dialect, repeats: true };
    run.agenda.note({ what: repeatedTriples, why: "refused", record });
    return true;
  }
  // Each triple comes once, or should be counted once by now.
  if (repeats && solutionsOf(classes.groups.get(key)) !== once) caughtLying(run, 1, record);
  distrustDistinct(run, record);
  return true;
}

interface BothCounts {
  readonly all: number | undefined;
  readonly once: number | undefined;
  readonly record: number;
}

/** Triples, or instances of a class, as often as they come and each of them once. */
async function countBoth(run: Run, key?: string): Promise<BothCounts> {
  const [all, once] = tripleCountsQueries(run.dialect, key);
  const copies = await countOnce(run, all);
  const single = await countOnce(run, once);
  return { all: copies.value, once: single.value, record: single.record };
}

async function countOnce({ session }: Run, query: string): Promise<{ value: number | undefined; record: number }> {
  const outcome = await session.ask({ query, rung: 1 });
  const row = outcome.ok && outcome.sound ? outcome.answer.rows[0] : undefined;
  return { value: countOf(row?.get("n")), record: outcome.record };
}
