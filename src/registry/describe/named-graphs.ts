import { families } from "./families.ts";
import { startList } from "./lists.ts";
import { countOf } from "./observation.ts";
import { probes, tripleCountsQueries } from "./queries.ts";
import { caughtLying, type Run } from "./run.ts";

/**
 * Where the default graph is empty, the data are in named graphs: lists these with their sizes and lets everything that
 * follows be asked of their union. Whether that is new, so that what was asked before must be asked again.
 */
export async function turnToNamedGraphs(run: Run): Promise<boolean> {
  if (!run.agenda.isOpen("graph list")) return false;
  if (!(await isDefaultGraphEmpty(run))) {
    run.agenda.close("graph list");
    return false;
  }
  const graphs = await startList(run, families.graphs);
  await graphs.finish();
  run.dialect = { ...run.dialect, named: run.base.namedGraphs.size > 0 };
  await findRepeats(run);
  return run.dialect.named;
}

/** An answer of no is believed only where nothing else has shown data. */
async function isDefaultGraphEmpty({ base, dialect, session }: Run): Promise<boolean> {
  if (base.classes.size > 0 || dialect.graphs.length > 0) return false;
  const outcome = await session.ask({ query: probes.anything, rung: 5 });
  return outcome.ok && outcome.sound && outcome.answer.boolean === false;
}

/**
 * Finds out whether the same triple lies in several of the graphs that are described together, so that it comes several
 * times. It is taken to do so while nothing shows the contrary; where DISTINCT is wrong nothing can be counted exactly.
 */
export async function findRepeats(run: Run): Promise<void> {
  const { named, graphs, count } = run.dialect;
  if (!count || (named ? run.base.namedGraphs.size : graphs.length) < 2) return;
  const [all, once] = tripleCountsQueries(run.dialect);
  const copies = await countOnce(run, all);
  const triples = await countOnce(run, once);
  const sizes = [...run.base.namedGraphs.values()].reduce((sum, graph) => sum + (graph.triples?.value ?? 0), 0);
  const cut = run.lies || copies.value === undefined || copies.value < sizes;
  const repeats = cut || copies.value !== triples.value;
  run.dialect = { ...run.dialect, repeats };
  if (repeats) return;
  // Equal numbers are also what comes where DISTINCT is ignored.
  const known = await countOnce(run, probes.distinctRows);
  if (known.value !== probes.distinctRowsCount) caughtLying(run, 1, known.record);
}

async function countOnce({ session }: Run, query: string): Promise<{ value: number | undefined; record: number }> {
  const outcome = await session.ask({ query, rung: 1 });
  const row = outcome.ok && outcome.sound ? outcome.answer.rows[0] : undefined;
  return { value: countOf(row?.get("n")), record: outcome.record };
}
