import type { Suggestion } from "../../errors/fedway-error.ts";
import { bracketedIri } from "../schema/text.ts";
import type { IndexState } from "./index-state.ts";
import { type Term, termKey } from "./term-table.ts";
import { comparedIri, iriLikeness, termDifferences } from "./term-likeness.ts";

const mostNearest = 3;
/** Terms that one is compared with, some microseconds each; of a larger schema the most frequent ones. */
const mostCompared = 4_000;
const neighbourBonus = 0.04;

/**
 * The classes, or properties, of some endpoints that are most like one, best first; of those equally like it the more frequent.
 * @param near terms that stand beside it in the data, which are likelier
 */
export function nearestTerms(
  { endpoints, table }: IndexState,
  ids: readonly string[],
  { kind, iri, near }: Pick<Term, "kind" | "iri"> & { readonly near?: ReadonlySet<string> | undefined },
): readonly Suggestion[] {
  const start = termKey(kind, "");
  const keys = new Set<string>();
  for (const id of ids) {
    for (const key of endpoints.get(id)?.described?.keys ?? []) {
      if (keys.size === mostCompared) break;
      if (key.startsWith(start)) keys.add(key);
    }
  }
  const count = (key: string): number => ids.reduce((sum, id) => sum + (table.endpointsOf(key).get(id)?.value ?? 0), 0);
  const wanted = comparedIri(iri);
  const beside = kind === "class" ? ", has these properties" : ", of the same class";
  return [...keys]
    .flatMap((key) => {
      const known = key.slice(start.length);
      const like = iriLikeness(wanted, comparedIri(known));
      const isNear = near?.has(known) === true;
      if (like === undefined) return [];
      const score = Math.min(0.99, like.score + (isNear ? neighbourBonus : 0));
      return [{ key, known, score, why: termDifferences[like.kind] + (isNear ? beside : "") }];
    })
    .toSorted(
      (one, other) =>
        other.score - one.score || count(other.key) - count(one.key) || (one.known < other.known ? -1 : 1),
    )
    .slice(0, mostNearest)
    .map(({ known, score, why }) => ({ term: bracketedIri(known), score: Math.round(score * 100) / 100, why }));
}
