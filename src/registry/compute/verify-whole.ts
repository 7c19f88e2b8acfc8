import { verificationParts, type Weighed } from "./batches.ts";
import { isAsClaimed } from "./claims.ts";
import { compare } from "./evidence.ts";
import type { Family } from "./families.ts";
import { familyFacts } from "./family-facts.ts";
import { accept, giveUp, keepBounds } from "./verdicts.ts";
import { type Observation, solutionsOf } from "./observation.ts";
import { caughtLying, isSeen, observe, type Run } from "./run.ts";

/**
 * Asks for the groups of an answer once more in parts of very different size. When all of them say the same, the answer is
 * exact; when one says something else, none of the answers can be trusted, and all keys are given back.
 */
export async function verifyWhole(
  run: Run,
  family: Family,
  { whole, items }: { readonly whole: Observation; readonly items: readonly Weighed[] },
): Promise<readonly Weighed[]> {
  const weights = new Map(items.map(({ key, weight }) => [key, solutionsOf(whole.groups.get(key)) || weight]));
  const sorted = items
    .map(({ key }) => ({ key, weight: weights.get(key) ?? 1 }))
    .toSorted((one, other) => one.weight - other.weight);
  const agreed = new Set<string>();
  const unproven: { readonly keys: readonly string[]; readonly record: number }[] = [];
  let differing = 0;
  // Where an engine has stopped half-way, it is the last group that shows it.
  const doubtful = [...whole.groups.keys()].at(-1);
  const limits = { most: mostIn(run, family), text: run.mostText, ...(doubtful !== undefined && { doubtful }) };
  const isClaimed = claimedOf(run, family, { whole, items });
  const parts = [
    ...verificationParts(
      sorted.filter(({ key }) => isClaimed(key)),
      { ...limits, halvings: 1 },
    ),
    ...verificationParts(
      sorted.filter(({ key }) => !isClaimed(key)),
      limits,
    ),
  ];
  for (const keys of parts) {
    const part = await observe(run, family, { selection: { keys }, rung: keys.length === 1 ? 3 : 2 });
    if (!isSeen(part) || !part.whole) {
      unproven.push({ keys, record: part.record });
      continue;
    }
    const comparison = compare(keys, whole, part);
    if (comparison.differing.length > 0) {
      keepBounds(run, family, { keys, observation: part });
      // The largest part that saw more than the whole did tells how much work is too much.
      differing = Math.max(
        differing,
        keys.reduce((sum, key) => sum + (weights.get(key) ?? 1), 0),
      );
      caughtLying(run, differing, part.record);
      run.lieWork = differing;
    }
    for (const key of comparison.agreed) agreed.add(key);
  }
  if (differing > 0) return items;
  for (const { keys, record } of unproven) {
    for (const key of keys) {
      // The light key on its own is in another part as well.
      agreed.delete(key);
      giveUp(run, family, { key, why: "partial", record });
    }
  }
  settleAgreed(run, family, { whole, agreed });
  return [];
}

/** Keys of which the publisher claims just what the answer says: two parts will do for those. */
function claimedOf(
  { claims }: Run,
  family: Family,
  { whole, items }: { readonly whole: Observation; readonly items: readonly Weighed[] },
): (key: string) => boolean {
  const agrees = (key: string): boolean => isAsClaimed(claims, family, { key, observation: whole });
  // A key of which nothing is claimed agrees with an answer that has nothing of it only where others agree as well.
  const isTold = items.some(({ key }) => familyFacts[family.name].size(claims, key) > 0 && agrees(key));
  return isTold ? agrees : () => false;
}

function settleAgreed(
  run: Run,
  family: Family,
  { whole, agreed }: { readonly whole: Observation; readonly agreed: ReadonlySet<string> },
): void {
  for (const key of agreed) {
    if (run.lies) giveUp(run, family, { key, why: "partial", record: whole.record });
    else accept(run, family, { key, observation: whole });
  }
}

/** Keys in one part: of a list each gives a row, which must not be cut. */
function mostIn(run: Run, family: Family): number {
  return family.detail.length === 0 ? Math.min(run.mostKeys, run.cap ?? run.mostKeys) : run.mostKeys;
}
