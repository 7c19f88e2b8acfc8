import { ask, isSeen, observe, type Run, type Unanswered, weighed, type Weighed, weightIn, workOf } from "./run.ts";
import { type FactKind, factKinds, recordGroups, solutionsOfKeys } from "./fact-kinds.ts";
import { judgeKey, keepBounds, markInconsistent, settle } from "./verdicts.ts";
import { type KeyObservation, type Observation, solutionsOf } from "./observation.ts";
import { askProperty } from "./queries.ts";

/** Bounds of a batch. */
interface BatchLimits {
  /** Keys in the first batch; level 2 starts at 10. */
  readonly first: number;
  /** Keys in any batch. */
  readonly most: number;
  /** Characters of all keys of a batch; absent: no bound. */
  readonly text?: number | undefined;
  /** Rows that an answer may have without being cut; absent: no known cap. */
  readonly rows?: number | undefined;
  /** Work above which answers are known to fail or to be incomplete. */
  readonly work?: number | undefined;
}

/**
 * Batches that adapt to how the endpoint takes them (level 2). Starts with `limits.first` keys, halves on failure and
 * doubles after every fast answer. While nothing has worked a failure takes it down to a tenth: halving would press an
 * endpoint that is at its limit with one failure after another.
 */
export class Batcher {
  readonly #items: readonly Weighed[];
  readonly #limits: BatchLimits;
  #at = 0;
  #size: number;
  #work: number;
  #rowsPerKey = 0;
  #batch: readonly Weighed[] = [];
  #succeeded = false;

  constructor(items: readonly Weighed[], limits: BatchLimits) {
    this.#items = items;
    this.#limits = limits;
    this.#size = Math.max(1, Math.min(limits.first, limits.most));
    this.#work = limits.work ?? Number.POSITIVE_INFINITY;
  }

  /** One batch after the other, lightest keys first; each is to be reported as answered or failed before the next. */
  *[Symbol.iterator](): Generator<readonly string[]> {
    while (this.#at < this.#items.length) {
      const next = this.#items.slice(this.#at, this.#at + this.#keysWanted());
      this.#batch = firstWithin(next, { work: this.#work, text: this.#limits.text ?? Number.POSITIVE_INFINITY });
      yield this.#batch.map(({ key }) => key);
    }
  }

  #keysWanted(): number {
    const { most, rows } = this.#limits;
    const byRows = rows === undefined || this.#rowsPerKey === 0 ? this.#size : (0.8 * rows) / this.#rowsPerKey;
    return Math.max(1, Math.min(this.#size, most, Math.floor(byRows)));
  }

  /** The last batch was answered with `rows` rows; `fast` ones make the next larger. */
  answered(rows: number, fast: boolean): void {
    const { length } = this.#batch;
    this.#succeeded = true;
    this.#rowsPerKey = Math.max(this.#rowsPerKey * 0.9, rows / Math.max(1, length));
    this.#at += length;
    if (!fast) return;
    const mostWork = this.#limits.work ?? Number.POSITIVE_INFINITY;
    if (workOf(this.#batch) >= this.#work / 2) this.#work = Math.min(mostWork, this.#work * 2);
    this.#size = Math.min(this.#limits.most, Math.max(this.#size, length) * 2);
  }

  /** The last batch was not answered, or cut: its keys come again in smaller batches. False when it was a single key. */
  failed(): boolean {
    const { length } = this.#batch;
    if (length <= 1) {
      this.#at += length;
      this.#size = 1;
      return false;
    }
    this.#work = Math.min(this.#work, workOf(this.#batch) / 2);
    this.#size = Math.max(1, Math.floor(length / (this.#succeeded ? 2 : 10)));
    return true;
  }
}

/** The first items, as many as stay within the bounds; at least one. */
function firstWithin(
  items: readonly Weighed[],
  most: { readonly work: number; readonly text: number },
): readonly Weighed[] {
  let work = 0;
  let text = 0;
  const end = items.findIndex(({ key, weight }, at) => {
    work += weight;
    text += key.length;
    return at > 0 && (work > most.work || text > most.text);
  });
  return end < 0 ? items : items.slice(0, end);
}

/** An answer that took less is fast: the next batch may be larger. */
const fastMs = 5000;

/** Batches that are verified together, unless they have as many rows as an answer may have: little is lost when a run ends in between. */
const batchesPerRound = 16;

/** Levels 2 and 3 for some keys: adaptive batches, single keys, and the fallback for those that fail. */
export async function computeInBatches(run: Run, kind: FactKind, items: readonly Weighed[]): Promise<void> {
  const batcher = new Batcher(items, {
    first: 10,
    most: run.mostKeys,
    text: run.mostText,
    rows: mostRowsIn(run),
    work: run.inconsistent ? Math.max(1, run.inconsistentFrom / 2) : undefined,
  });
  let done = 0;
  for (let round = await askRound(run, kind, { batcher, items }); round; ) {
    await verifyBatches(run, kind, round);
    done += round.reduce((sum, { keys }) => sum + keys.length, 0);
    run.progress(kind.phrase, done, items.length);
    round = await askRound(run, kind, { batcher, items });
  }
}

/** Rows of an answer that is neither cut nor refused for its size. */
const mostRowsIn = ({ cap, session }: Run): number => Math.min(cap ?? session.mostRows, session.mostRows);

/** A batch that was answered soundly. */
interface AnsweredBatch {
  readonly keys: readonly string[];
  readonly observation: Observation;
}

interface Round {
  readonly batcher: Batcher;
  readonly items: readonly Weighed[];
}

/** Some batches that were answered; undefined at the end. The sum over a list is only known when all of it is. */
async function askRound(
  run: Run,
  kind: FactKind,
  { batcher, items }: Round,
): Promise<readonly AnsweredBatch[] | undefined> {
  const isList = kind.detail.length === 0;
  const answered: AnsweredBatch[] = [];
  let rows = 0;
  for (const keys of batcher) {
    const kept = await askBatch(run, kind, { keys, batcher, items });
    if (kept) answered.push(kept);
    rows += kept?.observation.rows ?? 0;
    if (!isList && (answered.length >= batchesPerRound || rows >= run.session.mostRows)) break;
  }
  return answered.length === 0 ? undefined : answered;
}

/** One batch; undefined when its keys come again in smaller ones or went to the fallback. */
async function askBatch(
  run: Run,
  kind: FactKind,
  { keys, batcher, items }: Round & { readonly keys: readonly string[] },
): Promise<AnsweredBatch | undefined> {
  const work = workOf(items.filter(({ key }) => keys.includes(key)));
  const fall = async (why: FailedKey["why"], record?: number): Promise<void> => {
    if (batcher.failed()) return;
    const [key = ""] = keys;
    await fallBack(run, kind, { key, why, record });
  };
  if (keys.length === 1 && isTooHeavy(run, kind, work)) {
    await fall("timeout");
    return undefined;
  }
  const outcome = await observe(run, kind, { selection: { keys }, level: keys.length === 1 ? 3 : 2 });
  if (!isSeen(outcome)) {
    if (keys.length === 1) run.failed.set(kind.name, [...(run.failed.get(kind.name) ?? []), work]);
    await fall(outcome.why, outcome.record);
    return undefined;
  }
  keepBounds(run, kind, keys, outcome);
  const contradicts = keys.some((key) => judgeKey(run, kind, { key, observation: outcome }) === "contradicts");
  if (outcome.whole && contradicts) markInconsistent(run, work, outcome.record);
  if (!outcome.whole || contradicts) {
    await fall("partial", outcome.record);
    return undefined;
  }
  batcher.answered(outcome.rows, outcome.durationMs < fastMs);
  return { keys, observation: outcome };
}

/** Two lighter single keys have failed before: one alone may have a reason of its own. */
function isTooHeavy(run: Run, kind: FactKind, weight: number): boolean {
  const lighter = run.failed.get(kind.name)?.filter((failed) => failed <= weight) ?? [];
  return weight > 1 && lighter.length >= 2;
}

/**
 * Finds a second way to what batches have answered: facts known from other queries, or the number of solutions of each
 * key, asked in batches of another size. What no second way agrees with stays a lower bound.
 */
async function verifyBatches(run: Run, kind: FactKind, batches: readonly AnsweredBatch[]): Promise<void> {
  const all = batches.flatMap(({ keys, observation }) => keys.map((key) => ({ key, observation })));
  // Of an endpoint that leaves things out silently nothing is more than a bound.
  const isKnown = (found: KeyObservation): boolean => !run.inconsistent && judgeKey(run, kind, found) === "agrees";
  const byKnown = Map.groupBy(all, isKnown);
  settle(run, kind, byKnown.get(true) ?? []);
  const open = byKnown.get(false) ?? [];
  if (open.length === 0) return;
  const needsTotals = !run.inconsistent && run.dialect.count && !addsUp(run, kind, open);
  const agreed = needsTotals ? agreedKeys(run, open, await askTotals(run, kind, { open, batches })) : undefined;
  settle(run, kind, open, agreed);
}

/** The keys whose solutions add up to their totals; any other that was counted is a contradiction. */
function agreedKeys(
  run: Run,
  open: readonly KeyObservation[],
  totals: ReadonlyMap<string, number>,
): ReadonlySet<string> {
  const agreed = new Set<string>();
  for (const { key, observation } of open) {
    const total = totals.get(key);
    const solutions = solutionsOf(observation.groups.get(key));
    if (total === undefined || solutions === undefined) continue;
    if (total === solutions) agreed.add(key);
    else markInconsistent(run, solutions, observation.record);
  }
  return agreed;
}

/** True if the keys of a list together have as many solutions as were counted for the whole list. */
function addsUp(run: Run, kind: FactKind, open: readonly KeyObservation[]): boolean {
  const total = run.listTotals.get(kind.name);
  if (total === undefined || open.length < 2) return false;
  let sum = 0;
  for (const { key, observation } of open) sum += solutionsOf(observation.groups.get(key)) ?? 0;
  return sum === total.solutions;
}

/** Solutions of each key: for all keys at once where only rows were too many, else in batches of half the size. */
async function askTotals(
  run: Run,
  kind: FactKind,
  { open, batches }: { readonly open: readonly KeyObservation[]; readonly batches: readonly AnsweredBatch[] },
): Promise<ReadonlyMap<string, number>> {
  const items = weighed(
    open.map(({ key }) => key),
    weightIn(run, kind),
  );
  const usual = Math.max(1, Math.floor(open.length / Math.max(1, batches.length)));
  const byRows = run.tooMuch.get(kind.name) === "cut";
  const first = byRows ? items.length : Math.max(1, Math.floor(usual / 2));
  const most = byRows ? Math.min(run.mostKeys, Math.max(1, (run.cap ?? Number.POSITIVE_INFINITY) - 1)) : first;
  const work = byRows ? undefined : workOf(items) / Math.max(1, batches.length) / 2;
  const batcher = new Batcher(items, { first: Math.min(first, most), most, text: run.mostText, work });
  const totals = new Map<string, number>();
  for (const keys of batcher) {
    const asked = { selection: { keys }, level: keys.length === 1 ? 3 : 2 } as const;
    const found = await observe(run, solutionsOfKeys(kind), asked);
    if (!isSeen(found) || !found.whole) {
      batcher.failed();
      continue;
    }
    // A key without solutions has no row.
    for (const key of keys) if (!found.flawed.has(key)) totals.set(key, solutionsOf(found.groups.get(key)) ?? 0);
    batcher.answered(found.rows, false);
    run.progress(`${kind.phrase}, checked`, totals.size, items.length);
  }
  return totals;
}

/** A key whose own query failed. */
interface FailedKey {
  readonly key: string;
  readonly why: Unanswered["why"] | "partial";
  /** Absent when it was not tried because lighter keys had failed. */
  readonly record?: number | undefined;
}

/** Properties that a class is split by, and asked for one by one. */
const mostSplit = 300;
const mostAsks = 20;
/** Queries that may fail in a row before splitting is given up. */
const patience = 2;

/** Level 3 for one key: split by property, and ASK. Their findings are bounds, and the key stays not fully known. */
async function fallBack(run: Run, kind: FactKind, failed: FailedKey): Promise<void> {
  const split = await splitByProperty(run, kind, failed);
  if (!split && kind.name === "classProperties") await askProperties(run, failed);
  const { key, why, record } = failed;
  run.todo.settle(kind, key, { why, record });
}

/** Level 3 by property. Whether every property was answered. */
async function splitByProperty(run: Run, kind: FactKind, { key }: FailedKey): Promise<boolean> {
  const items = candidates(run, kind, key);
  if (items.length === 0 || items.length > mostSplit) return false;
  const batcher = new Batcher(items, { first: 8, most: 32, text: run.mostText, rows: mostRowsIn(run) });
  let failures = 0;
  let all = true;
  for (const properties of batcher) {
    const rows = await askForProperties(run, kind, { key, properties });
    failures = rows === undefined ? failures + 1 : 0;
    if (rows !== undefined) batcher.answered(rows, true);
    else if (!batcher.failed()) all = false;
    // From a heavy property straight on to the light queries.
    if (failures > patience && properties.length === 1) return false;
  }
  return all;
}

/** Properties that a class may have: all of the dataset, or those that are known of it. */
function candidates(run: Run, kind: FactKind, key: string): readonly Weighed[] {
  if (kind.key !== "c" || kind.detail.length === 0) return [];
  const known = run.base.classes.get(key)?.properties;
  const properties = kind.name === "classProperties" ? run.base.properties : known;
  return weighed(properties?.keys() ?? [], (property) => known?.get(property)?.triples?.value ?? 1);
}

/** Rows of a whole answer about some properties of a class. */
async function askForProperties(
  run: Run,
  kind: FactKind,
  { key, properties }: { readonly key: string; readonly properties: readonly string[] },
): Promise<number | undefined> {
  const outcome = await observe(run, kind, { selection: { keys: [key], properties }, level: 3 });
  if (!isSeen(outcome)) return undefined;
  keepBounds(run, kind, [key], outcome);
  return outcome.whole ? outcome.rows : undefined;
}

/** ASK, for the most frequent properties that have not been seen with the class. */
async function askProperties(run: Run, { key }: FailedKey): Promise<void> {
  const known = run.base.classes.get(key)?.properties;
  const unseen = [...run.base.properties]
    .filter(([property]) => !known?.has(property))
    .toSorted(([, one], [, other]) => (other.triples?.value ?? 0) - (one.triples?.value ?? 0))
    .slice(0, mostAsks);
  for (const [property] of unseen) {
    const outcome = await ask(run, { query: askProperty(key, property, run.dialect), level: 5 });
    if (!outcome.ok) return;
    if (outcome.answer.boolean !== true) continue;
    const groups = new Map([[property, { detail: [property] }]]);
    recordGroups(run.base, factKinds.classProperties, { key, groups, status: "exists", record: outcome.record });
  }
}
