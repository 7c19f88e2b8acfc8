import { computeInBatches } from "./batches.ts";
import { type FactKind, factsOf, groupsOf, keysOf, solutionsOfKeys } from "./fact-kinds.ts";
import { type Observation, sameGroups, solutionsOf, summed, compare } from "./observation.ts";
import { isSeen, observe, type Run, weighed, type Weighed, weightIn, workOf } from "./run.ts";
import { accept, judgeKey, keepBounds, markInconsistent, missingKeys, settle } from "./verdicts.ts";
import { itemAt, valueFor } from "../../../values.ts";

/**
 * Computes one kind of facts: one query for all keys, checked by parts; then batches for the keys that this leaves.
 * `first` is an answer for all keys that is there already.
 */
export async function computeFacts(run: Run, kind: FactKind, first?: Observation): Promise<void> {
  // A list without counts is made when its keys are listed.
  if (kind.detail.length === 0 && !run.dialect.count) return;
  const items = weighed(missingKeys(run.base, kind, run.todo), weightIn(run, kind));
  if (items.length > 0) {
    const whole = first ?? (await askWhole(run, kind, items));
    const left = whole === undefined ? items : await judgeWhole(run, kind, { whole, items });
    if (left.length > 0) await computeInBatches(run, kind, left);
  }
}

/** One answer for all keys, kept as bounds and not verified; undefined where that is too much or nothing is to be asked. */
export async function askAll(run: Run, kind: FactKind): Promise<Observation | undefined> {
  const items = weighed(missingKeys(run.base, kind, run.todo), weightIn(run, kind));
  const whole = items.length === 0 || !run.dialect.count ? undefined : await askWhole(run, kind, items);
  keepAnswer(run, kind, whole);
  return whole;
}

/** Keeps all of an answer as bounds. */
export function keepAnswer(run: Run, kind: FactKind, observation: Observation | undefined): void {
  if (observation !== undefined) keepBounds(run, kind, observation.groups.keys(), observation);
}

/** Level 1, unless a lighter kind has already shown that it asks too much. */
async function askWhole(run: Run, kind: FactKind, items: readonly Weighed[]): Promise<Observation | undefined> {
  if (isTooHeavyAtOnce(run, kind, items)) return undefined;
  const keys = items.map(({ key }) => key);
  // A resumed run asks for the keys that are left; one key needs no query over all of them.
  const isRest = keys.length < keysOf(run.base, kind).size;
  if (isRest && keys.length > run.mostKeys) return undefined;
  const outcome = await observe(run, kind, { selection: isRest ? { keys } : {}, level: isRest ? 2 : 1 });
  if (isSeen(outcome)) {
    if (!outcome.whole) run.tooMuch.set(kind.name, outcome.cut ? "cut" : "failed");
    return outcome;
  }
  run.tooMuch.set(kind.name, outcome.tooLarge ? "cut" : "failed");
  return undefined;
}

/** Groups that a key is likely to have, if it has details. */
const usualGroups = 16;

function isTooHeavyAtOnce(run: Run, kind: FactKind, items: readonly Weighed[]): boolean {
  const work = workOf(items);
  if (kind.detail.length > 0 && items.length * usualGroups > run.session.mostRows) return true;
  if (run.inconsistent && work >= run.inconsistentFrom) return true;
  const heavier: Partial<Record<FactKind["name"], readonly FactKind["name"][]>> = {
    classObjectClasses: ["classProperties"],
    classDatatypes: ["classProperties"],
    propertyObjectClasses: ["properties"],
    propertyDatatypes: ["properties"],
  };
  return (heavier[kind.name] ?? []).some((lighter) => run.tooMuch.has(lighter));
}

/** An answer for all keys, and those of them that it is to verify. */
interface Whole {
  readonly whole: Observation;
  readonly items: readonly Weighed[];
}

/** Keeps what a whole answer says and finds evidence for it; gives the keys that need smaller queries. */
async function judgeWhole(run: Run, kind: FactKind, { whole, items }: Whole): Promise<readonly Weighed[]> {
  const keys = items.map(({ key }) => key);
  keepBounds(run, kind, keys, whole);
  if (!whole.whole) return items;
  const open: Weighed[] = [];
  for (const item of items) {
    const verdict = judgeKey(run, kind, { key: item.key, observation: whole });
    if (verdict === "contradicts") {
      markInconsistent(run, workOf(items), whole.record);
      return items;
    }
    if (verdict === "unknown") open.push(item);
    else accept(run, kind, { key: item.key, observation: whole });
  }
  return open.length === 0 ? [] : verifyWhole(run, kind, { whole, items: open });
}

/**
 * Asks for the counts of a list, or for the solutions of each key, once more in parts of very different size. When all of them say the same, the answer is
 * exact; when one says something else, none of the answers can be trusted, and all keys are given back.
 */
async function verifyWhole(run: Run, kind: FactKind, { whole, items }: Whole): Promise<readonly Weighed[]> {
  const sorted = items
    .map(({ key, weight }) => ({ key, weight: solutionsOf(whole.groups.get(key)) || weight }))
    .toSorted((one, other) => one.weight - other.weight);
  const weights = new Map(sorted.map(({ key, weight }) => [key, weight]));
  const agreed = new Set<string>();
  const unverified: { readonly keys: readonly string[]; readonly record: number }[] = [];
  let differing = 0;
  // Where an engine has stopped half-way, it is the last group that shows it.
  const doubtful = [...whole.groups.keys()].at(-1);
  const [counted, sums] = kind.detail.length === 0 ? [kind, whole] : [solutionsOfKeys(kind), summed(whole)];
  // Each key gives a row, which must not be cut.
  const limits = { most: Math.min(run.mostKeys, run.cap ?? run.mostKeys), text: run.mostText, doubtful };
  const isClaimed = claimedOf(run, kind, { whole, items });
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
    const part = await observePart(run, counted, { keys, whole: sums });
    if (!isSeen(part) || !part.whole) {
      unverified.push({ keys, record: part.record });
      continue;
    }
    const comparison = compare(keys, sums, part);
    if (comparison.differing.length > 0) {
      if (counted === kind) keepBounds(run, kind, keys, part);
      // The largest part that saw more than the whole shows how much work is too much.
      differing = Math.max(
        differing,
        keys.reduce((sum, key) => sum + valueFor(weights, key), 0),
      );
      markInconsistent(run, differing, part.record);
      run.inconsistentFrom = differing;
    }
    for (const key of comparison.agreed) agreed.add(key);
  }
  if (differing > 0) return items;
  for (const { keys, record } of unverified) {
    for (const key of keys) {
      // The light key on its own is in another part as well.
      agreed.delete(key);
      run.todo.settle(kind, key, { why: "partial", record });
    }
  }
  const observations = Array.from(agreed, (key) => ({ key, observation: whole }));
  settle(run, kind, observations);
  return [];
}

/** One part; one that contradicts the whole answer is asked once more, as a single answer may have failed for the moment. */
async function observePart(
  run: Run,
  kind: FactKind,
  { keys, whole }: { readonly keys: readonly string[]; readonly whole: Observation },
) {
  const asked = { selection: { keys }, level: keys.length === 1 ? 3 : 2 } as const;
  const part = await observe(run, kind, asked);
  if (!isSeen(part) || !part.whole || compare(keys, whole, part).differing.length === 0) return part;
  const again = await observe(run, kind, asked);
  if (!isSeen(again) || !again.whole || compare(keys, whole, again).differing.length > 0) return part;
  run.todo.note({ what: transientAnswers, why: "partial", record: part.record });
  return again;
}

const transientAnswers = "answers that were different when asked again, so that the data may have changed meanwhile";

/** Keys of which the publisher claims just what the answer says: two parts will do for those. */
function claimedOf({ claims }: Run, kind: FactKind, { whole, items }: Whole): (key: string) => boolean {
  // A second way to an answer, though one that may have come from the same endpoint.
  const agrees = (key: string): boolean => {
    const claimed = groupsOf(claims, kind, key);
    return claimed !== undefined && sameGroups(claimed, whole.groups.get(key) ?? new Map());
  };
  // A key of which nothing is claimed agrees with an answer that has nothing of it only where others agree as well.
  const isTold = items.some(({ key }) => factsOf(claims, kind, key) > 0 && agrees(key));
  return isTold ? agrees : () => false;
}

/** How `verificationParts` divides. */
interface PartLimits {
  /** Keys in one part. */
  readonly most: number;
  /** Characters of all keys in one part, unless it is a single one; absent: no bound. */
  readonly text?: number | undefined;
  /** A key to be asked for on its own, too, if that is light. */
  readonly doubtful?: string | undefined;
  /** How often the work is halved, the rest being one part; default 5. */
  readonly halvings?: number;
}

/**
 * Disjoint parts of `items` (ascending by weight) that cover all of them, of about half, a quarter, an eighth ... of the
 * whole work; behind them a light key and the doubtful one on their own once more. An engine that answers only up to some
 * amount of work gives different answers to at least one of these than to the whole, whatever that amount is.
 */
export function verificationParts(items: readonly Weighed[], limits: PartLimits): readonly (readonly string[])[] {
  const parts: string[][] = [];
  const all = workOf(items);
  let left = items.length;
  while (left > 0 && parts.length < (limits.halvings ?? 5)) {
    // At least two parts wherever there are two keys.
    const rest = items.slice(parts.length === 0 && left > 1 ? 1 : 0, left);
    const part = heaviest(rest, workOf(items.slice(0, left)) / 2);
    parts.push(part.map(({ key }) => key));
    left -= part.length;
  }
  if (left > 0) parts.push(items.slice(0, left).map(({ key }) => key));
  const pieces = parts.flatMap((part) => chunks(part, keysPerPart(items, limits)));
  const alone = new Set(pieces.flatMap((part) => (part.length === 1 ? part : [])));
  const doubtful = items.find(({ key, weight }) => key === limits.doubtful && weight <= all / 4);
  const singles = new Set([lightKey(items), doubtful?.key]);
  return [...pieces, ...[...singles].flatMap((key) => (key === undefined || alone.has(key) ? [] : [[key]]))];
}

function keysPerPart(items: readonly Weighed[], { most, text }: PartLimits): number {
  const longest = items.reduce((length, { key }) => Math.max(length, key.length), 1);
  return Math.max(1, Math.min(most, Math.floor((text ?? Number.POSITIVE_INFINITY) / longest)));
}

/** The last of `items`, until they are as much work as wanted; at least one. */
function heaviest(items: readonly Weighed[], wanted: number): readonly Weighed[] {
  let from = items.length;
  let work = 0;
  while (from > 0 && (from === items.length || work < wanted)) work += itemAt(items, --from).weight;
  return items.slice(from);
}

/** A key whose work is small but not so small that losing a part of it could not be seen. */
function lightKey(items: readonly Weighed[]): string | undefined {
  return (items.find(({ weight }) => weight >= 5) ?? items.at(-1))?.key;
}

/** Pieces of at most `most` items, as even as possible. */
export function chunks<T>(items: readonly T[], most: number): T[][] {
  const count = Math.ceil(items.length / Math.max(1, most));
  const size = Math.ceil(items.length / Math.max(1, count));
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size));
}
