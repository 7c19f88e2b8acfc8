import { LRUCache } from "lru-cache";
import type { Suggestion } from "../../errors/fedway-error.ts";
import { bracketedIri } from "../schema/text.ts";
import type { IndexState } from "./index-state.ts";
import { type Term, termKey } from "./term-table.ts";
import { type ComparedIri, comparedIri, iriLikeness, termDifferences } from "./term-likeness.ts";

const mostNearest = 3;
/** Terms that one is compared with; of a larger schema the most frequent ones. Planning waits for it. */
const mostCompared = 1_000;
/** Parts of IRIs that were compared before. */
const known = new LRUCache<string, ComparedIri>({ max: 20_000 });

function partsOf(iri: string): ComparedIri {
  const parts = known.get(iri) ?? comparedIri(iri);
  known.set(iri, parts);
  return parts;
}

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
      const term = key.slice(start.length);
      const like = iriLikeness(wanted, partsOf(term));
      const isNear = near?.has(term) === true;
      if (like === undefined) return [];
      const score = Math.min(0.99, like.score + (isNear ? neighbourBonus : 0));
      return [{ key, term, score, why: termDifferences[like.kind] + (isNear ? beside : "") }];
    })
    .toSorted(
      (one, other) => other.score - one.score || count(other.key) - count(one.key) || (one.term < other.term ? -1 : 1),
    )
    .slice(0, mostNearest)
    .map(({ term, score, why }) => ({ term: bracketedIri(term), score: Math.round(score * 100) / 100, why }));
}
