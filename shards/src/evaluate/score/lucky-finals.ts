import { parseQuery } from "../../../../src/sparql/query.ts";
import { type GoldAnswer, findGoldAnswer } from "../../package/gold-answer.ts";
import type { PackagedQuery } from "../../package/package-items.ts";
import type { Opening } from "../../package/whole-store.ts";
import { copyCount, openCopy, type ShardFolder, withoutCopies } from "../../variants/open-copy.ts";
import { accuracyOf } from "./accuracy.ts";
import { answerFinal, readFinal, type Targets } from "./final-query.ts";

/** A final query with the gold rows. */
interface RightFinal {
  readonly key: string;
  readonly final: string;
  readonly query: PackagedQuery;
}

/**
 * Finals that are right over the data by luck: over an altered copy of it they differ from the question's query. Undefined where the
 * dataset has no copies. @throws the signal's reason, FedwayError as `openCopy`
 */
export async function luckyFinals(
  finals: readonly RightFinal[],
  { shards, targets, opening }: { readonly shards: ShardFolder; readonly targets: Targets; readonly opening: Opening },
): Promise<ReadonlySet<string> | undefined> {
  if (withoutCopies(shards.manifest) !== undefined) return undefined;
  const lucky = new Set<string>();
  const distinct = new Map(finals.map((each) => [each.key, each]));
  for (let copy = 1; finals.length > 0 && copy <= copyCount; copy++) {
    const store = await openCopy(shards, copy, opening);
    try {
      const golds = new Map<string, GoldAnswer | undefined>();
      for (const { key, final, query } of distinct.values()) {
        if (!golds.has(query.id)) golds.set(query.id, await goldOf(query, { store, signal: opening.signal }));
        const gold = golds.get(query.id);
        const found = await answerFinal(readFinal(final, targets), { store, signal: opening.signal });
        // A query without an answer there shows nothing.
        if (gold !== undefined && !("fault" in found) && !accuracyOf(gold, found).set) lucky.add(key);
      }
    } finally {
      await store.close();
    }
  }
  return lucky;
}

async function goldOf(
  { query }: PackagedQuery,
  how: Parameters<typeof answerFinal>[1],
): Promise<GoldAnswer | undefined> {
  try {
    return (await findGoldAnswer(how.store, parseQuery(query))).gold;
  } catch {
    how.signal.throwIfAborted();
    return undefined;
  }
}
