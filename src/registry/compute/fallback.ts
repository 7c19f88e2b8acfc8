import { Batcher, type Weighed, weighed } from "./batches.ts";
import { factKinds, type FactKind } from "./fact-kinds.ts";
import { kindFacts } from "./kind-facts.ts";
import { type Group, type Observation, readObservation } from "./observation.ts";
import { askProperty, limitedGroupsQuery, sampledGroupsQuery, subjectSlices } from "./queries.ts";
import { isCutFor, isSeen, observe, type Run } from "./run.ts";
import type { Unanswered } from "./session.ts";
import { giveUp, keepBounds, record } from "./verdicts.ts";

/** A key whose own query failed. */
export interface FailedKey {
  readonly key: string;
  readonly why: Unanswered["why"] | "partial";
  /** Absent when it was not tried because lighter keys had failed. */
  readonly record?: number | undefined;
}

/** Properties that a class is split by, and asked for one by one. */
const mostSplit = 300;
const mostAsks = 20;
const mostSliced = 10;
/** Queries that may fail in a row before splitting is given up. */
const patience = 2;
const leastLimit = 25;
const limitOfSample = 100;

/**
 * Levels 3 to 6 for one key: split by property or by slices of the subjects, counts of the first solutions, ASK, a sample.
 * What they find stays marked as what it is, and the key as not fully known.
 */
export async function fallBack(run: Run, kind: FactKind, failed: FailedKey): Promise<void> {
  const { size } = kindFacts[kind.name];
  const before = size(run.base, failed.key);
  // Work of a failed query is best followed by something light: an endpoint that is at its limit must not be pressed.
  if (run.dialect.count) await countFirst(run, kind, failed);
  const split = (await splitByProperty(run, kind, failed)) || (await sumSlices(run, kind, failed));
  if (!split && size(run.base, failed.key) === before) await sample(run, kind, failed);
  if (!split && kind.name === "classProperties") await askProperties(run, failed);
  giveUp(run, kind, failed);
}

/** Level 4. */
async function countFirst(run: Run, kind: FactKind, { key }: FailedKey): Promise<void> {
  const query = limitedGroupsQuery(kind, key, { dialect: run.dialect, limit: run.limit });
  const outcome = await run.session.ask({ query, level: 4 });
  if (!outcome.ok) {
    if (run.limit <= leastLimit) return;
    run.limit = Math.max(leastLimit, Math.floor(run.limit / 20));
    await countFirst(run, kind, { key, why: "timeout" });
    return;
  }
  const observation = readObservation(outcome.answer, {
    kind: { ...kind, tallies: ["n"] },
    only: key,
    record: outcome.record,
    sound: outcome.sound,
    cut: false,
    counted: true,
  });
  keepBounds(run, kind, { keys: [key], observation });
}

/** Level 3 by property. Whether every property was answered. */
async function splitByProperty(run: Run, kind: FactKind, { key }: FailedKey): Promise<boolean> {
  const items = candidates(run, kind, key);
  if (items.length === 0 || items.length > mostSplit) return false;
  const batcher = new Batcher(items, { first: 8, most: 32, text: run.mostText, rows: run.cap });
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
  keepBounds(run, kind, { keys: [key], observation: outcome });
  return outcome.whole ? outcome.rows : undefined;
}

/** Level 3 by slices of the subjects, whose solutions and subjects add up. Whether all slices were answered. */
async function sumSlices(run: Run, kind: FactKind, { key }: FailedKey): Promise<boolean> {
  if (!run.dialect.count || run.sliced >= mostSliced || run.session.requestsLeft < 5 * subjectSlices.length)
    return false;
  run.sliced++;
  const sums = new Map<string, Group>();
  let last: Observation | undefined;
  for (const slice of subjectSlices) {
    const outcome = await observe(run, kind, { selection: { keys: [key], slice }, level: 3 });
    if (!isSeen(outcome) || !outcome.whole) return false;
    for (const [name, part] of outcome.groups.get(key) ?? []) sums.set(name, added(sums.get(name), part));
    last = outcome;
  }
  if (last) keepBounds(run, kind, { keys: [key], observation: { ...last, groups: new Map([[key, sums]]) } });
  return last !== undefined;
}

/** Objects of different subjects may be the same: their distinct numbers do not add up. */
function added(one: Group | undefined, { detail, n = 0, ds }: Group): Group {
  const subjects = (one?.ds ?? 0) + (ds ?? 0);
  return { detail, n: (one?.n ?? 0) + n, ...(subjects > 0 && { ds: subjects }) };
}

/** Level 6. */
async function sample(run: Run, kind: FactKind, { key }: FailedKey): Promise<void> {
  if (kind.detail.length === 0) return;
  const query = sampledGroupsQuery(kind, key, { dialect: run.dialect, limit: limitOfSample });
  const outcome = await run.session.ask({ query, level: 6 });
  if (!outcome.ok) return;
  const { groups } = readObservation(outcome.answer, {
    kind,
    only: key,
    record: outcome.record,
    sound: outcome.sound,
    cut: await isCutFor(run, outcome.answer.rows.length),
    counted: false,
  });
  record(run, kind, { key, groups: groups.get(key), status: "sampled", record: outcome.record });
}

/** Level 5, for the most frequent properties that have not been seen with the class. */
async function askProperties(run: Run, { key }: FailedKey): Promise<void> {
  const known = run.base.classes.get(key)?.properties;
  const unseen = [...run.base.properties]
    .filter(([property]) => !known?.has(property))
    .toSorted(([, one], [, other]) => (other.triples?.value ?? 0) - (one.triples?.value ?? 0))
    .slice(0, mostAsks);
  for (const [property] of unseen) {
    const outcome = await run.session.ask({ query: askProperty(key, property, run.dialect), level: 5 });
    if (!outcome.ok) return;
    if (outcome.answer.boolean !== true) continue;
    const groups = new Map([[property, { detail: [property] }]]);
    record(run, factKinds.classProperties, { key, groups, status: "exists", record: outcome.record });
  }
}
