import { parseQuery } from "../../../src/sparql/query.ts";
import { findGoldAnswer } from "../package/gold-answer.ts";
import type { PackagedQuery } from "../package/package-items.ts";
import type { Opening } from "../package/whole-store.ts";
import { copyCount, openCopy, type ShardFolder, withoutCopies } from "./open-copy.ts";

/** The gold answers over altered copies of the data, `copies.json` of a package. */
export type CopyAnswers =
  | { readonly without: string }
  | {
      readonly count: number;
      /** By the id of a query: the signature of its answer over each copy, null where it has none within the limits. */
      readonly signatures: Readonly<Record<string, readonly (string | null)[]>>;
      /** Queries with the same answer everywhere: copies cannot show luck there. */
      readonly unchanged: readonly string[];
    };

/** Answers the queries that have a gold answer over each copy. @throws the signal's reason */
export async function copyAnswers(
  shards: Omit<ShardFolder, "queries">,
  queries: readonly Pick<PackagedQuery, "id" | "query" | "answer">[],
  opening: Opening,
): Promise<CopyAnswers> {
  const without = withoutCopies(shards.manifest);
  if (without !== undefined) return { without };
  const answered = queries.filter(({ answer }) => answer !== undefined);
  const signatures: Record<string, (string | null)[]> = {};
  for (let copy = 1; copy <= copyCount; copy++) {
    const store = await openCopy({ ...shards, queries: queries.map(({ query }) => query) }, copy, opening);
    try {
      for (const { id, query } of answered) {
        const signature = await findGoldAnswer(store, parseQuery(query)).then(
          ({ gold }) => gold.signature,
          () => null,
        );
        opening.signal.throwIfAborted();
        signatures[id] = [...(signatures[id] ?? []), signature];
      }
    } finally {
      await store.close();
    }
  }
  const isUnchanged = ({ id, answer }: (typeof answered)[number]): boolean =>
    signatures[id]?.every((signature) => signature === answer?.signature) === true;
  return { count: copyCount, signatures, unchanged: answered.filter(isUnchanged).map(({ id }) => id) };
}
