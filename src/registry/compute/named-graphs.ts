import { findRepeats } from "./distinct.ts";
import { families } from "./families.ts";
import { startList } from "./lists.ts";
import { probes } from "./queries.ts";
import type { Run } from "./run.ts";

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
  await findRepeats(run, run.base.namedGraphs.size);
  return run.dialect.named;
}

/** An answer of no is believed only where nothing else has shown data. */
async function isDefaultGraphEmpty({ base, dialect, session }: Run): Promise<boolean> {
  if (base.classes.size > 0 || dialect.graphs.length > 0) return false;
  const outcome = await session.ask({ query: probes.anything, rung: 5 });
  return outcome.ok && outcome.sound && outcome.answer.boolean === false;
}
