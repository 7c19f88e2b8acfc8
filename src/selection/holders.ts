import { LRUCache } from "lru-cache";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { HeldRows, HolderQuestion } from "../plan/source-selection.ts";
import type { PrunedKeys } from "../plan/pruned-keys.ts";
import type { FactTable } from "./fact-table.ts";
import { type HashedUnit, hashTerm, hashUnit, type TripleCopy } from "./triple-copy.ts";
import { sizedByKey } from "../cache-size.ts";

/** Rows looked for in copies before others have a turn. */
const rowsInTurn = 10_000;
/** Steps of one question in all copies. */
const mostSteps = 2_000_000;

/** Which rows members may have solutions for, by the copies of their triples; pruned keys are noted in `pruned`. */
export function createHolders(table: FactTable) {
  // Units without keys, for as long as the copies are there that gave their answers.
  const known = new LRUCache<string, WeakMap<TripleCopy, boolean>>(sizedByKey(2, { each: 2_000 }));

  /** Looks for the question's rows in copies; without keys only once in each. */
  function lookingFor(question: HolderQuestion): (copy: TripleCopy) => readonly number[] {
    const unit = hashUnit(question);
    if (question.variables.length > 0) {
      const hashes = new Map<string, number>();
      const rows = question.rows.map((row) => row.map((text) => hashedOnce(hashes, text)));
      const steps = { left: mostSteps };
      return (copy) => copy.rowsOf(unit, rows, steps);
    }
    const name = question.patterns.join(" . ");
    const before = known.get(name) ?? new WeakMap<TripleCopy, boolean>();
    known.set(name, before);
    return (copy) => (matchesOnce(before, unit, copy) ? [0] : []);
  }

  return async (question: HolderQuestion, pruned?: PrunedKeys): Promise<HeldRows> => {
    const rowsIn = lookingFor(question);
    const answers: (readonly number[] | null)[] = [];
    for (const { id, url } of question.members) {
      const { copy, seenAt = 0 } = pruned?.asks(id) ? {} : (table.get(id, url) ?? {});
      const held = copy && rowsIn(copy);
      const isAll = held === undefined || held.length === question.rows.length;
      answers.push(isAll ? null : held);
      if (!isAll) pruned?.add({ endpoint: { id, url }, seenAt, question, held });
      if ((answers.length * question.rows.length) % rowsInTurn < question.rows.length) await nextTurn();
    }
    return answers;
  };
}

function hashedOnce(hashes: Map<string, number>, text: string): number {
  const hash = hashes.get(text) ?? hashTerm(text);
  hashes.set(text, hash);
  return hash;
}

function matchesOnce(before: WeakMap<TripleCopy, boolean>, unit: HashedUnit, copy: TripleCopy): boolean {
  const isHeld = before.get(copy) ?? copy.mayMatch(unit);
  before.set(copy, isHeld);
  return isHeld;
}
