import { createBatcher, type Weighed, weighed } from "./batches.ts";
import type { Family } from "./families.ts";
import { countOf, iriOf, type Observation, solutionsOf } from "./observation.ts";
import { totalsQuery } from "./queries.ts";
import { caughtLying, isCutFor, type Run, weightIn } from "./run.ts";
import { accept, giveUp, judgeKey } from "./verdicts.ts";

/** A batch that was answered soundly. */
export interface AnsweredBatch {
  readonly keys: readonly string[];
  readonly observation: Observation;
}

/**
 * Finds a second way to what batches have answered: facts known from other queries, or the number of solutions of each
 * key, asked in batches of another size. What no second way agrees with stays a lower bound.
 */
export async function verifyBatches(run: Run, family: Family, batches: readonly AnsweredBatch[]): Promise<void> {
  const open = new Map<string, Observation>();
  for (const { keys, observation } of batches) {
    for (const key of keys) {
      if (judgeKey(run, family, { key, observation }) === "agrees") accept(run, family, { key, observation });
      else open.set(key, observation);
    }
  }
  if (open.size === 0) return;
  if (addsUp(run, family, open)) {
    for (const [key, observation] of open) accept(run, family, { key, observation });
    return;
  }
  if (!run.dialect.count) {
    for (const [key, observation] of open) accept(run, family, { key, observation });
    return;
  }
  const totals = await askTotals(run, family, { open, batches });
  judgeByTotals(run, family, { open, totals });
}

interface Totals {
  readonly open: ReadonlyMap<string, Observation>;
  readonly totals: ReadonlyMap<string, number>;
}

function judgeByTotals(run: Run, family: Family, { open, totals }: Totals): void {
  const agreed = new Set<string>();
  for (const [key, observation] of open) {
    const total = totals.get(key);
    const solutions = solutionsOf(observation.groups.get(key));
    if (total === undefined || solutions === undefined) continue;
    if (total === solutions) agreed.add(key);
    else caughtLying(run, solutions, observation.record);
  }
  for (const [key, observation] of open) {
    if (agreed.has(key) && !run.lies) accept(run, family, { key, observation });
    else giveUp(run, family, { key, why: "partial", record: observation.record });
  }
}

/** Whether the keys of a list family have together as many solutions as the whole list was counted to have. */
function addsUp(run: Run, family: Family, open: ReadonlyMap<string, Observation>): boolean {
  const total = run.listTotals.get(family.name);
  if (total === undefined || run.lies || open.size < 2) return false;
  let sum = 0;
  for (const [key, observation] of open) sum += solutionsOf(observation.groups.get(key)) ?? 0;
  return sum === total.solutions;
}

interface Open {
  readonly open: ReadonlyMap<string, Observation>;
  readonly batches: readonly AnsweredBatch[];
}

/** Solutions of each key: for all keys at once where only rows were too many, else in batches of half the size. */
async function askTotals(run: Run, family: Family, { open, batches }: Open): Promise<ReadonlyMap<string, number>> {
  const items = weighed(open.keys(), weightIn(run, family));
  const usual = Math.max(1, Math.floor(open.size / Math.max(1, batches.length)));
  const byRows = run.tooMuch.get(family.name) === "cut";
  const first = byRows ? items.length : Math.max(1, Math.floor(usual / 2));
  const most = byRows ? Math.min(run.mostKeys, Math.max(1, (run.cap ?? Number.POSITIVE_INFINITY) - 1)) : first;
  const batcher = createBatcher(items, {
    first: Math.min(first, most),
    most,
    text: run.mostText,
    ...work(items, { byRows, batches }),
  });
  const totals = new Map<string, number>();
  for (let keys = batcher.next(); keys !== undefined; keys = batcher.next()) {
    const found = await askSomeTotals(run, family, keys);
    if (found === undefined) {
      batcher.failed();
      continue;
    }
    for (const [key, total] of found) totals.set(key, total);
    batcher.answered(found.size, false);
    run.progress(`${family.phrase}, checked`, totals.size, items.length);
  }
  return totals;
}

function work(
  items: readonly Weighed[],
  { byRows, batches }: { readonly byRows: boolean; readonly batches: readonly AnsweredBatch[] },
): { readonly work?: number } {
  if (byRows) return {};
  const all = items.reduce((sum, { weight }) => sum + weight, 0);
  return { work: all / Math.max(1, batches.length) / 2 };
}

async function askSomeTotals(
  run: Run,
  family: Family,
  keys: readonly string[],
): Promise<ReadonlyMap<string, number> | undefined> {
  const outcome = await run.session.ask({
    query: totalsQuery(family, { keys }, run.dialect),
    rung: keys.length === 1 ? 3 : 2,
  });
  if (
    !outcome.ok ||
    !outcome.sound ||
    (outcome.answer.rows.length < keys.length && isCutFor(run, outcome.answer.rows.length))
  )
    return undefined;
  const totals = new Map<string, number>();
  for (const row of outcome.answer.rows) {
    const key = keys.length === 1 ? keys[0] : iriOf(row.get(family.key));
    const total = countOf(row.get("n"));
    if (key !== undefined && total !== undefined) totals.set(key, total);
  }
  // A key without solutions has no row.
  for (const key of keys) if (!totals.has(key)) totals.set(key, 0);
  return totals;
}
