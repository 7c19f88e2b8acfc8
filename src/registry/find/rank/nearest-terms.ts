import { LRUCache } from "lru-cache";
import type { Suggestion } from "../../../errors/fedway-error.ts";
import type { TermKind } from "../../model/schema.ts";
import { bracketedIri } from "../../../rdf/display-text.ts";
import type { SearchedTexts } from "../tables/texts.ts";
import { type ComparedIri, comparedIri, iriLikeness, termDifferences } from "../words/term-likeness.ts";
import { sizedByKey } from "../../../cache-size.ts";

const mostNearest = 3;
/** Terms that one is compared with; of a larger schema the most frequent ones. Planning waits for it. */
const mostCompared = 1_000;
/** Parts of IRIs that were compared before. */
const known = new LRUCache<string, ComparedIri>(sizedByKey(16, { perCharacter: 12 }));

function partsOf(iri: string): ComparedIri {
  const parts = known.get(iri) ?? comparedIri(iri);
  known.set(iri, parts);
  return parts;
}

const neighbourBonus = 0.04;
/** How much less like the wanted one a neighbour may be and still come first. */
const neighbourLead = 0.15;

/**
 * The classes, or properties, of some endpoints that are most like one, best first; of those equally like it the more frequent.
 * @param near terms that stand beside it in the data, which are likelier
 */
export function nearestTerms(
  { models }: SearchedTexts,
  ids: readonly string[],
  {
    kind,
    iri,
    near,
  }: { readonly kind: TermKind; readonly iri: string; readonly near?: ReadonlySet<string> | undefined },
): readonly Suggestion[] {
  const counts = new Map<string, number>();
  for (const id of ids) {
    for (const term of models.get(id)?.described?.terms(kind) ?? []) {
      const before = counts.get(term.iri);
      if (before === undefined && counts.size === mostCompared) continue;
      counts.set(term.iri, (before ?? 0) + (term.count?.value ?? 0));
    }
  }
  const wanted = comparedIri(iri);
  const beside = kind === "class" ? ", has these properties" : ", of the same class";
  return [...counts]
    .flatMap(([term, count]) => {
      const like = iriLikeness(wanted, partsOf(term));
      const isNear = near?.has(term) === true;
      if (like === undefined) return [];
      const score = Math.min(0.99, like.score + (isNear ? neighbourBonus : 0));
      const rank = like.score + (isNear ? neighbourLead : 0);
      return [{ count, term, score, rank, why: termDifferences[like.kind] + (isNear ? beside : "") }];
    })
    .toSorted((one, other) => other.rank - one.rank || other.count - one.count || (one.term < other.term ? -1 : 1))
    .slice(0, mostNearest)
    .map(({ term, score, why }) => ({ term: bracketedIri(term), score: Math.round(score * 100) / 100, why }));
}
