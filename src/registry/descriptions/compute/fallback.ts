import { Batcher, type Weighed, weighed } from "./batches.ts";
import { factKinds, type FactKind } from "./fact-kinds.ts";
import { recordGroups } from "./kind-facts.ts";
import { askProperty } from "./queries.ts";
import { ask, isSeen, observe, type Run } from "./run.ts";
import type { Unanswered } from "./session.ts";
import { giveUp, keepBounds } from "./verdicts.ts";

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
/** Queries that may fail in a row before splitting is given up. */
const patience = 2;

/** Level 3 for one key: split by property, and ASK. Their findings are bounds, and the key stays not fully known. */
export async function fallBack(run: Run, kind: FactKind, failed: FailedKey): Promise<void> {
  const split = await splitByProperty(run, kind, failed);
  if (!split && kind.name === "classProperties") await askProperties(run, failed);
  giveUp(run, kind, failed);
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
