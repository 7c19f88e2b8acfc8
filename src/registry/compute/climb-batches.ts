import { type Batcher, createBatcher, type Weighed } from "./batches.ts";
import type { Family } from "./families.ts";
import { type FailedKey, lastResort } from "./last-resort.ts";
import { caughtLying, isSeen, observe, type Run } from "./run.ts";
import { giveUp, judgeKey, keepBounds } from "./verdicts.ts";
import { type AnsweredBatch, verifyBatches } from "./verify-batches.ts";

/** An answer that took less is fast: the next batch may be larger. */
const fastMs = 5000;

/** Batches that are verified together: little is lost when a run ends in between. */
const batchesPerRound = 16;

/** Rungs 2 and 3 for some keys: adaptive batches, single keys, and for those that fail the rungs below. */
export async function climbBatches(run: Run, family: Family, items: readonly Weighed[]): Promise<void> {
  const batcher = createBatcher(items, {
    first: 10,
    most: run.mostKeys,
    text: run.mostText,
    ...(run.cap !== undefined && { rows: run.cap }),
    ...(run.lies && { work: Math.max(1, run.lieWork / 2) }),
  });
  let done = 0;
  for (let round = await askRound(run, family, { batcher, items }); round; ) {
    if (run.lies) await searchOn(run, family, { items, round });
    else await verifyBatches(run, family, round);
    done += round.reduce((sum, { keys }) => sum + keys.length, 0);
    run.progress(family.phrase, done, items.length);
    round = await askRound(run, family, { batcher, items });
  }
}

interface KeptBatch extends AnsweredBatch {
  /** It showed more than answers before. */
  readonly risen: boolean;
}

interface Round {
  readonly batcher: Batcher;
  readonly items: readonly Weighed[];
}

/** Some batches that were answered; undefined at the end. The sum over a list is only known when all of it is. */
async function askRound(
  run: Run,
  family: Family,
  { batcher, items }: Round,
): Promise<readonly KeptBatch[] | undefined> {
  const most = family.detail.length === 0 ? Number.POSITIVE_INFINITY : batchesPerRound;
  const answered: KeptBatch[] = [];
  for (let keys = batcher.next(); keys !== undefined; keys = batcher.next()) {
    const kept = await askBatch(run, family, { keys, batcher, items });
    if (kept) answered.push(kept);
    if (answered.length >= most) break;
  }
  return answered.length === 0 ? undefined : answered;
}

/** At an endpoint that silently leaves things out: looks for more around what has shown more, and leaves it at that. */
async function searchOn(
  run: Run,
  family: Family,
  { items, round }: { readonly items: readonly Weighed[]; readonly round: readonly KeptBatch[] },
): Promise<void> {
  const risen = round.flatMap(({ keys, risen: some }) => (some && keys.length > 1 ? keys : []));
  if (risen.length > 0) await deepen(run, family, { items, risen });
  for (const { keys, observation } of round) {
    for (const key of keys) giveUp(run, family, { key, why: "partial", record: observation.record });
  }
}

interface Batch {
  readonly keys: readonly string[];
  readonly batcher: Batcher;
  readonly items: readonly Weighed[];
}

/** One batch; undefined when its keys come again in smaller ones or were left to the lower rungs. */
async function askBatch(run: Run, family: Family, { keys, batcher, items }: Batch): Promise<KeptBatch | undefined> {
  const work = items.filter(({ key }) => keys.includes(key)).reduce((sum, { weight }) => sum + weight, 0);
  const fall = async (why: FailedKey["why"], record?: number): Promise<void> => {
    if (batcher.failed()) return;
    const [key = ""] = keys;
    await lastResort(run, family, { key, why, ...(record !== undefined && { record }) });
  };
  if (keys.length === 1 && isTooHeavy(run, family, work)) {
    await fall("timeout");
    return undefined;
  }
  const outcome = await observe(run, family, { selection: { keys }, rung: keys.length === 1 ? 3 : 2 });
  if (!isSeen(outcome)) {
    if (keys.length === 1) run.heavy.set(family.name, work);
    await fall(outcome.why, outcome.record);
    return undefined;
  }
  const risen = keepBounds(run, family, { keys, observation: outcome }).length > 0;
  const contradicts = keys.some((key) => judgeKey(run, family, { key, observation: outcome }) === "contradicts");
  if (outcome.whole && contradicts) caughtLying(run, work, outcome.record);
  if (!outcome.whole || contradicts) {
    await fall("partial", outcome.record);
    return undefined;
  }
  batcher.answered(outcome.rows, outcome.durationMs < fastMs);
  return { keys, observation: outcome, risen };
}

/** A lighter single key has failed before. */
function isTooHeavy(run: Run, family: Family, weight: number): boolean {
  return weight > 1 && weight >= (run.heavy.get(family.name) ?? Number.POSITIVE_INFINITY);
}

/** How often an endpoint that leaves things out is asked for the same keys in smaller batches. */
const mostRounds = 3;

/** Looks for what silent losses have hidden: smaller and smaller batches around the keys that have shown more. */
async function deepen(
  run: Run,
  family: Family,
  { items, risen }: { readonly items: readonly Weighed[]; readonly risen: readonly string[] },
): Promise<void> {
  let wanted = new Set(risen);
  let size = Math.max(1, Math.ceil(risen.length / 4));
  for (let round = 0; round < mostRounds && wanted.size > 0; round++) {
    const left = items.filter(({ key }) => wanted.has(key));
    const work = left.reduce((sum, { weight }) => sum + weight, 0) / Math.max(1, left.length / size);
    const batcher = createBatcher(left, { first: size, most: size, text: run.mostText, work: Math.max(1, work) });
    wanted = new Set();
    for (let keys = batcher.next(); keys !== undefined; keys = batcher.next()) {
      const outcome = await observe(run, family, { selection: { keys }, rung: keys.length === 1 ? 3 : 2 });
      if (!isSeen(outcome)) {
        batcher.failed();
        continue;
      }
      const more = keepBounds(run, family, { keys, observation: outcome });
      if (more.length > 0 && keys.length > 1) for (const key of keys) wanted.add(key);
      batcher.answered(outcome.rows, false);
    }
    size = Math.max(1, Math.ceil(size / 4));
  }
}
