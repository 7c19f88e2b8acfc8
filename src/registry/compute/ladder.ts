import { type Weighed, weighed } from "./batches.ts";
import { climbBatches } from "./climb-batches.ts";
import { keysOf } from "./fact-base.ts";
import type { Family } from "./families.ts";
import type { Observation } from "./observation.ts";
import { missingKeys } from "./plan.ts";
import { caughtLying, isSeen, observe, type Run, weightIn } from "./run.ts";
import { accept, judgeKey, keepBounds } from "./verdicts.ts";
import { verifyWhole } from "./verify-whole.ts";

/**
 * Takes one family of facts through the rungs: one query for all keys, checked by parts; what that leaves in batches.
 * `first` is an answer for all keys that is there already.
 */
export async function climb(run: Run, family: Family, first?: Observation): Promise<void> {
  // A list without counts is made when its keys are listed.
  if (family.detail.length === 0 && !run.dialect.count) return;
  const items = weighed(missingKeys(run.base, family, run.agenda), weightIn(run, family));
  if (items.length > 0) {
    const whole = first ?? (await askWhole(run, family, items));
    const left = whole === undefined ? items : await judgeWhole(run, family, { whole, items });
    if (left.length > 0) await climbBatches(run, family, left);
  }
}

/** Rung 1, unless a lighter family has already shown that it asks too much. */
async function askWhole(run: Run, family: Family, items: readonly Weighed[]): Promise<Observation | undefined> {
  if (isHopeless(run, family, items)) return undefined;
  const keys = items.map(({ key }) => key);
  // A resumed run asks for the keys that are left; one key needs no query over all of them.
  const isRest = keys.length < keysOf(run.base, family).size;
  if (isRest && keys.length > run.mostKeys) return undefined;
  const outcome = await observe(run, family, { selection: isRest ? { keys } : {}, rung: isRest ? 2 : 1 });
  if (isSeen(outcome)) {
    if (!outcome.whole) run.tooMuch.set(family.name, outcome.cut ? "cut" : "failed");
    return outcome;
  }
  run.tooMuch.set(family.name, outcome.why === "too-large" ? "cut" : "failed");
  return undefined;
}

function isHopeless(run: Run, family: Family, items: readonly Weighed[]): boolean {
  const work = items.reduce((sum, { weight }) => sum + weight, 0);
  if (run.lies && work >= run.lieWork) return true;
  const heavier: Partial<Record<Family["name"], readonly Family["name"][]>> = {
    classObjectClasses: ["classProperties"],
    classDatatypes: ["classProperties"],
    propertyObjectClasses: ["properties"],
    propertyDatatypes: ["properties"],
  };
  return (heavier[family.name] ?? []).some((lighter) => run.tooMuch.has(lighter));
}

interface Whole {
  readonly whole: Observation;
  readonly items: readonly Weighed[];
}

/** Keeps what a whole answer says and finds evidence for it; gives the keys that need smaller queries. */
async function judgeWhole(run: Run, family: Family, { whole, items }: Whole): Promise<readonly Weighed[]> {
  keepBounds(run, family, { keys: items.map(({ key }) => key), observation: whole });
  if (!whole.whole) return items;
  const open: Weighed[] = [];
  for (const item of items) {
    const verdict = judgeKey(run, family, { key: item.key, observation: whole });
    if (verdict === "contradicts") {
      const work = items.reduce((sum, { weight }) => sum + weight, 0);
      caughtLying(run, work, whole.record);
      return items;
    }
    if (verdict === "unknown") open.push(item);
    else accept(run, family, { key: item.key, observation: whole });
  }
  return open.length === 0 ? [] : verifyWhole(run, family, { whole, items: open });
}
